"""Admission of an answer: whether it is stored, for how long, and for which tiers.

Reads what the dialect assembled; knows neither store nor clock. Invariant: only a complete, final, clean answer is
stored. An empty answer, even if it ended properly, is a failure of the model: it would be repeated for days, and no
judge could tell that it is wrong.
"""

from __future__ import annotations

import re

import msgspec

from semcache.request.secrets import has_secret, strings_of
from semcache.types import Admission, Assembled, Discard, Endpoint, Request, Store, Why

_REFUSAL = re.compile(
    r"""
    ^\W*(?:(?:i'?m|i\ am|we'?re|we\ are)\ (?:very\ |really\ |so\ |truly\ )?(?:sorry|afraid)|sorry|apologies
      |i\ apologi[sz]e|unfortunately|as\ an\ ai(?:\ language\ model|\ assistant)?)?
    (?:[\s,.:;-]|but|that|however){0,6}
    (?:i|we)(?:'m|\ am|\ are|'re)?\s*
    (?:can'?t|cannot|can\ not|won't\ be\ able\ to|won't|will\ not|unable\ to|not\ able\ to|not\ allowed\ to
      |do\ not\ feel\ comfortable|don't\ feel\ comfortable|must\ decline|have\ to\ decline)\s*
    (?:\w+\s+){0,2}?(?:help|assist|provid|comply|fulfil+|do\ that|answer|discuss|engag|continue|support|creat|generat
      |shar|with\ (?:this|that|your)|that\ request|this\ request|\W*$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SHORT = 400  # characters: a longer answer that opens with an apology usually goes on to help


def admission(request: Request, answer: Assembled, status: int, *, ttl: float, max_bytes: int = 1 << 20) -> Admission:
    """Decide whether to store an answer that the upstream gave with this status; `ttl` is how long it would live."""
    if request.controls.no_store:
        return Discard(Why.NO_STORE)
    if status != 200:
        return Discard(Why.STATUS)
    if not answer.complete:
        return Discard(Why.INCOMPLETE)
    if answer.refusal or is_refusal(answer.text):
        return Discard(Why.REFUSAL)
    if answer.tool_calls and request.traits.last_role == "tool":
        return Discard(Why.TOOL_STEP)
    # An embedding has no text, and is no conversation.
    silent = not answer.text.strip() and request.endpoint is not Endpoint.EMBEDDINGS
    if silent and not answer.tool_calls and not answer.wordless:
        return Discard(Why.EMPTY)
    if len(answer.body) > max_bytes:
        return Discard(Why.TOO_LARGE)
    # Beside the text that is read of it, an answer may have other choices, reasoning and calls.
    beside = request.endpoint is not Endpoint.EMBEDDINGS and has_secret(_written(answer.body))
    if has_secret(answer.text) or beside:
        return Discard(Why.SECRET)
    if not ttl > 0:
        return Discard(Why.NO_STORE)
    return Store(ttl, semantic=not answer.tool_calls and not silent)


def _written(body: bytes) -> str:
    """Return every string of an answer: the arguments of its calls, as the program reads them."""
    try:
        return strings_of(msgspec.json.decode(body)).replace('\\"', '"')
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace")


def is_refusal(text: str) -> bool:
    """Return True if a short answer declines to answer."""
    return len(text) <= _SHORT and _REFUSAL.match(text.replace("\u2019", "'")) is not None
