"""Models of different price, and what is lost where a cheaper one answers.

`models` says what a model costs, `signals` what can be told of a request and of an answer, `ridge` learns from that,
`gap` predicts the quality lost to the reference model. Near hits and plans choose by them, under certificates.
Invariant: a prediction is made of what was learned before it alone.
"""

from semcache.agents.multiplex.models import PricedModel, PricedModels
from semcache.agents.multiplex.signals import RoutingRequest

__all__ = ["PricedModel", "PricedModels", "RoutingRequest"]
