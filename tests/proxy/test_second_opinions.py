"""An audit that the judge leaves undecided is put to the language model that gives verdicts, within their budget."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.models.language_model import CREDENTIALS
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.types.evidence import LabelSource
from tests.components import replace_strategy
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, running
from tests.proxy.strategies import Scripted
from tests.waiting import soon

PROMPT = "How long do I have to send something back?"
PARAPHRASE = "How long do I have to send something back please?"
PACK = """
name: test
defaults:
  wording: off
  threshold: 0.8
  audit: 1.0
  verdicts: {mode}
"""
ANSWERS = ["You have 14 days to send it back.", "You have 30 days to send it back."]


def is_comparison(out: Outbound) -> bool:
    return b"fresh_answer" in (out.body or b"")


class Model(Upstream):
    """Answers requests with these texts in turn, and comparisons with a word."""

    def __init__(self, word: str = "no") -> None:
        left = list(ANSWERS)
        super().__init__(lambda out: Answer([completion(word if is_comparison(out) else left.pop(0))]))

    @property
    def compared(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(one.body) for one in self.calls if is_comparison(one)]


@asynccontextmanager
async def audited(
    upstream: Upstream, folder: Path, *, mode: str = "after", paid: float = 1000.0, **settings: Any
) -> AsyncIterator[Proxy]:
    """A proxy that has served one hit, whose audit is being judged; the upstream was `paid` before."""
    pack = PACK.format(mode=mode)
    async with running(upstream, folder, pack=pack, verdicts__mode="after", **settings) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        proxy.cache.components.judged.asked.cap.paid(paid)
        await Call(proxy, ask(PROMPT)).reply()
        hit = await Call(proxy, ask(PARAPHRASE)).reply()
        assert hit.cache["detail"] == "semantic"
        await soon(proxy.context.follow_ups.background.settle())
        await proxy.cache.settle()
        yield proxy


async def labels(proxy: Proxy) -> list[tuple[LabelSource, bool]]:
    return [(one.source, one.correct) for one in await proxy.cache.components.store.labels(0)]


@pytest.mark.parametrize(("word", "right"), [("no", False), ("yes", True)])
async def test_the_model_decides_what_the_judge_cannot_tell(tmp_path: Path, word: str, right: bool) -> None:
    upstream = Model(word)
    async with audited(upstream, tmp_path) as proxy:
        assert await labels(proxy) == [(LabelSource.AUDIT, right)]
        [body] = upstream.compared
        shown = msgspec.json.decode(body["messages"][1]["content"])
        spent = (await proxy.cache.stats())["asking"]
    assert body["model"] == "m"
    assert [shown["question"], shown["cached_question"]] == [PARAPHRASE, PROMPT]
    assert [shown["cached_answer"], shown["fresh_answer"]] == ANSWERS
    assert (spent["asked"], spent["audits"]) == (1, 1)
    assert spent["asking"] > 0.0


@pytest.mark.parametrize("word", ["unsure", "no idea"])
async def test_what_the_model_cannot_tell_either_stays_undecided(tmp_path: Path, word: str) -> None:
    upstream = Model(word)
    async with audited(upstream, tmp_path) as proxy:
        assert [source for source, _ in await labels(proxy)] == [LabelSource.UNDECIDED]
    assert len(upstream.compared) == 1


async def test_a_model_that_fails_leaves_the_audit_undecided(tmp_path: Path) -> None:
    class Failing(Model):
        async def send(self, out: Outbound) -> Any:
            if is_comparison(out):
                raise ConnectionError("gone")
            return await super().send(out)

    async with audited(Failing(), tmp_path) as proxy:
        assert [source for source, _ in await labels(proxy)] == [LabelSource.UNDECIDED]
        assert (await proxy.cache.stats())["asking"]["asked"] == 0


@pytest.mark.parametrize(
    "terms",
    [
        {"mode": "off"},
        {"paid": 0.0},
        {"verdicts__opted_out": "default"},
        {"verdicts__budget": 0.0},
    ],
)
async def test_nobody_is_asked_where_no_verdicts_are_wanted_or_nothing_is_left_for_them(
    tmp_path: Path, terms: dict[str, Any]
) -> None:
    upstream = Model()
    async with audited(upstream, tmp_path, **terms) as proxy:
        assert [source for source, _ in await labels(proxy)] == [LabelSource.UNDECIDED]
    assert upstream.compared == []


async def test_what_only_a_callers_key_could_ask_is_not_asked(tmp_path: Path) -> None:
    upstream = Model()
    token = CREDENTIALS.set((("authorization", "Bearer sk-caller"),))
    try:
        async with audited(upstream, tmp_path) as proxy:
            assert [source for source, _ in await labels(proxy)] == [LabelSource.UNDECIDED]
    finally:
        CREDENTIALS.reset(token)
    assert upstream.compared == []
