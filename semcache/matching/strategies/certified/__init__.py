"""The default strategy: serve what is probably right within the stated error, and certify the error.

A calibrated P(correct) for each candidate (`belief`), a budget pooled over requests (`error_budget`), and tests of the
error on audited answers (`certificate`), put together in `strategy`. Pure: labels and notices are all it ever sees.
Invariant: what is served has 1 - P(correct) within the limit of its category, and a closed category serves nothing.
"""

from __future__ import annotations

from semcache.matching.strategies.certified.strategy import CertifiedThreshold

__all__ = ["CertifiedThreshold"]
