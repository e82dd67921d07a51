"""Looking at entries, deleting them, and saying that they are wrong."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.cli.open_store import cache_of, store_of
from semcache.cli.purge import scope_parts
from semcache.config.settings import Settings
from semcache.learning import learner
from semcache.learning.withdrawn_labels import withdrawal
from semcache.matching import features
from semcache.matching.wording_tier import features_of
from semcache.request.wording import Edit
from semcache.types import Outcome, Recorded, Scope, Selector, Why, parse_id
from semcache.types.evidence import Judgement, Label, LabelSource

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fill = Callable[..., Awaitable[list[str]]]
PROMPTS = {"How do I reverse a list in Python?": "Use reversed().", "What is a monad?": "A monoid, they say."}


async def test_get_shows_an_entry_with_its_answer(run: Run, fill: Fill) -> None:
    [entry_id, _] = await fill(PROMPTS)
    done = run("get", entry_id)
    assert done.returncode == 0
    assert "How do I reverse a list in Python?" in done.stdout
    assert done.stdout.endswith("Use reversed().\n")
    shown = json.loads(run("get", entry_id, "--json").stdout)
    assert shown["id"] == entry_id
    assert shown["answer"]["choices"][0]["message"]["content"] == "Use reversed()."
    assert run("get", "0" * 16).returncode == 1
    malformed = run("get", "12")
    assert malformed.returncode == 2
    assert "'12'" in malformed.stderr


async def test_purge_deletes_what_matches_and_a_dry_run_nothing(run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    others = await fill({"What is a functor?": "A map."}, tenant="acme")
    tried = json.loads(run("purge", "--scope", "acme", "--dry-run", "--json").stdout)
    assert tried == {"ids": others, "count": 1, "dry_run": True, "tool_results": 0, "plans": 0}
    assert run("get", others[0]).returncode == 0
    assert others[0] in run("purge", "--scope", "acme", "--dry-run").stdout
    assert json.loads(run("purge", "--scope", "acme", "--yes", "--json").stdout)["ids"] == others
    assert run("get", others[0]).returncode == 1
    assert json.loads(run("purge", "--model", "m", "--older-than", "1h", "--yes", "--json").stdout)["count"] == 0
    assert json.loads(run("purge", "--model", "m", "--older-than", "0s", "--yes", "--json").stdout)["count"] == 2


async def test_an_option_that_chooses_nothing_is_an_error(run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    for done, told in (
        (run("purge", "--source", "trafic", "--yes"), "traffic, import or audit"),
        (run("stats", "--since", "3d"), "--by"),
        (run("import", "log.jsonl", "--tenant", ""), "--tenant is ''"),
    ):
        assert done.returncode == 2
        assert told in done.stderr


async def test_purge_of_everything_has_to_be_said_twice(run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    nothing = run("purge")
    assert nothing.returncode == 2
    assert "--tag" in nothing.stderr
    refused = run("purge", "--all")
    assert refused.returncode == 2
    assert "2 entries" in refused.stderr
    assert json.loads(run("purge", "--all", "--dry-run", "--json").stdout)["count"] == 2
    assert run("purge", "--older-than", "soon").returncode == 2
    assert json.loads(run("purge", "--all", "--yes", "--json").stdout)["count"] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, (None, None, None)),
        ("acme", ("acme", None, None)),
        ("acme/ann", ("acme", "ann", None)),
        ("acme/*/eu", ("acme", None, "eu")),
        ("acme%2Feu/ann", ("acme/eu", "ann", None)),
        ("acme/ann/eu/west", ("acme", "ann", "eu/west")),
    ],
)
def test_a_scope_is_tenant_user_namespace(text: str | None, expected: tuple[str | None, ...]) -> None:
    assert scope_parts(text) == expected


async def test_feedback_keeps_a_wrong_answer_from_where_it_was_served(run: Run, fill: Fill, tmp_path: Path) -> None:
    [served, replayed] = await fill(PROMPTS)
    number = parse_id(served)
    plain = str(tmp_path / "plain.yaml")
    other = b"x" * 32
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), policies=plain, embedder="hashing") as cache:
        event = Recorded(
            "r", time.time(), "chat", Scope(), "m", "default", Outcome.SEMANTIC, Why.SEMANTIC, 200, number, other
        )
        await cache.components.store.record([event])
    assert run("feedback", served, "--right").returncode == 0
    # The fixture replayed it to its own request too: nobody can tell which of the two complains.
    assert "2 requests" in run("feedback", served, "--wrong").stderr
    assert json.loads(run("feedback", replayed, "--wrong", "--json").stdout)["result"] == "deleted"
    assert run("get", replayed).returncode == 1
    assert run("feedback", replayed, "--wrong").returncode == 1
    assert run("feedback", served).returncode == 2
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), policies=plain, embedder="hashing") as cache:
        assert number in cache.registry.rejected(other)
        assert (await cache.lookup("How do I reverse a list in Python?", model="m")).answer is None


async def test_running_workers_learn_from_what_the_command_says(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    pack = tmp_path / "lenient.yaml"
    pack.write_text("name: lenient\ndefaults: {strategy: static, threshold: 0.5}\ncategories: {default: {}}\n")
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), policies=str(pack), embedder="hashing") as cache:
        served = await cache.lookup("How do I reverse a list in Python please?", model="m")
        assert served.outcome is Outcome.SEMANTIC
        assert run("feedback", served.entry_id, "--right").returncode == 0
        await cache.catch_up()
        [label] = await cache.components.store.labels(0)
        assert (label.source.value, label.correct) == ("feedback", True)


async def test_stats_count_requests_without_a_server(run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    found = json.loads(run("stats", "--json").stdout)
    assert found["total"]["entries"] == 2
    assert found["total"]["exact"] == 2
    assert found["total"]["hit_rate"] == 0.5
    shown = run("stats").stdout
    assert "50.0%" in shown
    assert "neither entries" not in shown
    promised = found["categories"]["default"]
    assert (promised["strategy"], promised["state"], promised["target"]) == ("certified", "provisional", 0.01)
    unreachable = run("stats", "--url", "http://127.0.0.1:9")
    assert unreachable.returncode == 1
    assert unreachable.stderr.startswith("error: http://127.0.0.1:9/semcache/stats")


async def test_a_command_judges_nothing_that_a_server_owes(
    fill: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill({**PROMPTS, "How do I reverse a list in Python now?": "Use reversed()."})
    settings = Settings.load({"data": tmp_path / "data", "embedder": "hashing"}, {}, None)
    async with store_of(settings) as store:
        one, two, *_ = await store.select(Selector(everything=True))
        known = await store.labels(0)
        await store.enqueue([Judgement(0, two.id, replace(audit(correct=True), entry_id=one.id))])
    monkeypatch.setattr(learner, "_IDLE", 0.0)
    async with cache_of(settings, time.time):
        await asyncio.sleep(0.3)
    async with store_of(settings) as store:
        assert len(await store.claim(9, now=time.time() + 1e6, lease=1.0)) == 1
        assert await store.labels(0) == known


@pytest.mark.parametrize("body", [b"[]", b'{"categories": {}}', b"null", b"Welcome!"])
def test_stats_of_what_is_no_semcache_server_are_an_error(run: Run, body: bytes) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{other.server_port}"
        done = run("stats", "--url", url)
        other.shutdown()
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {url}/semcache/stats ")
    assert done.stderr.count("\n") == 1


async def test_stats_learn_from_the_labels_that_a_server_learns_from(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    pack = tmp_path / "plain.yaml"
    pack.write_text("name: plain\ndefaults: {strategy: per-category}\n")
    worded = replace(audit(correct=True), features=features_of(Edit.FILLER))
    report = replace(audit(correct=False), source=LabelSource.FEEDBACK, chance=0.0)
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), policies=str(pack), embedder="hashing") as cache:
        labels = [audit(correct=True), worded, report, withdrawal(report, at=9.0)]
        await cache.components.learner.log.append(labels)
        await cache.components.learner.log.relearn()
        here = cache.components.strategy.standing("default")
    async with store_of(Settings.load({"data": tmp_path / "data"}, {}, None)) as store:
        # Of a worker that was killed, in no saved state.
        await store.label([worded, withdrawal(report, at=9.0)])
    done = run("stats", "--json")
    assert done.returncode == 0, done.stderr
    known = json.loads(done.stdout)["categories"]["default"]
    assert (known["labels"], known["audits"]) == (here.labels, here.audits) == (1, 1)


async def test_stats_show_what_audits_have_shown_even_of_labels_after_the_saved_state(
    run: Run, fill: Fill, tmp_path: Path
) -> None:
    await fill(PROMPTS)
    where = {"policies": str(tmp_path / "plain.yaml"), "embedder": "hashing"}
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), **where) as cache:
        await cache.components.store.label([audit(correct=number > 0) for number in range(10)])
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), **where) as cache:
        # Taken in and saved when it closes; these ten are not.
        cache.components.strategy.note("default", 1.0, served=True, audited=False)
    async with store_of(Settings.load({"data": tmp_path / "data"}, {}, None)) as store:
        await store.label([audit(correct=True) for _ in range(10)])
    known = json.loads(run("stats", "--json").stdout)["categories"]["default"]
    assert (known["labels"], known["audits"], known["wrong"]) == (20, 20, 1)
    assert known["error_per_hit"]["low"] < 0.05 < known["error_per_hit"]["high"]
    shown = run("stats").stdout
    assert "1% per hit" in shown
    assert "5% (" in shown
    assert "calibrated on shipped data" in shown
    assert max(len(line) for line in shown.splitlines()) <= 120


async def test_stats_list_what_has_traffic_and_do_not_round_a_first_saving_away(run: Run, tmp_path: Path) -> None:
    plain = str(tmp_path / "plain.yaml")
    message = {"role": "assistant", "content": "A monoid, they say."}
    answer = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30},
    }
    async with await AsyncSemanticCache.open(str(tmp_path / "data"), policies=plain, embedder="hashing") as cache:
        for _ in range(2):
            found = await cache.lookup("What is a monad?", model="gpt-4o-mini")
            if found.answer is None:
                await cache.record(found, answer)
    shown = run("stats", "--policies", "default").stdout
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == ["default", "total", "neither"]
    assert "neither entries nor requests: chat, code, facts" in shown
    assert shown.count("chat") == 1
    assert re.search(r"total .* 0\.000013\b", shown)


def audit(*, correct: bool) -> Label:
    values = (0.0,) * len(features.NAMES)
    return Label(1.0, "default", "default", 1, 1, b"x" * 32, 0.95, values, 0.99, correct, LabelSource.AUDIT, True, 0.1)


async def test_a_report_and_a_purge_are_taken_back_from_the_command_line(run: Run, fill: Fill) -> None:
    [first, _] = await fill(PROMPTS)
    assert "no action is recorded" in run("actions").stderr
    assert run("feedback", first, "--withdraw").returncode == 1
    assert run("feedback", first, "--wrong").returncode == 0
    assert run("get", first).returncode == 1
    assert "the entry is back" in run("feedback", first, "--withdraw").stderr
    assert run("get", first).returncode == 0
    undo = json.loads(run("purge", "--all", "--yes", "--json").stdout)["undo"]
    assert undo in run("undo").stdout
    assert json.loads(run("undo", undo, "--json").stdout)["count"] == 2
    assert run("undo", undo).returncode == 1
    told = json.loads(run("actions", "--json").stdout)
    assert [one["action"] for one in told] == ["undo", "purge", "withdraw", "report"]
    assert run("purge", "--all", "--yes", "--forever").returncode == 0
    assert "nothing was deleted" in run("undo").stderr


async def test_why_and_explain_say_it_on_the_command_line(run: Run, fill: Fill, tmp_path: Path) -> None:
    await fill(PROMPTS)
    listed = json.loads(run("requests", "--json").stdout)
    assert {one["outcome"] for one in listed} <= {"miss", "semantic"}
    shown = run("why", listed[-1]["id"])
    assert shown.returncode == 0, shown.stderr
    assert listed[-1]["why"] in shown.stdout
    assert run("why", "req_none").returncode == 1
    before = run("stats", "--json").stdout
    told = json.loads(run("explain", "Something that nobody has ever asked", "--model", "m", "--json").stdout)
    assert told["outcome"] == "miss"
    assert run("stats", "--json").stdout == before
    verified = tmp_path / "verified.yaml"
    verified.write_text("categories:\n  default: {verify: verifier}\n")
    doubtful = ("explain", "In Python, how is a list reversed?", "--model", "m", "--policies", verified, "--json")
    asked = json.loads(run(*doubtful).stdout)
    assert "the verifier 'verifier' would be asked" in asked["meaning"]
    assert asked["remedy"] == "", "it ships, and the server asks it"
    nobody = json.loads(run(*doubtful, env={"SEMCACHE_VERIFIER__KIND": "off"}).stdout)
    assert "Set that verifier up" in nobody["remedy"]
    far = "Which piece of code turns the order of all elements of an array around, in JavaScript or TypeScript?"
    assert "vetoes, but the verifier may overrule it: " in run("explain", far, "--model", "m").stdout
    assert "did you mean miss" in run("requests", "--outcome", "mis").stderr
    rows = json.loads(run("stats", "--by", "tenant", "--json").stdout)
    assert rows[-1]["tenant"] == "total"
    assert run("stats", "--by", "tenent").returncode == 2


@pytest.mark.parametrize("option", ["--scope", "--tag", "--category", "--model", "--source"])
def test_an_option_that_is_empty_widens_no_purge(run: Run, option: str) -> None:
    tried = run("purge", option, "", "--older-than", "1d", "--yes")
    assert tried.returncode == 2
    assert f"{option} is empty" in tried.stderr


@pytest.mark.parametrize(("scope", "part"), [("/alice", "tenant"), ("acme/", "user"), ("acme//notes", "user")])
def test_a_part_of_a_scope_that_is_empty_widens_no_purge(run: Run, scope: str, part: str) -> None:
    tried = run("purge", "--scope", scope, "--yes")
    assert tried.returncode == 2
    assert f"has an empty {part}" in tried.stderr


def test_a_star_in_a_scope_stands_for_any() -> None:
    assert scope_parts("*/alice") == (None, "alice", None)
    assert scope_parts("acme/*/a%2Fb") == ("acme", None, "a/b")
    assert scope_parts("%2A") == ("*", None, None)
    assert scope_parts(None) == (None, None, None)


async def test_explaining_with_another_embedder_leaves_the_snapshot_of_the_index(
    run: Run, fill: Fill, tmp_path: Path
) -> None:
    await fill(PROMPTS)

    def snapshot() -> dict[str, bytes]:
        files = sorted((tmp_path / "data" / "index").rglob("*"))
        return {str(file): file.read_bytes() for file in files if file.is_file()}

    before = snapshot()
    assert any(before.values())
    assert run("explain", "What is a monad?", "--model", "m", "--embedder", "hashing:64").returncode == 0
    assert run("explain", "What is a monad?", "--model", "m").returncode == 0
    assert snapshot() == before
