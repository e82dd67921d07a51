"""Entries out of a cache and logs into it, through the real program."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.types import Rejection, Selector
from tests.waiting import PATIENCE

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fill = Callable[..., Awaitable[list[str]]]
PROMPTS = {
    "How do I reverse a list in Python?": "Use reversed().",
    "What is a monad?\n\nExplain it to a child, “kindly”. ☃": "A box.\nWith rules.",
}


def write(file: Path, rows: Iterable[object], *, packed: bool = False) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return file


def chat(prompt: str, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], "response": f"On {prompt}", **fields}


def opened(folder: Path, pack: Path) -> Awaitable[AsyncSemanticCache]:
    return AsyncSemanticCache.open(str(folder), policies=str(pack), embedder="hashing")


async def test_an_export_into_a_pipe_leaves_the_pipe_there(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        done = run("export", "-o", pipe)
        assert (done.returncode, done.stderr) == (0, f"2 entries exported to {pipe}\n")
        assert pipe.is_fifo()
        assert len(reader.communicate(timeout=PATIENCE)[0].splitlines()) == 2
    folder = run("export", "-o", tmp_path)
    assert (folder.returncode, folder.stderr) == (1, f"error: {tmp_path} cannot be written: Is a directory\n")


async def test_an_export_says_what_stays_behind(run: Run, tmp_path: Path) -> None:
    pack = tmp_path / "quorum.yaml"
    pack.write_text("name: q\ndefaults: {quorum: 3}\n")
    async with await opened(tmp_path / "data", pack) as cache:
        for prompt, answer in PROMPTS.items():
            found = await cache.lookup(prompt, user="ann")
            await cache.record(found, answer)
        [entry, _] = await cache.select(Selector(everything=True))
        await cache.components.store.reject([Rejection(entry.id, bytes(32))], now=1.0)
    said = run("export", "-o", tmp_path / "all.jsonl").stderr
    assert "of 1 of them it is known for which requests they are wrong; that stays behind" in said
    assert "of 2 of them it is counted who has asked (`quorum`); that stays behind" in said


async def test_an_export_gives_the_same_answers_in_a_fresh_cache(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    await fill({"What is a functor?": "A map."}, tenant="acme", namespace="eu")
    file = tmp_path / "all.jsonl"
    assert run("export", "-o", file).returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "all.jsonl" in path.name] == ["all.jsonl"]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["tenant"] for row in rows} == {"default", "acme"}
    fresh = {"SEMCACHE_DATA": str(tmp_path / "fresh")}
    report = json.loads(run("import", file, "--json", env=fresh).stdout)
    assert (report["lines"], report["imported"], report["broken"], report["undated"]) == (3, 3, 0, 0)
    async with await opened(tmp_path / "fresh", tmp_path / "plain.yaml") as cache:
        for prompt, answer in PROMPTS.items():
            found = await cache.lookup(prompt, model="m")
            assert (found.outcome, found.answer) == ("exact", answer)
            assert found.entry is not None
            assert found.entry.source == "import"
        assert (await cache.lookup("What is a functor?", model="m")).answer is None
        assert (await cache.lookup("What is a functor?", model="m", tenant="acme", namespace="eu")).answer == "A map."
        paraphrase = await cache.lookup("how do I reverse a list in python", model="m")
        assert paraphrase.outcome == "semantic"
    second = run("export", env=fresh).stdout.splitlines()
    ours = ("id", "source")
    keep = [{name: value for name, value in row.items() if name not in ours} for row in rows]
    again = [{name: value for name, value in json.loads(row).items() if name not in ours} for row in second]
    assert sorted(again, key=str) == sorted(keep, key=str)


async def test_a_question_among_material_is_found_in_other_words_after_an_import(
    run: Run, fill: Fill, tmp_path: Path
) -> None:
    asked = (
        "Answer only from the context.\n\nContext:\nAn unused item may be returned within 30 days of delivery.  \n\n"
        "Question: How do I reverse a list in Python?"
    )
    await fill({asked: "Use reversed()."})
    file = tmp_path / "all.jsonl"
    assert run("export", "-o", file).returncode == 0
    assert run("import", file, env={"SEMCACHE_DATA": str(tmp_path / "fresh")}).returncode == 0
    async with await opened(tmp_path / "fresh", tmp_path / "plain.yaml") as cache:
        again = asked.replace("How do I reverse a list in Python?", "how do I reverse a list in python")
        assert (await cache.lookup(again, model="m")).answer == "Use reversed()."
        assert (await cache.lookup(again.replace("30 days", "60 days"), model="m")).answer is None


def test_a_log_is_read_from_a_pipe_to_its_end(run: Run, tmp_path: Path) -> None:
    rows = [chat(f"What is the {number}th of all monads?") for number in range(300)]
    file, pipe = write(tmp_path / "log.jsonl", rows), tmp_path / "pipe"
    os.mkfifo(pipe)
    for command, count in (("import", "imported"), ("replay", "trace")):
        given = ["--no-baselines", "--sizes", "pack"] if command == "replay" else []
        with subprocess.Popen(["sh", "-c", f"cat '{file}' > '{pipe}'"]):
            done = run(command, pipe, "--json", *given)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)[count]
        assert (found if command == "import" else found["replayed"]) == 300


def test_a_byte_order_mark_breaks_no_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(chat("What is a monad?")) + "\r\n", encoding="utf-8-sig", newline="")
    report = json.loads(run("import", file, "--json").stdout)
    assert (report["imported"], report["broken"]) == (1, 0)


async def test_importing_twice_changes_nothing(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    assert run("export", "-o", tmp_path / "all.jsonl").returncode == 0
    report = run("import", tmp_path / "all.jsonl")
    assert report.returncode == 0
    assert "2 were in the cache already" in report.stderr
    assert len(run("export").stdout.splitlines()) == 2


async def test_of_several_answers_to_a_request_the_newest_is_kept(run: Run, tmp_path: Path) -> None:
    now = time.time()
    asked = "What is a monad?"
    answers = [("An old box.", now - 9000), ("A new box.", now - 3000), ("A middling box.", now - 6000)]
    rows = [chat(asked, response=said, timestamp=at) for said, at in answers]
    done = json.loads(run("import", write(tmp_path / "log.jsonl", rows), "--json").stdout)
    assert (done["imported"], done["present"]) == (2, 1)
    later = [chat(asked, response="The newest box.", timestamp=now - 1000), chat(asked, response="A box of no date.")]
    done = json.loads(run("import", write(tmp_path / "later.jsonl", later), "--json").stdout)
    assert (done["imported"], done["present"]) == (1, 1)
    async with await opened(tmp_path / "data", tmp_path / "plain.yaml") as cache:
        found = await cache.lookup(asked, model="m")
        assert (found.outcome, found.answer) == ("exact", "The newest box.")
        assert found.entry is not None
        assert abs(found.entry.created - (now - 1000)) < 1
    assert len(run("export").stdout.splitlines()) == 1


async def test_a_mixed_log_is_imported_as_far_as_it_can_be(run: Run, tmp_path: Path) -> None:
    now, long_ago = time.time(), time.time() - 400 * 86400
    rows = [
        chat("What is a monad?"),
        "{this is no json",
        {"level": "info", "msg": "started"},
        "",
        {"input": "What is a functor?", "output": "A map.", "model": "m", "startTime": now - 3600},
        {"input": "What is an applicative?", "output": "In between.", "model": "m", "startTime": long_ago},
        {"call_type": "acompletion", **chat("What is a fold?", response="A sum."), "startTime": now},
        {"call_type": "acompletion", **chat("What is a scan?"), "status": "failure"},
        chat("Where is my order?"),
        chat("What is a zipper?", temperature=1.7),
        chat("What is a lens?", response="I'm sorry, but I can't help with that."),
        chat("What is a monad?"),
        [1, 2],
        {"messages": []},
    ]
    file = write(tmp_path / "log.jsonl.gz", rows, packed=True)
    tried = json.loads(run("import", file, "--dry-run", "--json").stdout)
    assert (tried["imported"], tried["present"]) == (3, 1), "as when it is imported"
    assert not (tmp_path / "data").exists(), "trying makes no cache"
    done = run("import", file, "--json", "--tenant", "acme")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert {name: report[name] for name in ("lines", "imported", "present", "expired", "undated", "broken")} == {
        "lines": 13, "imported": 3, "present": 1, "expired": 1, "undated": 1, "broken": 4,
    }  # fmt: skip
    assert report["discarded"] == {"failed call": 1, "personal": 1, "temperature": 1, "refusal": 1}
    assert [row["line"] for row in report["broken_lines"]] == [2, 3, 13, 14]
    async with await opened(tmp_path / "data", tmp_path / "plain.yaml") as cache:
        functor = await cache.lookup("What is a functor?", model="m", tenant="acme")
        assert functor.answer == "A map."
        assert functor.entry is not None
        assert abs(functor.entry.created - (now - 3600)) < 1
        assert (await cache.lookup("What is a fold?", model="m", tenant="acme")).answer == "A sum."
        assert (await cache.lookup("What is a fold?", model="m")).answer is None
    anew = json.loads(run("import", file, "--json", "--tenant", "acme", "--fresh").stdout)
    assert (anew["imported"], anew["present"]) == (4, 1), "what is there lives as if it were given now, too"


async def test_a_batch_is_its_input_and_its_output(run: Run, tmp_path: Path) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "What is a monad?"}]}
    message = {"index": 0, "message": {"role": "assistant", "content": "A box."}, "finish_reason": "stop"}
    answer = {"object": "chat.completion", "created": 1700000000, "model": "gpt-4o-2024", "choices": [message]}
    asked = [{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}]
    output = [
        {"custom_id": "a", "response": {"status_code": 200, "body": answer}, "error": None},
        {"custom_id": "b", "response": {"status_code": 200, "body": answer}, "error": None},
    ]
    file, requests = write(tmp_path / "out.jsonl", output), write(tmp_path / "in.jsonl", asked)
    without = run("import", file)
    assert without.returncode == 1
    assert "--requests" in without.stderr
    report = json.loads(run("import", file, "--requests", requests, "--format", "openai-batch", "--json").stdout)
    assert (report["imported"], report["broken"]) == (1, 1)
    async with await opened(tmp_path / "data", tmp_path / "plain.yaml") as cache:
        assert (await cache.lookup("What is a monad?", model="gpt-4o")).answer == "A box."


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"custom_id": ["a"]}\n', "requests:1: custom_id ['a'] is no string"),
        (b"\n{torn\n", "requests:2: no JSON object"),
        (gzip.compress(b'{"custom_id": "a"}\n' * 50, mtime=0)[:-12], "damaged"),
        (b"{}\n", "no line has a custom_id"),
    ],
)
def test_a_batchs_input_that_is_none_is_one_line_of_error(run: Run, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "requests").write_bytes(content)
    file = write(tmp_path / "out.jsonl", [chat("What is a monad?")])
    for command in (["import"], ["replay", "--no-baselines"]):
        done = run(*command, file, "--requests", tmp_path / "requests")
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert says in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("tenant", ["", "  ", "a\nb"])
def test_a_tenant_that_no_request_can_name_is_refused(run: Run, tmp_path: Path, tenant: str) -> None:
    done = run("import", write(tmp_path / "log.jsonl", [chat("What is a monad?")]), "--tenant", tenant)
    assert done.returncode == 2
    assert f"--tenant is {tenant!r}, not a printable name" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_no_log(run: Run, tmp_path: Path) -> None:
    missing = run("import", tmp_path / "none.jsonl")
    assert missing.returncode == 1
    assert missing.stderr == f"error: {tmp_path / 'none.jsonl'} cannot be read: No such file or directory\n"
    rubbish = write(tmp_path / "rubbish.jsonl", ["nothing"] * 9)
    done = run("import", rubbish)
    assert done.returncode == 1
    assert done.stderr.count("  line ") == 5
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:2000])
    done = run("import", cut)
    assert done.returncode == 1
    assert "damaged" in done.stderr
    assert "Traceback" not in done.stderr
    unknown = run("import", rubbish, "--category", "suport")
    assert unknown.returncode == 2
    assert "'suport'" in unknown.stderr


async def test_an_export_that_cannot_be_written_leaves_nothing(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    done = run("export", "-o", tmp_path / "no" / "such" / "folder.jsonl")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


def test_an_export_that_fails_leaves_the_old_file_and_no_draft(run: Run, tmp_path: Path) -> None:
    old = tmp_path / "all.jsonl"
    old.write_text("yesterday's\n")
    assert run("export", "-o", old).returncode == 1
    assert old.read_text() == "yesterday's\n"
    assert [path.name for path in tmp_path.iterdir() if "all.jsonl" in path.name] == ["all.jsonl"]
