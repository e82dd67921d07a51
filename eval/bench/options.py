"""The options of the command line, for every section."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Options:
    """`rounds` of turns, each of `seconds` where load is applied; `full` adds a million entries.

    `before` is a checkout of an earlier commit, which `miss_before` compares with.
    """

    rounds: int = 7
    seconds: int = 3
    seed: int = 7
    quick: bool = False
    full: bool = False
    peers: bool = True
    before: Path | None = None
