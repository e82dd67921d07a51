"""Publishing a folder: whole or not at all, whatever fails."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from semcache.errors import InvalidArgument, StoreError
from semcache.train.folder import published


def model(folder: Path, word: str) -> None:
    folder.mkdir()
    (folder / "model.json").write_text(word)


def test_a_folder_appears_when_it_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "new" / "model"
    with published(out, replace=False) as staging:
        (staging / "model.json").write_text("new")
        assert not out.exists()
    assert (out / "model.json").read_text() == "new"
    assert [path.name for path in out.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_model_and_no_rubbish(tmp_path: Path, error: BaseException) -> None:
    model(tmp_path / "model", "old")
    expected = StoreError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected), published(tmp_path / "model", replace=True) as staging:
        (staging / "model.json").write_text("half")
        raise error
    assert (tmp_path / "model" / "model.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_full_disk_is_named_with_what_became_of_the_old_model(tmp_path: Path) -> None:
    model(tmp_path / "model", "old")
    told = pytest.raises(StoreError, match=r"No space left on device; what was there is untouched")
    with told, published(tmp_path / "model", replace=True):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_when_the_last_step_fails_the_old_model_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    model(tmp_path / "model", "old")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if ".staging-" in self.name:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    expected = StoreError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected), published(tmp_path / "model", replace=True) as staging:
        (staging / "model.json").write_text("new")
    assert (tmp_path / "model" / "model.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_is_replaced_only_when_asked_and_nothing_else_ever(tmp_path: Path) -> None:
    model(tmp_path / "model", "old")
    with pytest.raises(InvalidArgument, match="--force"), published(tmp_path / "model", replace=False):
        pass
    with published(tmp_path / "model", replace=True) as staging:
        (staging / "model.json").write_text("new")
    assert (tmp_path / "model" / "model.json").read_text() == "new"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("four years")
    with (
        pytest.raises(InvalidArgument, match="holds something that is no model"),
        published(tmp_path / "home", replace=True),
    ):
        pass
    assert (tmp_path / "home" / "thesis.txt").read_text() == "four years"


def test_a_file_is_no_place_for_a_model(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("a file")
    with pytest.raises(InvalidArgument, match="is a file"), published(tmp_path / "model", replace=True):
        pass
    assert (tmp_path / "model").read_text() == "a file"
