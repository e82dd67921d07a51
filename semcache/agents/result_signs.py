"""Signs in the result of a tool that its call failed, or came to nothing.

Reads JSON and short texts; knows no tools. Pure. Invariant: a sign is made of names of fields and of the words of this
file, never of other text of a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from semcache.request.text import vocabulary

Json: TypeAlias = Any

_SHORT = 400  # characters of a text that is read whole; a longer one is data, whose words say nothing of the call
_DEEP = 3  # objects inside each other that are read
NOTHING_LEFT = "is not above zero"  # the sign of a number: none in stock, a balance that is overdrawn
_STATUS = vocabulary("status state outcome code status_code statuscode http_status httpstatus")
_NAMED_STATUS = re.compile(r".*(?:status|_state|[a-z]State)")  # "payment_status", "orderState"
_TOLD = vocabulary("message detail details msg reason info note notes result response output title") | _STATUS
_SUCCESS = vocabulary("ok success successful succeeded")
_FAULT = re.compile(
    r"(?:.*_)?(?:is)?_?(?:errors?|failures?|exceptions?|faults?|warnings?)(?:_?(?:code|message|type|msg))?"
)
_UNDONE = vocabulary(
    """
    declined denied rejected refused failed failure error errored expired blocked cancelled canceled forbidden
    unavailable insufficient invalid not_found missing timeout timed_out aborted
    """
)
_STATE = re.compile(r"[^\W\d_](?:[ _-]?[^\W\d_]){0,29}|\d{1,3}")
_FAILED = vocabulary("error failed failure errored")
_BEGINS = re.compile(r"\W*(?:error|traceback|exception|\w{0,60}(?:Error|Exception)\s*[:(])")
_HTTP = re.compile(
    r"\s*(?:http(?:/[\d.]+)? [45]\d\d\b|[45]\d\d (?:bad request|bad gateway|not found|forbidden|internal|service))",
    re.I,
)
_REFUSAL = re.compile(
    r"\b(?:not|never|cannot|none|nothing|nobody|unable|no (?!longer than\b)|fail(?:ed|ure|s)?|errors?|exception|denied"
    r"|refused|rejected|declined|invalid|unauthori[sz]ed|forbidden|unavailable|timed? ?out|insufficient|missing|unknown"
    r"|expired|blocked|aborted|exceeded|too (?:many|few|large|long|short|late|early)|sorry|unfortunately|oops|locked"
    r"|conflicts?|already|wrong|try again|retry|rate limit|offline|down|full|sold out|out of stock)\b|n['\u2019]t\b"
    r"|[\u26a0\u274c\u2717\u2718\U0001f6ab]",
    re.I,
)
_OPENING = re.compile(
    r"\s*(?:permission denied|access denied|insufficient|not found|no such|unauthori[sz]ed|forbidden|failed\b|failure\b"
    r"|declined|denied|rejected|cannot|could not|unable to)",
    re.I,
)
_CODES = vocabulary("status code status_code statuscode http_status httpstatus")
_SAYING = vocabulary("message detail details msg reason result response output")
_ERRORS = ("errors", "error_message", "errormessage", "error_code", "errorcode")
_ERROR = re.compile(r"\W*(?:errors?\b(?! rates?\b)|traceback\b|exception\b|\w{0,60}(?:Error|Exception)\s*[:(])", re.I)
_PASSING = re.compile(
    r"\b(?:rate limit|too many requests|timed? ?out|bad gateway|gateway timeout|service unavailable"
    r"|internal server error|temporarily unavailable|try again|quota exceeded|overloaded|connection (?:refused|reset)"
    r"|not (?:authenticated|authori[sz]ed)|unauthori[sz]ed)\b",
    re.I,
)


def failed(result: Json) -> bool:
    """Return True for a result that is an error: by its fields, or by how its text begins."""
    if isinstance(result, dict):
        fields = {str(name).casefold(): value for name, value in result.items()}
        return (
            any(fields.get(name) for name in ("error", "exception"))
            or fields.get("iserror") is True
            or fields.get("is_error") is True
            or any(_is_no(fields[name]) for name in fields.keys() & _SUCCESS)
            or any(_lower(fields.get(name)) in _FAILED for name in ("status", "outcome", "type"))
        )
    text = _text_of_blocks(result)
    return (
        text is not None and _BEGINS.match(text[:100].casefold() if not text[:1].isupper() else text[:100]) is not None
    )


def may_be_error(result: Json) -> bool:
    """Return True for a result that may be an error, so that nobody else should get it: also by what it tells in words.

    `failed` is surer. A status of HTTP, "Not found", "Rate limit exceeded" or a traceback count here, in a text or in a
    field that tells it.
    """
    text = _text_of_blocks(result)
    if text is not None:
        return failed(result) or _tells_error(text)
    if not isinstance(result, dict):
        return False
    fields = {str(name).casefold(): value for name, value in result.items()}
    return (
        failed(result)
        or any(fields.get(name) for name in _ERRORS if not isinstance(fields.get(name), int | float))
        or any(_is_undone(fields[name]) for name in fields.keys() & _CODES)
        or any(isinstance(fields[name], str) and _tells_error(fields[name]) for name in fields.keys() & _SAYING)
        or _tells_error(_text_of_blocks(fields.get("content")) or "")
    )


def _tells_error(text: str) -> bool:
    begins = text[:_SHORT]
    return (
        _ERROR.match(begins) is not None
        or _OPENING.match(begins) is not None
        or _HTTP.match(begins) is not None
        or (len(text) <= _SHORT and _PASSING.search(text) is not None)
    )


def reservations(result: Json) -> frozenset[str]:
    """The signs in a result that its call came to nothing; none for most results.

    "empty" for a result that holds nothing, a field's name for one that says no ("in_stock": false) or names a fault,
    "name is empty" for one that holds nothing, "stock is not above zero" for such a number, "status: declined" for one
    that tells it, and the words by which a short text does ("not", "refused"). A plan that goes on to change something
    should pass over none that the run which it was learned from did not have.
    """
    text = _text_of_blocks(result)
    if text is not None:
        return frozenset(_words_of(text)) if text.strip() else frozenset(("empty",))
    if isinstance(result, dict) and result:
        return frozenset(_of_fields(result, "", _DEEP))
    return frozenset() if result or (result == 0 and result is not False) else frozenset(("empty",))


def states(result: Json) -> list[tuple[str, str]]:
    """The states that an object names, by the fields that hold one: ("status", "shipped"), ("locked", "true").

    Each is a single word. Fields of an object inside are named with those around it, as in "order.status".
    """
    return list(_states(result, "", _DEEP)) if isinstance(result, dict) else []


def _states(fields: dict[str, Json], before: str, deep: int) -> Iterator[tuple[str, str]]:
    for key, value in fields.items():
        name, lower = f"{before}{key}", str(key).casefold()
        if value is True and lower not in _SUCCESS:
            yield name, "true"
        elif isinstance(value, dict) and deep > 1:
            yield from _states(value, f"{name}.", deep - 1)
        elif (lower in _STATUS or _NAMED_STATUS.fullmatch(str(key))) and _STATE.fullmatch(_lower(value)):
            yield name, _lower(value)


def _of_fields(fields: dict[str, Json], before: str, deep: int) -> Iterator[str]:
    for key, value in fields.items():
        name, lower = f"{before}{key}", str(key).casefold()
        fault = _FAULT.fullmatch(lower) is not None
        void = value in (None, "", [], {}) and not isinstance(value, bool | int | float)
        if _is_no(value) or (fault and value and not void):
            yield name
        elif void and value != "" and not fault:
            yield f"{name} is empty"
        elif (lower in _STATUS and _is_undone(value)) or _lower(value) in _UNDONE:
            yield f"{name}: {_lower(value)}"
        elif isinstance(value, str) and lower in _TOLD:
            yield from (f"{name}: {word}" for word in _words_of(value))
        elif isinstance(value, dict) and deep > 1:
            yield from _of_fields(value, f"{name}.", deep - 1)
        elif isinstance(value, int | float) and value is not True and value <= 0:
            yield f"{name} {NOTHING_LEFT}"


def _words_of(text: str) -> set[str]:
    if len(text) > _SHORT:
        return {"refusal"} if _OPENING.match(text) or _HTTP.match(text) else set()
    found = {match.group().casefold().replace("\u2019", "'").strip() for match in _REFUSAL.finditer(text)}
    return found | ({"http"} if _HTTP.match(text) else set())


def _text_of_blocks(result: Json) -> str | None:
    """The text of a result that is a text, or a list of blocks of text as the Model Context Protocol has them."""
    if isinstance(result, str):
        return result
    if not isinstance(result, list) or not result:
        return None
    blocks = [one.get("text") if isinstance(one, dict) and one.get("type") == "text" else None for one in result]
    return "\n".join(map(str, blocks)) if all(isinstance(one, str) for one in blocks) else None


def _is_no(value: Json) -> bool:
    return value is False or _lower(value) in ("false", "no")


def _lower(value: Json) -> str:
    return value.casefold() if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _is_undone(status: Json) -> bool:
    if isinstance(status, str):
        return _lower(status) in _UNDONE or (status.isdecimal() and len(status) == 3 and status[0] in "45")
    return isinstance(status, int) and not isinstance(status, bool) and 400 <= status < 600
