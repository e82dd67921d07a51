"""Publishing a folder: whole or not at all, whatever fails."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from semcache.errors import InvalidArgument, StoreError
from semcache.train import atomic_folder
from semcache.train.atomic_folder import published, vacant


def model(place: Path, word: str) -> None:
    place.mkdir()
    (place / "model.json").write_text(word)


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


KILLED = """
import os, signal, sys
from pathlib import Path
from semcache.train.atomic_folder import published

out, moment = Path(sys.argv[1]), sys.argv[2]
rename = Path.rename

def killing(self, target):
    if ".staging-" in self.name and moment == "between":
        os.kill(os.getpid(), signal.SIGKILL)
    moved = rename(self, target)
    if ".staging-" in self.name and moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return moved

Path.rename = killing
with published(out, replace=True) as staging:
    (staging / "model.json").write_text("new")
    if moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(out: Path, moment: str) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, str(out), moment], check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize(("moment", "there"), [("before", "old"), ("between", "old"), ("after", "new")])
def test_what_a_killed_process_left_is_cleared_away_by_the_next(tmp_path: Path, moment: str, there: str) -> None:
    out = tmp_path / "mo[d]el"
    model(out, "old")
    killed(out, moment)
    (tmp_path / ".other.staging-1").mkdir()
    with pytest.raises(InvalidArgument, match="exists"):
        vacant(out, replace=False)
    assert (out / "model.json").read_text() == there
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.staging-1", "mo[d]el"]


def test_a_model_that_a_killed_process_had_set_aside_comes_back_with_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model(tmp_path / "model", "old")
    killed(tmp_path / "model", "between")
    assert not (tmp_path / "model").exists()
    with pytest.raises(KeyboardInterrupt), published(tmp_path / "model", replace=True):
        raise KeyboardInterrupt
    assert (tmp_path / "model" / "model.json").read_text() == "old"
    assert f"{tmp_path / 'model'} is back" in caplog.text


def test_what_another_is_still_writing_is_left_alone(tmp_path: Path) -> None:
    with published(tmp_path / "model", replace=True) as first:
        (first / "model.json").write_text("first")
        with published(tmp_path / "model", replace=True) as second:
            (second / "model.json").write_text("second")
        assert (tmp_path / "model" / "model.json").read_text() == "second"
    assert (tmp_path / "model" / "model.json").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_somebody_holds_for_good_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_folder, "_PAUSE", 0.0)
    left = tmp_path / ".model.staging-of-somebody"
    left.mkdir()
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with published(tmp_path / "model", replace=False) as staging:
            (staging / "model.json").write_text("new")
    finally:
        os.close(held)
    assert (tmp_path / "model" / "model.json").read_text() == "new"
    assert left.is_dir()  # perhaps in use: nobody can tell


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    model(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to("real")
    with published(tmp_path / "link", replace=True) as staging:
        (staging / "model.json").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "model.json").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_what_cannot_be_renamed_is_refused_before_hours_of_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=r"^\. is the current folder .* name a folder in it"):
        vacant(Path(), replace=True)
    monkeypatch.setattr(os.path, "ismount", lambda place: Path(place).name == "mounted")
    with pytest.raises(InvalidArgument, match=r"mounted is the current folder or a mount point"):
        vacant(tmp_path / "mounted", replace=True)
    vacant(tmp_path / "mounted" / "model", replace=True)
