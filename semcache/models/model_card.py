"""Model folders: the card (model.json), the digests of the files it describes, and text made fit for a tokenizer.

Knows no runtime and no network. Invariant: an embedder that says its id has the files that this id stands for, as far
as the card states their digests.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from semcache.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FIELDS = ("id", "dim", "max_tokens")


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


def readable(text: str) -> str:
    """Replace lone surrogates, which JSON can spell and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def verify_files(folder: Path, card: dict[str, Any]) -> None:
    """Compare the files with the digests that the card states, if it does; 20 ms well spent against wrong vectors."""
    digests = card.get("sha256", {})
    if not isinstance(digests, dict):
        raise ConfigError(f"{folder / 'model.json'}: sha256 is {digests!r}, not the digest of each file: make it anew")
    for name, expected in digests.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"the model in {folder} cannot be loaded: {error}") from error
        if found != expected:
            raise ConfigError(
                f"the model in {folder} cannot be loaded: {name} is not what model.json describes; "
                "install the package again, or export the model again"
            )


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
