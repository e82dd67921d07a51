"""Which embedder a cache was given."""

from __future__ import annotations

import os
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


def test_two_that_install_at_once_leave_a_whole_pointer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "models" / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "model.json").touch()
    sync = os.fsync

    def beside(descriptor: int) -> None:
        sync(descriptor)
        monkeypatch.setattr(os, "fsync", sync)
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 2)
            use(tmp_path, folders[1])

    monkeypatch.setattr(os, "fsync", beside)
    use(tmp_path, folders[0])
    assert spec_of("default", tmp_path) == f"onnx:{folders[0]}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["embedder.json", "models"]
