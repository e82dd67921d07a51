"""Rendering: templates to HTML, and numbers, times and money as people read them.

Knows Jinja2 and the shape of a page's frame. Invariant: everything that a template is given is escaped, and no style
or script is ever written into a page.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from semcache.cache.reasons import explained
from semcache.proxy.ui import PATH
from semcache.proxy.ui.drawings import bar, waterfall, wealth_bar
from semcache.proxy.ui.word_diff import word_diff
from semcache.runtime.moments import utc
from semcache.runtime.visible import visible
from semcache.types import Why

if TYPE_CHECKING:
    from semcache.proxy.ui.visitors import Visitor

_CODE = re.compile("`([^`]+)`")
TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
# Path, name, and the right of those who see it: of anybody, of who may read prompts, of administrators.
_MENU = (
    ("", "Overview", 0),
    ("/requests", "Why", 1),
    ("/entries", "Entries", 1),
    ("/review", "Review", 1),
    ("/live", "Live", 0),
    ("/certificates", "Certificates", 3),
    ("/explorer", "Explorer", 3),
    ("/plans", "Plans", 1),
    ("/access", "Tenants and keys", 3),
    ("/undo", "Undo and log", 1),
    ("/settings", "Settings", 3),
)


class Renderer:
    """Renders the pages of one process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        env = self._env = Environment(
            loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, finalize=_shown,
        )  # fmt: skip
        env.filters |= {
            "usd": usd,
            "count": count,
            "percent": percent,
            "moment": moment,
            "ago": self._ago,
            "span": span,
            "ms": milliseconds,
            "coded": coded,
            "outcome_name": outcome_name,
            "why_meaning": lambda value: explained(Why(value))[0] if value in set(Why) else value,
        }
        env.globals |= {
            "home": PATH,
            "version": _digest(),
            "bar": _drawn(bar),
            "waterfall": _drawn(waterfall),
            "wealth_bar": _drawn(wealth_bar),
            "word_diff": word_diff,
            "link": link,
        }

        for name in env.list_templates():
            env.get_template(name)

    def page(self, template: str, visitor: Visitor, facts: Mapping[str, Any]) -> str:
        """Return a page for a visitor."""
        rank = 3 if visitor.caller.admin else 1 if visitor.reads else 0
        frame = {
            "visitor": visitor,
            "menu": [(PATH + path, name) for path, name, needed in _MENU if needed <= rank],
            "sign": visitor.csrf_token,
            "all_tenants": visitor.caller.admin,
        }
        return self._env.get_template(template).render(frame | dict(facts))

    def plain(self, template: str, **facts: Any) -> str:
        """Return a page for nobody in particular."""
        return self._env.get_template(template).render(facts)

    def _ago(self, at: float) -> str:
        """How long ago a Unix time was, or in how long it will be."""
        seconds = self._clock() - at
        return f"{span(seconds)} ago" if seconds >= 0 else f"in {span(-seconds)}"


def _shown(value: Any) -> Any:
    """Return what a template writes, without characters that turn the text beside it around."""
    if isinstance(value, Markup):
        return Markup(visible(value))  # noqa: S704 - escaped before
    return visible(value) if isinstance(value, str) else value


def _digest() -> str:
    """A name for what the static files hold, so that browsers ask for them anew when they have changed."""
    whole = hashlib.blake2b(digest_size=6)
    for path in sorted(STATIC.iterdir()):
        whole.update(path.read_bytes())
    return whole.hexdigest()


def coded(text: str) -> Markup:
    """A sentence in which names stand between backticks."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704


def link(path: str, **query: object) -> str:
    """The address of a page with these fields, without those that are empty."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return PATH + path + ("?" + urlencode(given) if given else "")


def usd(value: float | None) -> str:
    """US dollars: cents, and more digits of what is less."""
    if value is None:
        return "unknown"
    size = abs(value)
    digits = 2 if size >= 1 or size == 0.0 else min(6, 1 - math.floor(math.log10(size))) if size >= 1e-6 else 6
    return f"{'−' if value < 0 else ''}${size:,.{max(2, digits)}f}"


def count(value: float | None) -> str:
    """A whole number with its thousands apart."""
    return "–" if value is None else f"{value:,.0f}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent; small ones with two significant digits."""
    if value is None:
        return "–"
    shown = 100.0 * value
    if 0 < abs(shown) < 1 and digits < 2:
        digits = 2
    return f"{shown:.{digits}f}%"


def moment(at: float | None) -> str:
    """A Unix time in UTC; the end of the year 9999 for any later one."""
    return "–" if at is None else utc(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float | None) -> str:
    """A duration in its largest unit."""
    if seconds is None:
        return "–"
    for name, unit in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if abs(seconds) >= 2 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:,.0f} s" if abs(seconds) >= 10 else f"{seconds:.1f} s"


def milliseconds(value: float | None) -> str:
    """Milliseconds, or seconds where there are many."""
    if value is None:
        return "–"
    return f"{value / 1e3:,.2f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def outcome_name(outcome: str) -> str:
    """An outcome as people say it."""
    named = {"exact": "exact hit", "semantic": "hit by meaning", "plan": "plan", "near": "near hit"}
    return named.get(outcome, outcome)


def _drawn(draw: Callable[..., str]) -> Callable[..., Markup]:
    """A drawing for templates; `drawings` escapes what it is given."""
    return lambda *given, **named: Markup(draw(*given, **named))  # noqa: S704
