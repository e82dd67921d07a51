"""The HTTP coordinator of a federation, which knows clients by their tokens and passes on their updates.

Knows HTTP and tokens; what a round is, `rounds` knows. Invariant: nothing is answered without a token, and a token
speaks for one client only; no more is read of a body than it may hold.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from semcache.errors import InvalidArgument, RequestRejected
from semcache.train.federate import averaging
from semcache.train.federate.rounds import Federation, Phase

_JOIN_BYTES = 1024
_LEAST_TOKEN = 16  # characters


class _Join(msgspec.Struct):
    round: int
    attempt: int
    key: str


def create(federation: Federation, tokens: Mapping[str, str], clock: Callable[[], float]) -> Starlette:
    """The application. `tokens` holds a token for each client's name, `clock` gives seconds.

    Raises InvalidArgument for tokens that are short or shared.
    """
    if min(map(len, tokens.values()), default=0) < _LEAST_TOKEN or len(set(tokens.values())) < len(tokens):
        raise InvalidArgument(f"every client needs a token of its own, of {_LEAST_TOKEN} characters at least")
    odd = next((name for name, token in tokens.items() if not _fits_header(token)), None)
    if odd is not None:
        raise InvalidArgument(f"the token of {odd!r} holds what no header can carry: printable ASCII, no space around")
    if set(tokens) != federation.clients:
        raise InvalidArgument("tokens and clients do not match")
    names = {hashlib.sha256(token.encode()).digest(): name for name, token in tokens.items()}

    def caller(request: Request) -> str:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        given = hashlib.sha256(token.strip().encode()).digest()
        # Every digest is compared, and digests only: time tells nothing of a token.
        found = [name for digest, name in names.items() if hmac.compare_digest(digest, given)]
        if kind.lower() != "bearer" or not found:
            raise RequestRejected(401, "the token is missing or not known here", code="unauthorized")
        return found[0]

    async def state(request: Request) -> Response:
        name = caller(request)
        federation.greet(name)
        federation.pass_time(clock())
        return JSONResponse({"you": name, **federation.state()})

    async def join(request: Request) -> Response:
        name = caller(request)
        try:
            said = msgspec.json.decode(await _body(request, _JOIN_BYTES), type=_Join)
            key = bytes.fromhex(said.key)
        except ValueError as error:  # msgspec's errors are ValueErrors too
            raise RequestRejected(400, f"no round, attempt and key: {error}", code="bad_body") from error
        federation.join(name, said.round, said.attempt, key, clock())
        return Response(status_code=204)

    async def weights(request: Request) -> Response:
        name = caller(request)
        wanted = int(request.path_params["round"])
        if wanted != federation.round:
            raise RequestRejected(409, f"round {wanted} is not now: it is {federation.round}", code="not_now")
        if federation.phase is Phase.OVER:
            federation.finished.add(name)
        return Response(averaging.encode_model(federation.model), media_type="application/octet-stream")

    async def update(request: Request) -> Response:
        name = caller(request)
        body = await _body(request, 8 * averaging.size(federation.model))
        place = request.path_params
        federation.deliver(name, int(place["round"]), int(place["attempt"]), body, clock())
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/v1/federation", state),
            Route("/v1/federation/join", join, methods=["POST"]),
            Route("/v1/federation/weights/{round:int}", weights),
            Route("/v1/federation/updates/{round:int}/{attempt:int}", update, methods=["PUT"]),
        ],
        exception_handlers={RequestRejected: _rejected},
    )


def _fits_header(token: str) -> bool:
    return token.isascii() and token.isprintable() and token == token.strip()


def _rejected(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRejected)
    said: dict[str, Any] = {"error": {"message": error.message, "code": error.code}}
    headers = {"www-authenticate": "Bearer"} if error.status == 401 else None
    return JSONResponse(said, error.status, headers=headers)


async def _body(request: Request, most: int) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise RequestRejected(413, f"a body of more than {most} bytes", code="too_large")
    return bytes(found)
