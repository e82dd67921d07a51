"""When a language model is asked about a doubt: before a forward, beside it, or after it; and what it may not touch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.models.verifiers import verifiers_for_library
from semcache.proxy.application import Proxy
from semcache.types.evidence import LabelSource
from tests.components import replace_strategy, replace_verifiers
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running
from tests.proxy.strategies import Scripted
from tests.proxy.test_grey_zone import PARAPHRASE, PROMPT, Judge, said
from tests.waiting import until

PACK = """
name: test
defaults:
  wording: off
  threshold: 0.9999
  verdicts: {mode}
  audit: {audit}
"""


def held_back(gates: dict[bytes, asyncio.Event]) -> Upstream:
    """An upstream that answers a body that holds one of these texts once its gate is open."""

    def answer(out: Any) -> Answer:
        gate = next((gate for text, gate in gates.items() if text in out.body), None)
        pieces: list[Any] = [completion(f"Answer {len(upstream.calls)}.")]
        return Answer(pieces if gate is None else [gate, *pieces])

    upstream = Upstream(answer)
    return upstream


@asynccontextmanager
async def asking(
    upstream: Upstream, judge: Judge, folder: Path, mode: str, *, audit: float = 0.0, **settings: Any
) -> AsyncIterator[Proxy]:
    async with running(upstream, folder, pack=PACK.format(mode=mode, audit=audit), **settings) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        cache = proxy.cache
        replace_verifiers(cache, verifiers_for_library(judge, cache.pack, None, cache.entry, meter=cache.meter))
        yield proxy


async def labels(proxy: Proxy) -> list[LabelSource]:
    await proxy.cache.settle()
    return [label.source for label in await proxy.cache.components.store.labels(0)]


async def test_after_a_forward_a_yes_is_remembered_and_serves_when_its_own_answer_is_gone(tmp_path: Path) -> None:
    judge, upstream = Judge(1.0), held_back({})
    async with asking(upstream, judge, tmp_path, "after", verdicts__budget=1.0) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        # Enough was spent upstream that a word may be had.
        proxy.cache.components.judged.asked.cap.paid(1.0)
        first = await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
        assert (said(first), first.cache["detail"]) == ("Answer 2.", "uncertain")
        assert LabelSource.VERDICT in await labels(proxy)
        again = await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
    assert (said(again), again.cache["detail"]) == ("Answer 1.", "judged")
    assert judge.asked == [(PARAPHRASE, PROMPT, "Answer 1.")]
    assert len(upstream.calls) == 2


async def test_after_a_forward_a_sure_no_is_a_known_difference(tmp_path: Path) -> None:
    async with asking(held_back({}), Judge(0.01), tmp_path, "after", verdicts__budget=1.0) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        proxy.cache.components.judged.asked.cap.paid(1.0)
        await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
        await proxy.cache.settle()
        again = await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
    assert again.cache["detail"] == "rejected-before"


async def test_asking_after_a_forward_stays_within_its_budget(tmp_path: Path) -> None:
    judge = Judge(1.0)
    async with asking(held_back({}), judge, tmp_path, "after") as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            await Call(proxy, ask(prompt)).reply()
        await proxy.cache.settle()
        spent = (await proxy.cache.stats())["asking"]
    assert judge.asked == []
    assert (spent["budget"], spent["asked"], spent["over_budget"]) == (0.02, 0, 1)


@pytest.mark.parametrize(("believed", "asks"), [(0.02, False), (0.5, True)])
async def test_of_a_model_that_is_not_believed_words_are_had_where_they_could_serve_if_it_were(
    tmp_path: Path, believed: float, asks: bool
) -> None:
    judge = Judge(1.0)
    async with asking(held_back({}), judge, tmp_path, "after", verdicts__budget=1.0) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack, believed=believed))
        judged = proxy.cache.components.judged
        judged._draw = lambda: 0.1
        judged.asked.cap.paid(1.0)
        for number in range(40):
            judged.tier.differ(b"vetoed", number, 1.0)
        for prompt in (PROMPT, PARAPHRASE):
            await Call(proxy, ask(prompt)).reply()
        await proxy.cache.settle()
    assert bool(judge.asked) is asks


async def test_what_is_known_of_a_verdict_survives_a_restart(tmp_path: Path) -> None:
    for number in range(2):
        judge = Judge(1.0)
        kept = f"sqlite:///{tmp_path / 'kept.db'}"
        async with asking(held_back({}), judge, tmp_path, "first", store__url=kept) as proxy:
            if not number:
                await Call(proxy, ask(PROMPT)).reply()
            reply = await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
            await proxy.cache.settle()
        assert reply.cache["detail"] == "judged"
        assert len(judge.asked) == 1 - number


OTHERWISE = "Which steps reset the password of a router?"


class Choosing(Judge):
    """Says yes about these cached prompts alone, and to others a no that is not sure."""

    def __init__(self, *agreed: str) -> None:
        super().__init__()
        self.agreed = agreed

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        await super().same(query, cached_query, cached_answer)
        return 0.99 if query == PARAPHRASE and cached_query in self.agreed else 0.3


@pytest.mark.parametrize(("agreed", "answer"), [(OTHERWISE, "Answer 2."), ("nothing", "Answer 3.")])
async def test_first_a_no_is_followed_by_one_word_about_the_next_neighbour_with_another_answer(
    tmp_path: Path, agreed: str, answer: str
) -> None:
    judge = Choosing(agreed)
    async with asking(held_back({}), judge, tmp_path, "first") as proxy:
        for prompt in (PROMPT, OTHERWISE):
            await Call(proxy, ask(prompt)).reply()
        judge.asked.clear()
        reply = await Call(proxy, ask(PARAPHRASE)).reply()
    assert said(reply) == answer
    assert [cached for _, cached, _ in judge.asked] == [PROMPT, OTHERWISE]


@pytest.mark.parametrize(("believed", "words"), [(0.3, 2), (0.2, 1)])
async def test_first_no_second_word_is_had_about_a_neighbour_that_is_hardly_right(
    tmp_path: Path, believed: float, words: int
) -> None:
    judge = Choosing("nothing")
    async with asking(held_back({}), judge, tmp_path, "first") as proxy:
        for prompt in (PROMPT, OTHERWISE):
            await Call(proxy, ask(prompt)).reply()
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack, believed=believed))
        judge.asked.clear()
        assert said(await Call(proxy, ask(PARAPHRASE)).reply()) == "Answer 3."
    assert len(judge.asked) == words


async def test_hedged_a_yes_replaces_the_reply_and_calls_the_forward_off(tmp_path: Path) -> None:
    gate, judge = asyncio.Event(), Judge(1.0)
    upstream = held_back({b"please": gate})
    async with asking(upstream, judge, tmp_path, "hedged") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        reply = await Call(proxy, ask(PARAPHRASE)).reply()
        assert (said(reply), reply.cache["detail"]) == ("Answer 1.", "judged")
        assert len(upstream.calls) == 2, "it was forwarded beside the question"
        await until(lambda: upstream.replies[1].closed)
        assert not upstream.replies[1].finished
        stats = await proxy.cache.stats()
    assert (stats["asking"]["called_off"], stats["total"]["semantic"]) == (1, 1)


async def test_hedged_a_call_that_another_follows_is_charged_to_the_request_that_started_it(tmp_path: Path) -> None:
    gate, judge = asyncio.Event(), Judge(1.0)
    upstream = held_back({b"please": gate})
    async with asking(upstream, judge, tmp_path, "hedged", limits__tokens=13) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        judge.gate.clear()
        # Of two that come at once, either may be the first to have its prompt embedded, and so the one that starts.
        leader = Call(proxy, ask(PARAPHRASE))
        await until(lambda: len(upstream.calls) == 2 and judge.asked)
        follower = Call(proxy, ask(PARAPHRASE))
        flights = proxy.context.forwarder._flights._by_exact
        await until(lambda: [flight.subscribers for flight in flights.values()] == [2])
        judge.gate.set()
        assert said(await leader.reply()) == "Answer 1."
        gate.set()
        assert said(await follower.reply()) == "Answer 2."
        assert len(upstream.calls) == 2
        assert (await Call(proxy, ask("Who wrote Dracula?")).reply()).status == 429


async def test_hedged_a_word_that_comes_late_costs_no_time_and_counts_as_after(tmp_path: Path) -> None:
    judge, upstream = Judge(1.0), held_back({})
    async with asking(upstream, judge, tmp_path, "hedged") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        judge.gate.clear()
        first = await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()
        assert said(first) == "Answer 2.", "the upstream was sooner"
        judge.gate.set()
        assert LabelSource.VERDICT in await labels(proxy)
        tier = proxy.cache.components.judged.tier
        assert (tier.served, tier._probation._ventured) == (0, {}), "nobody was served on it"
        assert (await Call(proxy, ask(PARAPHRASE), cache_control="no-store").reply()).cache["detail"] == "judged"
        assert tier.served == 1
    assert len(judge.asked) == 1


async def test_hedged_a_no_and_a_failure_forward(tmp_path: Path) -> None:
    for word in (0.0, 7.0):
        async with asking(held_back({}), Judge(word), tmp_path, "hedged") as proxy:
            await Call(proxy, ask(PROMPT)).reply()
            assert said(await Call(proxy, ask(PARAPHRASE)).reply()) == "Answer 2."


async def test_hedged_what_was_drawn_for_an_audit_is_not_called_off(tmp_path: Path) -> None:
    gate, judge = asyncio.Event(), Judge(1.0)
    upstream = held_back({b"please": gate})
    async with asking(upstream, judge, tmp_path, "hedged", audit=1.0, cache__judge="exact") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        assert said(await Call(proxy, ask(PARAPHRASE)).reply()) == "Answer 1."
        assert not upstream.replies[1].closed
        gate.set()
        await until(lambda: upstream.replies[1].finished)
        found = await labels(proxy)
        stats = await proxy.cache.stats()
    assert len(upstream.calls) == 2, "the call that was made is the audit"
    assert found.count(LabelSource.AUDIT) == 1
    assert LabelSource.MISS not in found
    assert stats["judged"]["default"].audits == 1
    assert stats["categories"]["default"]["audits"] == 0, "hits by meaning were not audited"


async def test_hedged_a_stream_is_replaced_before_its_first_token_alone(tmp_path: Path) -> None:
    gate, judge = asyncio.Event(), Judge(1.0)
    upstream = held_back({b"please": gate})
    async with asking(upstream, judge, tmp_path, "hedged") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        reply = await Call(proxy, ask(PARAPHRASE, stream=True)).reply()
        assert b"Answer 1." in reply.body
        assert b"[DONE]" in reply.body
        await until(lambda: upstream.replies[1].closed)


@pytest.mark.parametrize(
    "effects",
    [
        {"tools": [{"type": "function", "function": {"name": "send", "parameters": {}}}]},
        {"store": True},
        {"background": True},
    ],
    ids=str,
)
async def test_requests_with_effects_upstream_are_never_hedged(tmp_path: Path, effects: dict[str, Any]) -> None:
    judge, upstream = Judge(1.0), held_back({})
    async with asking(upstream, judge, tmp_path, "hedged") as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            reply = await Call(proxy, ask(prompt, **effects)).reply()
            assert reply.status == 200
        assert (await proxy.cache.stats())["asking"]["called_off"] == 0
    assert len(upstream.calls) == 2
    assert all(reply.finished for reply in upstream.replies)


async def test_a_header_chooses_and_a_tenant_may_opt_out(tmp_path: Path) -> None:
    judge = Judge(1.0)
    async with asking(held_back({}), judge, tmp_path, "first") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        off = await Call(proxy, ask(PARAPHRASE), x_semcache_verdicts="off", cache_control="no-store").reply()
        assert off.cache["detail"] == "uncertain"
        assert judge.asked == []
        wrong = await Call(proxy, ask(PARAPHRASE), x_semcache_verdicts="often").reply()
        assert wrong.status == 400
        assert (await Call(proxy, ask(PARAPHRASE)).reply()).cache["detail"] == "judged"
    async with asking(held_back({}), judge, tmp_path, "first", verdicts__opted_out="def*") as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        assert (await Call(proxy, ask(PARAPHRASE)).reply()).cache["detail"] == "uncertain"
    assert len(judge.asked) == 1


@pytest.mark.parametrize("lends", [True, False])
async def test_a_callers_key_pays_for_its_own_doubts_where_the_operator_says_so(tmp_path: Path, lends: bool) -> None:
    upstream = Upstream(lambda out: Answer([completion("yes" if b"You check" in out.body else "An answer.")]))
    chosen = {"verdicts__callers_key": lends, "verdicts__mode": "first"}
    async with running(upstream, tmp_path, pack=PACK.format(mode="first", audit=0), **chosen) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        await Call(proxy, ask(PROMPT), authorization="Bearer one").reply()
        reply = await Call(proxy, ask(PARAPHRASE), authorization="Bearer two").reply()
    assert reply.cache["detail"] == "judged"
    [asked] = [call for call in upstream.calls if b"You check" in call.body]
    assert dict(asked.headers).get("authorization") == ("Bearer two" if lends else None)
    assert msgspec.json.decode(asked.body)["model"] == "m", "the model that the request names"


async def test_without_a_key_of_its_own_a_server_asks_nobody_by_default(tmp_path: Path) -> None:
    upstream = held_back({})
    async with running(upstream, tmp_path, pack=PACK.format(mode="hedged", audit=0)) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        await Call(proxy, ask(PROMPT)).reply()
        assert (await Call(proxy, ask(PARAPHRASE)).reply()).cache["detail"] == "uncertain"
        assert proxy.cache.lacking_verifiers() == ["default"]
        assert (await proxy.cache.stats())["asking"]["mode"] == "off"
    assert len(upstream.calls) == 2


@pytest.mark.parametrize(
    ("revalidate", "floor", "seconds", "wish"),
    [("0s", 0.9999, 10_000.0, None), ("0s", 0.9999, 100.0, "max-age=60"), ("1d", 0.3, 10_000.0, None)],
)
async def test_nobody_is_asked_about_an_answer_that_is_too_old(
    tmp_path: Path, revalidate: str, floor: float, seconds: float, wish: str | None
) -> None:
    now, judge = [1_000_000.0], Judge(1.0)
    pack = PACK.format(mode="first", audit=0.0) + f"  ttl: 1h\n  revalidate: {revalidate}\n"
    async with running(held_back({}), tmp_path, pack=pack, clock=lambda: now[0]) as proxy:
        # What lies below the floor is found by the wider search.
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack, doubt=floor))
        cache = proxy.cache
        replace_verifiers(cache, verifiers_for_library(judge, cache.pack, None, cache.entry, meter=cache.meter))
        await Call(proxy, ask(PROMPT)).reply()
        now[0] += seconds
        reply = await Call(proxy, ask(PARAPHRASE), **({"cache_control": wish} if wish else {})).reply()
    assert (said(reply), judge.asked) == ("Answer 2.", [])


async def test_words_count_among_the_dollars_of_a_key_and_are_not_had_once_those_are_spent(tmp_path: Path) -> None:
    # Served hits would otherwise spend what the operator has limited, without an end.
    judge, prices = Judge(1.0), tmp_path / "prices.yaml"
    prices.write_text("m: [100, 100]\n")
    limits = {"limits__dollars": 0.05, "prices": str(prices), "verdicts__budget": 1.0}
    async with asking(held_back({}), judge, tmp_path, "first", **limits) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        proxy.cache.components.judged.asked.cap.paid(1.0)
        served = await Call(proxy, ask(PARAPHRASE)).reply()
        assert (said(served), served.cache["detail"]) == ("Answer 1.", "judged")
        assert len(judge.asked) == 1
        refused = await Call(proxy, ask(PARAPHRASE + " Please.")).reply()
        assert (refused.status, len(judge.asked)) == (429, 1)
        assert (await Call(proxy, ask(PROMPT)).reply()).status == 200, "what costs nothing is served"
        again = await Call(proxy, ask(PARAPHRASE)).reply()
        assert (again.status, again.cache.get("detail"), len(judge.asked)) == (200, "judged", 1), "it is remembered"
