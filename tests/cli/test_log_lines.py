"""Lines of logs: one that is far too long costs a line of the report, and no memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from semcache.cli import log_lines
from semcache.cli.log_lines import LineTally, open_log, rows


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["line", "end"])
def test_a_line_that_is_too_long_is_left_out_and_never_held(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: bytes, packed: bool
) -> None:
    monkeypatch.setattr(log_lines, "_LONGEST", 1_000)
    fits = b'{"a": "' + b"x" * 991 + b'"}'
    text = b'{"a": 1}\n' + b'{"a": "' + b"y" * 5_000 + b'"}\n' + fits[:999] + b"\n{}\n" + b"z" * 2_001 + end
    file = tmp_path / "log"
    file.write_bytes(gzip.compress(text) if packed else text)
    with open_log(file) as (_, lines):
        assert max(map(len, lines)) == 1_001
    tally = LineTally()
    with open_log(file) as (_, lines):
        assert [number for number, _ in rows(lines, tally)] == [1, 4]
    assert [number for number, _ in tally.examples] == [2, 3, 5]
    assert [reason for number, reason in tally.examples if number != 3] == ["it is longer than 0 MiB"] * 2
    assert tally.lines == 5
