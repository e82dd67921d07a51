"""Chains of turns: the turns of two conversations that are in other words, decided together.

Pure. Knows the links' probabilities, nothing of conversations. Invariant: a chain is no surer than its weakest link,
and every link lowers its probability.

The rest of two such conversations (their form, tools and results, the equal turns) is evidence for the chain, so more
doubt is allowed for a chain than for a single prompt. The limits were set on one half of the conversations of `python
-m eval.written_conversations`; each link needs at least the verdict that a whole chain needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from semcache.types import Candidate

_LEFT = 0.75  # P(all links are right) after a verifier's verdict on each, from which a chain is served
LEAST_SAME = _LEFT  # of the local verifier on each link
LEAST_SAID = 0.5  # of the local verifier on a turn of the assistant, which it was not trained on
_ALONE = 0.97  # P(all links are right) without a verdict from which it is served
_HOPE = 0.6  # P of a link before the verdict, below which none is asked for
_MOST = 4  # links


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A turn in other words: the turn of the request, the stored turn, and the P that they are one question.

    `served` is True if the strategy would serve one for the other.
    """

    asked: str
    candidate: Candidate
    p: float
    served: bool = False


def joint(links: Sequence[ChainLink]) -> float:
    """P(all links are right)."""
    return prod([link.p for link in links])


def hopeful(links: Sequence[ChainLink]) -> bool:
    """Return True if a verifier's verdict on each link might be enough."""
    return len(links) <= _MOST and all(link.p >= _HOPE for link in links)


def holds(links: Sequence[ChainLink]) -> bool:
    """Return True if the chain may be served after a verifier's verdict on each link."""
    return joint(links) >= _LEFT


def sure_alone(links: Sequence[ChainLink]) -> bool:
    """Return True if the chain may be served without a verdict."""
    return joint(links) >= _ALONE
