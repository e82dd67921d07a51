"""Templates that are near a task as the certified threshold sees them: as a card, and as a label.

Pure. Invariant: a label says of a served template that it was audited, and of any other that it was missed.
"""

from __future__ import annotations

from semcache.agents.pattern import realised
from semcache.agents.plan_terms import CATEGORY
from semcache.agents.template_search import TemplateMatch
from semcache.types import Card
from semcache.types.evidence import Label, LabelSource


def card_of(match: TemplateMatch) -> Card:
    """A template as a card: the pattern's words around the new task's values."""
    template = match.template
    text = realised(match.pattern, match.fit)
    return Card(template.id, b"", template.partition, CATEGORY, text, template.created, template.expires)


def label_of(
    match: TemplateMatch, features: tuple[float, ...], p: float, *, served: bool, key: str, now: float
) -> Label:
    """The label of a template for the task with this key, in which P(correct) is `p`, until its outcome is known."""
    source = LabelSource.AUDIT if served else LabelSource.MISS
    template = match.template
    return Label(
        now, CATEGORY, template.tenant, template.id, template.id, bytes.fromhex(key), match.score,
        features, p, False, source, served,
    )  # fmt: skip
