"""Selection of the examples to show: helpful ones, unlike each other, within a number of tokens.

Pure. Invariant: at most `most` examples and `tokens` tokens; the order is by id, so that the same examples are the same
bytes whatever the request, and older ones, which more requests share, come first.

Greedy maximal marginal relevance (Carbonell and Goldstein 1998, "The use of MMR").
"""

from __future__ import annotations

from collections.abc import Sequence

from semcache.agents.nearhits.example import NearExample

DIVERSITY = 0.3


def pick(
    candidates: Sequence[tuple[NearExample, float]],
    *,
    most: int = 5,
    tokens: int = 2000,
    floor: float = 0.0,
    diversity: float = DIVERSITY,
) -> tuple[NearExample, ...]:
    """The examples to show, of (example, expected helpfulness); () when none reaches `floor`.

    An example counts by its helpfulness, as a share of the best one's, less `diversity` times its similarity to the
    nearest one already chosen.
    """
    left = [(one, gain) for one, gain in candidates if gain > max(0.0, floor)]
    most_helpful = max((gain for _, gain in left), default=0.0)
    chosen: list[NearExample] = []
    room = tokens
    while left and len(chosen) < most:
        worth = [
            (1.0 - diversity) * gain / most_helpful
            - diversity * max((float(one.vector @ other.vector) for other in chosen), default=0.0)
            for one, gain in left
        ]
        best = max(range(len(left)), key=lambda at: (worth[at], -left[at][0].id))
        example, _ = left.pop(best)
        if chosen and worth[best] <= 0.0:
            break
        if example.tokens <= room:
            chosen.append(example)
            room -= example.tokens
    return tuple(sorted(chosen, key=lambda one: one.id))
