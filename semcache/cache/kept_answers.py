"""Answers that the upstream keeps under an id: the tag by which their entries are found when they are deleted there.

Pure.
"""

from __future__ import annotations

import re

import msgspec

from semcache.types import Assembled, Request

_PATH = re.compile(r"/v1/(?:responses|chat/completions)/([\w.:-]{1,200})/?")


class _Named(msgspec.Struct):
    id: str = ""


_named = msgspec.json.Decoder(_Named).decode


def tag_of(answer_id: str) -> str:
    """The tag of entries that replay the answer with this id."""
    return f"answer:{answer_id}"


def kept_tags(request: Request, answer: Assembled) -> tuple[str, ...]:
    """The tag of an answer that the upstream keeps, none for any other."""
    if request.replay.get("store") is not True and request.replay.get("deletable") is not True:
        return ()
    try:
        answer_id = _named(answer.body).id
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ()
    return (tag_of(answer_id),) if answer_id else ()


def deleted_tag(method: str, path: str) -> str | None:
    """The tag of the entries whose answer a request deletes upstream, None for any other request."""
    named = _PATH.fullmatch(path) if method == "DELETE" else None
    return tag_of(named[1]) if named is not None else None
