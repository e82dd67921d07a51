"""Embedders: texts to unit vectors.

`default_embedder` is the model that ships with the package. Importing this module loads no model and no runtime.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.config import plugins
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.protocols import Embedder

__all__ = ["DEFAULT_MODEL", "PATIENT", "default_embedder", "open_embedder"]

DEFAULT_MODEL = Path(__file__).parent.parent / "all-minilm-l6-v2-int8"
PATIENT = 300.0  # seconds, for commands that embed many texts and hold up no request
KINDS = ("default", "onnx", "static", "sentence", "litellm", "hashing")


def default_embedder(*, threads: int = 1, memo: int = 4096) -> Embedder:
    """Return the shipped model with micro-batching and a memory of `memo` texts. The caller closes it."""
    return open_embedder("default", threads=threads, memo=memo)


def open_embedder(spec: str, *, threads: int = 1, memo: int = 4096, patience: float = 0.0) -> Embedder:
    """Return the embedder that `spec` names.

    That is "default", "onnx:DIR", "static:DIR", "sentence:NAME", "litellm:MODEL" or "hashing[:DIM]", or a plug-in as
    "NAME[:REST]", whose maker is given REST or "".
    `threads` is how many processors one inference may use, `memo` how many texts to remember, `patience` for how many
    seconds a provider that says to come later is asked again. The caller closes it.
    Raises ConfigError for anything else, and for a folder that holds no model.
    """
    kind, separator, rest = spec.partition(":")
    if kind == "hashing":
        return _hashing(spec, rest if separator else "256")
    if kind not in KINDS and kind in plugins.names("embedders"):
        from semcache.models.embedders.memo import MemoEmbedder

        return MemoEmbedder(plugins.make("embedders", kind, rest), memo)
    if kind not in KINDS or (kind == "default") == bool(separator) or (separator and not rest):
        raise ConfigError(_unknown(spec, kind))

    from semcache.models.embedders.memo import MemoEmbedder

    if kind == "litellm":
        from semcache.models.embedders.hosted import HostedEmbedder

        return MemoEmbedder(HostedEmbedder(rest, patience=patience), memo)
    if kind == "static":
        from semcache.models.embedders.static_table import StaticEmbedder

        return MemoEmbedder(StaticEmbedder(rest), memo)
    from semcache.models.embedders.batching import BatchingEmbedder, Encoder

    encoder: Encoder
    if kind == "sentence":
        from semcache.models.embedders.sentence import SentenceEmbedder

        encoder = SentenceEmbedder(rest)
    else:
        from semcache.models.embedders.onnx import OnnxEmbedder

        encoder = OnnxEmbedder(rest or DEFAULT_MODEL, threads=threads)
    return MemoEmbedder(BatchingEmbedder(encoder), memo)


def _hashing(spec: str, dim: str) -> Embedder:
    from semcache.models.embedders.hashing import HashingEmbedder

    if not dim.isdecimal() or not 2 <= int(dim) <= 65536:
        raise ConfigError(f"embedder {spec!r}: the dimension must be a number from 2 to 65536, as in 'hashing:256'")
    return HashingEmbedder(int(dim))


def _unknown(spec: str, kind: str) -> str:
    close = difflib.get_close_matches(kind, [*KINDS, *plugins.names("embedders")], n=1)
    hint = f"; did you mean {close[0]!r}?" if close and close[0] != kind else ""
    known = "'default', 'onnx:DIR', 'static:DIR', 'sentence:NAME', 'litellm:MODEL' or 'hashing[:DIM]'"
    return f"unknown embedder {spec!r}: use {known}{hint}"
