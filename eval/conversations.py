"""Follow-ups: what is served when only the last message is looked at, the conversation to the letter, or by meaning.

`python -m eval.conversations` runs the cache itself over TREC CAsT and Schema-Guided Dialogue and writes
`results/conversations.md` and `.json`. Knows what the right answer to each turn is; the cache is not told.
Invariant: every request is asked of every way of matching, in the same order, against the same entries.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.embedded import embedded
from semcache import AsyncSemanticCache
from semcache.matching.strategies import STRATEGIES
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.types import Outcome

DATA = Path(__file__).parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results"
WAYS = ("last", "exact", "semantic")
NAMES = {"last": "last message only", "exact": "`context: exact`", "semantic": "`context: semantic`"}
REPLY = "Here is what I know about that."  # to every CAsT turn, so that the answers give no conversation away
GREETING = ("Hello.", "Hello! What can I do for you?")  # before every last message that is looked at alone
INFORMATIVE = frozenset({"OFFER", "CONFIRM", "INFORM", "INFORM_COUNT", "NOTIFY_SUCCESS", "NOTIFY_FAILURE"})
HEAD = """# Follow-ups

Made by `python -m eval.conversations`; do not edit. Every conversation is asked of an empty cache, turn by turn, and
its answers are kept (*first time*). Then, with nothing kept any more, the follow-ups come again: *word for word*; with
their *history in other words* (earlier questions reworded by rule) or *spelled out* (by people, so that each question
stands alone); and in two kinds of traps: the *history of another* conversation before the same last message, and *one
detail changed*, a number or a name in an earlier question, to which no kept answer is right. *Last message only* puts
the same greeting before every message, so that it decides alone. The numbers are shares of the requests in brackets
that were answered rightly / wrongly from the cache.

In TREC CAsT an answer is right if the stand-alone rewriting of the question is the same; every question got the same
reply. In Schema-Guided Dialogue it is right if the system's next turn has the same words, which counts some harmless
answers as wrong; turns that are answered by a question or a farewell are left out."""
_WORDINGS = (
    (r"^what is\b", "What's"),
    (r"^what are\b", "Which are"),
    (r"^tell me\b", "Could you tell me"),
    (r"^how do (?=i\b|you\b)", "How can "),
    (r"^(?:can|could) you\b", "Would you"),
    (r"^i want\b", "I'd like"),
    (r"^i would like\b", "I'd like"),
    (r"^(?:i am|i'm) looking for\b", "I am searching for"),
    (r"^i need\b", "I require"),
    (r"^find\b", "Please find"),
    (r"^search\b", "Please search"),
)


@dataclass(frozen=True)
class Ask:
    """One request: earlier turns (user and assistant in turn), the last message, and the answer that is right."""

    earlier: tuple[str, ...]
    last: str
    answer: str
    spelled: tuple[str, ...] = ()  # the earlier turns with every question rewritten to stand alone, where that is known


@dataclass
class Tally:
    """Counts of requests: `right` and `wrong` count served answers."""

    asked: int = 0
    right: int = 0
    wrong: int = 0

    def line(self) -> dict[str, Any]:
        """As JSON has it: counts, and shares of all requests with their 95% Wilson intervals."""
        shares = {"right": _share(self.right, self.asked), "wrong": _share(self.wrong, self.asked)}
        return {"asked": self.asked, "served": self.right + self.wrong, **shares}


def cast() -> list[list[Ask]]:
    """TREC CAsT: the answer to a turn is named by its stand-alone rewriting."""
    talks: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in _rows("cast_conversations/turns.jsonl.gz"):
        talks.setdefault((row["year"], row["conversation"]), []).append(row)
    found = []
    for rows in talks.values():
        rows.sort(key=lambda row: int(row["turn"]))
        said: list[str] = []
        spelled: list[str] = []
        asks = []
        for row in rows:
            asks.append(Ask(tuple(said), row["raw"].strip(), _plain(row["resolved"]), tuple(spelled)))
            said += [row["raw"].strip(), REPLY]
            spelled += [row["resolved"].strip(), REPLY]
        found.append(asks)
    return found


def sgd(limit: int) -> list[list[Ask]]:
    """Schema-Guided Dialogue: user turns that get a telling answer, which is the system's next turn."""
    found = []
    for row in list(_rows("sgd_dialogues/dialogues.jsonl.gz"))[:limit]:
        turns = row["turns"]
        found.append(
            [
                Ask(
                    tuple(turn["text"] for turn in turns[:place]),
                    turns[place]["text"],
                    _plain(turns[place + 1]["text"]),
                )
                for place in range(0, len(turns) - 1, 2)
                if place and not INFORMATIVE.isdisjoint(turns[place + 1]["acts"])
            ]
        )
    return found


def reworded(ask: Ask) -> Ask:
    """The same conversation with every earlier question in other words."""
    return Ask(
        tuple(_reword(text) if place % 2 == 0 else text for place, text in enumerate(ask.earlier)), ask.last, ask.answer
    )


def elsewhere(ask: Ask, other: Sequence[Ask]) -> Ask | None:
    """The same last message after the beginning of another conversation: at most its own next answer is right there."""
    longest = other[-1].earlier if other else ()
    earlier = longest[: len(ask.earlier)]
    if len(longest) < len(ask.earlier) or earlier == ask.earlier:
        return None
    return Ask(earlier, ask.last, next((one.answer for one in other if one.earlier == earlier), ""))


def shifted(ask: Ask, names: Sequence[str], rng: random.Random) -> Ask | None:
    """The same conversation with one number or name in an earlier question exchanged: nothing that is kept is right."""
    places = [place for place in range(0, len(ask.earlier), 2) if _detail(ask.earlier[place])]
    if not places:
        return None
    place = rng.choice(places)
    detail = _detail(ask.earlier[place])
    other = str(int(detail) + 1) if detail.isdigit() else rng.choice([name for name in names if name != detail])
    earlier = list(ask.earlier)
    earlier[place] = re.sub(rf"\b{re.escape(detail)}\b", other, earlier[place])
    return Ask(tuple(earlier), ask.last, "")


class Known:
    """An embedder that knows the vectors of most texts already; parts of turns come anew."""

    def __init__(self, texts: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(texts))
        self._vectors = dict(zip(distinct, embedded(distinct), strict=True))
        self.id, self.dim, self.max_tokens = OnnxEmbedder(DEFAULT_MODEL).id, len(self._vectors[distinct[0]]), 256

    async def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, embedded(new), strict=True))
        return np.stack([self._vectors[text] for text in texts]) if texts else np.empty((0, self.dim), np.float32)

    async def close(self) -> None:
        return None


async def run(
    way: str, strategy: str, first: Sequence[Ask], again: dict[str, Sequence[Ask]], known: Known
) -> dict[str, Any]:
    """Ask `first` of an empty cache, keeping every answer, and then each list of `again`, keeping nothing."""
    with tempfile.TemporaryDirectory() as folder:
        pack = Path(folder) / "pack.yaml"
        pack.write_text(_pack(way, strategy))
        async with await AsyncSemanticCache.open(
            "memory://", policies=str(pack), embedder="hashing:384", seed=7
        ) as cache:
            cache.components.lookup._embedding._embedder = known
            found = {"first time": await _asked(cache, way, first, keep=True)}
            for name, asks in again.items():
                found[name] = await _asked(cache, way, asks, keep=False)
    return {name: tally.line() for name, tally in found.items()}


async def _asked(cache: AsyncSemanticCache, way: str, asks: Sequence[Ask], *, keep: bool) -> Tally:
    tally = Tally()
    for ask in asks:
        found = await cache.lookup(_messages(ask, way))
        tally.asked += 1
        if found.outcome in (Outcome.SEMANTIC, Outcome.EXACT) and found.answer is not None:
            tally.right += found.answer == ask.answer
            tally.wrong += found.answer != ask.answer
        elif keep:
            await cache.record(found, ask.answer)
    return tally


def _messages(ask: Ask, way: str) -> list[dict[str, str]]:
    earlier = GREETING if way == "last" else ask.earlier
    return [
        {"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate([*earlier, ask.last])
    ]


def _pack(way: str, strategy: str) -> str:
    name, _, threshold = strategy.partition(" ")
    lines = ["name: conversations", "min_margin: -1", "defaults:", f"  strategy: {name}", "  ttl: 30d"]
    lines += ["  live: true", "  personal: true", "  creative: true"]
    if name == "certified":
        lines.append("  verify: verifier")
    lines.append(f"  context: {'semantic' if way == 'semantic' else 'exact'}")
    if threshold:
        lines.append(f"  threshold: {threshold}")
    return "\n".join(lines) + "\n"


def _reword(text: str) -> str:
    if len(text.split()) < 4 or re.match(r"(?:yes|no|ok(?:ay)?|thanks?)\b", text.lower()):
        return text
    for pattern, other in _WORDINGS:
        changed = re.sub(pattern, other, text, count=1, flags=re.IGNORECASE)
        if changed != text:
            return changed
    body, end = text.rstrip(".?! "), text[len(text.rstrip(".?! ")) :].strip()
    return f"{body}, please{end or '.'}"


def _detail(text: str) -> str:
    """A number or a name in a text."""
    found = re.search(r"\b\d+\b|(?<=[a-z,] )[A-Z][a-z]{3,}\b", text)
    return found[0] if found else ""


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _share(count: int, total: int) -> list[float]:
    if not total:
        return [0.0, 0.0, 1.0]
    p, z = count / total, 1.96
    middle = (p + z * z / 2 / total) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / 4 / total**2) / (1 + z * z / total)
    return [round(p, 4), round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)]


def plan(talks: Sequence[Sequence[Ask]], rng: random.Random) -> tuple[list[Ask], dict[str, list[Ask]]]:
    """The requests of the first pass and of the second: the same conversations, and some that only look like them."""
    first = [ask for asks in talks for ask in asks]
    followed = [ask for ask in first if ask.earlier]
    names = sorted({detail for ask in first for text in ask.earlier if (detail := _detail(text)).isalpha()})
    others = [elsewhere(ask, rng.choice(talks)) for ask in followed]
    changed = [shifted(ask, names, rng) for ask in followed] if len(names) > 1 else []
    found = {
        "word for word": followed,
        "history in other words": [reworded(ask) for ask in followed],
        "history spelled out": [
            replace(ask, earlier=ask.spelled) for ask in followed if ask.spelled and ask.spelled != ask.earlier
        ],
        "history of another": [ask for ask in others if ask is not None],
        "one detail changed": [ask for ask in changed if ask is not None],
    }
    return first, {name: asks for name, asks in found.items() if asks}


def main() -> None:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=200, help="dialogues of Schema-Guided Dialogue")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--strategies", nargs="+", default=["static 0.92", "static 0.85", "certified"])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not (DATA / "cast_conversations").is_dir():
        raise SystemExit(f"the data sets are not here: {DATA} is missing")
    strategies = [name for name in options.strategies if name.partition(" ")[0] in STRATEGIES]
    results: dict[str, Any] = {"seed": options.seed, "dialogues": options.dialogues, "sets": {}}
    for name, talks in (("TREC CAsT", cast()), ("Schema-Guided Dialogue", sgd(options.dialogues))):
        first, again = plan(talks, random.Random(options.seed))
        known = Known(
            [text for asks in (first, *again.values()) for ask in asks for text in (*ask.earlier, ask.last)]
            + list(GREETING)
        )
        results["sets"][name] = {
            strategy: {way: asyncio.run(run(way, strategy, first, again, known)) for way in WAYS}
            for strategy in strategies
        }
    options.results.mkdir(exist_ok=True)
    (options.results / "conversations.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.results / "conversations.md").write_text(page(results))
    print(page(results))


def page(results: dict[str, Any]) -> str:
    """The tables."""
    strategies = " ".join([f'"{name}"' for name in next(iter(results["sets"].values()))])
    made = f"python -m eval.conversations --dialogues {results['dialogues']} --strategies {strategies}"
    lines = [HEAD.replace("python -m eval.conversations", made, 1)]
    for name, by_strategy in results["sets"].items():
        lines += ["", f"## {name}"]
        for strategy, by_way in by_strategy.items():
            parts = list(next(iter(by_way.values())))
            lines += ["", f"Strategy `{strategy}`", ""]
            lines.append("| | " + " | ".join(f"{part} ({by_way['exact'][part]['asked']:,})" for part in parts) + " |")
            lines.append("| --- |" + " ---: |" * len(parts))
            for way, tallies in by_way.items():
                cells = [f"{tallies[part]['right'][0]:.1%} / {tallies[part]['wrong'][0]:.1%}" for part in parts]
                lines.append(f"| {NAMES[way]} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
