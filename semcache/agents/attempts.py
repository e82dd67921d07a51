"""Failed attempts of a run: calls of a tool that came to nothing and were made again, the second time with success.

A plan has the second call in the place of the first. Where an agent met an error in another way, by another tool or
with another value of the task, what it did is an answer to the error, and no plan for a task whose tools work.
Many tools say nothing of what they did ("" after a command, "ok" after a click). So a call that did not fail is an
attempt only if its tool changes nothing, if its result refuses in words, or if the next call says the same.
Pure. Invariant: no call that failed is left, and none that may have changed something is left out for its result alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from semcache.agents.expected_result import type_of
from semcache.agents.result_signs import Json, reservations
from semcache.agents.run import NoRun, PlanReason, RunCall, RunTurn

_NUMBERS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(r"[\W_]+")
_TELLING = 3  # characters of a value that is a part of another by no chance
_WORDS = re.compile(r"\w+")
# Words of a result that say how things are, and not that the call was refused.
_TOLD = frozenset(("already", "nothing", "full", "down", "locked", "offline", "empty"))


def without_attempts(task: str, turns: Sequence[RunTurn], reads: Callable[[RunCall], bool]) -> tuple[RunTurn, ...]:
    """The turns with each failed attempt replaced by its repetition in the next turn.

    `reads` says of a call that its tool changes nothing. Raises NoRun(TOOL_ERROR) for a failed call that was not made
    again at once.
    """
    left = [[*turn.calls] for turn in turns]
    known = [task.casefold()]  # what the agent knew in each turn
    for turn in turns:
        known.append("\n".join([known[-1], *[str(call.result).casefold() for call in turn.calls if not call.failed]]))
    # From the last one on, so that the repetition of a repetition is the one that succeeded.
    for at in range(len(left) - 1, -1, -1):
        for place, call in enumerate(left[at]):
            guessed = known[at] if call.failed or reads(call) or _is_refused(call.result) else None
            again = _repeated(call, left[at + 1], guessed) if at + 1 < len(left) else None
            if again is not None:
                left[at][place] = again
                left[at + 1].remove(again)
            elif call.failed:
                raise NoRun(PlanReason.TOOL_ERROR)
    return tuple([replace(turn, calls=tuple(calls)) for turn, calls in zip(turns, left, strict=True) if calls])


def _repeated(call: RunCall, after: Sequence[RunCall], known: str | None) -> RunCall | None:
    """The call that repeats one that came to nothing, None where nothing does.

    `known` is what the agent had been told; None where a value that nobody had told it is no guess.
    """
    return next((one for one in after if not one.failed and _is_repetition(call, one, known)), None)


def _is_repetition(call: RunCall, again: RunCall, known: str | None) -> bool:
    if call.tool != again.tool or not _is_corrected(call.arguments, again.arguments, known):
        return False
    if call.failed:
        return True
    came_to_nothing = reservations(call.result) - reservations(again.result)
    return bool(came_to_nothing) or type_of(call.result) != type_of(again.result)


def _is_corrected(one: Json, two: Json, known: str | None) -> bool:
    """Return True for a mistake of the agent's own and its correction.

    The two say the same in another form ("#W-1" and "W-1", "5" and 5), or the first had what nobody had told the agent
    (`known`). Of a text of several words, such as a command, half must be left. Some arguments may be missing.
    """
    if isinstance(one, dict) and isinstance(two, dict):
        return (known is not None or one.keys() == two.keys()) and all(
            _is_corrected(value, two[key], known) for key, value in one.items() if key in two
        )
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
    if known is not None and left.casefold() not in known:
        return _is_alike(left, right)
    if not _LETTERS.search(left + right):
        return _numbers(left) == _numbers(right)
    short, long = sorted((_PLAIN.sub("", left).casefold(), _PLAIN.sub("", right).casefold()), key=len)
    return short == long or (known is not None and len(short) >= _TELLING and short in long)


def _is_refused(result: Json) -> bool:
    """Return True for a result with a word of refusal, such as "not", in its text or in a field that tells it."""
    told = [sign.rpartition(": ") for sign in reservations(result)]
    return any((field or not isinstance(result, dict)) and word not in _TOLD for field, _, word in told)


def _is_alike(left: str, right: str) -> bool:
    """Return True unless one of two texts of several words has lost more than half of the other's words."""
    mine, theirs = (set(_WORDS.findall(text.casefold())) for text in (left, right))
    if len(left.split()) == 1 or len(right.split()) == 1:
        return True
    return 2 * len(mine & theirs) >= len(mine | theirs)


def _numbers(text: str) -> list[int]:
    return sorted(map(int, _NUMBERS.findall(text)))
