"""Traces of requests with OpenTelemetry: a span for each request, and one for each call of the upstream.

Follows the conventions for generative models, with `semcache.*` for what the cache decided. The SDK is imported where
traces are wanted, and nothing here is called where they are not. Invariant: no prompt is in a span unless a setting
says so, and a span that cannot be sent costs no request anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from semcache import __version__
from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Backend, Outbound, Reply, WebSocket, WebSocketTerms
from semcache.proxy.asgi import Message, Receive, Scope, Send, decode_headers
from semcache.types import Endpoint, Lookup, Outcome, Recorded, public_id
from semcache.upstream.web_socket import connect

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

    from semcache.config.sections import TracesSection

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_OPERATIONS = {
    Endpoint.CHAT.value: "chat",
    Endpoint.MESSAGES.value: "chat",
    Endpoint.RESPONSES.value: "chat",
    Endpoint.COMPLETIONS.value: "text_completion",
    Endpoint.EMBEDDINGS.value: "embeddings",
}
_SERVED = frozenset({Outcome.EXACT, Outcome.SEMANTIC, Outcome.PLAN})
_CARRIED = frozenset({"traceparent", "tracestate"})
_PATIENCE = 5000  # milliseconds for what is left to send at the end


def open_tracing(chosen: TracesSection) -> Tracing | None:
    """Return the tracing that the settings ask for, None for none. Raises ConfigError without the extra `otel`."""
    if chosen.mode == "off":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio
    except ImportError as error:
        raise ConfigError(
            f"traces.mode is otlp, and {error.name} is missing: pip install 'semcache-llm[otel]'"
        ) from error
    named = {"service.name": "semcache", "service.version": __version__}
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of the environment come before these.
    resource = Resource(named).merge(Resource.create())
    if resource.attributes.get("service.name", "").startswith("unknown_service"):  # type: ignore[union-attr]
        resource = resource.merge(Resource(named))
    provider = TracerProvider(sampler=ParentBasedTraceIdRatio(chosen.sample), resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=chosen.endpoint)))
    return Tracing(provider, prompts=chosen.prompts)


class Tracing:
    """The spans of one process. `prompts`: prompts are among their attributes."""

    def __init__(self, provider: TracerProvider, *, prompts: bool = False) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider, self._prompts = provider, prompts
        self._tracer = provider.get_tracer("semcache", __version__)
        self._carrier = TraceContextTextMapPropagator()

    def app(self, inner: App) -> App:
        """Return an application that has a span for every request under /v1."""
        from opentelemetry.trace import SpanKind, use_span

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if not scope["path"].startswith("/v1"):
                await inner(scope, receive, send)
                return
            parent = self._carrier.extract({name: value for name, value in decode_headers(scope) if name in _CARRIED})
            about = {"http.request.method": scope["method"], "url.path": scope["path"]}
            name = f"{scope['method']} {scope['path']}"
            span = self._tracer.start_span(name, parent, SpanKind.SERVER, about)

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        _fail(span, str(message["status"]))
                await send(message)

            try:
                with use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
                    await inner(scope, receive, sending)
            finally:
                # The outcome is noted once the event loop has written out the reply.
                asyncio.get_running_loop().call_soon(span.end)

        return traced

    def backend(self, inner: Backend) -> Backend:
        """Return a backend whose calls have spans, and are told of which trace they are."""
        return _TracedBackend(inner, self._tracer, self._carrier)

    def note(self, lookup: Lookup | None, row: Recorded) -> None:
        """Put an outcome into the span of the request that this task answers."""
        from opentelemetry.trace import get_current_span

        span = get_current_span()
        if not span.is_recording():
            return
        operation = _OPERATIONS.get(row.endpoint, row.endpoint)
        span.update_name(f"{operation} {row.model}" if row.model else operation)
        span.set_attributes(_attributes(row, operation))
        if self._prompts and lookup is not None:
            said = [{"role": "user", "parts": [{"type": "text", "content": lookup.request.text}]}]
            span.set_attribute("gen_ai.input.messages", msgspec.json.encode(said).decode())

    async def close(self) -> None:
        """Send what is left, and stop."""
        await asyncio.to_thread(self._provider.force_flush, _PATIENCE)
        await asyncio.to_thread(self._provider.shutdown)


class _TracedBackend:
    """A backend with a span for every call, from its start until its reply is closed."""

    def __init__(self, inner: Backend, tracer: Any, carrier: Any) -> None:
        self._inner, self._tracer, self._carrier = inner, tracer, carrier

    async def send(self, outbound: Outbound) -> Reply:
        span, outbound = self._begin(outbound)
        try:
            reply = await self._inner.send(outbound)
        except BaseException as error:
            _fail(span, type(error).__name__)
            span.end()
            raise
        span.set_attribute("http.response.status_code", reply.status)
        if reply.status >= 400:
            _fail(span, str(reply.status))
        return _TracedReply(reply, span)

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Open a WebSocket; the span is of its opening alone."""
        span, outbound = self._begin(outbound)
        try:
            return await connect(self._inner, outbound, terms)
        except BaseException as error:
            _fail(span, type(error).__name__)
            raise
        finally:
            span.end()

    async def close(self) -> None:
        await self._inner.close()

    def _begin(self, outbound: Outbound) -> tuple[Span, Outbound]:
        from opentelemetry.trace import SpanKind, set_span_in_context

        about = {"http.request.method": outbound.method, "url.path": outbound.path}
        span = self._tracer.start_span(f"{outbound.method} {outbound.path}", kind=SpanKind.CLIENT, attributes=about)
        headers: dict[str, str] = {}
        self._carrier.inject(headers, set_span_in_context(span))
        left = [pair for pair in outbound.headers if pair[0].lower() not in _CARRIED]
        return span, replace(outbound, headers=[*left, *headers.items()])


class _TracedReply:
    """A reply that ends its span."""

    def __init__(self, reply: Reply, span: Span) -> None:
        self._reply, self._span = reply, span
        self.status = reply.status
        self.headers: Sequence[tuple[str, str]] = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._reply.chunks():
                yield chunk
        except UpstreamError as error:
            _fail(self._span, type(error).__name__)
            raise

    async def close(self) -> None:
        try:
            await self._reply.close()
        finally:
            self._span.end()


def _fail(span: Span, kind: str) -> None:
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def _attributes(row: Recorded, operation: str) -> dict[str, str | int | float | bool]:
    served = row.outcome in _SERVED
    tier = row.why.value if served else row.outcome.value if row.outcome is Outcome.NEAR else "upstream"
    used = row.saved if served or row.collapsed else row.spent
    found: dict[str, str | int | float | bool | None] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "anthropic" if row.endpoint == Endpoint.MESSAGES.value else "openai",
        "gen_ai.request.model": row.model or None,
        "gen_ai.usage.input_tokens": used.prompt_tokens or None,
        "gen_ai.usage.output_tokens": used.completion_tokens or None,
        "semcache.decision": "serve" if served else "forward",
        "semcache.tier": tier,
        "semcache.outcome": row.outcome.value,
        "semcache.why": row.why.value,
        "semcache.category": row.category,
        "semcache.tenant": row.scope.tenant,
        "semcache.request_id": row.request_id,
        "semcache.entry_id": None if row.entry_id is None else public_id(row.entry_id),
        "semcache.score": row.score,
        "semcache.p_correct": row.p_correct,
        "semcache.stored": row.stored,
        "semcache.stream": row.stream,
        "semcache.collapsed": row.collapsed,
        "semcache.cost_usd": row.spent_cost,
        "semcache.saved_usd": row.saved_cost,
    }
    return {name: value for name, value in found.items() if value is not None}
