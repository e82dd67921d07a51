"""Ignored parts of a system prompt, which an answer does not depend on: date, time, ids, and those an operator names.

Pure; knows where the dialects keep the system prompt in `Request.identity`. Invariant: only texts of system prompts
change, and only in the identity, so the request is forwarded as the client sent it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeGuard

from semcache.config.system_parts import NAMED
from semcache.request.conversation_items import is_text, items_of
from semcache.types import Request

_LEFT = "[...]"  # stands for what was left out: a prompt that has no date at all is another one
_ROLES = ("system", "developer")


def without(request: Request, entries: Sequence[str]) -> Request:
    """The request with what `entries` name taken out of the system prompt in its identity; as it is without any.

    An entry is a name in `NAMED` or a regular expression. Raises re.error for one that is neither.
    """
    if not entries or not request.traits.system:
        return request
    ignored = _compiled(tuple(entries))
    identity = dict(request.identity)
    for field in ("system", "instructions"):
        if field in identity:
            identity[field] = _content(identity[field], ignored)
    name, items = items_of(identity)
    if items:
        identity[name] = [_turn(item, ignored) for item in items]
    return request if identity == request.identity else replace(request, identity=identity)


def system_of(identity: Mapping[str, Any]) -> str:
    """The system prompt of an identity, its parts in their order."""
    found = [identity[name] for name in ("system", "instructions") if name in identity]
    found += [item.get("content") for item in items_of(identity)[1] if _is_system(item)]
    texts = [[part["text"] for part in one if is_text(part)] if isinstance(one, list) else [one] for one in found]
    return "\n".join(text for some in texts for text in some if isinstance(text, str))


def blanked(text: str, ignored: Sequence[str] | re.Pattern[str]) -> str:
    """A text without what the entries name, or one expression matches. Raises re.error for an entry that is none."""
    some = (ignored,) if isinstance(ignored, re.Pattern) else _compiled(tuple(ignored))
    for expression in some:
        text = expression.sub(rf"\g<kept>{_LEFT}" if "kept" in expression.groupindex else _LEFT, text)
    return text


@lru_cache(maxsize=8)
def _compiled(entries: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple([NAMED.get(entry) or re.compile(entry) for entry in entries])


def _turn(item: Any, ignored: Sequence[re.Pattern[str]]) -> Any:
    if not _is_system(item):
        return item
    return {**item, "content": _content(item.get("content"), ignored)}


def _is_system(item: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(item, Mapping) and item.get("role") in _ROLES


def _content(content: Any, ignored: Sequence[re.Pattern[str]]) -> Any:
    if isinstance(content, str):
        for expression in ignored:
            content = blanked(content, expression)
        return content
    if isinstance(content, list):
        return [{**part, "text": _content(part["text"], ignored)} if is_text(part) else part for part in content]
    return content
