"""The default strategy: serves what is probably right within the error target, and certifies the error.

`strategy` combines a calibrated P(correct) for each candidate (`belief`), a budget pooled over requests
(`error_budget`), and tests of the error on audited answers (`certificate`). Pure: it sees only labels and notices.
Invariant: what is served has 1 - P(correct) within the limit of its category, and a closed category serves nothing.
"""

from __future__ import annotations

from semcache.matching.strategies.certified.strategy import CertifiedThreshold

__all__ = ["CertifiedThreshold"]
