"""Groups of prompts written for the verifier: rewordings that share the prompt's answer, and prompts that must not.

Knows its own files and nothing of any data set. Invariant: all pairs of a group are trained on, or all are held out.
Whoever writes many groups has habits that a network learns, so that held-out groups of the same hand look easier than
prompts of strangers: of some hands, whose topics begin with "unread_", nothing is trained on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations

from semcache.train.pairs import Pair
from semcache.train.recipe.mixture import MinedPair
from semcache.train.recipe.sources import held_out

SURE = 0.98  # of a label: people err
_UNREAD = "unread_"


@dataclass(frozen=True, slots=True)
class AuthoredGroup:
    """A prompt, rewordings that share its answer, and texts that do not, each with the kind of its difference."""

    prompt: str
    same: tuple[str, ...]
    different: tuple[tuple[str, str], ...]
    topic: str

    @property
    def held(self) -> bool:
        """True if the verifier is not trained on it."""
        return unread(self.topic) or held_out(f"authored:{self.prompt}", of=8)


def unread(topic: str) -> bool:
    """Return True if the verifier is trained on nothing of the hand that wrote about this topic."""
    return topic.startswith(_UNREAD)


def groups() -> Iterator[AuthoredGroup]:
    """All groups, in the order of the files."""
    for file in sorted(files("semcache.train.recipe").joinpath("authored").iterdir(), key=lambda one: one.name):
        if file.name.endswith(".jsonl"):
            for line in filter(None, file.read_text(encoding="utf-8").split("\n")):
                row = json.loads(line)
                different = tuple((kind, text) for kind, text in row["different"])
                yield AuthoredGroup(row["prompt"], tuple(row["same"]), different, file.name.removesuffix(".jsonl"))


def paired(some: Iterable[AuthoredGroup], *, beside: int = 1, without: Iterable[str] = ()) -> Iterator[MinedPair]:
    """Every two rewordings, and each different text beside the prompt and `beside` so many rewordings.

    Differences of the kinds `without` are left out.
    """
    skipped = frozenset(without)
    for group in some:
        for one, two in combinations((group.prompt, *group.same), 2):
            yield MinedPair(Pair(one, two, True, "reworded", f"authored:{group.topic}"), SURE, group.held)
        for place, (kind, text) in enumerate(group.different):
            if kind not in skipped:
                some_same = (group.same[(place + more) % len(group.same)] for more in range(beside))
                for other in (group.prompt, *some_same):
                    yield MinedPair(Pair(other, text, False, kind, f"authored:{group.topic}"), SURE, group.held)
