"""The modes of asking a language model for its verdict on a request: when it is asked, if at all.

| mode | the verdict is asked for |
| --- | --- |
| `off` | never |
| `first` | before the request is forwarded |
| `hedged` | beside the forward, which a yes calls off; after it, where the call may not be called off |
| `after` | after the forward, for later requests |

Decides by the pack, the caller and the operator; asks nobody. Invariant: no model is asked about a request of a tenant
that opted out, and no hit is served on a verdict where the mode is `off`.
"""

from __future__ import annotations

from collections.abc import Callable

from semcache.cache.asked_verdicts import Asking
from semcache.cache.call_off import may_be_called_off
from semcache.config.pack_schema import VerdictMode
from semcache.config.packs import Pack
from semcache.types import Endpoint, Lookup, Request


class VerdictModes:
    """The modes of the categories of a pack. `asking` gives the operator's terms as they are now."""

    def __init__(self, pack: Pack, asking: Callable[[], Asking]) -> None:
        self._pack, self._asking = pack, asking

    def serves_on_a_verdict(self, lookup: Lookup) -> bool:
        """Return True if a verdict may settle this request, such as one that is remembered, whoever paid for it."""
        return self._allowed(lookup) != "off"

    def asks(self, lookup: Lookup) -> bool:
        """Return True if a verdict may be asked for about this request, sooner or later."""
        return self._mode(lookup) != "off"

    def asks_in_time(self, lookup: Lookup) -> bool:
        """Return True if a verdict is asked for that may serve this very request."""
        return self._mode(lookup) in ("first", "hedged")

    def asks_before(self, lookup: Lookup, *, waits: bool) -> bool:
        """Return True if a verdict is asked for before the forward; one that `waits` has no forward to hedge."""
        mode = self._mode(lookup)
        return mode == "first" or (mode == "hedged" and waits)

    def asks_beside(self, lookup: Lookup) -> bool:
        """Return True if a verdict is asked for while the request is being forwarded."""
        return self._mode(lookup) == "hedged" and may_be_called_off(lookup.request)

    def asks_only_after(self, lookup: Lookup) -> bool:
        """Return True if a verdict is asked for, but not before the forward is done."""
        mode = self._mode(lookup)
        return mode == "after" or (mode == "hedged" and not may_be_called_off(lookup.request))

    def _mode(self, lookup: Lookup) -> VerdictMode:
        """The mode, which is `off` if the caller wants nothing spent."""
        return self._allowed(lookup) if lookup.request.controls.spends else "off"

    def _allowed(self, lookup: Lookup) -> VerdictMode:
        """The mode, if a verdict were free: what the caller says, except where the pack says `off`."""
        request = lookup.request
        if not self._may_be_shown(request):
            return "off"
        policy = self._pack.of(lookup.category)
        chosen = policy.verdicts or ("first" if policy.verify == "llm" else self._asking().mode)
        said = request.controls.verdicts
        return chosen if said is None or (chosen == "off" and policy.verdicts == "off") else said

    def _may_be_shown(self, request: Request) -> bool:
        """Return True if there is a model that may be shown this request."""
        asking = self._asking()
        if not asking.verifiers.knows("llm") or asking.opted_out_of(request.scope.tenant):
            return False
        # Without a model of the operator's, the request's is asked; that of a message is behind another door.
        return request.endpoint is not Endpoint.MESSAGES or asking.model is not None
