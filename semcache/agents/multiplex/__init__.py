"""Choice among models of different price: which one to ask, whether to serve its answer, and what that saves.

`models` says what a backend costs, `signals` what can be told of a request and of an answer, `ridge` learns from that,
`gap` predicts the quality lost to the reference model, `loss_budget` says how much of it may be lost, `choose` decides,
`query_costs` learns costs by query, `account` counts calls, tokens and money.
Invariant: the reference model is asked whenever nothing is known, and what is said to be saved is what was not paid.
"""

from semcache.agents.multiplex.account import Account, Spending
from semcache.agents.multiplex.choose import Choice, Multiplexer, MultiplexTerms
from semcache.agents.multiplex.loss_budget import LossBudget
from semcache.agents.multiplex.models import PricedModel, PricedModels
from semcache.agents.multiplex.query_costs import QueryCosts
from semcache.agents.multiplex.signals import RoutingRequest
from semcache.retention.answer_worth import worth_of

__all__ = [
    "Account",
    "Choice",
    "LossBudget",
    "MultiplexTerms",
    "Multiplexer",
    "PricedModel",
    "PricedModels",
    "QueryCosts",
    "RoutingRequest",
    "Spending",
    "worth_of",
]
