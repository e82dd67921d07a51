"""Courtesy of a task: greetings, thanks, "please" and "could you", without which the same is to be done.

Invariant: what is left is the task as it stands there, in order, and quoted text is never touched; words that deny, ask
or make a condition are no courtesy.
"""

from __future__ import annotations

import re

from semcache.agents.slots import SlotKind, find
from semcache.request.wording.chatter import without_chatter

_ASKING = re.compile(
    r"(?:(?:can|could) you|would you please|(?:i|we)(?: (?:need|want|would like)|'d like)(?: you)? to|go ahead and"
    r"|please|kindly),? (?=[a-z])",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:,? (?:for me|please|thanks|thank you))+(?=[.!?]*\Z)", re.IGNORECASE)
_PLEASE = re.compile(r"(?:\A|(?<=[.!?] ))please,?\s+(?=\w)|,?\s*(?<![\w'-])please(?=[.!?]*\Z)", re.IGNORECASE)


def without_courtesy(task: str) -> str:
    """The task without courtesy; the task itself where nothing else is left."""
    plain = without_chatter(task)
    if plain.strip() not in task:
        # A sign that decorates a question may be a value of a task.
        plain = task
    left = _unwrapped(_unwrapped(plain.strip()))
    quotes = [(one.start, one.end) for one in find(left) if one.kind in (SlotKind.QUOTED, SlotKind.LIST)]
    for found in reversed(list(_PLEASE.finditer(left))):
        if not any(start < found.end() and found.start() < end for start, end in quotes):
            left = left[: found.start()] + left[found.end() :]
    return left.strip() or task


def _unwrapped(task: str) -> str:
    begun = _ASKING.match(task.replace("\u2019", "'"))
    task = task[begun.end() :] if begun is not None else task
    return _ENDING.sub("", task)
