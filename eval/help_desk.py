"""What a cache serves on its first day and after some traffic: `python -m eval.help_desk [--requests N] [--seeds N]`.

40 everyday questions of help desks and general knowledge, each with six rewordings and two near questions that have
another answer (`eval/help_desk_suite/questions.jsonl`, written for this measurement by a language model). What a new
category may spend on its first answers was chosen while looking at them, with other seeds. A cache at shipped defaults
that holds the 40 questions is asked half of the rewordings and all near questions. Then it meets traffic: the questions
and the other half of the rewordings, some far more often than others, misses recorded and audits answered. Then it is
asked the same as at the beginning.

Knows the library as a user does. Invariant: the rewordings that are asked at the beginning and at the end are never
part of the traffic.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.markdown import of_target
from eval.unhurried import unhurried
from semcache import AsyncSemanticCache
from semcache.cache.found import Found
from semcache.config.packs import load
from semcache.types import Why

WRITTEN = Path(__file__).parent / "help_desk_suite" / "questions.jsonl"
RESULTS = Path(__file__).parent / "results"
_HOWS = {Why.EXACT: "identical", Why.WORDING: "wording"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the same in other words, and near ones with another answer."""

    base: str
    right: tuple[str, ...]
    traps: tuple[str, ...]


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    unhurried()
    parser = argparse.ArgumentParser("python -m eval.help_desk", description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=600, help="of the traffic")
    parser.add_argument("--seeds", type=int, default=5, help="orders of the traffic, each with a split of its own")
    parser.add_argument("--target", type=float, default=None, help="error per hit; that of the pack unless given")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args(argv)
    told = [asyncio.run(asked(chosen.requests, seed, chosen.target)) for seed in range(7, 7 + chosen.seeds)]
    facts = {part: dict(sum((one[part] for one in told), Counter())) for part in told[0]}
    chosen.out.mkdir(exist_ok=True)
    target = load("default").target if chosen.target is None else chosen.target
    page = _page(told, chosen.requests, target, " ".join(["python -m eval.help_desk", *argv]))
    (chosen.out / "help_desk.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "help_desk.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def questions() -> Iterator[Question]:
    """The questions in the order of the file."""
    for line in WRITTEN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Question(row["base"], tuple(row["right"]), tuple(row["traps"]))


async def asked(requests: int, seed: int, target: float | None) -> dict[str, Counter[str]]:
    """How a new cache did: on its first day, in the traffic, and afterwards."""
    rng, known = random.Random(seed), list(questions())
    rng.shuffle(known)
    mixed = [rng.sample(one.right, len(one.right)) for one in known]
    traffic = [[one.base, *right[: len(right) // 2]] for one, right in zip(known, mixed, strict=True)]
    held = [(str(place), text) for place, right in enumerate(mixed) for text in right[len(right) // 2 :]]
    traps = [("", text) for one in known for text in one.traps]
    often = [1.0 / (1 + place) for place in range(len(known))]
    told: dict[str, Counter[str]] = {}
    async with await AsyncSemanticCache.open("memory://", seed=seed, target=target) as cache:
        for place, one in enumerate(known):
            await cache.record(await cache.lookup(one.base), str(place))
        told["first day, rewordings"] = await _looked(cache, held)
        told["first day, near questions"] = await _looked(cache, traps)
        told["traffic"] = Counter()
        for place in rng.choices(range(len(known)), often, k=requests):
            found = await cache.lookup(rng.choice(traffic[place]))
            told["traffic"] += _how(found, str(place))
            if found.answer is None or found.audit:
                await cache.record(found, str(place))
                await cache.settle()
        told["afterwards, rewordings"] = await _looked(cache, held)
        told["afterwards, near questions"] = await _looked(cache, traps)
    return told


async def _looked(cache: AsyncSemanticCache, prompts: Sequence[tuple[str, str]]) -> Counter[str]:
    """How prompts are served that leave nothing behind, by the answers that are right."""
    return sum([_how(await cache.lookup(text), answer) for answer, text in prompts], Counter[str]())


def _how(found: Found, answer: str) -> Counter[str]:
    how = "refused" if found.answer is None else _HOWS.get(found.why, "meaning")
    wrong = found.answer not in (None, answer)
    return Counter({how: 1, "wrong": int(wrong), "wrong by meaning": int(wrong and how == "meaning")})


def _page(told: Sequence[Mapping[str, Counter[str]]], requests: int, target: float, command: str) -> str:
    lines = [
        "# A help desk: the first day, and after some traffic",
        "",
        f"- `{command}`, seeds 7 to {6 + len(told)}",
        "- " + " ".join((__doc__ or "").split("\n\n")[1].split()),
        f"- the traffic is {requests} requests, the question of rank n asked in proportion to 1/n; means over the "
        "seeds, their range in brackets; the rest is neither identical nor equal in wording",
        "- realised / target: wrong hits by meaning of all hits by meaning of all seeds, divided by the target of "
        f"{target:g} per hit, with its 95% interval by Wilson; near questions are rarer in most traffic",
        "",
        "| asked | requests | identical | equal wording | by meaning | of the rest by meaning | wrong | "
        "realised / target |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for part in told[0]:
        counts = [one[part] for one in told]
        cells = [f"{sum(one[how] for one in counts) / len(counts):.1f}" for how in ("identical", "wording", "meaning")]
        shares = [one["meaning"] / (one["meaning"] + one["refused"]) for one in counts]
        share = f"{sum(shares) / len(shares):.1%} ({min(shares):.1%} to {max(shares):.1%})"
        wrong = [one["wrong"] for one in counts]
        many = sum(counts[0][how] for how in ("identical", "wording", "meaning", "refused"))
        errors = f"{sum(wrong) / len(wrong):.1f} ({min(wrong)} to {max(wrong)})"
        used = _of_target(counts, target)
        lines.append(f"| {part} | {many} | {' | '.join(cells)} | {share} | {errors} | {used} |")
    for day in ("first day", "afterwards"):
        both = [one[f"{day}, {what}"] for one in told for what in ("rewordings", "near questions")]
        lines.append(f"| {day}, both | | | | | | | {_of_target(both, target)} |")
    return "\n".join([*lines, ""])


def _of_target(counts: Sequence[Counter[str]], target: float) -> str:
    total = sum(counts, Counter[str]())
    return of_target(total["wrong by meaning"], total["meaning"], target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
