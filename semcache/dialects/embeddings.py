"""OpenAI embeddings, cached one input at a time.

A request for several inputs is split: what is known comes from the cache, the rest is asked for in one smaller
request, and both are put together in the order of the inputs. Exact tier only.
Invariant: an item keeps the bytes of its vector; only its index changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from semcache.dialects import body as bodies
from semcache.dialects.answer import encode, integer, load, openai_error
from semcache.dialects.controls import kind, refusal
from semcache.errors import IntegrityError
from semcache.types import Controls, Endpoint, Request, Traits, Usage

PATH = "/v1/embeddings"

MOST_INPUTS = 2048
"""Inputs of one request, as the OpenAI API has it."""
# Bytes of a body beside its inputs, alone and times the inputs: every input is looked up with them, and its key, which
# holds them, is there until the reply is.
_MOST_BESIDE, _MOST_TIMES = 64 << 10, 8 << 20

Input: TypeAlias = str | list[int]

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class _Body(msgspec.Struct):
    data: list[dict[str, msgspec.Raw]]


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """A request for the vectors of `inputs`, each a text or a list of tokens; `identity` is everything else.

    `raw` is the body, `fields` are its fields as they were written.
    """

    model: str
    inputs: tuple[Input, ...]
    identity: Mapping[str, Any]
    raw: bytes
    fields: Mapping[str, msgspec.Raw]
    user: str | None
    controls: Controls


def read(raw: bytes) -> EmbeddingsRequest:
    """Parse a request body. Raises RequestRejected."""
    body, raw, controls = bodies.read(raw)
    model = bodies.model(body)
    inputs = _inputs(body.get("input"))
    fields = _fields(raw)
    beside, most = len(raw) - len(bytes(fields["input"])), min(_MOST_BESIDE, _MOST_TIMES // len(inputs))
    if len(inputs) > 1 and beside > most:
        raise refusal(f"the fields beside an input of {len(inputs)} items have more than {most} bytes", None)
    identity = bodies.settle(body)
    del identity["input"]
    if identity.get("encoding_format") == "float":
        del identity["encoding_format"]
    return EmbeddingsRequest(model, inputs, identity, raw, fields, bodies.user(body), controls)


def request_for(request: EmbeddingsRequest, position: int) -> Request:
    """The request for one input alone; however many it was sent with, only `raw` differs, the body that was sent."""
    return Request(
        endpoint=Endpoint.EMBEDDINGS,
        model=request.model,
        identity={**request.identity, "input": request.inputs[position]},
        text="",
        raw=request.raw,
        traits=Traits(last_role=""),
        user=request.user,
        controls=request.controls,
    )


def subset(request: EmbeddingsRequest, positions: Sequence[int]) -> bytes:
    """The body that asks for the inputs at `positions`; the client's own bytes when that is all of them."""
    if list(positions) == list(range(len(request.inputs))):
        return request.raw
    chosen = msgspec.Raw(encode([request.inputs[position] for position in positions]))
    return encode({**request.fields, "input": chosen})


def split(body: bytes, count: int | None = None) -> list[bytes] | None:
    """The items of an answer in the order of the inputs, each numbered 0.

    None when the answer cannot be read, its indexes are not 0, 1, 2..., or there are not `count` of them.
    """
    try:
        data = msgspec.json.decode(body, type=_Body).data
        items = {int(bytes(item["index"])): item for item in data}
    except (*bodies.UNREADABLE, KeyError, ValueError):
        return None
    if not items or sorted(items) != list(range(len(data))) or count not in (None, len(data)):
        return None
    if not all("embedding" in item for item in data):
        return None
    return [encode({**items[index], "index": msgspec.Raw(b"0")}) for index in range(len(items))]


def merge(items: Sequence[bytes], model: str, usage: Usage) -> bytes:
    """One answer out of items in the order of the inputs. Raises IntegrityError for an item that cannot be read."""
    data = []
    for index, item in enumerate(items):
        try:
            fields = _fields(item)
        except bodies.UNREADABLE as error:
            raise IntegrityError(f"a stored embedding is not a JSON object: {error}") from error
        data.append({**fields, "index": msgspec.Raw(b"%d" % index)})
    tokens = usage.prompt_tokens
    return encode(
        {"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    )


def usage_of(body: bytes) -> Usage:
    """The tokens that an answer reports."""
    answer = load(body) or {}
    usage = answer.get("usage")
    return Usage(integer(usage.get("prompt_tokens"))) if isinstance(usage, dict) else Usage()


def shares(request: EmbeddingsRequest, positions: Sequence[int], usage: Usage) -> list[Usage]:
    """Divide an answer's tokens among the inputs it was for, by length; the shares add up to the whole."""
    lengths = [max(1, len(request.inputs[position])) for position in positions]
    whole, total = sum(lengths), usage.prompt_tokens
    given, seen, divided = 0, 0, []
    for length in lengths:
        seen += length
        upto = total * seen // whole
        divided.append(Usage(upto - given))
        given = upto
    return divided


def error(status: int, message: str, *, code: str, param: str | None = None) -> bytes:
    """An OpenAI error body."""
    return openai_error(status, message, code=code, param=param)


def _inputs(given: object) -> tuple[Input, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list):
        problem = "input is missing" if given is None else f"input must be a string or an array, not {kind(given)}"
        raise refusal(problem, "input")
    if not given:
        raise refusal("input must not be empty", "input")
    if all(type(token) is int for token in given):
        return (given,)
    if len(given) > MOST_INPUTS:
        raise refusal(f"input must have at most {MOST_INPUTS} items, not {len(given)}", "input")
    for position, item in enumerate(given):
        if isinstance(item, str) or (isinstance(item, list) and item and all(type(token) is int for token in item)):
            continue
        raise refusal(
            f"input[{position}] must be a string or an array of tokens, like its neighbours", f"input[{position}]"
        )
    if len({type(item) for item in given}) > 1:
        raise refusal("input mixes texts and token arrays", "input")
    return tuple(given)
