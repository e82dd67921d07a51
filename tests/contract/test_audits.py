"""Audits and verification between real processes: what the official client sees, and what happens behind its back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest

from semcache.models.language_model import question_texts
from tests.contract.services import Service, echo, started
from tests.proxy.driver import cache_status
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
Start = Callable[..., "Corner"]


class Corner:
    """A proxy, what it forwards to, and a client of it."""

    def __init__(self, proxy: Service, upstream: Service) -> None:
        self.proxy, self.upstream = proxy, upstream
        self._client = openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="theirs", max_retries=0, timeout=PATIENCE)

    def ask(self, prompt: str, *, apart: str = "") -> tuple[str, dict[str, Any]]:
        """The answer, and what `Cache-Status` says."""
        messages: Any = [{"role": "user", "content": prompt}]
        headers = {"x-semcache-namespace": apart}
        create = self._client.chat.completions.with_raw_response.create
        reply = create(model="m", messages=messages, extra_headers=headers)
        return reply.parse().choices[0].message.content or "", cache_status(reply.headers["cache-status"])

    def calls(self) -> int:
        return int(self.upstream.get("/echo/stats").json()["paths"].get("/v1/chat/completions", 0))

    def counted(self, name: str) -> dict[str, float]:
        """A counter by its label `result`."""
        lines = [line for line in self.proxy.get("/metrics").text.splitlines() if line.startswith(name + "{")]
        return {line.split('result="')[1].split('"')[0]: float(line.rpartition(" ")[2]) for line in lines}

    def false_hits(self) -> float:
        """All wrong answers that were found."""
        lines = self.proxy.get("/metrics").text.splitlines()
        return sum(float(one.rpartition(" ")[2]) for one in lines if one.startswith("semcache_false_hits_total{"))

    def audited(self, result: str, times: int = 1) -> None:
        eventually(lambda: self.counted("semcache_audits_total").get(result, 0) >= times)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a proxy whose pack and upstream the test chooses."""
    with ExitStack() as stack:

        def go(answers: dict[str, str], pack: dict[str, Any], **environment: str) -> Corner:
            (tmp_path / "answers.json").write_text(json.dumps(answers))
            (tmp_path / "pack.yaml").write_text(json.dumps({"name": "test", "defaults": {"wording": [], **pack}}))
            upstream = stack.enter_context(echo("--answers", str(tmp_path / "answers.json")))
            # JSON is YAML.
            options = ("--upstream", upstream.url, "--port", "0", "--data", str(tmp_path / "data"))
            command = ("tests.contract.scripted", "serve", *options, "--policies", str(tmp_path / "pack.yaml"))
            ready = r"ready on (http://\S+)/v1"
            environment = {"SEMCACHE_CACHE__JUDGE": "exact", **environment}
            proxy = stack.enter_context(started(*command, "--embedder", "hashing", ready=ready, **environment))
            return Corner(proxy, upstream)

        yield go


AUDITED = {"threshold": 0.8, "audit": 1.0}


def test_a_wrong_answer_is_found_by_an_audit_and_not_served_again_to_that_prompt(start: Start) -> None:
    corner = start({PROMPT: "Press the pin.", PARAPHRASE: "Call us."}, AUDITED)
    corner.ask(PROMPT)
    served, status = corner.ask(PARAPHRASE)
    assert (served, status["hit"], status["detail"]) == ("Press the pin.", True, "semantic")
    corner.audited("done")
    for _ in range(3):
        assert corner.ask(PARAPHRASE)[0] == "Call us."
    assert corner.ask(PROMPT)[0] == "Press the pin.", "it is still right for its own prompt"
    assert corner.false_hits() >= 1


def test_a_right_answer_stays_and_the_client_sees_nothing_of_audits(start: Start) -> None:
    corner = start({PROMPT: "Press the pin.", PARAPHRASE: "Press the pin."}, AUDITED)
    corner.ask(PROMPT)
    first = corner.ask(PARAPHRASE)
    corner.audited("done")
    assert corner.calls() == 2, "the audit was one call"
    after = corner.ask(PARAPHRASE)
    assert first[0] == after[0] == "Press the pin."
    assert first[1]["hit"] is after[1]["hit"] is True
    credentials = [
        dict(call["headers"])["authorization"] for call in corner.upstream.get("/echo/stats").json()["newest"]
    ]
    assert credentials == ["Bearer theirs"] * len(credentials)
    assert corner.false_hits() == 0


def test_a_backend_that_is_down_during_an_audit_harms_nothing(start: Start) -> None:
    corner = start({PROMPT: "Press the pin."}, AUDITED)
    corner.ask(PROMPT)
    corner.upstream.kill()
    assert corner.ask(PARAPHRASE)[0] == "Press the pin."
    corner.audited("failed")
    assert corner.ask(PARAPHRASE)[0] == "Press the pin."
    assert corner.proxy.get("/readyz").json()["status"] == "ok"
    corner.proxy.stop()
    assert corner.proxy.process.returncode == 0
    assert b"Traceback" not in corner.proxy.log.read_bytes()


def test_audits_are_spent_and_not_saved(start: Start) -> None:
    corner = start({}, AUDITED)
    corner.ask(PROMPT)
    bought = corner.proxy.get("/semcache/stats").json()["total"]
    corner.ask(PARAPHRASE)
    corner.audited("done")
    total = corner.proxy.get("/semcache/stats").json()["total"]
    assert total["requests"] - bought["requests"] == total["semantic"] == 1
    assert total["saved_tokens"] == 0


# The grey zone

THINGS = ("router", "camera", "doorbell", "thermostat", "printer", "radio")


def asked_of(thing: str) -> tuple[str, str]:
    return PROMPT.replace("router", thing), PARAPHRASE.replace("router", thing)


@pytest.fixture
def doubting(start: Start, tmp_path: Path) -> Iterator[Callable[..., tuple[Corner, Service]]]:
    """A proxy that doubts every paraphrase, and a scripted judge that is asked."""
    with ExitStack() as stack:

        def go(verdicts: dict[str, str], model: str = "judge", **environment: str) -> tuple[Corner, Service]:
            prompts = [asked_of(thing) for thing in THINGS]
            answers = {text: f"Answer to {text}" for pair in prompts for text in pair}
            told = {
                json.dumps(question_texts(paraphrase, prompt, answers[prompt]), separators=(",", ":")): verdicts.get(
                    thing, "no"
                )
                for thing, (prompt, paraphrase) in zip(THINGS, prompts, strict=True)
            }
            (tmp_path / "verdicts.json").write_text(json.dumps(told))
            judge = stack.enter_context(echo("--answers", str(tmp_path / "verdicts.json")))
            chosen = {"KIND": "llm", "URL": judge.url, "MODEL": model, "API_KEY": "judges-key", **environment}
            variables = {f"SEMCACHE_VERIFIER__{name}": value for name, value in chosen.items()}
            corner = start(answers, {"threshold": 0.9999, "verify": "llm", "audit": 0.0, "target": 0.1}, **variables)
            return corner, judge

        yield go


def test_the_path_serves_all_that_the_judge_allows_and_nothing_else(
    doubting: Callable[..., tuple[Corner, Service]],
) -> None:
    allowed = set(THINGS[::2])
    corner, judge = doubting(dict.fromkeys(allowed, "yes"))
    for thing in THINGS:
        prompt, paraphrase = asked_of(thing)
        # A namespace each: no other thing is near.
        own, _ = corner.ask(prompt, apart=thing)
        got, status = corner.ask(paraphrase, apart=thing)
        if thing in allowed:
            assert (got, status["hit"], status["detail"]) == (own, True, "judged")
        else:
            assert got == f"Answer to {paraphrase}"
            assert (status["fwd"], status["stored"], status["detail"]) == ("miss", True, "verify-failed")
    assert corner.counted("semcache_verifications_total") == {"yes": 3, "no": 3}
    seen = judge.get("/echo/stats").json()["newest"]
    assert len(seen) == len(THINGS)
    assert {dict(call["headers"])["authorization"] for call in seen} == {"Bearer judges-key"}


@pytest.mark.parametrize("model", ["hang", "fail-500", "malformed", "die-midstream"])
def test_a_judge_that_fails_or_is_late_means_a_miss(
    doubting: Callable[..., tuple[Corner, Service]], model: str
) -> None:
    corner, _ = doubting({"router": "yes"}, model, TIMEOUT="0.3")
    corner.ask(PROMPT)
    got, status = corner.ask(PARAPHRASE)
    assert got == f"Answer to {PARAPHRASE}"
    assert (status["fwd"], status["detail"]) == ("miss", "no-verdict")
    assert corner.ask(PARAPHRASE)[1]["detail"] == "exact", "its own answer was kept"


def test_a_judge_that_is_down_means_a_miss(doubting: Callable[..., tuple[Corner, Service]]) -> None:
    corner, judge = doubting({"router": "yes"})
    judge.kill()
    corner.ask(PROMPT)
    assert corner.ask(PARAPHRASE)[1]["detail"] == "no-verdict"
    assert corner.counted("semcache_verifications_total") == {"failed": 1}
