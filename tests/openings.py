"""What every cache reads or makes anew when it opens, though it never differs: done once for all tests.

A test that opens a cache would otherwise parse the shipped pack, embed its examples and make every table, which takes
five times as long as all the rest. Packs of a test's own, embedders that a test has changed, and stores that are opened
without a cache are read and made as the product does.
"""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from semcache.cache import opening
from semcache.cache.common_parts import CommonParts
from semcache.config import packs
from semcache.config.packs import Pack
from semcache.models import loaded_model
from semcache.models.cross_encoder import DEFAULT_VERIFIER
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.batching import BatchingEmbedder
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.models.embedders.memo import MemoEmbedder
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.models.model_card import ModelWithCard
from semcache.protocols import Categorizer, Embedder
from semcache.request import categorize
from semcache.runtime import guarded_calls
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.runtime.telemetry import Meter
from semcache.storage.stores import database, schema
from semcache.storage.stores.sql import SqlStore
from tests.waiting import PATIENCE

_WRAPPERS = {one: one.embed for one in (MemoEmbedder, BatchingEmbedder)}
_ENCODERS = {one: one.encode for one in (OnnxEmbedder, HashingEmbedder)}
_DEFAULT = ModelWithCard(DEFAULT_MODEL).id
_categorizer_of = opening.categorizer_of
_open = CommonParts.open
_vectors: dict[tuple[str, tuple[str, ...]], np.ndarray] = {}


@cache
def _shipped(name: str) -> Pack:
    return packs.load(name)


def _load(name_or_path: str) -> Pack:
    return _shipped(name_or_path) if name_or_path in packs.packs() else packs.load(name_or_path)


def _is_as_it_ships(embedder: Any) -> bool:
    """Return True for the default embedder, or the hashing one, of which no test has replaced a part."""
    while _WRAPPERS.get(type(embedder)) is getattr(type(embedder), "embed", embedder) and "embed" not in vars(embedder):
        embedder = embedder._inner
    kind = type(embedder)
    if kind not in _ENCODERS or kind.encode is not _ENCODERS[kind] or "encode" in vars(embedder):
        return False
    return kind is HashingEmbedder or embedder.id == _DEFAULT


async def _placing(pack: Pack, embedder: Embedder) -> Categorizer:
    if not _is_as_it_ships(embedder):
        return await _categorizer_of(pack, embedder)
    texts = tuple(text for _, text in categorize.example_texts(pack))
    key = embedder.id, texts
    if key not in _vectors:
        _vectors[key] = await embedder.embed(texts)
    return categorize.build(pack, _vectors[key])


@cache
def _empty_store() -> tuple[bytes, bytes]:
    """The file of a new store, and the salt in it."""
    salt = secrets.token_bytes(schema.SALT)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        engine = sa.create_engine(f"sqlite:///{file}")
        with engine.begin() as connection:
            schema.prepare(connection, str(file), lambda _: salt)
        engine.dispose()
        made = file.read_bytes()
    assert made.count(salt) == 1
    return made, salt


async def _open_parts(parts: CommonParts) -> None:
    store = parts.store
    if type(store) is SqlStore and store._db.sqlite and not Path(store._db.name).exists():
        made, salt = _empty_store()
        file = Path(store._db.name)
        database._make_private(file)
        file.write_bytes(made.replace(salt, store._random(schema.SALT)))
    await _open(parts)


def held_models() -> tuple[object, ...]:
    """The models that ship, which stay loaded for as long as somebody holds them."""
    return (
        loaded_model.load(DEFAULT_MODEL, longest=ModelWithCard(DEFAULT_MODEL).max_tokens),
        loaded_model.load(DEFAULT_VERIFIER),
    )


def _guarded(meter: Meter, *, patience: float) -> GuardedCalls:
    return GuardedCalls(meter, patience=PATIENCE if patience == guarded_calls.PATIENCE else patience)


def be_patient(patch: pytest.MonkeyPatch) -> None:
    """Reach no limit of the product but where a test sets one: it would tell how busy the machine is."""
    patch.setitem(GuardedCalls.__init__.__kwdefaults__, "patience", PATIENCE)
    patch.setattr(opening, "GuardedCalls", _guarded)
    for limit in ("models.verifiers.MODEL_PATIENCE", "models.verifiers.LLM_PATIENCE"):
        patch.setattr(f"semcache.{limit}", PATIENCE)
    inquiries = ("upstream.routing.server_kind_inquiry", "upstream.routing.tokens")
    for module in ("proxy.health_routes", "proxy.plan_turn", *inquiries):
        patch.setattr(f"semcache.{module}._PATIENCE", PATIENCE)


def read_once(patch: pytest.MonkeyPatch) -> None:
    """Let caches share the shipped packs, the vectors of their examples and the file of an empty store."""
    patch.setattr(CommonParts, "open", _open_parts)
    patch.setattr(opening, "load", _load)
    patch.setattr(opening, "categorizer_of", _placing)
