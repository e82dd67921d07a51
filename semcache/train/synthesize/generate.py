"""Generation of pairs by rules: the rules that fit a prompt, their order and their combination.

Knows the rules as a table; no grammar. A pair is made of one prompt. Its meaning is kept by one to three edits that
keep it, or changed by one that changes it, with edits that keep it before and behind: so neither shared words nor
wrappers tell the label. Sometimes both sides are first moved to another subject, place or number alike. Invariant: the
same prompts, seed and options give the same pairs; memory does not grow with the number of prompts.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from semcache.errors import InvalidArgument
from semcache.train.pairs import Pair
from semcache.train.synthesize import (  # fmt: skip
    answer_forms,
    antonyms,
    date_changes,
    equal_values,
    exchanged_roles,
    gazetteer,
    identifiers,
    negations,
    number_changes,
    politeness,
    qualifier_changes,
    question_changes,
    question_forms,
    second_turn,
    sentence_forms,
    spelling_variants,
    synonyms,
    typos,
    version_changes,
)
from semcache.train.synthesize.corpus_names import CorpusNames
from semcache.train.synthesize.edit_rule import Edit, EditRule
from semcache.train.synthesize.pair_filter import LONGEST, rejection_reason

_MODULES = (
    synonyms, spelling_variants, question_forms, politeness, sentence_forms, equal_values, typos, second_turn,
    gazetteer, number_changes, date_changes, version_changes, antonyms, negations, qualifier_changes, answer_forms,
    question_changes, exchanged_roles, identifiers,
)  # fmt: skip
RULES: tuple[EditRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
KINDS: dict[str, bool] = {rule.kind: rule.same for rule in RULES}
"""Every kind of edit by rules, and whether it keeps the meaning."""

_CODE = re.compile(r"(?:def|import|from|class|#|@|<|\{|\[|>>>)[ \w]")  # a prompt that begins so is code, not prose
_DIGIT = re.compile(r"\d")
_BLOCK = 1000  # prompts that are read before the first of them is edited
_FOLLOWED = 0.1  # prompts that become the first of two turns, where a follow-up fits
_SHIFTED = 0.15  # pairs both of whose sides are moved to another meaning first
_MORE = (0.8, 0.45)  # a second and a third edit that keeps the meaning
_AROUND = 0.45  # each side of a changed pair that is paraphrased
# What gives a kind of edit something to edit, on both sides of a pair alike.
_MOVES: tuple[tuple[str, str, Edit], ...] = (
    ("language-version", "language-version.added", version_changes.versioned),
    ("ellipsis", "context.followed", second_turn.followed),
)
_DEAR = 4  # how much rarer an edit that fits every prompt is to be than one that fits few
_CHEAP = frozenset(("typo", "case", "punctuation", "greeting", "wrapper", "politeness", "filler"))


@dataclass
class Counts:
    """Counts of a generation: prompts edited by rules, skipped, asked about, pairs by kind, pairs dropped by reason.

    `no_reply` says why the last of the calls failed that got no reply from a model; None where all got one.
    """

    prompts: int = 0
    asked: int = 0
    skipped: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    no_reply: str | None = None

    @property
    def pairs(self) -> int:
        """How many pairs were made."""
        return sum(self.kinds.values())


def synthesize(
    prompts: Iterable[str],
    *,
    seed: int = 0,
    each: int = 4,
    kinds: Collection[str] | None = None,
    counts: Counts | None = None,
) -> Iterator[Pair]:
    """Up to `each` pairs a prompt, as many that keep the meaning as that change it where rules apply.

    `kinds` are names of `KINDS`, None for all; an edit of another kind is not used in any part of a pair. `counts` is
    kept up to date. Raises InvalidArgument for an unknown kind and for `each` below 1.
    """
    if each < 1:
        raise InvalidArgument(f"each={each}: at least one pair a prompt has to be asked for")
    unknown = sorted(set(kinds or ()) - KINDS.keys())
    if unknown:
        raise InvalidArgument(f"no kind {unknown[0]!r}; known: {', '.join(sorted(KINDS))}")
    return _pairs(iter(prompts), random.Random(seed), each, kinds, Counts() if counts is None else counts)


def _pairs(
    prompts: Iterator[str], rng: random.Random, each: int, kinds: Collection[str] | None, counts: Counts
) -> Iterator[Pair]:
    seen = CorpusNames()
    rules = [rule for rule in (*RULES, *seen.rules()) if kinds is None or rule.kind in kinds]
    maker = _PairMaker(rules, rng, counts)
    while block := list(islice(prompts, _BLOCK)):
        texts = [" ".join(text.split()) if "\n" not in text.strip() else text.strip() for text in block]
        for text in texts:
            seen.learn(text)
        for text in texts:
            counts.prompts += 1
            if not 3 <= len(text) <= LONGEST or _CODE.match(text):
                counts.skipped += 1
                continue
            yield from maker.of(text, each)


class _PairMaker:
    """A maker of the pairs of a prompt, the kinds that have been rare so far first."""

    def __init__(self, rules: Sequence[EditRule], rng: random.Random, counts: Counts) -> None:
        self._rng = rng
        self._counts = counts
        self._tables: dict[bool, dict[str, list[EditRule]]] = {True: {}, False: {}}
        for rule in rules:
            self._tables[rule.same].setdefault(rule.kind, []).append(rule)
        used = {rule.kind for rule in rules}
        self._moves = [(name, move) for kind, name, move in _MOVES if kind in used]
        self._barren: set[tuple[str, str]] = set()

    def of(self, text: str, each: int) -> Iterator[Pair]:
        """Up to `each` pairs, none twice, of different kinds while there are any."""
        self._barren.clear()
        used: set[str] = set()
        texts: set[tuple[str, str]] = set()
        same = self._rng.random() < 0.5
        for _ in range(each):
            pair = self._pair(text, same, used)
            same = not same
            if pair is None:
                continue
            why = "repeated" if (pair.one, pair.two) in texts else rejection_reason(pair)
            if why is not None:
                self._counts.dropped[why] += 1
                continue
            texts.add((pair.one, pair.two))
            used.add(pair.kind)
            self._counts.kinds[pair.kind] += 1
            yield pair

    def _pair(self, text: str, same: bool, used: set[str]) -> Pair | None:
        rng, made = self._rng, list[str]()
        chance = rng.random()
        for name, move in self._moves:
            if chance < _FOLLOWED and (moved := move(text, rng)) is not None:
                text = moved
                made.append(f"({name})")
                break
        if _FOLLOWED <= chance < _FOLLOWED + _SHIFTED:
            shifted = self._edited(text, False, frozenset())
            if shifted is not None:
                text = shifted[1]
                made.append(f"({shifted[0].name})")
        found = self._edited(text, same, used, 20)
        if found is None:
            return None
        rule, two = found
        one = text
        made.append(rule.name)
        done = {rule.kind}
        if same:
            for chance in _MORE:
                if rng.random() < chance:
                    two = self._paraphrased(two, made, done)
            if rng.random() < 0.25:
                one = self._paraphrased(one, made, done)
        else:
            if rng.random() < _AROUND:
                two = self._paraphrased(two, made, done)
                if rng.random() < 0.4:
                    two = self._paraphrased(two, made, done)
            if rng.random() < _AROUND / 2:
                one = self._paraphrased(one, made, done)
        if rng.random() < 0.5:
            one, two = two, one
        return Pair(one, two, same, rule.kind, "rule:" + "+".join(made))

    def _paraphrased(self, text: str, made: list[str], done: set[str]) -> str:
        found = self._edited(text, True, done)
        if found is None or found[0].kind in done:
            return text
        made.append(found[0].name)
        done.add(found[0].kind)
        return found[1]

    def _edited(
        self, text: str, same: bool, without: Collection[str], dear: int = _DEAR
    ) -> tuple[EditRule, str] | None:
        """The first edit that applies, rare kinds first; kinds of `without` only where there is no other."""
        rng, known = self._rng, self._counts.kinds
        kinds, barren = self._tables[same], self._barren
        digits = _DIGIT.search(text) is not None
        order = sorted(
            kinds,
            key=lambda kind: (kind in without, (known[kind] + 3) * rng.random() * (dear if kind in _CHEAP else 1)),
        )
        for kind in order:
            rules = kinds[kind]
            start = int(rng.random() * len(rules))
            for rule in (*rules[start:], *rules[:start]):
                if (rule.digits and not digits) or (rule.name, text) in barren:
                    continue
                new = rule.edit(text, rng)
                if new is not None and new != text:
                    return rule, new
                barren.add((rule.name, text))
        return None
