"""A choice among models by a budget of predicted loss, measured against what is served under certificates.

`choose` decides, `loss_budget` says how much of the quality may be lost, `query_costs` learns costs by query, `account`
counts calls, tokens and money. None of it is served: measured losses exceed the budget (`results/multiplexing.md`).
"""

from eval.choosing.account import Account, Spending
from eval.choosing.choose import Choice, Multiplexer, MultiplexTerms
from eval.choosing.loss_budget import LossBudget
from eval.choosing.query_costs import QueryCosts

__all__ = ["Account", "Choice", "LossBudget", "MultiplexTerms", "Multiplexer", "QueryCosts", "Spending"]
