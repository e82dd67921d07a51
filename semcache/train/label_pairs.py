"""Pairs from a cache or a log: its labels, and prompts that were answered alike.

Knows the store's label log and cards, and answers as texts; trains nothing. Invariant: a label becomes a pair only if
the words of both prompts are still there, and no pair crosses a tenant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from semcache.learning.withdrawn_labels import standing_labels
from semcache.protocols import LabelStore, Vectors
from semcache.train import mining
from semcache.train.pairs import Pair, of_answers
from semcache.train.splits import normal
from semcache.types.evidence import Label, LabelSource

if TYPE_CHECKING:
    from semcache.types import Card, Matrix


class LabelledStore(LabelStore, Vectors, Protocol):
    """A store with the label log and the cards that its labels are about."""


class LabelCounts(NamedTuple):
    """Labels that were read, and those among them whose prompts are gone."""

    labels: int
    gone: int


async def pairs_of(store: LabelledStore) -> tuple[list[Pair], LabelCounts]:
    """A pair for every label of feedback, audits and misses, the cached prompt second. Raises StoreError.

    The label names the request by its digest: its words are those of the entry that its answer became, if it is there.
    """
    by_id: dict[int, Card] = {}
    by_exact: dict[bytes, Card] = {}
    async for cards in store.cards("", now=0.0):
        by_id |= {card.id: card for card in cards}
        by_exact |= {card.exact: card for card in cards}
    found: dict[tuple[str, str], Pair] = {}
    every: list[Label] = []
    while batch := await store.labels(every[-1].seq if every else 0):
        every += batch
    labels = gone = 0
    for label in standing_labels(every):
        if label.source in (LabelSource.REASKED, LabelSource.VERDICT, LabelSource.UNDECIDED):
            # Neither tells by a fresh answer if two prompts share one.
            continue
        labels += 1
        cached, asked = by_id.get(label.entry_id), by_exact.get(label.exact)
        if cached is None or asked is None:
            gone += 1
        elif normal(cached.text) != normal(asked.text):
            pair = Pair(asked.text, cached.text, label.correct, made=label.source.value)
            found[pair.one, pair.two] = pair  # the newest verdict counts
    return list(found.values()), LabelCounts(labels, gone)


def contrasted(rows: Sequence[tuple[str, str]], encode: Callable[[Sequence[str]], Matrix]) -> list[Pair]:
    """Pairs of one answer from (prompt, answer) rows, and for each a near prompt of another answer.

    A log tells the answer of every prompt, so prompts of different answers are known to be different.
    """
    positives = of_answers(rows)
    answers = answer_classes(rows)
    texts = list(dict.fromkeys(prompt for prompt, answer in rows if prompt.strip() and answer.strip()))
    if not positives:
        return []
    return positives + mining.mine(positives, encode(texts), texts, answers)


def answer_classes(rows: Sequence[tuple[str, str]]) -> Mapping[str, int]:
    """A number for the answer of each normal prompt; the first answer of a prompt counts."""
    numbers: dict[str, int] = {}
    classes: dict[str, int] = {}
    for prompt, answer in rows:
        classes.setdefault(normal(prompt), numbers.setdefault(normal(answer), len(numbers)))
    return classes
