"""The options of the command line, for every section."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`rounds` of turns, each of `seconds` where load is applied; `full` adds a million entries."""

    rounds: int = 7
    seconds: int = 3
    seed: int = 7
    quick: bool = False
    full: bool = False
    peers: bool = True
