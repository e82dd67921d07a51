"""The findings of `semcache doctor` about API keys: who may reach the server without one, and which end soon.

Pure: keys and time are arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from semcache.cli.doctor_finding import Finding
from semcache.cli.output import moment
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.types import ApiKey

_SOON = 14 * 86400.0  # seconds
_MOST = 5  # keys that are named


def check_keys(settings: Settings, keys: Sequence[ApiKey], now: float) -> list[Finding]:
    """Return what is to be said of keys; `now` is a Unix time."""
    exposed = _exposure(settings, has_keys=bool(keys))
    until = now + _SOON if settings.auth.required is not False else 0.0
    ending = [key for key in keys if key.in_force(now) and key.expires is not None and key.expires < until]
    ending.sort(key=lambda key: key.expires or 0.0)
    if not ending or exposed.state != "ok":
        return [exposed]
    named = ", ".join(_named(key) for key in ending[:_MOST])
    more = f" and {len(ending) - _MOST} more" if len(ending) > _MOST else ""
    remedy = "a new key (semcache keys create) for who uses it, or a later end: semcache keys expire ID 90d"
    return [Finding("API keys", "warn", f"{exposed.found}; soon refused: {named}{more}", remedy)]


def _named(key: ApiKey) -> str:
    rights = " (admin)" if key.admin else ""
    return f"{key.id} of {key.tenant}{rights} from {moment(key.expires)} on"


def _exposure(settings: Settings, *, has_keys: bool) -> Finding:
    from semcache.config.settings import check_exposure

    server = settings.server
    try:
        check_exposure(settings, has_keys)
    except ConfigError as error:
        return Finding("API keys", "fail", str(error), "semcache keys create --tenant NAME")
    said = "keys exist and are asked for" if has_keys and settings.auth.required is not False else "no key is asked for"
    return Finding("API keys", "ok", f"listening on {server.host}; {said}")
