"""Splits of pairs by connected component, so that nothing measured was trained on.

Pure. Two pairs that share a text (but for case and white space) lie in one component, and a component lies in one part.
Invariant: `split` depends on the pairs and the seed, not on their order; `leaks` of its parts is empty.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from semcache.errors import InvalidArgument
from semcache.train.pairs import SYNTHESIZE, Pair, both_classes
from semcache.train.text_identity import caseless

_FEW = 100  # pairs: of fewer, a tenth often lacks a label
_HANGING = 0.6  # share of the pairs in one component, beside which the other parts may stay empty


class PairSplits(NamedTuple):
    """`train` teaches, `check` stops the training and calibrates, `test` is reported."""

    train: list[Pair]
    check: list[Pair]
    test: list[Pair]


def components(pairs: Sequence[Pair]) -> list[str]:
    """The component of each pair, named by the least text in it, whatever the order of the pairs."""
    parent: dict[str, str] = {}
    for pair in pairs:
        one, two = _root(parent, caseless(pair.one)), _root(parent, caseless(pair.two))
        parent[max(one, two)] = min(one, two)
    return [_root(parent, caseless(pair.one)) for pair in pairs]


def classes(pairs: Sequence[Pair]) -> dict[str, str]:
    """The answer of each caseless text: texts that pairs say are the same have one, named by the least of them."""
    parent: dict[str, str] = {}
    for pair in pairs:
        one, two = _root(parent, caseless(pair.one)), _root(parent, caseless(pair.two))
        if pair.same:
            parent[max(one, two)] = min(one, two)
    return {text: _root(parent, text) for text in list(parent)}


def split(pairs: Sequence[Pair], *, check: float, test: float, seed: int) -> PairSplits:
    """Parts of about these shares of the components. Raises InvalidArgument for shares that leave nothing to train."""
    parts, part_of = PairSplits([], [], []), divider(pairs, check=check, test=test, seed=seed)
    for pair in pairs:
        getattr(parts, part_of(pair.one)).append(pair)
    return parts


def divider(pairs: Sequence[Pair], *, check: float, test: float, seed: int) -> Callable[[str], str]:
    """The name of the part in which `split` puts a text; one that is in no pair is a component of its own.

    Raises InvalidArgument for shares that leave nothing to train.
    """
    if check < 0 or test < 0 or check + test >= 1:
        raise InvalidArgument(f"shares {check} and {test} leave nothing to train on: choose a sum below 1")
    named = {caseless(pair.one): component for pair, component in zip(pairs, components(pairs), strict=True)}
    named |= {caseless(pair.two): named[caseless(pair.one)] for pair in pairs}

    def part_of(text: str) -> str:
        place = _place(named.get(caseless(text), caseless(text)), seed)
        return "test" if place < test else "check" if place < test + check else "train"

    return part_of


def usable(parts: PairSplits, pairs: Sequence[Pair], *, more: str) -> None:
    """Raise InvalidArgument unless each part of `pairs` holds both labels; `more` says how else a part gets some."""
    if all(0 < sum(pair.same for pair in part) < len(part) for part in parts):
        return
    _, largest = Counter(components(pairs)).most_common(1)[0] if pairs else ("", 0)
    remedy = SYNTHESIZE
    if len(pairs) < _FEW:
        remedy = f"too few to split, for which some hundred are needed: give more, or {more}"
    elif largest > _HANGING * len(pairs):
        remedy = (
            f"{largest} of {len(pairs)} pairs hang together through shared texts, which are not split: "
            f"give pairs of other texts, or {more}"
        )
    for name, part in zip(("training", "check", "test"), parts, strict=True):
        both_classes(part, f"the {name} part ({len(part)} of {len(pairs)} pairs)", remedy=remedy)


def leaks(train: Sequence[Pair], test: Sequence[Pair]) -> list[str]:
    """Texts of `test` that `train` holds too, in the order of `test`."""
    known = {caseless(text) for pair in train for text in (pair.one, pair.two)}
    found = (text for pair in test for text in (pair.one, pair.two) if caseless(text) in known)
    return list(dict.fromkeys(found))


def without(train: Sequence[Pair], test: Sequence[Pair]) -> list[Pair]:
    """The pairs of `train` that share no text with `test`."""
    held = {caseless(text) for pair in test for text in (pair.one, pair.two)}
    return [pair for pair in train if caseless(pair.one) not in held and caseless(pair.two) not in held]


def distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs without repetitions, in either order of texts; where labels of one pair differ, without that pair."""
    found: dict[frozenset[str], Pair | None] = {}
    for pair in pairs:
        key = frozenset((caseless(pair.one), caseless(pair.two)))
        if len(key) == 1 and not pair.same:
            continue  # a text differs from itself: a slip
        known = found.setdefault(key, pair)
        if known is not None and known.same != pair.same:
            found[key] = None
    return [pair for pair in found.values() if pair is not None]


def numbered(pairs: Sequence[Pair]) -> Mapping[str, int]:
    """A number for each answer class of `classes`, by caseless text."""
    named = classes(pairs)
    numbers = {name: number for number, name in enumerate(sorted(set(named.values())))}
    return {text: numbers[name] for text, name in named.items()}


def _place(component: str, seed: int) -> float:
    digest = hashlib.sha256(f"{seed}:{component}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _root(parent: dict[str, str], text: str) -> str:
    parent.setdefault(text, text)
    while parent[text] != text:
        parent[text] = parent[parent[text]]
        text = parent[text]
    return text
