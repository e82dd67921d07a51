"""Naming embedders, and what is said about wrong names and folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from semcache.errors import ConfigError
from semcache.models.embedders import DEFAULT_MODEL, default_embedder, open_embedder

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_default_is_the_shipped_model() -> None:
    embedder = default_embedder()
    card = json.loads((DEFAULT_MODEL / "model.json").read_text())
    assert (embedder.id, embedder.dim, embedder.max_tokens) == (card["id"], 384, 256)
    await embedder.close()


async def test_hashing_takes_a_dimension() -> None:
    assert open_embedder("hashing").dim == 256
    assert open_embedder("hashing:32").dim == 32
    assert open_embedder("hashing:32").id != open_embedder("hashing:64").id


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("onx:models", "did you mean 'onnx'"),
        ("defualt", "did you mean 'default'"),
        ("default:models", "use 'default'"),
        ("onnx", "onnx:DIR"),
        ("onnx:", "onnx:DIR"),
        ("static", "static:DIR"),
        ("sentence", "sentence:NAME"),
        ("", "unknown embedder ''"),
        ("openai:text-embedding-3", "unknown embedder"),
        ("hashing:0", "from 2 to 65536"),
        ("hashing:many", "from 2 to 65536"),
        ("hashing:", "from 2 to 65536"),
    ],
)
def test_a_wrong_name_is_explained(spec: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        open_embedder(spec)


def test_a_folder_without_a_model_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model folder"):
        open_embedder(f"onnx:{tmp_path}")
    with pytest.raises(ConfigError, match="no model folder"):
        open_embedder(f"onnx:{tmp_path / 'absent'}")


@pytest.mark.parametrize("card", ["{}", "[]", "not json", '{"id": "x", "dim": 3}'])
def test_a_broken_card_is_explained(tmp_path: Path, card: str) -> None:
    (tmp_path / "model.json").write_text(card)
    with pytest.raises(ConfigError, match=r"model\.json"):
        open_embedder(f"onnx:{tmp_path}")


@pytest.mark.parametrize(
    "wrong", [{"dim": "x"}, {"dim": None}, {"dim": -1}, {"max_tokens": 0}, {"sha256": None}, {"sha256": {}, "dim": 64}]
)
def test_a_card_of_another_model_is_explained(tmp_path: Path, wrong: dict[str, object]) -> None:
    for file in ("model.onnx", "tokenizer.json"):
        (tmp_path / file).symlink_to(DEFAULT_MODEL / file)
    card = json.loads((DEFAULT_MODEL / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(card | wrong))
    with pytest.raises(ConfigError, match=r"model\.json"):
        open_embedder(f"onnx:{tmp_path}")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["gone", "cut", "text"])
def test_a_damaged_model_is_explained(tmp_path: Path, file: str, damage: str) -> None:
    shutil.copytree(DEFAULT_MODEL, tmp_path / "model")
    path = tmp_path / "model" / file
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:1000] if damage == "cut" else b"hello")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        open_embedder(f"onnx:{tmp_path / 'model'}")


def test_a_flipped_weight_is_found(tmp_path: Path) -> None:
    shutil.copytree(DEFAULT_MODEL, tmp_path / "model")
    path = tmp_path / "model" / "model.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 64
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"model\.onnx is not what model\.json describes"):
        open_embedder(f"onnx:{tmp_path / 'model'}")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_model_without_digests_is_still_explained(tmp_path: Path, file: str) -> None:
    shutil.copytree(DEFAULT_MODEL, tmp_path / "model")
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    del card["sha256"]
    (tmp_path / "model" / "model.json").write_text(json.dumps(card))
    (tmp_path / "model" / file).write_text("hello")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        open_embedder(f"onnx:{tmp_path / 'model'}")


def test_a_missing_library_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"pip install 'semcache-llm\[train\]'"):
        open_embedder("sentence:some-model")


def test_importing_the_room_loads_nothing_heavy() -> None:
    code = (
        "import sys, semcache.models.embedders, semcache.storage.indexes;"
        " print({'numpy', 'onnxruntime', 'hnswlib'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


def test_a_static_model_needs_no_runtime() -> None:
    code = "import sys, semcache.models.embedders.static_table; print({'onnxruntime', 'torch'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
