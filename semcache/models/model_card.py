"""Model folders: the card (model.json), the digests of the files it describes, and text made fit for a tokenizer.

Knows no runtime and no network. Invariant: an embedder that says its id has the files that this id stands for, as far
as the card states their digests.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from semcache.errors import ConfigError
from semcache.request.characters import LONGEST_WORD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FIELDS = ("id", "dim", "max_tokens")


class FileVersion(NamedTuple):
    """A file as it is now: where it lies, and what changes when it is written or replaced."""

    path: Path
    inode: int
    changed: int  # nanoseconds
    size: int


class ModelWithCard:
    """An embedder's id, dimension and length, read from the card in its folder."""

    def __init__(self, folder: Path) -> None:
        """Read the card and verify the files. Raises ConfigError when `folder` does not hold a model."""
        card = read_card(folder, _FIELDS, "make it anew with `python -m semcache.train.export`")
        for name in ("dim", "max_tokens"):
            if not isinstance(card[name], int) or card[name] < 1:
                raise ConfigError(f"{folder / 'model.json'}: {name} is {card[name]!r}, no number from 1: make it anew")
        verify_files(folder, card)
        self._id, self._dim, self._max_tokens = str(card["id"]), int(card["dim"]), int(card["max_tokens"])
        self._longest_word = LONGEST_WORD
        self._language = str(card.get("language") or "")

    @property
    def id(self) -> str:
        """The name of the embedding space."""
        return self._id

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._dim

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read."""
        return self._max_tokens

    @property
    def longest_word(self) -> int:
        """Characters of a word that are told from others."""
        return self._longest_word

    @property
    def language(self) -> str:
        """The language that it was made for, as its card says; "" for any."""
        return self._language

    def _read_by(self, tokenizer: Any) -> None:
        """Take the longest word from the tokenizer, if it is one of word pieces: another reads any in pieces."""
        self._longest_word = int(getattr(tokenizer.model, "max_input_chars_per_word", LONGEST_WORD))


def readable(text: str) -> str:
    """Replace lone surrogates, which JSON can spell and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def verify_files(folder: Path, card: dict[str, Any]) -> None:
    """Compare the files with the digests that the card states, if it does: 50 ms well spent against wrong vectors.

    A file that has not changed since is not read again. Raises ConfigError.
    """
    digests = card.get("sha256", {})
    if not isinstance(digests, dict):
        raise ConfigError(f"{folder / 'model.json'}: sha256 is {digests!r}, not the digest of each file: make it anew")
    for name, expected in digests.items():
        try:
            found = _digest(version_of(folder / name))
        except OSError as error:
            raise ConfigError(f"the model in {folder} cannot be loaded: {error}") from error
        if found != expected:
            raise ConfigError(
                f"the model in {folder} cannot be loaded: {name} is not what model.json describes; "
                "install the package again, or export the model again"
            )


def version_of(file: Path) -> FileVersion:
    """The version of a file. Raises OSError for one that is not there."""
    found = file.stat()
    return FileVersion(file.absolute(), found.st_ino, found.st_mtime_ns, found.st_size)


def read_card(folder: Path, fields: Sequence[str], remedy: str) -> dict[str, Any]:
    """The contents of model.json, `fields` at least. Raises ConfigError, which ends in `remedy`, for other folders."""
    path = folder / "model.json"
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder} is no model folder: {path.name} cannot be read ({error}); {remedy}") from error
    missing = [name for name in fields if name not in (card if isinstance(card, dict) else ())]
    if missing:
        raise ConfigError(f"{path} lacks {missing[0]!r}: {remedy}")
    return dict(card)


@lru_cache(maxsize=64)
def _digest(version: FileVersion) -> str:
    with version.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
