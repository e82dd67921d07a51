"""The question to a server what kind it is (`GET /v1/models`), and what its answers are taken for.

Knows the backend, statuses and credentials by their digests. Invariants: a prompt waits for the first answer to the
question alone, or for the first one to its own credentials where others were refused; a refusal of some credentials
says nothing about those of another client, whose prompts may belong under a salt.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from semcache.errors import UpstreamError
from semcache.protocols import Backend, Outbound
from semcache.upstream.routing.kinds import KINDS, ServerKind, of_models
from semcache.upstream.routing.whole_reply import whole_reply

Headers = Sequence[tuple[str, str]]

_OTHER = KINDS["other"]
_CREDENTIALS = frozenset({"authorization", "x-api-key", "api-key"})
_FOR_ALL = frozenset({200, 404, 405, 410, 501})  # says what it is; other statuses may be owed to the credentials
_FOR_NOW = frozenset({408, 425, 429})
_PATIENCE = 2.0  # seconds to say what it is
_PAUSE = 5.0  # seconds between questions that it did not answer
_REFUSED_SECONDS = 60.0  # how long refused credentials are not asked with again: not with every prompt
_AGAIN_SECONDS = 60.0  # after which one that is of no known kind is asked again: it may have been starting
_MOST_REFUSED = 10_000
_MOST_BYTES = 4 * 2**20  # of a list of models
_REMEDY = "where it serves all the same, say its kind in upstream.replicas"


class ServerKindInquiry:
    """Asks the server `name` at `backend` for its kind, unless that is given. Times are those of the event loop."""

    def __init__(self, name: str, backend: Backend, *, kind: ServerKind | None = None) -> None:
        self._name, self._backend, self._kind = name, backend, kind
        self._again = math.inf if kind is not None else -math.inf
        self._asking: dict[bytes, asyncio.Task[ServerKind | UpstreamError]] = {}
        self._refused: OrderedDict[bytes, float] = OrderedDict()  # until when
        self._failure = ""
        self._hangs = False

    @property
    def silent(self) -> bool:
        """True while it is of an unknown kind and has failed to answer."""
        return bool(self._failure)

    async def kind(self, headers: Headers) -> ServerKind:
        """The kind of the server, asked for with the credentials of a request until it has said so.

        One that refuses them is taken for "other" where they are shown, and asked with them again after a while; one
        that failed is asked again after a pause. Raises UpstreamError.
        """
        if self._kind is None:
            shown = credentials(headers)
            key, now = _digest(shown), asyncio.get_running_loop().time()
            if now < self._refused.get(key, -math.inf):
                return _OTHER
            if self._failure and (self._hangs or now < self._again):  # nobody waits for it to say nothing again
                self.meet(headers)
                raise UpstreamError(self._failure)
            answer = await asyncio.shield(self._asking.get(key) or self._ask(key, shown))
            if self._kind is None:
                if isinstance(answer, UpstreamError):
                    raise answer
                return answer
        self.meet(headers)
        return self._kind

    def meet(self, headers: Headers) -> None:
        """Ask the server in the background, unless it was asked recently."""
        now = asyncio.get_running_loop().time()
        told = self._kind is not None or self._failure
        if told and (self._asking or now < self._again):
            return
        shown = credentials(headers)
        key = _digest(shown)
        if key not in self._asking and now >= self._refused.get(key, -math.inf):
            self._ask(key, shown)

    async def close(self) -> None:
        """Ask no more."""
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        if asking:
            await asyncio.wait(asking)

    def _ask(self, key: bytes, shown: Headers) -> asyncio.Task[ServerKind | UpstreamError]:
        task = asyncio.create_task(self._asked(key, shown), name="semcache-server-kind")
        self._asking[key] = task
        task.add_done_callback(lambda _: self._asking.pop(key, None))
        return task

    async def _asked(self, key: bytes, shown: Headers) -> ServerKind | UpstreamError:
        if self._kind is not None or self._failure:
            self._again = asyncio.get_running_loop().time() + _PAUSE
        outbound = Outbound("GET", "/v1/models", [("accept", "application/json"), *shown], b"")
        try:
            async with asyncio.timeout(_PATIENCE):
                status, body = await whole_reply(self._backend, outbound, _MOST_BYTES)
        except TimeoutError:
            return self._failed(f"did not answer /v1/models within {_PATIENCE:g} s", hangs=True)
        except UpstreamError as error:
            return error
        if status >= 500 and status not in _FOR_ALL:
            return self._failed(f"answered /v1/models with {status}", hangs=False)
        self._failure = ""
        now = asyncio.get_running_loop().time()
        if status not in _FOR_ALL:
            self._refuse(key, now + (_PAUSE if status in _FOR_NOW else _REFUSED_SECONDS))
            return _OTHER
        kind = KINDS[of_models(body or b"")]
        if self._kind is None or self._kind is _OTHER:  # another answer may have come meanwhile
            self._kind = kind
            self._again = now + _AGAIN_SECONDS if kind is _OTHER else math.inf
        return kind

    def _failed(self, how: str, *, hangs: bool) -> UpstreamError:
        message = f"{self._name} {how}; {_REMEDY}"
        if self._kind is None:
            self._failure, self._hangs = message, hangs
            self._again = asyncio.get_running_loop().time() + _PAUSE
        return UpstreamError(message)

    def _refuse(self, key: bytes, until: float) -> None:
        self._refused[key] = until
        self._refused.move_to_end(key)
        if len(self._refused) > _MOST_REFUSED:
            self._refused.popitem(last=False)


def credentials(headers: Headers) -> Headers:
    """Return the headers of a request that say whose it is."""
    return [(name, value) for name, value in headers if name.lower() in _CREDENTIALS]


def _digest(shown: Headers) -> bytes:
    digest = blake2b(digest_size=16)
    for name, value in shown:
        digest.update(f"{name.lower()}\0{value}\0".encode("utf-8", "surrogatepass"))
    return digest.digest()
