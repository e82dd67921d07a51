"""A model that cannot be served must say why when it is opened, and never answer wrongly."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.engine import EngineConfig
from semcache.engine.cache_argument import cache_argument
from semcache.engine.fingerprint import fingerprint
from semcache.errors import ConfigError

Folder = Callable[..., Path]


@pytest.fixture
def changed(folder: Folder, tmp_path: Path) -> Callable[..., Path]:
    """A copy of a model folder with another config."""

    def change(kind: str = "llama", **config: Any) -> Path:
        target = tmp_path / f"{kind}-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(folder(kind), target)
        path = target / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
        return target

    return change


def opened(path: Path | str, **settings: Any) -> Any:
    from semcache.engine.startup import open_engine

    engine = open_engine(EngineConfig(str(path), cache_bytes=1 << 20, **settings))
    engine.close()
    return engine


def test_a_sliding_window_is_refused_beyond_the_window_and_served_within(changed: Callable[..., Path]) -> None:
    path = changed("mistral", sliding_window=64)
    with pytest.raises(ConfigError, match=r"sliding window of 64 tokens.*context of at most 64"):
        opened(path)
    assert opened(path, context=64).limits.context == 64


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}}, "depend on the length"),
        ({"model_type": "no-such-model"}, "config.json cannot be used"),
        ({"hidden_size": 128}, "has another shape than config.json says"),
        ({"num_hidden_layers": 3}, "lacks 9 weights"),
        ({"num_hidden_layers": 1}, "has 9 weights that config.json knows nothing of, such as 'model.layers.1"),
        ({"vocab_size": 400}, "has another shape than config.json says"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(changed: Callable[..., Path], config: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        opened(changed(**config))


@pytest.mark.parametrize(
    ("name", "said"),
    [("config.json", "no config.json"), ("model.safetensors", "cannot be loaded"), ("tokenizer.json", "tokenizer")],
)
def test_missing_and_damaged_files_are_named(changed: Callable[..., Path], name: str, said: str) -> None:
    path = changed()
    content = (path / name).read_bytes()
    (path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ConfigError, match="config.json cannot be used" if name == "config.json" else said):
        opened(path)
    (path / name).unlink()
    with pytest.raises(ConfigError, match=said):
        opened(path)


def test_a_folder_that_is_not_there_is_not_looked_up_on_the_network(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder here"):
        opened(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="no folder here"):
        opened("./nothing/here")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="no folder here"):
        opened(tmp_path / "file")


def test_a_tokenizer_of_another_model_is_refused(changed: Callable[..., Path], folder: Folder, tmp_path: Path) -> None:
    from eval.engine_models import make

    path = make(tmp_path / "small", vocabulary=300)
    shutil.copy(folder() / "tokenizer.json", path / "tokenizer.json")
    with pytest.raises(ConfigError, match="do not belong together"):
        opened(path)


def test_attention_that_is_not_the_engines_is_found_by_the_probe(folder: Folder, monkeypatch: Any) -> None:
    """As an architecture would that scales or biases attention in a way of its own."""
    from semcache.engine import attention

    plain = attention._span
    monkeypatch.setattr(attention, "_span", lambda *given: plain(*given) * 1.01)
    with pytest.raises(ConfigError, match="does not attend as the engine does"):
        opened(folder())


def test_the_fingerprint_follows_weights_and_dtype(folder: Folder, tmp_path: Path) -> None:
    from eval.engine_models import make

    disk = tmp_path / "disk"
    same = opened(folder(), disk=disk).decoder.fingerprint
    assert opened(folder(), disk=disk).decoder.fingerprint == same
    assert opened(folder(), disk=disk, dtype="bfloat16").decoder.fingerprint != same
    assert opened(make(tmp_path / "other", seed=1), disk=disk).decoder.fingerprint != same


def test_a_weight_anywhere_moves_the_fingerprint(folder: Folder) -> None:
    """A model trained further in a few rows had been answered with what the one before it had left on disk."""
    import torch

    module = opened(folder()).decoder.module
    buffers = [buffer for _, buffer in module.named_buffers()]
    seen = {fingerprint({}, module, weights=True)}
    tensors = [*module.parameters(), *buffers]
    rng = random.Random(3)
    for tensor in tensors:
        at = rng.randrange(tensor.numel())
        with torch.inference_mode():
            tensor.view(-1)[at] += 0.5
        seen.add(fingerprint({}, module, weights=True))
    assert len(seen) == 1 + len(tensors)
    assert fingerprint({}, module, weights=False) not in seen


def test_the_slope_is_what_a_counter_of_operations_finds(folder: Folder) -> None:
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import AutoModel, DynamicCache

    model = AutoModel.from_pretrained(folder(), attn_implementation="eager")
    counted = []
    for before in (0, 1, 100):
        cache = DynamicCache()
        if before:
            model(torch.full((1, before), 7), **cache_argument(model, cache))
        with FlopCounterMode(display=False) as counter, torch.inference_mode():
            model(torch.tensor([[7]]), **cache_argument(model, cache))
        counted.append(counter.get_total_flops())
    found = opened(folder()).decoder.slope
    assert found == pytest.approx((counted[2] - counted[1]) / 99 / counted[0], rel=0.05)


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_bfloat16_passes_its_probe(folder: Folder, kind: str) -> None:
    assert opened(folder(kind), dtype="bfloat16").decoder.shape.dtype.itemsize == 2


def test_a_real_tiny_model_speaks_as_transformers_does() -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "models" / "tinystories-656k"
    if not path.is_dir():
        pytest.skip("needs the tiny real models of ../shared/data/models")
    pytest.importorskip("torch", reason="needs the extra `engine`")
    from tests.engine.nursery import Reference, an_engine, job, work

    reference = Reference(path)
    engine = an_engine(path, draft=8)
    prompt = engine.tokenizer.encode("Once upon a time, there was a little girl named Lily. She liked to")
    said = work(engine, [job("a", prompt, max_tokens=40)])["a"].text
    assert said == reference.says(prompt, 40)
    assert len(said.split()) > 15


@pytest.mark.parametrize(
    "setting",
    [
        {"block": 0},
        {"cache_bytes": 0},
        {"max_wait": 0.0},
        {"max_wait": float("nan")},
        {"dtype": "int8"},
        {"eviction": "fifo"},
    ],
)
def test_settings_out_of_range_are_refused(setting: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(setting))):
        EngineConfig("model", **setting)
