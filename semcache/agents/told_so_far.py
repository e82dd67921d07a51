"""All that a run had been told before it made a call: its task, the later words of its user, results of earlier calls.

A value that stands in it may have been taken from it. What a tool says after the call explains nothing: a result often
has the names and the values that were asked for. Pure.
"""

from __future__ import annotations

import re

from semcache.agents.run import AgentRun, Json, RunCall
from semcache.agents.slots import find, words


class ToldSoFar:
    """All that a run had been told before the call that `before` names; at first only its task and its user's words."""

    def __init__(self, run: AgentRun) -> None:
        self._said = "\n".join((run.task, *run.said)).casefold()
        self._texts = [text.casefold() for text in run.texts]
        self._named = frozenset([word.stem for value in find(run.task) for word in words(value.text)])
        self._stems: list[frozenset[str]] = []
        self._heard: dict[int, int] = {}  # by the identity of a call, the results that there were before its turn
        before = 0
        for turn in run.turns:
            self._heard |= {id(call): before for call in turn.calls}
            before += len(turn.calls)
        self._results = 0
        self._union = (0, self._named)  # of so many results

    def before(self, call: RunCall) -> None:
        """Go to the time when one of the run's calls was made."""
        self._results = self._heard[id(call)]

    def stems(self) -> frozenset[str]:
        """The stems of the words of the task's values, and of the results so far."""
        if self._union[0] != self._results:
            for text in self._texts[len(self._stems) : self._results]:
                self._stems.append(frozenset([word.stem for word in words(text)]))
            self._union = (self._results, self._named.union(*self._stems[: self._results]))
        return self._union[1]

    def holds(self, value: Json) -> bool:
        """Return True if a value stands in what was told; a whole number only as one, not as part of a longer one."""
        text = str(value).casefold()
        if isinstance(value, int):
            sought = re.compile(rf"(?<!\d){re.escape(text)}(?!\d)")
            return any(sought.search(one) is not None for one in (self._said, *self._texts[: self._results]))
        return any(text in one for one in (self._said, *self._texts[: self._results]))
