"""Models of which something was seen in the last minutes, such as that their backend refuses an option.

Pure. Invariant: what one model's server does says nothing of the others behind a gateway, and nothing for ever.
"""

from __future__ import annotations

from collections.abc import Callable

from semcache.types import Endpoint, Request

_SECONDS = 600.0
_MOST = 1024  # models: their names are the clients'


class RecentModels:
    """The models of requests that were added, each by its endpoint, until some minutes have passed."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[tuple[Endpoint, str], float] = {}

    def add(self, request: Request) -> None:
        """Remember the model of a request, in the place of the one that was added longest ago where there are many."""
        self.discard(request)
        self._until[request.endpoint, request.model] = self._clock() + _SECONDS
        if len(self._until) > _MOST:
            del self._until[next(iter(self._until))]

    def discard(self, request: Request) -> None:
        """Forget the model of a request."""
        self._until.pop((request.endpoint, request.model), None)

    def __contains__(self, request: Request) -> bool:
        return self._until.get((request.endpoint, request.model), 0.0) > self._clock()
