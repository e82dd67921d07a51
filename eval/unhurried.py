"""Verifiers without a deadline: a page says what a cache decides, not how busy the machine was that made it.

Knows how long the local verifier may take where somebody waits. Invariant: nothing else changes.
"""

from __future__ import annotations

from semcache.models import verifiers

PATIENCE = 60.0  # seconds


def unhurried() -> None:
    """Let the local verifier of every cache that is opened from now on take its time."""
    verifiers.MODEL_PATIENCE = PATIENCE
