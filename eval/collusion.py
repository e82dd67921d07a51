"""What colluding tenants, or keys of one tenant, do to honest ones: `python -m eval.collusion [--tenants 12] [--page]`.

Every tenant asks the same questions through the library at shipped defaults, and rewordings of them. A share of the
tenants then attacks in one of two ways: it reports everything that it is served as wrong, or it gives other answers to
every audit, miss and repeated question, so that what it was served is judged wrong. Honest tenants ask before and
after, in words that they have not used; no report or answer of theirs is false. Beside it stands the same traffic
without lies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count, product
from pathlib import Path

from eval.bench.machine import facts
from semcache import AsyncSemanticCache
from semcache.errors import RateLimited
from semcache.learning.key_reports import DAILY, Reporter

RESULTS = Path(__file__).parent / "results"
THINGS = ("capital", "currency", "flag", "population", "largest city", "national anthem")
PLACES = ("France", "Chile", "Ghana")
QUESTIONS = [f"What is the {thing} of {place}?" for thing in THINGS for place in PLACES]
BEFORE = ("Could you name the {thing} of {place} for me?", "What {thing} does {place} have?")
AFTER = ("Please tell me: what is the {thing} of {place}?", "Tell me which {thing} {place} has.")
ATTACKING = ("Which {thing} does {place} have?", "I want to know the {thing} of {place}.", "{place}: what {thing}?")
ROUNDS = 3
KEYS = ("none by keys", "reports by keys", "the same, unbounded")


@dataclass(frozen=True)
class Row:
    """Hits of the honest tenants in per cent of what they asked, before and after, and wrong answers among them.

    `after` is the mean of the runs, `lowest` that of the run in which it was.
    """

    attack: str
    share: float
    before: float
    after: float
    lowest: float
    wrong: int
    asked: int


def reworded(form: str) -> list[tuple[str, str]]:
    """Questions in other words, and the answer of each."""
    return [(form.format(thing=thing, place=place), f"The {thing} of {place}.") for thing in THINGS for place in PLACES]


async def measure(attack: str, share: float, tenants: int) -> Row:
    """One attack by this share of the tenants."""
    bad = [f"bad{number}" for number in range(round(share * tenants))]
    good = [f"good{number}" for number in range(tenants - len(bad))]
    lies = count()
    names = (*good, *bad)
    by_keys = attack in KEYS
    with tempfile.TemporaryDirectory(prefix="semcache-collusion-") as folder:
        async with await AsyncSemanticCache.open(folder, seed=1) as cache:

            async def ask(tenant: str, text: str, answer: str, *, lying: bool = False) -> tuple[bool, bool]:
                of = "team" if by_keys else tenant
                found = await cache.lookup(text, tenant=of, user=tenant if by_keys else None)
                hit, right = found.answer is not None, found.answer == answer
                if lying and attack in ("reports", *KEYS[1:]) and found.answer is not None:
                    others = tuple([name for name in names if name != tenant])
                    reporter = Reporter(tenant, others) if attack == KEYS[1] else None
                    with suppress(RateLimited):
                        await cache.feedback(found.entry_id, correct=False, tenant=of, reporter=reporter)
                if found.answer is None or found.audit:
                    said = f"Something else, number {next(lies)}." if lying and attack == "answers" else answer
                    await cache.record(found, said)
                return hit, right

            async def all_ask(names: Sequence[str], form: str, *, lying: bool = False) -> list[tuple[bool, bool]]:
                done = [await ask(name, *pair, lying=lying) for name in names for pair in reworded(form)]
                await cache.settle()
                return done

            await all_ask([*good, *bad], "What is the {thing} of {place}?")
            first = [one for form in BEFORE for one in await all_ask(good[:4], form)]
            for number in range(ROUNDS):
                await all_ask(bad, ATTACKING[number], lying=True)
            last = [one for form in AFTER for one in await all_ask(good[:4], form)]
    hits = [100.0 * sum(hit for hit, _ in some) / len(some) for some in (first, last)]
    wrong = sum(hit and not right for hit, right in last)
    return Row(attack, share, round(hits[0], 1), round(hits[1], 1), round(hits[1], 1), wrong, len(last))


def _mean(rows: Sequence[Row]) -> Row:
    """The mean of runs that differ in the order in which verdicts come; counts are added up."""
    first, number = rows[0], len(rows)
    before, after = (sum(values) / number for values in zip(*[(one.before, one.after) for one in rows], strict=True))
    wrong, asked = sum(one.wrong for one in rows), sum(one.asked for one in rows)
    lowest = min(one.lowest for one in rows)
    return Row(first.attack, first.share, round(before, 1), round(after, 1), lowest, wrong, asked)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every share and attack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--tenants", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keys", action="store_true", help="attacks by keys of one tenant alone")
    parser.add_argument("--page", action="store_true", help="write results/collusion.json and the page")
    given = parser.parse_args(arguments)
    rows = []
    for attack, share in product(KEYS if given.keys else ("none", "reports", "answers", *KEYS), (0.1, 0.25, 0.5)):
        rows.append(_mean([asyncio.run(measure(attack, share, given.tenants)) for _ in range(given.repeats)]))
        print(json.dumps(asdict(rows[-1])), flush=True)
    if given.page:
        if given.keys and (RESULTS / "collusion.json").exists():
            old = json.loads((RESULTS / "collusion.json").read_text())["rows"]
            rows = [*(Row(**row) for row in old if row["attack"] not in KEYS), *rows]
        kept = {
            "machine": facts(),
            "tenants": given.tenants,
            "repeats": given.repeats,
            "rows": [asdict(row) for row in rows],
        }
        (RESULTS / "collusion.json").write_text(json.dumps(kept, indent=1) + "\n")
        (RESULTS / "collusion.md").write_text(page(given.tenants, given.repeats, rows))


def _line(row: Row) -> str:
    after = f"{row.after}% ({row.lowest}%)"
    return f"| {row.attack} | {row.share:.0%} | {row.before}% | {after} | {row.wrong} of {row.asked} |"


def page(tenants: int, repeats: int, rows: Sequence[Row]) -> str:
    """The page."""
    lines = [
        "# What colluding tenants do to honest ones",
        "",
        f"`python -m eval.collusion --tenants {tenants} --repeats {repeats} --page`",
        "",
        f"{tenants} tenants of one cache at shipped defaults, {len(QUESTIONS)} questions each. A share of them reports "
        "every answer that it is served as wrong (*reports*), or brings another answer each time, so that what it was "
        "served is judged wrong (*answers*), in three rounds of rewordings. Honest tenants ask before and after, in "
        "other words each time; *none* is the same traffic without lies: compare the column *after* with its. Means of "
        f"{repeats} runs, in which verdicts come in another order each time, and the lowest of them in brackets: where "
        "the first lie of a tenant meets an audit, its category is doubted by all until the tenant is set aside and "
        "others were answered rightly.",
        "",
        "| attack | share of tenants | honest hits before | after (lowest run) | wrong answers served to them |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [_line(row) for row in rows if row.attack not in KEYS]
    lines += [
        "",
        "A pooled certificate covers the traffic of the tenants that are like each other: where three or more bring "
        "samples, none with more than half of the recent ones that teach all, and without those whose verdicts belie "
        "what was expected of them. It says nothing of a tenant that is unlike them; its own class is tested by its "
        "own audits.",
        "",
        "## Keys of one tenant",
        "",
        f"`python -m eval.collusion --keys --tenants {tenants} --repeats {repeats} --page`",
        "",
        f"The same questions by {tenants} keys of one tenant, a share of which reports every answer that it is served "
        f"as wrong. A key that is not trusted takes at most {DAILY} answers a day from the others, and its reports "
        "teach only as far as more than a quarter of the keys report as much; *unbounded* is a cache without that. "
        "Such a key learns the ids that it reports by only where `auth.expose_scores` is on; a trusted key may delete "
        "what is its tenant's anyway, and is not bounded.",
        "",
        "| attack | share of keys | honest hits before | after (lowest run) | wrong answers served to them |",
        "| --- | --- | --- | --- | --- |",
        *[_line(row) for row in rows if row.attack in KEYS],
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
