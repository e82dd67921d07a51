"""The line of `semcache serve` that says that it is ready: where, with what upstream and store, and who gives verdicts.

Invariant: it is said once the proxy itself says that it is ready, and tells strangers no more than that does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from semcache.cli import output
from semcache.runtime.unix_address import unix_path

if TYPE_CHECKING:
    from semcache.config.settings import Settings

_POLL = 0.05


def announce(settings: Settings, url: str, stop: threading.Event) -> None:
    """Say that the proxy is ready, once it says so itself."""
    from semcache.cli.local_connection import readiness

    while not stop.wait(_POLL):
        ready = readiness(url, timeout=5)
        if ready is None:
            continue
        store = settings.explain()
        where = next((value for key, value, _ in store if key == "store.url"), "") or str(settings.data)
        upstream = ", ".join(one.url for one in settings.upstream.replicas) or settings.upstream.url
        # Where there are keys, strangers are not told.
        held = f"entries {ready['entries']}  " if "entries" in ready else ""
        base_url = f"{url}/v1" if unix_path(url) is None else f"{url} (http://localhost/v1)"
        output.note(
            f"semcache is ready on {base_url}  upstream {upstream}  policies {ready['policies']}  "
            f"store {where}  {held}configuration {ready['configuration']}  {_words(settings)}"
        )
        return


def _words(settings: Settings) -> str:
    """Say when and by whom a language model gives verdicts on what is in doubt, and how to change that."""
    from semcache.models.verifiers import may_ask

    chosen = settings.verdicts
    if chosen.mode == "off":
        return "verdicts off (verdicts.mode)"
    if not (may_ask(settings) or settings.verifier.kind == "llm"):
        return (
            "verdicts none: the server has no upstream key to ask a language model with; set upstream.api_key, or "
            "verdicts.callers_key=true to ask with the caller's"
        )
    mode = "after" if chosen.mode == "auto" else chosen.mode
    model = chosen.model or settings.verifier.model or "the model that a request names"
    share = chosen.budget if chosen.budget is not None else 0.02 if mode == "after" else None
    capped = "" if share is None else f" for at most {share:.1%} of upstream spend"
    if capped and chosen.budget is None:
        capped += (
            " (first and hedged, where a pack or a request asks for them, are bounded only if verdicts.budget is set)"
        )
    return f"verdicts {mode}, by {model}{capped}; verdicts.mode=off asks no language model"
