"""Which embedder a cache was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.errors import ConfigError
from semcache.models.installed import prior_of, spec_of, use


def test_default_means_the_installed_model_and_everything_else_itself(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "mine-1"
    folder.mkdir(parents=True)
    (folder / "model.json").touch()
    assert spec_of("default", tmp_path) == "default"
    use(tmp_path, folder)
    assert spec_of("default", tmp_path) == f"onnx:{folder}"
    assert spec_of("hashing:64", tmp_path) == "hashing:64"
    assert spec_of("default", None) == "default"
    use(tmp_path, None)
    assert spec_of("default", tmp_path) == "default"
    use(tmp_path, None)


@pytest.mark.parametrize("content", ["", "[]", '{"model": "gone-1"}'])
def test_a_damaged_pointer_is_an_error_and_not_another_model(tmp_path: Path, content: str) -> None:
    (tmp_path / "embedder.json").write_text(content)
    with pytest.raises(ConfigError, match="run `semcache embedder install` again"):
        spec_of("default", tmp_path)


def test_a_prior_lies_beside_a_model_that_has_a_folder() -> None:
    assert prior_of("onnx:/a/b") == prior_of("static:/a/b") == Path("/a/b/prior.json")
    assert [prior_of(spec) for spec in ("default", "hashing:64", "sentence:x", "onnx:")] == [None] * 4
