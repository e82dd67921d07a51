"""Courtesy of a task: greetings, thanks, "please" and "could you", without which the same is to be done.

A message that the task dictates ("Text Ann that I am late, thanks", "Reply to INC-7: could you restart it?") keeps all
of its own. Invariant: what is left is the task as it stands there, in order, and quoted text is never touched; words
that deny, ask or make a condition are no courtesy.
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
_COULD_YOU = re.compile(r"\b(?:can|could|would|will) you\b", re.IGNORECASE)
_ENDING = re.compile(r"(?:,? (?:for me|please|thanks|thank you))+(?=[.!?]*\Z)", re.IGNORECASE)
_PLEASE = re.compile(r"(?:\A|(?<=[.!?] ))please,?\s+(?=\w)|,?\s*(?<![\w'-])please(?=[.!?]*\Z)", re.IGNORECASE)
_TELLING = (
    r"(?:answer|announce|comment|dm|e-?mail|mail|message|notify|ping|post|remark|remind|reply|respond|sms|tell|text"
    r"|tweet|warn|write)"
)
_TOLD = (
    rf"(?:{_TELLING}|body|caption|describe|description|issue|note|reminder|response|send|status|subject|ticket|title)"
)
_ANYBODY = r"(?:i|we|you|he|she|it|they|the|an?|my|our|your|his|her|their|this|there)"
# Behind it stands what is to be said, in somebody else's words, and no quote says where that ends.
_DICTATED = re.compile(
    rf"(?:\b{_TOLD}s?\b[^:.!?\n]*:(?=\s)|\b(?:saying|says|stating|which reads|that reads)\b:?"
    rf"|\b{_TELLING}\b[^:.!?\n]*?\bthat(?= {_ANYBODY}\b))(?!\s*[\"'`\u201c\u2018])",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"(?:\A|\s)(?:to|as|with|into|be|say|named|called|titled|labelled|word)\Z", re.IGNORECASE)


def without_courtesy(task: str) -> str:
    """The task without courtesy; the task itself where nothing else is left."""
    dictated = _DICTATED.search(task)
    if dictated is not None:
        told = task[dictated.end() :]
        return _without_opening(task[: dictated.end()]) + told if told.strip() else task
    left = _without_all(task)
    if _DANGLING.search(left) and not _DANGLING.search(task):
        return task
    # The mark of "Could you cancel it?" goes with its courtesy; that of "Cancel it?" asks something.
    return left.rstrip("? ") or left if _COULD_YOU.search(task[: max(0, task.find(left))]) else left


def _without_opening(task: str) -> str:
    """The beginning of a task without the courtesy in front of it."""
    left = _without_all(task)
    return left if left and task.endswith(left) else task


def _without_all(task: str) -> str:
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
