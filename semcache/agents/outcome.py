"""The success rate of a template: a Beta posterior that forgets, and starts from that of its agent's templates.

Pure: times are Unix seconds. Invariant: predictions lie inside (0, 1); a failure never raises one, a success never
lowers one.

The predictive probability is the mean of the Beta-binomial posterior (Gelman et al., Bayesian Data Analysis, section
2.4); a template's prior is that of all templates of its agent, worth `STRENGTH` outcomes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from semcache.agents.template import Template

STRENGTH = 10.0  # outcomes that the prior is worth
HALF_LIFE = 30 * 86400.0  # seconds after which an outcome counts half


@dataclass(frozen=True, slots=True)
class PooledOutcomes:
    """The prior of a template's success: the `good` and `bad` outcomes of an agent's templates, pooled.

    The default expects 19 of 20 templates to work.
    """

    good: float = 19.0
    bad: float = 1.0

    @property
    def mean(self) -> float:
        """The expected success of a new template."""
        return self.good / (self.good + self.bad)

    def learn(self, *, success: bool) -> PooledOutcomes:
        """The pool with one outcome more."""
        return replace(self, good=self.good + success, bad=self.bad + (not success))


def predicted(template: Template, trust: PooledOutcomes, now: float) -> float:
    """The probability that the template succeeds now."""
    good, bad = faded(template, now)
    return (STRENGTH * trust.mean + good) / (STRENGTH + good + bad)


def counted(template: Template, now: float, *, success: bool) -> Template:
    """The template with one outcome more."""
    good, bad = faded(template, now)
    return replace(template, good=good + success, bad=bad + (not success), judged=max(now, template.judged))


def faded(template: Template, now: float) -> tuple[float, float]:
    """Its successes and failures, each worth less the longer ago it was."""
    left = math.exp(-math.log(2) * max(0.0, now - template.judged) / HALF_LIFE)
    return template.good * left, template.bad * left
