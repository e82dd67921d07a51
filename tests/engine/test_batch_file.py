"""A file of requests: one result per line, shared prefixes computed once, and what is done is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from semcache.engine.batch_file import RESULT, order, run
from tests.engine.nursery import an_engine, ids, metric

Folder = Callable[..., Path]
DOCUMENT = {"type": "text", "text": "the cache of a model " * 9, "document": True}
PRESSED = {"messages": [{"role": "user", "content": [DOCUMENT]}], "press": {"method": "snapkv"}, "max_tokens": 2}


def line(name: str, prompt: Any, **body: Any) -> bytes:
    body = {"prompt": prompt, "max_tokens": 4, "temperature": 0, **body}
    return json.dumps({"custom_id": name, "method": "POST", "url": "/v1/completions", "body": body}).encode()


def results(engine: Any, lines: list[bytes]) -> dict[str | None, Any]:
    named = iter(range(10**6))
    made = list(run(engine, lines, name="m", clock=lambda: 0.0, ids=lambda: str(next(named))))
    assert len(made) == len([line for line in lines if line.strip()])
    return {result["custom_id"]: result["response"] for result in made}


@given(st.lists(st.tuples(st.lists(st.integers(0, 1), max_size=8), st.integers(1, 9)), max_size=12))
def test_prompts_that_share_a_prefix_stand_together(prompts: list[tuple[list[int], int]]) -> None:
    placed = order(prompts, 2)
    assert sorted(placed) == list(range(len(prompts)))
    for depth in range(1, 5):
        families = [tuple(prompts[at][0][: 2 * depth]) for at in placed if len(prompts[at][0]) >= 2 * depth]
        seen: list[tuple[int, ...]] = []
        for family in families:
            if not seen or seen[-1] != family:
                assert family not in seen
                seen.append(family)


def test_a_prefix_is_computed_once_though_its_users_stand_apart(folder: Folder) -> None:
    """With a cache that holds one of three prefixes at a time."""
    engine = an_engine(folder(), cache_bytes=24 * 8 * 512, max_running=2)
    lines = [line(f"{at}-{family}", [*ids(family, 96), at + 6]) for at in range(5) for family in range(3)]
    made = results(engine, lines)
    assert {reply["status_code"] for reply in made.values()} == {200}
    cached = sum(reply["body"]["usage"]["prompt_tokens_details"]["cached_tokens"] for reply in made.values())
    assert cached == 3 * 4 * 96


def test_what_has_more_to_say_for_its_length_goes_first() -> None:
    prompts = [(ids(1, 80), 4), (ids(2, 16), 64), (ids(3, 80), 40)]
    assert order(prompts, 8) == [1, 2, 0]


def test_a_wrong_line_gets_its_own_error(folder: Folder) -> None:
    lines = [
        line("good", "the cache"),
        line("long", "much " * 3000),
        line("unknown", "x", foo=1),
        line("streams", "x", stream=True),
        line("pressed", "x", press={}),
        json.dumps({"custom_id": "asks", "url": "/v1/chat/completions", "body": PRESSED}).encode(),
        line("two", ["a", "b"], n=2, temperature=1.0, seed=1),
        b'{"custom_id": "where", "url": "/v1/embeddings", "body": {}}',
        b'{"custom_id": "no body", "url": "/v1/completions"}',
        b"broken",
        b"",
    ]
    made = results(an_engine(folder()), lines)
    assert {name: reply["status_code"] for name, reply in made.items()} == {
        "good": 200, "long": 400, "unknown": 400, "streams": 400, "pressed": 400, "asks": 400, "two": 200, "where": 400,
        "no body": 400, None: 400,
    }  # fmt: skip
    assert [choice["index"] for choice in made["two"]["body"]["choices"]] == [0, 1, 2, 3]
    assert made["unknown"]["body"]["error"]["param"] == "foo"


def test_a_queue_longer_than_the_engine_takes_is_worked_through(folder: Folder) -> None:
    engine = an_engine(folder(), max_waiting=2, max_running=2)
    made = results(engine, [line(str(at), f"question {at}") for at in range(20)])
    assert {reply["status_code"] for reply in made.values()} == {200}
    assert metric(engine, "semcache_engine_choices_total", finish="length") >= 18


def test_the_command_continues_where_it_was_stopped(folder: Folder, tmp_path: Path) -> None:
    from semcache.cli.engine_commands import app

    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join(line(str(at), f"question {at}") for at in range(6)))
    command = ["batch", str(source), "--model", str(folder()), "-o", str(out), "--cache-mib", "1", "--json"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["completion_tokens"] >= 6
    kept = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(kept[:2]) + kept[2][:40])
    again = CliRunner().invoke(app, command)
    assert json.loads(again.stdout)["done_before"] == 2
    texts = {(one := json.loads(result))["custom_id"]: one["response"]["body"]["choices"] for result in kept}
    healed = {
        (one := json.loads(result))["custom_id"]: one["response"]["body"]["choices"]
        for result in out.read_bytes().splitlines()
    }
    assert healed == texts


@pytest.mark.slow
def test_what_failed_is_tried_again_and_is_no_success_until_it_has_an_answer(folder: Folder, tmp_path: Path) -> None:
    from semcache.cli.engine_commands import app

    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(line("good", "the cache") + b"\n" + line("typo", "the cache", max_tokens="4") + b"\nbroken")
    command = ["batch", str(source), "--model", str(folder()), "-o", str(out), "--cache-mib", "1", "--json"]
    for before in (0, 1, 1):
        made = CliRunner().invoke(app, command)
        assert (made.exit_code, json.loads(made.stdout)["done_before"]) == (1, before)
        assert json.loads(made.stdout)["failed"] == 2
        assert len(out.read_bytes().splitlines()) == 3, "a failure has one line, however often it was tried"
    kept = out.read_bytes()
    unloaded = CliRunner().invoke(app, [*command[:3], "no/such", *command[4:]])
    assert unloaded.exit_code != 0
    assert out.read_bytes() == kept, "nothing was tried"
    source.write_bytes(line("good", "the cache") + b"\n" + line("typo", "the cache"))
    mended = CliRunner().invoke(app, command)
    assert (mended.exit_code, json.loads(mended.stdout)["failed"]) == (0, 0)
    assert [json.loads(one)["response"]["status_code"] for one in out.read_bytes().splitlines()] == [200, 200]
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_two_processes_do_not_write_to_one_file_of_results(tmp_path: Path) -> None:
    from semcache.engine.batch_results import BatchResults
    from semcache.errors import InvalidArgument

    out = tmp_path / "out.jsonl"
    failure = RESULT + b'1","custom_id":"a","response":{"status_code":500}}\n'
    out.write_bytes(failure)
    first = BatchResults(out)
    for ready in (lambda: None, first.begin):
        ready()
        with pytest.raises(InvalidArgument, match="another process writes"):
            BatchResults(out)
    first.add(b"{}")
    first.close()
    assert out.read_bytes() == b"{}\n"


def test_a_mark_of_the_encoding_and_lines_without_end_are_no_trouble(folder: Folder, tmp_path: Path) -> None:
    """Files that Windows saved begin with a byte-order mark."""
    from semcache.cli.engine_commands import app

    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    deep = b'{"custom_id": "deep", "url": "/v1/completions", "body": ' + b"[" * 100_000
    source.write_bytes(b"\xef\xbb\xbf" + line("good", "the cache") + b"\r\n" + b"[" * 100_000 + b"\n" + deep)
    command = ["batch", str(source), "--model", str(folder()), "-o", str(out), "--cache-mib", "1", "--json"]
    made = CliRunner().invoke(app, command)
    assert json.loads(made.stdout)["failed"] == 2
    told = {
        (one := json.loads(result))["custom_id"]: one["response"]["status_code"]
        for result in out.read_bytes().splitlines()
    }
    assert told == {"good": 200, None: 400}


def test_a_name_that_two_requests_have_is_said_before_any_work(tmp_path: Path) -> None:
    """A line that has a result is not done again, so one of the two would be lost when the command is restarted."""
    from semcache.cli.engine_commands import app
    from semcache.errors import InvalidArgument

    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join(line(name, "question") for name in ("a", "b", "a")))
    result = CliRunner().invoke(app, ["batch", str(source), "--model", "no/such"])
    assert isinstance(result.exception, InvalidArgument)
    assert "'a'" in str(result.exception)
    assert not source.with_suffix(".out.jsonl").exists()


def test_a_file_that_is_not_there_is_said(folder: Folder, tmp_path: Path) -> None:
    from semcache.cli.engine_commands import app
    from semcache.errors import InvalidArgument

    result = CliRunner().invoke(app, ["batch", str(tmp_path / "no"), "--model", str(folder())])
    assert isinstance(result.exception, InvalidArgument)


def test_results_go_where_they_can_be_written_and_never_over_the_requests(tmp_path: Path) -> None:
    from semcache.cli.engine_commands import app
    from semcache.errors import InvalidArgument

    source = tmp_path / "in.jsonl"
    source.write_bytes(line("a", "question"))
    for out in (source, tmp_path, tmp_path / "no" / "out.jsonl"):
        result = CliRunner().invoke(app, ["batch", str(source), "--model", "no/such", "-o", str(out)])
        assert isinstance(result.exception, InvalidArgument)
    assert source.read_bytes() == line("a", "question")


@pytest.mark.parametrize("text", ["my notes", '{"a": 1}', '{"a": 1}\nnotes'])
def test_a_file_that_holds_no_results_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    """A result that was cut off is taken out of its file; anything else that has no line break at its end is not."""
    from semcache.cli.engine_commands import app
    from semcache.errors import InvalidArgument

    source, notes = tmp_path / "in.jsonl", tmp_path / "notes.txt"
    source.write_bytes(line("a", "question"))
    notes.write_text(text)
    result = CliRunner().invoke(app, ["batch", str(source), "--model", "no/such", "-o", str(notes)])
    assert isinstance(result.exception, InvalidArgument)
    assert notes.read_text() == text


@pytest.mark.parametrize("command", [["serve"], ["batch", "x"]])
def test_a_model_must_be_named(command: list[str]) -> None:
    from semcache.cli.engine_commands import app

    assert CliRunner().invoke(app, command).exit_code == 2
