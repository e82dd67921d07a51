"""Failed attempts of a run: calls of a tool that came to nothing and were made again, the second time with success.

A plan has the second call in the place of the first. Where an agent met an error in another way, by another tool or
with another value of the task, what it did is an answer to the error, and no plan for a task whose tools work.
Pure. Invariant: no call that failed is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from semcache.agents.expected_result import type_of
from semcache.agents.result_signs import Json, reservations
from semcache.agents.run import NoRun, PlanReason, RunCall, RunTurn

_NUMBERS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(r"[\W_]+")
_TELLING = 3  # characters of a value that is a part of another by no chance


def without_attempts(task: str, turns: Sequence[RunTurn]) -> tuple[RunTurn, ...]:
    """The turns with each failed attempt replaced by its repetition in the next turn.

    Raises NoRun(TOOL_ERROR) for a failed call that was not made again at once.
    """
    left = [[*turn.calls] for turn in turns]
    known = [task.casefold()]  # what the agent knew in each turn
    for turn in turns:
        known.append("\n".join([known[-1], *[str(call.result).casefold() for call in turn.calls if not call.failed]]))
    # From the last one on, so that the repetition of a repetition is the one that succeeded.
    for at in range(len(left) - 1, -1, -1):
        for place, call in enumerate(left[at]):
            again = _repeated(call, left[at + 1], known[at]) if at + 1 < len(left) else None
            if again is not None:
                left[at][place] = again
                left[at + 1].remove(again)
            elif call.failed:
                raise NoRun(PlanReason.TOOL_ERROR)
    return tuple([replace(turn, calls=tuple(calls)) for turn, calls in zip(turns, left, strict=True) if calls])


def _repeated(call: RunCall, after: Sequence[RunCall], known: str) -> RunCall | None:
    """The call that repeats one that came to nothing, None where nothing does."""
    return next((one for one in after if not one.failed and _is_repetition(call, one, known)), None)


def _is_repetition(call: RunCall, again: RunCall, known: str) -> bool:
    if call.tool != again.tool or not _is_corrected(call.arguments, again.arguments, known):
        return False
    if call.failed:
        return True
    came_to_nothing = reservations(call.result) - reservations(again.result)
    return bool(came_to_nothing) or type_of(call.result) != type_of(again.result)


def _is_corrected(one: Json, two: Json, known: str) -> bool:
    """Return True for a mistake of the agent's own and its correction.

    The two say the same in another form ("#W-1" and "W-1", "5" and 5), or the first had what nobody had told the agent.
    Some arguments may be missing.
    """
    if isinstance(one, dict) and isinstance(two, dict):
        return all(_is_corrected(value, two[key], known) for key, value in one.items() if key in two)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(
            _is_corrected(mine, theirs, known) for mine, theirs in zip(one, two, strict=True)
        )
    if isinstance(one, list) or isinstance(two, list):
        items, other = (one, two) if isinstance(one, list) else (two, one)
        return len(items) == 1 and _is_corrected(items[0], other, known)
    if one == two:
        return True
    if any(value is None or isinstance(value, bool | dict) for value in (one, two)):
        return False
    left, right = str(one), str(two)
    if left.casefold() not in known:
        return True
    if not _LETTERS.search(left + right):
        return _numbers(left) == _numbers(right)
    short, long = sorted((_PLAIN.sub("", left).casefold(), _PLAIN.sub("", right).casefold()), key=len)
    return short == long or (len(short) >= _TELLING and short in long)


def _numbers(text: str) -> list[int]:
    return sorted(map(int, _NUMBERS.findall(text)))
