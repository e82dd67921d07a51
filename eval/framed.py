"""Questions among material, as templates of retrieval make them: `python -m eval.framed`.

The pairs of fow_cache, each question set into a template with a passage that has nothing to do with it: what is served
should not hang on the template. Every pair is a tenant of its own in one cache at shipped defaults. Beside it the same
question about another passage, which must never be served.

Knows the library as a user does. Invariant: both questions of a pair are set into the same template.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eval.decisions import data
from eval.markdown import share
from eval.unhurried import unhurried
from semcache import AsyncSemanticCache

RESULTS = Path(__file__).parent / "results"
SEED = 7
PASSAGES = (
    "The harbour of Lindvik was built in 1874 for the grain trade. Two piers of granite protect it from the north "
    "wind, and a lighthouse of 21 metres stands at the end of the longer one. Since 1996 ferries have called there "
    "twice a day; in summer there are markets on the quay, and a small museum shows how nets were mended.",
    "Members borrow up to eight items for three weeks and may renew them twice unless another member waits for them. "
    "Reference works, maps and newspapers are read in the hall. A lost item is paid for at its price when new, with a "
    "fee of four euros for putting the next copy on the shelf. Cards of children are signed by a parent.",
)
TEMPLATES = {
    "the question alone": "{question}",
    "context, then question": "Answer only from the context.\n\nContext:\n{passage}\n\nQuestion: {question}",
    "LangChain's, with a cue": "Use the following pieces of context to answer the question at the end. If you don't "
    "know the answer, just say that you don't know.\n\n{passage}\n\nQuestion: {question}\nHelpful Answer:",
    "tags": "<context>\n{passage}\n</context>\n\n<question>{question}</question>",
    "question, then context": "Answer the question using the context below.\n\nQuestion: {question}\n\nContext: "
    "{passage}",
    "no labels": "{passage}\n\n{question}",
}


def main(argv: Sequence[str]) -> int:
    """Ask, then write the page and the facts."""
    unhurried()
    parser = argparse.ArgumentParser("python -m eval.framed", description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args(argv)
    facts = {name: asyncio.run(_ask(template)) for name, template in TEMPLATES.items()}
    page = _page(facts, " ".join(["python -m eval.framed", *argv]))
    (chosen.out / "framed.md").write_text(page, encoding="utf-8")
    (chosen.out / "framed.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(page)
    return 0


async def _ask(template: str) -> dict[str, int]:
    count: Counter[str] = Counter()
    async with await AsyncSemanticCache.open("memory://", seed=SEED) as cache:
        for number, pair in enumerate(data.pairs("fow_cache")):
            tenant, passage = f"pair {number}", PASSAGES[number % 2]
            kept = template.format(question=pair.cached, passage=passage)
            await cache.record(await cache.lookup(kept, tenant=tenant), "An answer.")
            await cache.settle()
            kind = "rightful" if pair.same else "traps"
            found = await cache.lookup(template.format(question=pair.asked, passage=passage), tenant=tenant)
            count[kind] += 1
            count[f"{kind} served"] += found.answer is not None
            other = template.format(question=pair.cached, passage=PASSAGES[1 - number % 2])
            if other != kept:
                count["other passages"] += 1
                count["other passages served"] += (await cache.lookup(other, tenant=tenant)).answer is not None
    return dict(count)


def _page(facts: dict[str, dict[str, int]], command: str) -> str:
    lines = [
        "# Questions among material",
        "",
        f"- `{command}`, seed {SEED}",
        "- fow_cache, each pair as a tenant of its own in one cache at shipped defaults; both questions of a pair "
        "stand in the same template around the same passage, which has nothing to do with them. 95% intervals by "
        "Wilson.",
        "",
        "| template | rightful served | traps served | the same question about another passage, served |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, found in facts.items():
        cells = [share(found[f"{kind} served"], found[kind]) for kind in ("rightful", "traps")]
        if "other passages" in found:
            cells.append(share(found["other passages served"], found["other passages"]))
        else:
            cells.append("")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
