"""HTTP headers: the controls in requests, `Cache-Status` in replies, and the fields that are not passed on.

Reads our own `x-semcache-*`, RFC 9111 `Cache-Control`, and the spellings of other gateways; writes RFC 9211
`Cache-Status`. Knows neither requests nor sockets.
Invariant: header and body together ask for the stricter of the two; a control that cannot be understood is refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from semcache.dialects.controls import check_names, rate, refusal, score, seconds
from semcache.dialects.hop_headers import HOP_BY_HOP, end_to_end
from semcache.errors import RequestRejected
from semcache.runtime.durations import UNITS
from semcache.types import Controls, Outcome, Why

Headers: TypeAlias = Iterable[tuple[str, str]]

_TRUE = frozenset({"", "1", "true", "on", "yes"})
_FALSE = frozenset({"0", "false", "off", "no"})
_REQUEST_ONLY = HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect", "cache-control", "pragma"}
_NO_CACHE = frozenset(
    {
        "x-semcache-bypass",
        "cf-aig-skip-cache",
        "x-portkey-cache-force-refresh",
        "x-openrouter-cache-clear",
        "x-higress-skip-ai-cache",
    }
)
_NO_STORE = frozenset({"x-bf-cache-no-store"})
_CACHING = frozenset({"x-openrouter-cache"})  # false asks for neither a stored answer nor for its storage
_HELICONE = ("helicone-cache-enabled", "helicone-cache-read", "helicone-cache-save")
APPROXIMATE = "x-semcache-approximate"  # the answer is not quite what the model would have said
_TTL = ("x-semcache-ttl", "cf-aig-cache-ttl", "x-openrouter-cache-ttl", "x-bf-cache-ttl")
_NAMESPACE = (
    "x-semcache-namespace",
    "helicone-cache-seed",
    "x-portkey-cache-namespace",
    "x-bf-cache-key",
    "cf-aig-cache-key",
)
_MIN_SCORE = ("x-semcache-min-score", "x-bf-cache-threshold")
_CACHE_TYPE = "x-bf-cache-type"
# The least score that Bifrost's names of a lookup ask for: "direct" takes nothing that is only near.
_TYPES = {"direct": 1.0, "semantic": -1.0}
_OURS = "x-semcache-"
# How the headers begin that may hold a control, and those that are named alone.
_FAMILIES = (_OURS, "cf-aig-", "x-portkey-cache", "x-openrouter-cache", "helicone-cache", "x-bf-")
_OTHERS = ("cache-control", "pragma", "x-higress-skip-ai-cache")
# What a caller may say, of caching and of itself.
_SAID = tuple(
    _OURS + name
    for name in (
        "agent", "bypass", "category", "key", "max-error", "min-score", "namespace", "session", "tags", "ttl", "user",
        "verdicts",
    )
)  # fmt: skip
_TOKEN = re.compile(r"[A-Za-z*][A-Za-z0-9!#$%&'*+\-.^_`|~:/]*\Z")
_MILLISECOND = 0.001  # in seconds
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smh])")
_LARGEST = 999_999_999_999_999


def control_families() -> tuple[bytes, ...]:
    """Return how the names of the headers begin that may hold a control, in lower case."""
    return tuple(name.encode() for name in (*_FAMILIES, *_OTHERS))


def controls_from(headers: Headers, body_controls: Controls) -> Controls:
    """The controls of headers and body together, the stricter of the two. Raises RequestRejected naming the header.

    Category and namespace have no stricter: the header's wins over the body's, our own header over other gateways'.
    """
    given = _given(headers)
    if not given:
        return body_controls
    wishes, switches = _directives(given), _switches(given)
    ttls = [seconds(_ttl(given[name], name), name) for name in _TTL if name in given]
    scores = _scores(given, body_controls)
    rates = [rate(_number(given[name], name), name) for name in ("x-semcache-max-error",) if name in given]
    tags = [tag.strip() for tag in given.get("x-semcache-tags", "").split(",")]
    found = Controls(
        no_cache=wishes.no_cache or switches.no_cache or body_controls.no_cache,
        no_store=wishes.no_store or switches.no_store or body_controls.no_store,
        only_if_cached=wishes.only_if_cached or body_controls.only_if_cached,
        max_age=_least(wishes.max_age, body_controls.max_age),
        ttl=_least(*ttls, body_controls.ttl),
        min_score=max(scores, default=None),
        max_error=_least(*rates, body_controls.max_error),
        category=given.get("x-semcache-category", "").strip() or body_controls.category,
        namespace=_first(given, _NAMESPACE) or body_controls.namespace,
        verdicts=_mode(given.get("x-semcache-verdicts")),
        tags=tuple(dict.fromkeys((*(tag for tag in tags if tag), *body_controls.tags))),
    )
    return check_names(found)


def _scores(given: dict[str, str], body_controls: Controls) -> list[float]:
    """Every least score that headers and body name."""
    scores = [score(_number(given[name], name), name) for name in _MIN_SCORE if name in given]
    if _CACHE_TYPE in given:
        scores.append(_least_score(given[_CACHE_TYPE]))
    return scores if body_controls.min_score is None else [*scores, body_controls.min_score]


def cache_status(
    *,
    hit: bool,
    ttl: int | None,
    fwd: str | None,
    fwd_status: int | None,
    stored: bool,
    collapsed: bool,
    detail: str | None,
) -> str:
    """An RFC 9211 `Cache-Status` value of the cache `semcache`; `ttl` is the freshness left, in seconds."""
    status = "semcache"
    if hit:
        status += "; hit"
    elif fwd is not None:
        status += f"; fwd={fwd}"
        if fwd_status is not None:
            status += f"; fwd-status={fwd_status}"
    if ttl is not None:
        status += f"; ttl={max(-_LARGEST, min(_LARGEST, ttl))}"
    if not hit and stored:
        status += "; stored"
    if not hit and collapsed:
        status += "; collapsed"
    if detail:
        status += f"; detail={detail if _TOKEN.match(detail) else _quoted(detail)}"
    return status


def forwarded_as(why: Why, outcome: Outcome) -> str:
    """The RFC 9211 reason (`fwd`) for going to the backend."""
    if why in (Why.NO_CACHE, Why.MAX_AGE):
        return "request"
    if outcome is Outcome.BYPASS:
        return "bypass"
    return "stale" if why is Why.EXPIRED else "miss"


def strip_request_headers(headers: Headers) -> list[tuple[str, str]]:
    """The client's headers that go to the backend: not those of this connection, not those meant for us."""
    return [pair for pair in end_to_end(headers, drop=_REQUEST_ONLY) if not pair[0].lower().startswith(_OURS)]


def strip_reply_headers(headers: Headers) -> list[tuple[str, str]]:
    """The backend's headers that go to the client: not those of its connection, nor any that only we may say.

    That an answer is approximate, the local engine may say.
    """
    left = [(name.lower(), (name, value)) for name, value in end_to_end(headers)]
    return [pair for name, pair in left if name == APPROXIMATE or not name.startswith(_OURS)]


def _given(headers: Headers) -> dict[str, str]:
    """The headers that may hold a control, in lower case. Raises RequestRejected for one of ours that is not known."""
    given: dict[str, str] = {}
    for raw_name, value in headers:
        name = raw_name.lower()
        if name.startswith(_OURS) and name not in _SAID:
            raise _unknown(name)
        if name in _OTHERS or name.startswith(_FAMILIES):
            given[name] = f"{given[name]}, {value}" if name in given else value
    return given


def _directives(given: dict[str, str]) -> Controls:
    header = given.get("cache-control", given.get("pragma"))
    if header is None:
        return Controls()
    no_cache = no_store = only_if_cached = False
    max_age: float | None = None
    for directive in header.split(","):
        name, _, value = directive.strip().partition("=")
        match name.strip().lower():
            case "no-cache":
                no_cache = True
            case "no-store":
                no_store = True
            case "only-if-cached":
                only_if_cached = True
            case "max-age":
                where = "cache-control: max-age"
                age = seconds(_number(value.strip().strip('"'), where), where)
                max_age = _least(max_age, age)
            case _:
                pass
    return Controls(no_cache=no_cache, no_store=no_store, only_if_cached=only_if_cached, max_age=max_age)


def _switches(given: dict[str, str]) -> Controls:
    """The `no_cache` and `no_store` of headers that are true or false. Each is read, whatever the others say."""
    flags = {
        name: _flag(given[name], name) for name in (*_NO_CACHE, *_NO_STORE, *_CACHING, *_HELICONE) if name in given
    }
    off = any(not flags.get(name, True) for name in _CACHING)
    reads, saves = _helicone(*(flags.get(name) for name in _HELICONE))
    return Controls(
        no_cache=off or not reads or any(flags.get(name) for name in _NO_CACHE),
        no_store=off or not saves or any(flags.get(name) for name in _NO_STORE),
    )


def _helicone(enabled: bool | None, read: bool | None, save: bool | None) -> tuple[bool, bool]:
    """Return whether stored answers are read, and new ones saved, as Helicone has it; None for a header that is absent.

    "Save: true" alone saves and does not read, "Read: true" alone reads and does not save. With none of them, both.
    """
    others = not (read or save) if enabled is None else enabled
    return (others if read is None else read), (others if save is None else save)


def _unknown(name: str) -> RequestRejected:
    close = difflib.get_close_matches(
        name.removeprefix(_OURS), [one.removeprefix(_OURS) for one in _SAID], n=1, cutoff=0.8
    )
    hint = f"did you mean {_OURS}{close[0]}?" if close else f"known: {', '.join(_SAID)}, and cache-control"
    return refusal(f"unknown header {name}; {hint}", name)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise refusal(f"{where}: {text!r} is not a number", where) from error


def _ttl(text: str, where: str) -> float:
    """A number of seconds; Bifrost has durations such as "90s" and "1h30m" as well."""
    parts = _PART.findall(text) if where.startswith("x-bf-") else []
    if parts and "".join(map("".join, parts)) == text.strip():
        return sum(float(number) * UNITS.get(unit, _MILLISECOND) for number, unit in parts)
    return _number(text, where)


def _least_score(kind: str) -> float:
    found = _TYPES.get(kind.strip().lower())
    if found is None:
        raise refusal(f"{_CACHE_TYPE}: {kind!r} is none of {', '.join(_TYPES)}", _CACHE_TYPE)
    return found


def _flag(text: str, where: str) -> bool:
    value = text.strip().lower()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise refusal(f"{where}: {text!r} is neither true nor false", where)


def _mode(text: str | None) -> Literal["off", "after", "first", "hedged"] | None:
    if text is None:
        return None
    match text.strip().lower():
        case "off" | "after" | "first" | "hedged" as mode:
            return mode
    raise refusal(f"x-semcache-verdicts: {text!r} is none of off, after, first and hedged", "x-semcache-verdicts")


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _first(given: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((given[name].strip() for name in names if given.get(name, "").strip()), None)


def _quoted(text: str) -> str:
    """A structured-field string, which holds printable ASCII alone."""
    safe = "".join(char if " " <= char <= "~" else "?" for char in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'
