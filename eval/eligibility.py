"""Prompts that may be cached and prompts that may not, as the rules tell them: `python -m eval.eligibility`.

Prompts of `eval/eligibility_suite`, written for this measurement: about this moment, about their sender, and general
ones that look like both. Rules were mended while the half `seen` was looked at. Knows no pack: a pack decides what
becomes of a kind. Invariant: nothing is cached, and no clock is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from semcache.request.kinds import kinds

WRITTEN = Path(__file__).parent / "eligibility_suite" / "prompts.jsonl"
RESULTS = Path(__file__).parent / "results"
KINDS = ("live", "personal")
HALVES = ("seen", "held")


class Prompt(NamedTuple):
    """A prompt, what it is about, and the half that it belongs to."""

    text: str
    kind: str
    half: str


def prompts(half: str) -> list[Prompt]:
    """The prompts of one half."""
    lines = WRITTEN.read_text(encoding="utf-8").splitlines()
    return [prompt for line in lines if (prompt := Prompt(**json.loads(line))).half == half]


def barred(prompt: Prompt) -> bool:
    """Return True if the rules hold a prompt to be about this moment or about its sender."""
    found = kinds(prompt.text)
    return found.live or found.personal


def measured(half: str) -> dict[str, float]:
    """Precision and recall of barring, and the share of each kind that is barred."""
    some = prompts(half)
    told = [prompt for prompt in some if barred(prompt)]
    right = [prompt for prompt in told if prompt.kind in KINDS]
    facts = {
        "prompts": float(len(some)),
        "precision": len(right) / len(told) if told else 0.0,
        "recall": len(right) / sum(prompt.kind in KINDS for prompt in some),
    }
    for kind in (*KINDS, "general"):
        of_kind = [prompt for prompt in some if prompt.kind == kind]
        facts[kind] = sum(map(barred, of_kind)) / len(of_kind)
    return facts


def main(argv: Sequence[str]) -> int:
    """Measure, then write the page and the facts."""
    parser = argparse.ArgumentParser("python -m eval.eligibility", description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print the prompts of `seen` that went wrong")
    chosen = parser.parse_args(argv)
    facts = {half: measured(half) for half in HALVES}
    if chosen.show:
        for prompt in prompts("seen"):
            if barred(prompt) != (prompt.kind in KINDS):
                print(f"{prompt.kind:10} {prompt.text}", file=sys.stderr)
    page = _page(facts)
    chosen.out.mkdir(exist_ok=True)
    (chosen.out / "eligibility.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "eligibility.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def _page(facts: dict[str, dict[str, float]]) -> str:
    lines = [
        "# Which prompts may be cached",
        "",
        "Made by `python -m eval.eligibility`; the prompts are in `eval/eligibility_suite`. Barred: held to "
        "be about this",
        "moment or about the sender. Precision and recall are those of barring.",
        "",
        "| half | prompts | precision | recall | live barred | personal barred | general barred |",
        "|---|---|---|---|---|---|---|",
    ]
    for half, one in facts.items():
        shares = " | ".join(f"{one[name]:.1%}" for name in ("precision", "recall", *KINDS, "general"))
        lines.append(f"| {half} | {one['prompts']:.0f} | {shares} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
