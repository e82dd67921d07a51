"""Embeddings of the evaluation's texts, computed once per model and text and kept in `.eval/`.

Knows the shipped embedder and nothing of data sets. Invariant: what is kept is what the embedder gives, to the bit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder

if TYPE_CHECKING:
    from semcache.types import Matrix

FOLDER = Path(__file__).parent.parent / ".eval"
_READING = "mended"  # of texts, by which an embedder's vectors differ although its name does not
_CHUNK = 2048


def embedded(
    texts: Sequence[str], *, model: Path = DEFAULT_MODEL, folder: Path = FOLDER, mending: bool = True
) -> Matrix:
    """The vectors of these texts, shape (len(texts), dim); without `mending` of the texts as they are typed."""
    encoder = OnnxEmbedder(model)
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "embeddings.db", timeout=120)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors "
            "(model TEXT, text TEXT, data BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
        )
        known: dict[str, bytes] = {}
        distinct = list(dict.fromkeys(texts))
        for start in range(0, len(distinct), _CHUNK):
            known |= _some(database, encoder, distinct[start : start + _CHUNK], mending=mending)
    return np.stack([np.frombuffer(known[text], np.float32) for text in texts])


def _some(
    database: sqlite3.Connection, encoder: OnnxEmbedder, texts: Sequence[str], *, mending: bool
) -> dict[str, bytes]:
    marks = ",".join("?" * len(texts))
    query = f"SELECT text, data FROM vectors WHERE model = ? AND text IN ({marks})"
    model = f"{encoder.id} {_READING}" if mending else encoder.id
    known = dict(database.execute(query, [model, *texts]).fetchall())
    new = [text for text in texts if text not in known]
    if new:
        rows = [
            (model, text, row.tobytes()) for text, row in zip(new, encoder.encode(new, mending=mending), strict=True)
        ]
        with database:
            database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
        known |= {text: data for _, text, data in rows}
    return known
