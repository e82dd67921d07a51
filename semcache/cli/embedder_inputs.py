"""Inputs of the embedder commands: the options that they share, and labelled pairs from files and from a cache.

Knows files and settings; pairs are read by `semcache.train`. Invariant: a file that cannot be used, or a library that
is missing, is one line of error that says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semcache.cli import output
from semcache.cli.open_store import store_of
from semcache.errors import ConfigError, InvalidArgument

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.train.pairs import Pair

Pairs = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PAIRS...", help="JSON lines, CSV or TSV of pairs or triplets, packed with gzip or not."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="NAME=COLUMN,...", help="Columns of `one`, `two`, `same`, `positive`, `negative`."
    ),
]
TestShare = Annotated[float, typer.Option("--test-share", min=0.01, max=0.8, help="Of the pairs, kept for measuring.")]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the new model.")]
ReplaceFolder = Annotated[bool, typer.Option("--force", help="Replace DIR.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the split and the training.")]


def read_pairs(files: Sequence[Path], columns: str | None = None) -> list[Pair]:
    """Read labelled pairs. Raises InvalidArgument or StoreError."""
    from semcache.train.pairs import read

    named = dict(_mapping(columns)) if columns else {}
    return [pair for path in files for pair in read(path, named)]


async def pairs_of_labels(settings: Settings) -> list[Pair]:
    """Read the labels of a cache as pairs, and say how many there are. Raises ConfigError or StoreError."""
    from semcache.train.store_pairs import pairs_of

    async with store_of(settings) as store:
        found, tally = await pairs_of(store)
    output.note(f"{len(found)} pairs from {tally.labels} labels; {tally.gone} are about prompts that are gone")
    return found


def need_measuring() -> None:
    """Raise ConfigError where the library that computes the figures is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise ConfigError("measuring needs scikit-learn: pip install 'semcache-llm[train]'")


def need_training() -> None:
    """Raise ConfigError where the training libraries are not installed."""
    from importlib.util import find_spec

    from semcache.train.finetune import REMEDY

    if find_spec("sentence_transformers") is None:
        raise ConfigError(REMEDY)


def _mapping(columns: str) -> Iterator[tuple[str, str]]:
    for part in columns.split(","):
        name, separator, own = part.partition("=")
        if not separator or not own:
            raise InvalidArgument(f"--columns {columns!r}: write one=COLUMN,two=COLUMN,same=COLUMN")
        yield name.strip(), own.strip()
