"""Response bodies and typed events of the Responses API.

Knows nothing of sockets, timing or what is said. Ids and times are arguments.
Invariant: the response inside `response.completed` is the body that the call without a stream returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from semcache.upstream.backends.echo_answers import EchoReply, EchoRequest, tokens
from semcache.upstream.backends.echo_shapes import Json, event

_ECHOED = ("instructions", "max_output_tokens", "metadata", "previous_response_id", "temperature", "top_p", "user")


class EchoResponses:
    """`/v1/responses`."""

    def __init__(self, heard: EchoRequest, said: Sequence[EchoReply], id: str, created: int) -> None:
        self._request, self._said, self._id, self._created = heard, said[0], id, created
        self._sequence = 0

    def body(self) -> Json:
        """The whole answer."""
        status = "incomplete" if self._said.ending in {"length", "filter"} else "completed"
        return self._response(status, self._output())

    def events(self) -> Iterator[bytes]:
        """The events of a stream."""
        yield self._event("response.created", response=self._response("in_progress", []))
        yield self._event("response.in_progress", response=self._response("in_progress", []))
        for index, item in enumerate(self._output()):
            parts = {"message": self._message, "reasoning": self._reasoning, "function_call": self._call}
            yield from parts[item["type"]](index, item)
            yield self._event("response.output_item.done", output_index=index, item=item)
        body = self.body()
        yield self._event(f"response.{body['status']}", response=body)

    def _message(self, index: int, item: Json) -> Iterator[bytes]:
        empty = {**item, "status": "in_progress", "content": []}
        yield self._event("response.output_item.added", output_index=index, item=empty)
        part = item["content"][0]
        where: Json = {"item_id": item["id"], "output_index": index, "content_index": 0}
        field = "refusal" if part["type"] == "refusal" else "text"
        name = "response.refusal" if field == "refusal" else "response.output_text"
        extra: Json = {} if field == "refusal" else {"logprobs": []}
        yield self._event("response.content_part.added", **where, part={**part, field: ""})
        for word in tokens(part[field]):
            yield self._event(f"{name}.delta", **where, delta=word, **extra)
        yield self._event(f"{name}.done", **where, **{field: part[field]}, **extra)
        yield self._event("response.content_part.done", **where, part=part)

    def _reasoning(self, index: int, item: Json) -> Iterator[bytes]:
        yield self._event("response.output_item.added", output_index=index, item={**item, "summary": []})
        part = item["summary"][0]
        where: Json = {"item_id": item["id"], "output_index": index, "summary_index": 0}
        yield self._event("response.reasoning_summary_part.added", **where, part={**part, "text": ""})
        for word in tokens(part["text"]):
            yield self._event("response.reasoning_summary_text.delta", **where, delta=word)
        yield self._event("response.reasoning_summary_text.done", **where, text=part["text"])
        yield self._event("response.reasoning_summary_part.done", **where, part=part)

    def _call(self, index: int, item: Json) -> Iterator[bytes]:
        empty = {**item, "status": "in_progress", "arguments": ""}
        yield self._event("response.output_item.added", output_index=index, item=empty)
        where: Json = {"item_id": item["id"], "output_index": index}
        for word in tokens(item["arguments"]):
            yield self._event("response.function_call_arguments.delta", **where, delta=word)
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield self._event("response.function_call_arguments.done", **where, **done)

    def _output(self) -> list[Json]:
        said, items = self._said, []
        if said.reasoning:
            summary = [{"type": "summary_text", "text": said.reasoning}]
            items.append({"id": f"rs_{self._id}", "type": "reasoning", "summary": summary})
        if said.call:
            call_id, name, arguments = said.call
            call = {"call_id": call_id, "name": name, "arguments": arguments, "status": "completed"}
            items.append({"id": f"fc_{self._id}", "type": "function_call", **call})
            return items
        part: Json = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        if said.ending == "refusal":
            part = {"type": "refusal", "refusal": said.text}
        message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
        items.append({"id": f"msg_{self._id}", **message})
        return items

    def _response(self, status: str, output: list[Json]) -> Json:
        body, said = self._request.body, self._said
        reasons = {"length": "max_output_tokens", "filter": "content_filter"}
        usage: Json | None = None
        if status != "in_progress":
            usage = {
                "input_tokens": self._request.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": said.spent,
                "output_tokens_details": {"reasoning_tokens": len(tokens(said.reasoning))},
                "total_tokens": self._request.prompt_tokens + said.spent,
            }
        return {
            "id": f"resp_{self._id}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": reasons[said.ending]} if status == "incomplete" else None,
            "model": self._request.model,
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "store": body.get("store", True),
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools") or [],
            "truncation": body.get("truncation", "disabled"),
            "usage": usage,
            **{key: body.get(key) for key in _ECHOED},
        }

    def _event(self, name: str, /, **data: Any) -> bytes:
        shaped = event({"type": name, "sequence_number": self._sequence, **data}, name)
        self._sequence += 1
        return shaped
