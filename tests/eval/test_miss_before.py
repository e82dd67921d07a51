"""The comparison of a miss with that of an earlier commit: it ends early where there is nothing to compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.bench.__main__ import command
from eval.bench.options import Options
from eval.bench.sections import miss_before
from eval.bench.servers import DidNotStart


def test_without_a_checkout_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(DidNotStart, match="--before FOLDER"):
        miss_before.measure(tmp_path, Options())


def test_a_folder_that_is_no_checkout_is_named(tmp_path: Path) -> None:
    with pytest.raises(DidNotStart, match="is no checkout"):
        miss_before.measure(tmp_path, Options(before=tmp_path))


def test_the_same_commit_is_not_compared_with_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(miss_before, "_commit", lambda _: "c0ffee of 2026-01-01")
    with pytest.raises(DidNotStart, match="is at the commit of this checkout"):
        miss_before.measure(tmp_path, Options(before=tmp_path))


@pytest.mark.parametrize("between", [" ", "="])
def test_the_page_names_no_path_of_the_machine(tmp_path: Path, between: str) -> None:
    argv = ["miss_before", *f"--before{between}{tmp_path}".split(" "), "--rounds", "3"]
    assert command(argv, tmp_path) == f"python -m eval.bench miss_before --before{between}FOLDER --rounds 3"
