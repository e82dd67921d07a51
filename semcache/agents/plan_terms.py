"""The terms on which plans are served: the success below which none is, their life, and what certifies near ones.

Values and functions that are given from outside. Invariant: nothing here changes after it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semcache.protocols import Threshold
    from semcache.types import Conflict
    from semcache.types.evidence import Label

CATEGORY = "plan"
LIFE = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class PlanTerms:
    """The terms of plans: `target` is the success below which nothing is served, `life` seconds a template lives."""

    target: float = 0.9
    life: float = LIFE
    small_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class NearMatching:
    """The certification of templates that are merely near a task.

    `threshold` decides, `conflicts` are the guards, `draw` is uniform in [0, 1). `teach` takes labels, where they go to
    a log first; without it the threshold is taught at once.
    """

    threshold: Threshold
    conflicts: Callable[[str, str], tuple[Conflict, ...]] = lambda _one, _two: ()
    draw: Callable[[], float] = lambda: 1.0
    teach: Callable[[Label], object] | None = None


USUAL_TERMS = PlanTerms()
