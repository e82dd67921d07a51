"""Models in memory: caches of one process share one, and nobody goes on with files that were replaced."""

from __future__ import annotations

import gc
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from weakref import ref

import pytest

from semcache.errors import ConfigError
from semcache.models import loaded_model
from semcache.models.cross_encoder import DEFAULT_VERIFIER, CrossEncoder
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder

LONG = "How do I get the invoices of every customer that has not paid yet? " * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped embedder."""
    return Path(shutil.copytree(DEFAULT_MODEL, tmp_path / "model"))


def test_many_users_hold_one_model(folder: Path) -> None:
    together = Barrier(4)

    def opened(_: int) -> OnnxEmbedder:
        together.wait()
        return OnnxEmbedder(folder)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(opened, range(4)))
    assert len({id(one._model) for one in made}) == 1
    assert CrossEncoder()._model is CrossEncoder(DEFAULT_VERIFIER)._model


def test_it_goes_with_the_last_that_uses_it(folder: Path) -> None:
    one, two = OnnxEmbedder(folder), OnnxEmbedder(folder)
    held = ref(one._model)
    del one
    gc.collect()
    assert held() is two._model
    del two
    gc.collect()
    assert held() is None


def test_texts_are_cut_off_where_each_user_wants_it() -> None:
    short = loaded_model.load(DEFAULT_MODEL, longest=4)
    whole = loaded_model.load(DEFAULT_MODEL)
    assert len(short.tokenizer.encode(LONG).ids) == 4
    assert len(whole.tokenizer.encode(LONG).ids) > 400


def test_another_number_of_threads_is_another_session() -> None:
    assert loaded_model.load(DEFAULT_MODEL, threads=2) is not loaded_model.load(DEFAULT_MODEL, threads=1)


def test_a_folder_that_was_replaced_is_loaded_and_checked_anew(folder: Path) -> None:
    old = OnnxEmbedder(folder)
    fresh = folder.with_name("fresh")
    shutil.copytree(folder, fresh)
    shutil.rmtree(folder)
    fresh.rename(folder)
    assert OnnxEmbedder(folder)._model is not old._model
    with (folder / "model.onnx").open("ab") as graph:
        graph.write(b"x")
    with pytest.raises(ConfigError, match=r"model\.onnx is not what model.json describes"):
        OnnxEmbedder(folder)


def test_damage_of_the_same_size_is_found(folder: Path) -> None:
    OnnxEmbedder(folder)
    whole = bytearray((folder / "model.onnx").read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    before = (folder / "model.onnx").stat().st_mtime_ns
    (folder / "model.onnx").write_bytes(whole)
    os.utime(folder / "model.onnx", ns=(before + 1, before + 1))
    with pytest.raises(ConfigError, match=r"model\.onnx is not what model.json describes"):
        OnnxEmbedder(folder)


def test_a_card_that_states_other_digests_is_believed_and_not_what_was_read_before(folder: Path) -> None:
    OnnxEmbedder(folder)
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    card["sha256"]["tokenizer.json"] = "0" * 64
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tokenizer\.json is not what model.json describes"):
        OnnxEmbedder(folder)


def test_a_fork_makes_a_session_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = loaded_model.load(DEFAULT_MODEL)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert loaded_model.load(DEFAULT_MODEL) is not parent
