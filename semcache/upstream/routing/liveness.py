"""The liveness of one server: when it was heard last, and whether it still answers while requests wait for it.

Knows its backend, and nothing of prompts. Invariant: requests are taken from a server only if it has answered the
question before while it worked on a request, answers it no longer, and has sent no byte to anybody in the meantime: one
that does one thing at a time answers no question while it thinks.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager

from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound
from semcache.upstream.routing.server_kind_inquiry import credentials

_QUIET = 10.0  # seconds without a byte while requests wait, after which it is asked
_PATIENCE = 5.0  # seconds to answer a question
_QUESTIONS = 2  # one alone may be late because this process itself had no time
_PAUSE = 5.0  # seconds between questions to a server that hangs
_EARLY = 5  # questions that are asked early, until one is answered while a request waits
_BEFORE = 0.5  # seconds that a request has waited before one of these
_AFTER = 0.1  # seconds that it still waits after the answer, if it was given beside it
_DOUBTFUL = 30.0  # seconds without a byte while requests wait, after which others are preferred
_log = logging.getLogger(__name__)


class Liveness:
    """Watches the server `name`, which is asked through `backend`. Times are those of the event loop.

    Where requests go through the same connections and fill them, questions wait with them: then it is given up wrongly.
    """

    def __init__(self, name: str, backend: Backend) -> None:
        self._name, self._backend = name, backend
        self._waiting: dict[asyncio.Timeout, float] = {}  # since when, the oldest first
        self._heard = self._again = -math.inf
        self._early = _EARLY
        self._answers_beside = False
        self._shown: Sequence[tuple[str, str]] = ()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.hangs = False

    def heard(self) -> None:
        """Note that bytes came from it."""
        self._heard = asyncio.get_running_loop().time()
        if self.hangs:
            self.hangs = False
            _log.warning("the upstream %s answers again", self._name)

    def doubtful(self) -> bool:
        """Return True if it has sent nothing for long, to nobody, while requests wait for it."""
        return bool(self._waiting) and asyncio.get_running_loop().time() - self._quiet_since() > _DOUBTFUL

    @asynccontextmanager
    async def awaiting(self, headers: Sequence[tuple[str, str]]) -> AsyncIterator[None]:
        """Wait for the first bytes inside. Raises UpstreamError when the server is found to hang."""
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._waiting[limit] = asyncio.get_running_loop().time()
                self._shown = credentials(headers)
                self._begin("watch", self._watch)
                try:
                    yield
                finally:
                    del self._waiting[limit]
        except TimeoutError:
            if not limit.expired():
                raise
            raise UpstreamError(
                f"{self._name} hangs: it sends nothing, and does not answer /v1/models either"
            ) from None

    def meet(self, headers: Sequence[tuple[str, str]]) -> None:
        """Ask in the background a server that hangs."""
        now = asyncio.get_running_loop().time()
        if self.hangs and now >= self._again:
            self._again = now + _PAUSE
            self._shown = credentials(headers)
            self._begin("ask", self._greet)

    async def close(self) -> None:
        """Watch no more."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _quiet_since(self) -> float:
        return max(self._heard, next(iter(self._waiting.values()), -math.inf))

    def _begin(self, name: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        if name not in self._tasks or self._tasks[name].done():
            self._tasks[name] = asyncio.create_task(work(), name=f"semcache-liveness-{name}")

    async def _watch(self) -> None:
        """Ask while requests wait in silence, and have them go elsewhere where the server does not answer."""
        now = asyncio.get_running_loop().time
        while self._waiting:
            is_early = bool(self._early) and not self._answers_beside and now() >= self._again
            due = next(iter(self._waiting.values())) + _BEFORE if is_early else self._quiet_since() + _QUIET
            if now() < due:
                await asyncio.sleep(due - now())
            elif is_early:
                self._again = now() + _PAUSE
                self._early = self._early - 1 if await self._ask() is not None else 0
            else:
                await self._question()

    async def _question(self) -> None:
        """Ask a silent server, and give it up where it does not answer though it could."""
        begun, answered = asyncio.get_running_loop().time(), await self._ask()
        for _ in range(_QUESTIONS - 1):
            answered = await self._ask() if answered is None else answered
        if answered is None and self._heard < begun and self._answers_beside:
            self._give_up(begun)
        elif self._heard < begun:
            await asyncio.sleep(_QUIET if answered else _PAUSE)

    def _give_up(self, begun: float) -> None:
        if not self.hangs:
            self.hangs = True
            _log.warning(
                "the upstream %s hangs: it has sent nothing for %d s, and answers no GET /v1/models; it is sent "
                "no prompt until it answers, and those that wait are sent elsewhere",
                self._name,
                _QUIET + _QUESTIONS * _PATIENCE,
            )
        for limit, since in self._waiting.items():
            if since <= begun:
                limit.reschedule(-math.inf)

    async def _greet(self) -> None:
        if await self._ask():
            self.heard()

    async def _ask(self) -> bool | None:
        """Return True for any answer, None for silence, False where no connection was made, as at a restart."""
        begun = asyncio.get_running_loop().time() - _BEFORE
        oldest = next((one for one, since in self._waiting.items() if since <= begun), None)
        outbound = Outbound("GET", "/v1/models", [("accept", "application/json"), *self._shown], b"")
        try:
            async with asyncio.timeout(_PATIENCE):
                reply = await self._backend.send(outbound)
        except (TimeoutError, UpstreamTimeout):
            return None
        except UpstreamError:
            return False
        await reply.close()
        if oldest in self._waiting and not self._answers_beside:
            await asyncio.sleep(_AFTER)
            self._answers_beside = oldest in self._waiting
        return True
