"""Replaying traces and logs through the real program."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from semcache.cli import traces
from semcache.cli.log_formats import BrokenLine, LogContext
from semcache.cli.replay import entries_of, parse_sizes
from semcache.errors import InvalidArgument

Run = Callable[..., "subprocess.CompletedProcess[str]"]
READING = LogContext({})


def write(file: Path, rows: Iterable[object], *, packed: bool = False) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return file


def asked(number: int, at: float, **fields: Any) -> dict[str, Any]:
    return {"prompt": f"How do I paint wall number {number}?", "answer": f"Answer {number}", "at": at, **fields}


def stream(count: int = 60, prompts: int = 12) -> list[dict[str, Any]]:
    return [asked(i * 7 % prompts, 1e9 + i, model="gpt-4o", completion_tokens=100, latency=2.0) for i in range(count)]


def replayed(run: Run, file: Path, *more: object) -> dict[str, Any]:
    done = run("replay", file, "--json", *more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_trace_gives_hits_savings_and_regret(run: Run, tmp_path: Path) -> None:
    found = replayed(run, write(tmp_path / "trace.jsonl", stream()), "--sizes", "25%,pack")
    assert (found["requests"], found["distinct"], found["policies"]) == (60, 12, "plain")
    small, whole = found["runs"]
    assert (small["size"], whole["size"]) == (3, None)
    assert small["summary"]["hit_rate"] < whole["summary"]["hit_rate"]
    summary = whole["summary"]
    assert summary["exact"] + summary["semantic"] == 48
    assert summary["cost_saved"] == pytest.approx(48 * 100 * 10e-6)
    assert (summary["latency_saved"], summary["tokens_saved"]) == (96.0, 4800)
    assert whole["exact_bound"] == whole["answer_bound"] == 48
    assert found["oracle_hit_rate"] == 0.8
    assert set(found["regret"]) == {"at_target", "at_own_error"}
    assert whole["categories"]["default"]["requests"] == 60


def test_the_table_and_its_remarks_are_for_people(run: Run, tmp_path: Path) -> None:
    done = run("replay", write(tmp_path / "trace.jsonl", stream()), "--sizes", "100%", "--no-baselines")
    assert done.returncode == 0
    assert "12 (100%)" in done.stdout
    assert "60 requests, 12 of them distinct" in done.stderr
    assert "hindsight" not in done.stderr


def test_targets_are_compared_and_say_where_too_little_was_seen(run: Run, tmp_path: Path) -> None:
    """Which target to take is read off one table: a few hits without an error show nothing about 1%."""
    file, out = write(tmp_path / "trace.jsonl", stream()), tmp_path / "report"
    found = replayed(run, file, "--sizes", "pack", "--targets", "1%, 0.5,1%", "--no-baselines", "--out", out)
    assert [one["target"] for one in found["targets"]] == [0.01, 0.5]
    for one in found["targets"]:
        assert (one["hit_rate"], one["kept"]) == (0.8, None)
        assert one["cost_saved"] == pytest.approx(48 * 100 * 10e-6)
    assert "## By target" in (out / "report.md").read_text(encoding="utf-8")
    shown = run("replay", file, "--sizes", "pack", "--targets", "2%", "--no-baselines")
    assert "too few hits to say" in shown.stdout


@pytest.mark.parametrize("targets", ["0", "100%", "1", "x", "1%,,2%", "-1%"])
def test_what_is_no_target_is_refused_before_anything_is_read(run: Run, tmp_path: Path, targets: str) -> None:
    done = run("replay", tmp_path / "missing.jsonl", f"--targets={targets}")
    assert done.returncode == 2
    assert "no error target" in done.stderr


def test_system_prompts_with_the_date_in_them_are_told_without_quoting_them(run: Run, tmp_path: Path) -> None:
    rows = [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": f"You serve the Vault. Current date: 2026-11-{day}"},
                {"role": "user", "content": "What is a monad?"},
            ],
            "response": "A box.",
        }
        for day in range(10, 16)
    ]
    file = write(tmp_path / "log.jsonl", rows)
    line = "ignore_in_system: [date]"
    done = run("replay", file, "--sizes", "pack", "--no-baselines")
    assert line in done.stderr, done.stderr
    assert "Vault" not in done.stderr + done.stdout
    pack = tmp_path / "dated.yaml"
    pack.write_text(f"name: dated\n{line}\n")
    found = replayed(run, file, "--policies", pack)
    assert (found["varying_prompts"], found["distinct"]) == ([], 1)


def test_a_quorum_that_is_not_simulated_is_said(run: Run, tmp_path: Path) -> None:
    file, pack = write(tmp_path / "trace.jsonl", stream()), tmp_path / "quorum.yaml"
    pack.write_text("name: several\ndefaults: {quorum: 3}\n")
    for more, said in ((["--policies", pack], 1), ([], 0)):
        done = run("replay", file, "--sizes", "pack", "--no-baselines", *more)
        assert done.stderr.count("pack several: quorum is not simulated") == said


def test_broken_lines_are_skipped_counted_and_shown(run: Run, tmp_path: Path) -> None:
    rows = [*stream(), "{torn", '{"prompt": "no answer"}', '{"nothing": 1}', asked(1, 1e9, cost="much"), "[]", "\xff"]
    file = write(tmp_path / "trace.jsonl", rows)
    done = run("replay", file, "--json", "--no-baselines")
    found = json.loads(done.stdout)["trace"]
    assert (found["lines"], found["replayed"], found["broken"]) == (66, 60, 6)
    assert [row["line"] for row in found["broken_lines"]] == [61, 62, 63, 64, 65]
    assert "6 lines skipped as broken" in done.stderr
    assert "line 61: no JSON object" in done.stderr
    assert "line 64: cost 'much' is no amount" in done.stderr


def test_a_damaged_archive_is_read_as_far_as_it_goes(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "trace.jsonl.gz", stream(2000), packed=True)
    file.write_bytes(file.read_bytes()[:-40])
    found = replayed(run, file, "--no-baselines", "--sizes", "pack", "--limit", "500")
    assert found["requests"] == 500
    found = replayed(run, file, "--no-baselines", "--sizes", "pack")
    assert 500 < found["requests"] < 2000
    assert "damaged" in found["trace"]["broken_lines"][0]["error"]


def test_logs_of_other_programs_are_replayed_too(run: Run, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "How do I paint a wall?"}]
    said: dict[str, Any] = {"model": "m", "messages": messages, "response": "With a brush."}
    rows = [
        {**said, "timestamp": 1767225600},
        {"model": "m", "input": {"messages": messages}, "output": "With a brush.", "startTime": "2026-01-01T01:00:00"},
        {**said, "call_type": "completion", "startTime": 1767232800},
        {**said, "call_type": "completion", "status": "failure"},
    ]
    found = replayed(run, write(tmp_path / "log.jsonl", rows), "--no-baselines", "--sizes", "pack")
    assert found["runs"][0]["summary"]["exact"] == 2
    assert found["trace"]["skipped"] == {"failed call": 1}
    assert found["runs"][0]["summary"]["cost_saved"] is None


def test_our_own_export_is_a_trace(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "trace.jsonl", stream())
    assert run("import", file, "--fresh").returncode == 0
    assert run("export", "-o", tmp_path / "all.jsonl").returncode == 0
    found = replayed(run, tmp_path / "all.jsonl", "--no-baselines", "--sizes", "pack")
    assert found["requests"] == found["distinct"] == 12


def test_the_judge_says_what_is_right(run: Run, tmp_path: Path) -> None:
    rows = [asked(1, 1.0), {**asked(1, 2.0), "answer": "answer  1."}]
    file = write(tmp_path / "trace.jsonl", rows)
    stale = [
        replayed(run, file, "--no-baselines", "--sizes", "pack", "--judge", judge)["runs"][0]["summary"]["stale"]
        for judge in ("exact", "normalised")
    ]
    assert stale == [1, 0]


def test_tenants_and_ineligible_prompts_are_kept_apart(run: Run, tmp_path: Path) -> None:
    rows = [asked(1, 1.0, tenant="a"), asked(1, 2.0, tenant="b"), asked(1, 3.0, tenant="a")]
    rows += [{"prompt": "What is the weather in Rome right now?", "answer": "Sunny", "at": at} for at in (4.0, 5.0)]
    found = replayed(run, write(tmp_path / "t.jsonl", rows), "--no-baselines", "--sizes", "pack")["runs"][0]
    assert (found["summary"]["exact"], found["summary"]["bypassed"]) == (1, 2)
    assert found["why"]["live"] == 2


def test_keys_stand_for_prompts_that_a_trace_does_not_tell(run: Run, tmp_path: Path) -> None:
    rows = [{"timestamp": i * 1000, "hash_ids": [0, i % 3], "input_length": 5, "output_length": 7} for i in range(9)]
    found = replayed(run, write(tmp_path / "t.jsonl", rows), "--no-baselines", "--sizes", "1,pack")
    assert [one["summary"]["exact"] for one in found["runs"]] == [0, 6]
    assert found["runs"][1]["summary"]["semantic"] == 0
    assert (found["seconds"], found["runs"][1]["summary"]["tokens_saved"]) == (8.0, 72)


def test_the_report_is_written_as_files(run: Run, tmp_path: Path) -> None:
    file, out = write(tmp_path / "trace.jsonl", stream()), tmp_path / "deep" / "report"
    done = run("replay", file, "--out", out, "--no-plots", "--no-baselines")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["report.json", "report.md"]
    assert json.loads((out / "report.json").read_text())["requests"] == 60
    text = (out / "report.md").read_text()
    assert text.startswith("# Replay through the pack plain")
    assert "paint" not in text + (out / "report.json").read_text()


def test_bad_usage_says_what_to_do(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "trace.jsonl", stream(3))
    for arguments, code, said in (
        (["replay", tmp_path / "nowhere.jsonl"], 1, "nowhere.jsonl cannot be read"),
        (["replay", file, "--sizes", "5%,lots"], 2, "'lots' is no size; write 1%, 5000 or pack"),
        (["replay", file, "--sizes", "0"], 2, "'0' is no size"),
        (["replay", file, "--policies", "defualt"], 2, "did you mean 'default'"),
        (["replay", write(tmp_path / "empty.jsonl", ["{}"])], 2, "no line can be replayed: 1 line skipped as broken"),
        (["replay", write(tmp_path / "broken.jsonl", ["{}", "x"])], 2, "\nerror:   line 2: no JSON object"),
        (["replay", write(tmp_path / "none.jsonl", [])], 2, "it is empty"),
        (["replay", file, "--judge", "llm"], 2, "--judge"),
        (["replay", file, "--embedder", "magic"], 2, "unknown embedder"),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_sizes_are_shares_numbers_or_the_packs_own() -> None:
    assert entries_of(parse_sizes("1%, 50%,10,10,pack"), 1000) == [10, 500, None]
    assert entries_of(parse_sizes("0.1%"), 5) == [1]
    with pytest.raises(InvalidArgument, match="is no size"):
        parse_sizes("")


def test_lines_without_a_time_stay_where_they_are() -> None:
    def order(*times: float | None) -> list[tuple[int, float]]:
        rows = [asked(number, 0.0) | {"at": at} for number, at in enumerate(times)]
        found = [traces.read_line(number, row, "auto", READING) for number, row in enumerate(rows)]
        return [(one.line, one.at) for one in traces.in_order(found)]

    assert order(None, None, None) == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert order(5.0, None, 3.0) == [(2, 3.0), (0, 5.0), (1, 5.0)]
    assert order(None, 4.0) == [(0, 4.0), (1, 4.0)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"cost": -1}, "cost -1 is no amount"),
        ({"cost": 10**400}, "cost 10+ is no amount"),
        ({"cost": 1e308}, "cost 1e.308 is no amount"),
        ({"at": 1e300}, "is no time"),
        ({"latency": "soon"}, "latency 'soon' is no amount"),
        ({"tokens": "many"}, "tokens 'many' is no count"),
        ({"at": "yesterday"}, "'yesterday' is no time"),
        ({"at": 10**400}, "10+ is no time"),
        ({"answer": None}, "there is no answer"),
    ],
)
def test_a_field_that_makes_no_sense_breaks_its_line(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenLine, match=reason):
        traces.read_line(1, asked(1, 1.0) | fields, "auto", READING)


def test_plain_lines_say_all_that_a_replay_can_use() -> None:
    row = {"prompt": "p", "answer": 42, "at": "2026-01-01T00:00:00Z", "category": "faq", "model": "m", "tenant": "acme",
           "cost": "0.5", "tokens": 7, "latency": 1}  # fmt: skip
    one = traces.read_line(3, row, "auto", READING)
    assert (one.line, one.answer, one.cost, one.latency, one.at) == (3, "42", 0.5, 1.0, 1767225600.0)
    assert one.logged.scope is not None
    assert (one.logged.scope.tenant, one.logged.category, one.logged.request.model) == ("acme", "faq", "m")
    assert one.logged.answer.usage.completion_tokens == 7
    bare = traces.read_line(1, {"text": "p", "label": "x"}, "trace", READING)
    # What is said about a call is no part of what was asked.
    same = traces.read_line(1, {"prompt": "p", "answer": "x"}, "trace", READING)
    assert bare.logged.request.identity == same.logged.request.identity


def test_what_a_pack_ignores_in_system_prompts_makes_no_other_request(run: Run, tmp_path: Path) -> None:
    def row(number: int) -> dict[str, Any]:
        turns = [
            {"role": "system", "content": f"Current date: 2026-11-{number + 1:02}"},
            {"role": "user", "content": "How do I paint a wall?"},
        ]
        return {"messages": turns, "answer": "With a brush.", "at": 1e9 + number, "model": "m"}

    file, pack = write(tmp_path / "trace.jsonl", map(row, range(10))), tmp_path / "dated.yaml"
    for ignored, hits in (("[]", 0), ("[date]", 9)):
        pack.write_text(f"name: dated\nignore_in_system: {ignored}\n", encoding="utf-8")
        (only,) = replayed(run, file, "--policies", pack, "--sizes", "pack", "--no-baselines")["runs"]
        assert only["summary"]["exact"] + only["summary"]["semantic"] == hits
