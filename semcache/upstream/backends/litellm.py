"""A backend over the litellm package, which speaks to over a hundred providers.

Knows how to call litellm and to write its objects down as OpenAI's chat completions; other endpoints answer 404.
Importing litellm takes seconds and fetches a price table from the network unless `LITELLM_LOCAL_MODEL_COST_MAP=True` is
in the environment: whoever starts the process sets it, and the import waits for the first request.
Invariant: a provider's error keeps its status and its `retry-after`, and a client sets nothing but the fields of a chat
completion: litellm's own arguments would let it send the operator's credentials to a host of its choice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from typing import Any

import msgspec

from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound, Reply

_PATH = "/v1/chat/completions"
_CHAT_FIELDS = """
    messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
    metadata min_p modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention
    reasoning_effort repetition_penalty response_format safety_identifier seed service_tier stop store stream
    stream_options temperature thinking tool_choice tools top_k top_logprobs top_p user verbosity web_search_options
"""
_FIELDS = frozenset(_CHAT_FIELDS.split())
_KEPT = ("retry-after", "retry-after-ms", "x-should-retry", "x-request-id", "request-id")


class LiteLLMBackend:
    """Ask `model` in litellm's notation ("anthropic/claude-x"), or the model that each request names when None.

    `api_key` replaces the client's; without either, litellm looks for the provider's variable in the environment.
    Raises ConfigError where the package is not installed.
    """

    def __init__(self, model: str | None = None, *, api_key: str | None = None, timeout: float = 600.0) -> None:
        if find_spec("litellm") is None:
            raise ConfigError("an upstream litellm: needs the package: pip install 'semcache-llm[litellm]'")
        self._model, self._api_key, self._timeout = model, api_key, timeout

    async def send(self, outbound: Outbound) -> Reply:
        """Return once the provider has accepted. Raises UpstreamError or UpstreamTimeout."""
        if outbound.path != _PATH or outbound.method != "POST":
            message = f"the litellm backend answers {_PATH} alone, not {outbound.method} {outbound.path}"
            return _WrittenReply(404, (), _error(message, "not_found_error", 404))
        try:
            call = msgspec.json.decode(outbound.body, type=dict[str, Any])
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            return _WrittenReply(400, (), _error(f"the body is no JSON object: {error}", "invalid_request_error", 400))
        unknown = sorted(call.keys() - _FIELDS)
        if unknown:
            message = f"the litellm backend does not pass on: {', '.join(unknown)}"
            return _WrittenReply(400, (), _error(message, "invalid_request_error", 400))
        call["model"] = self._model or call.get("model")
        # Whether to try again is for the client to say: a retry here would hide a 429 and its retry-after.
        call.update(timeout=self._timeout, max_retries=0)
        key = self._api_key or _bearer(outbound)
        if key:
            call["api_key"] = key
        litellm = await asyncio.to_thread(_package)
        try:
            answer = await litellm.acompletion(**call)
        except Exception as error:
            return _refused(error)
        if call.get("stream"):
            return _StreamReply(answer)
        return _WrittenReply(200, (), answer.model_dump_json().encode())

    async def close(self) -> None:
        """Nothing is held between requests."""


def check_model(model: str) -> None:
    """Raise ConfigError for a model whose provider litellm cannot tell. Imports litellm, which takes seconds."""
    try:
        _package().get_llm_provider(model)
    except Exception as error:
        raise ConfigError(f"upstream litellm:{model}: litellm knows no provider of {model!r}") from error


def _package() -> Any:
    import litellm

    # It would print advice on standard output with every refusal.
    litellm.suppress_debug_info = True
    return litellm


def _bearer(outbound: Outbound) -> str | None:
    found = next((value for name, value in outbound.headers if name.lower() == "authorization"), "")
    return found[7:] if found[:7].lower() == "bearer " else None


def _error(message: str, kind: str, status: int) -> bytes:
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": str(status)}})


def _refused(error: Exception) -> Reply:
    """Relay a provider's refusal, or raise when there was no answer at all."""
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    if kind in {"Timeout", "APITimeoutError"}:
        raise UpstreamTimeout(f"litellm: {error}") from error
    if not isinstance(status, int) or kind == "APIConnectionError":
        raise UpstreamError(f"litellm: {kind}: {error}") from error
    sent = getattr(error, "litellm_response_headers", None)
    sent = sent or getattr(getattr(error, "response", None), "headers", None) or {}
    headers = [(name, str(sent[name])) for name in _KEPT if name in sent]
    return _WrittenReply(status, headers, _error(str(error), kind, status))


class _WrittenReply:
    def __init__(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        self.status, self._body = status, body
        self.headers: Sequence[tuple[str, str]] = [("content-type", "application/json"), *headers]

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    async def close(self) -> None:
        pass


class _StreamReply:
    def __init__(self, stream: Any) -> None:
        self.status, self._stream = 200, stream
        self.headers: Sequence[tuple[str, str]] = [("content-type", "text/event-stream; charset=utf-8")]

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield b"data: " + chunk.model_dump_json().encode() + b"\n\n"
        except Exception as error:
            raise UpstreamError(f"litellm: the stream broke off: {type(error).__name__}: {error}") from error
        yield b"data: [DONE]\n\n"

    async def close(self) -> None:
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()
