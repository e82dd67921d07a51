"""A word: a language model's verdict on a request and an entry, as served answers and labels carry it.

A word follows the features of the neighbour as three more numbers. Pure. Invariant: the strategy learns from no label
that was chosen by a word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from semcache.matching import features
from semcache.matching.logistic import log_odds
from semcache.types.evidence import Label, LabelSource

PLAIN = len(features.NAMES)  # features of a neighbour of which no word was had
_WITH_WORD = PLAIN + 3
_DIFFERENT = 0.05  # P(yes) up to which a verdict makes a known difference


@dataclass(frozen=True, slots=True)
class Word:
    """A word, as a label carries it: P(yes), the belief's log-odds before it, and if the label is a random sample.

    All answers that a word refused are labelled, but only the audited ones of those that it let pass. So only labels
    that are `sampled` show how many neighbours like these are right.
    """

    p_yes: float
    odds: float
    sampled: bool

    @property
    def different(self) -> bool:
        """True if the answer is known to be another's."""
        return self.p_yes <= _DIFFERENT


def word_about(before: float, p_yes: float, *, sampled: bool) -> Word:
    """The word about a neighbour of this P(correct)."""
    return Word(p_yes, log_odds(before), sampled)


def with_word(values: tuple[float, ...], word: Word) -> tuple[float, ...]:
    """The features of a neighbour followed by a word about it, in place of one that followed them before."""
    return (*values[:PLAIN], word.odds, word.p_yes, float(word.sampled))


def word_of(label: Label) -> Word | None:
    """The word that a label carries; None for a label without one."""
    if len(label.features) != _WITH_WORD:
        return None
    odds, p_yes, sampled = label.features[PLAIN:]
    return Word(p_yes, odds, sampled > 0.0)


def without_word(label: Label) -> Label | None:
    """The label as the strategy learns from it; None if the word chose which answers were labelled.

    It is given as the label of a miss, so that a judged hit enters no certificate of hits by meaning.
    """
    word = word_of(label)
    if word is None:
        return label
    if not word.sampled or label.source is LabelSource.VERDICT:
        return None
    source = LabelSource.FEEDBACK if label.source is LabelSource.FEEDBACK else LabelSource.MISS
    return replace(label, features=label.features[:PLAIN], source=source, served=False)
