"""The tree of commands: help, what help costs, and how errors end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import semcache
from semcache.cli import main
from tests.cli.conftest import CLI

Run = Callable[..., "subprocess.CompletedProcess[str]"]
COMMANDS = [
    "serve", "stats", "get", "purge", "feedback", "export", "import", "policy", "replay", "keys", "config", "doctor",
]  # fmt: skip
HEAVY = {
    "alembic", "asyncio", "cryptography", "fastapi", "hnswlib", "httpx2", "msgspec", "numpy", "onnxruntime", "pydantic",
    "pydantic_settings", "sqlalchemy", "starlette", "tokenizers", "uvicorn", "yaml",
}  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [["--help"], ["serve", "--help"], ["import", "--help"], ["keys", "create", "--help"]]
)
def test_help_imports_nothing_that_help_does_not_need(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "semcache", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    # typer itself reads options with pydantic, and rich brings asyncio along when it renders help
    assert imported & HEAVY <= {"asyncio", "pydantic"}


def test_help_names_every_command(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert f" {command} " in done.stdout


def test_version(run: Run) -> None:
    assert run("--version").stdout.strip() == f"semcache {semcache.__version__}"


@pytest.mark.parametrize("arguments", [["purgee"], ["serve", "--prot", "1"], ["serve", "--port", "http"]])
def test_bad_usage_is_2_and_says_what_is_wrong(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert arguments[-1] in done.stderr or arguments[-2] in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_error_is_one_line_without_a_traceback(run: Run, tmp_path: Path) -> None:
    done = run("stats", "--data", tmp_path / "nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no cache in ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_database_that_is_none_is_an_error_not_a_traceback(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "semcache.db").write_text("this is no database, and long enough to be read as one" * 100)
    done = run("stats")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", [["config", "show", "--json"], ["--version"], ["policy", "schema"]])
def test_a_full_disk_under_standard_output_is_one_line(environment: dict[str, str], arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*CLI, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert (done.returncode, done.stderr) == (1, "error: the output cannot be written: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_streams_that_the_caller_has_closed_are_no_traceback_and_no_file_takes_their_place(
    environment: dict[str, str], tmp_path: Path, closed: tuple[int, ...]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"prompt": "What is a monad?", "answer": "A monoid.", "model": "m"}\n')

    def close() -> None:
        for number in closed:
            os.close(number)

    said = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for arguments in (["import", str(log)], ["stats", "--json"], ["--version"]):
        done = subprocess.run([*CLI, *arguments], **said, text=True, check=False, env=environment, preexec_fn=close)  # type: ignore[call-overload]
        assert done.returncode == 0
        assert "Traceback" not in done.stderr
        if 2 in closed:
            assert "imported" not in done.stdout
    assert subprocess.run([*CLI, "get", "0" * 16], check=False, env=environment, capture_output=True).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stats", "--by", "tenant", "--since", "9" * 30 + "w"], "is longer than"),
        (["stats", "--by", "tenant", "--since", "9" * 400 + "w"], "is longer than"),
        (["stats", "--tenant", "acme"], "--tenant goes with --by"),
        (["policy", "show", "a" * 5000], "File name too long"),
        (["replay", "trace.jsonl", "--sizes", "9" * 400], "is no size"),
    ],
)
def test_what_is_too_long_is_an_error_in_one_line(run: Run, arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr) < 500


def test_a_reader_that_has_left_is_no_error_to_talk_about(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*CLI, "--version"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, env=environment
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_ctrl_c_is_no_traceback_at_any_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "semcache.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "semcache.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
