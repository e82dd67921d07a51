"""Second opinions: a language model compares the two answers of an audit that the judge leaves undecided.

Knows the modes of asking and the spending cap of verdicts; nothing of labels. Invariant: no model is shown a text of a
tenant that opted out, no comparison costs more than the cap leaves, and nothing is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache, partial

from semcache.cache.asked_verdicts import AskedVerdicts, expected_usage
from semcache.cache.verdict_modes import VerdictModes
from semcache.learning.judges.by_language_model import INSTRUCTIONS, LlmJudge, differences_are_shown, shown
from semcache.models.language_model import CREDENTIALS
from semcache.protocols import Backend
from semcache.runtime.bill import Bill, BilledFor, billed
from semcache.types import Lookup
from semcache.types.evidence import JUDGE_PATIENCE, Comparison

_MODELS = 64  # asked at a time; others are asked anew how they take questions
_log = logging.getLogger(__name__)


class SecondOpinions:
    """Asks models behind `backend`, for at most `patience` seconds a comparison; without one nobody is asked."""

    def __init__(
        self, asked: AskedVerdicts, modes: VerdictModes, backend: Backend | None, *, patience: float = JUDGE_PATIENCE
    ) -> None:
        self._asked, self._modes = asked, modes
        self._judge_by: Callable[[str], LlmJudge] | None = None
        if backend is not None:
            self._judge_by = lru_cache(_MODELS)(partial(LlmJudge, backend, patience=patience))

    def model_for(self, lookup: Lookup) -> str:
        """Return the model to ask about an audit of this request, "" for none.

        A caller's own key is not kept until the answers are compared, so what needs one is not asked.
        """
        if self._judge_by is None or CREDENTIALS.get() or not self._modes.asks(lookup):
            return ""
        return self._asked.asking.model or lookup.request.model

    async def agree(self, comparison: Comparison, model: str, billed_for: BilledFor) -> bool | None:
        """Return the model's verdict on a comparison; None if it gave none, or if the cap leaves nothing for it."""
        if self._judge_by is None or not model or not differences_are_shown(comparison):
            return None
        expected = expected_usage(INSTRUCTIONS, *shown(comparison).values())
        reserved = self._asked.reserve_for_audit(model, expected)
        if reserved is None:
            return None
        bill: Bill = []
        try:
            with billed() as bill:
                return await self._judge_by(model).agree(comparison)
        except Exception as error:
            _log.warning("a language model gave no second opinion: %r", error)
            return None
        finally:
            self._asked.settle_audit(reserved, bill, billed_for)
