"""Streams made of chunks with `choices`: what chat and text completions have in common.

Merges chunks into the answer that the same request would have had without a stream. Knows the framing, the merging of
top-level fields, usage and log probabilities; each dialect says how an update of one choice is merged.
Invariant: `feed` never raises, and only a stream is complete that reached `[DONE]` unbroken, or whose body closed of
itself after its only choice had ended: some servers send no `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, TypeGuard

from semcache.dialects import sse
from semcache.dialects.answer import encode, integer, load, tokens
from semcache.types import Assembled, Request, Usage

FINISHED = frozenset({"stop", "tool_calls", "function_call", "content_filter", "eos"})
_FRAME = frozenset({"choices", "object", "usage", "obfuscation"})
WHOLE = frozenset({"id", "type", "role", "index", "format"})
"""Fields that a delta sets rather than extends."""

Json: TypeAlias = dict[str, Any]


class ChunkAssembler(sse.StreamAssembler):
    """Reads a stream of chunks.

    `merge` folds an update of one choice into what is known of it and says whether it could; `settle` turns what was
    collected into the choice of a whole answer; `assemble` reads the whole answer.
    """

    def __init__(
        self,
        *,
        object_name: str,
        merge: Callable[[Json, Json], bool],
        settle: Callable[[Json], Json],
        assemble: Callable[[Json, bytes], Assembled],
    ) -> None:
        super().__init__()
        self._object, self._merge, self._settle, self._assemble = object_name, merge, settle, assemble
        self._top: Json = {}
        self._choices: dict[int, Json] = {}
        self._usage: Any = None

    def finish(self, *, closed: bool = False) -> Assembled:
        """The answer so far; complete only after `[DONE]`, or if the body of a request for one choice closed."""
        self._close()
        body: Json = {"id": self._top.pop("id", None), "object": self._object, **self._top}
        body["choices"] = [self._settle(self._choices[index]) for index in sorted(self._choices)]
        if self._usage is not None:
            body["usage"] = self._usage
        answer = self._assemble(body, encode(body))
        whole = self._terminal is not None or (closed and not self._broken and len(self._choices) == 1)
        return replace(answer, complete=answer.complete and whole)

    def _take(self, event: sse.Event) -> None:
        if event.data.startswith(b"[DONE]"):
            self._terminal = event.start
            return
        chunk = load(event.data)
        if chunk is None or chunk.get("error") is not None or event.name == "error":
            self._broken = True
            return
        for key, value in chunk.items():
            if key not in _FRAME and (value or key not in self._top):
                self._top[key] = value
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        updates = chunk.get("choices")
        if updates is not None and not isinstance(updates, list):
            self._broken = True
            return
        for update in updates or ():
            self._broken = self._broken or not self._fold(update)

    def _fold(self, update: object) -> bool:
        if not isinstance(update, dict):
            return False
        index = update.get("index", 0)
        if not isinstance(index, int) or isinstance(index, bool):
            return False
        choice = self._choices.setdefault(index, {"index": index})
        if update.get("logprobs") is not None:
            choice["logprobs"] = merge_logprobs(choice.get("logprobs"), update.pop("logprobs"))
        try:
            return self._merge(choice, update)
        except RecursionError:
            return False


def asks_for_one(request: Request) -> bool:
    """Return True if a request asks for one choice: neither for several, nor for those of several prompts."""
    return request.identity.get("n") is None and not isinstance(request.identity.get("prompt"), list)


def chunks(
    answer: Json, choices: list[Json], updates: Callable[[int, Json], list[Json]], *, include_usage: bool, **top: object
) -> list[bytes]:
    """A stored answer as a stream: its choices' `updates`, the usage if it was asked for, and `[DONE]`.

    `top` are fields that chunks have otherwise than the answer.
    """
    frame = {**{key: value for key, value in answer.items() if key not in ("choices", "usage")}, **top}
    nothing: Json = {"usage": None} if include_usage else {}
    events = [
        sse.event(encode({**frame, "choices": [update], **nothing}))
        for index, choice in enumerate(choices)
        for update in updates(index, choice)
    ]
    if include_usage and answer.get("usage") is not None:
        events.append(sse.event(encode({**frame, "choices": [], "usage": answer["usage"]})))
    events.append(b"data: [DONE]\n\n")
    return events


def keep_last(known: Json, key: str, value: object) -> None:
    """Remember the last value that says something; null only when nothing else was seen. Token ids grow."""
    if key == "token_ids" and isinstance(value, list) and isinstance(known.get(key), list):
        known[key].extend(value)
    elif value is not None or key not in known:
        known[key] = value


def merge_logprobs(known: object, update: object) -> object:
    """Append the lists of one log probability object to another's."""
    if not isinstance(update, dict) or not isinstance(known, dict):
        return update
    for key, value in update.items():
        if isinstance(value, list) and isinstance(known.get(key), list):
            known[key].extend(value)
        else:
            keep_last(known, key, value)
    return known


def merge_field(known: Json, key: str, value: Any) -> None:
    """Fold one field of a delta into a message: strings grow, objects merge, lists merge by index or grow."""
    old = known.get(key)
    if value is None:
        known.setdefault(key, None)
    elif isinstance(value, str):
        if key in WHOLE:
            known[key] = old if old and not value else value
        elif isinstance(old, str):
            known[key] = None  # The only reference is then `old`, and the string grows in place.
            old += value
            known[key] = old
        elif isinstance(old, list) and old:
            if value:
                _merge_item(old, {"type": "text", "text": value})
        else:
            known[key] = value
    elif isinstance(value, dict) and isinstance(old, dict):
        for inner, change in value.items():
            merge_field(old, inner, change)
    elif isinstance(value, list) and isinstance(old, list):
        for item in value:
            _merge_item(old, item)
    elif isinstance(value, list) and old and isinstance(old, str):
        # Mistral's thoughts and references come as parts in the middle of a text.
        known[key] = [{"type": "text", "text": old}, *value]
    else:
        known[key] = value


def _merge_item(known: list[Any], item: Any) -> None:
    index = item.get("index") if isinstance(item, dict) else None
    last = known[-1] if known else None
    if _is_text(item) and _is_text(last):
        last["text"] += item["text"]
        return
    if _is_thought(item) and _is_thought(last):
        merge_field(last, "thinking", item["thinking"])
        return
    if index is not None:
        for old in known:
            if isinstance(old, dict) and old.get("index") == index:
                for inner, change in item.items():
                    merge_field(old, inner, change)
                return
    known.append(item)


def _is_text(part: Any) -> TypeGuard[dict[str, str]]:
    """Return True for a part that is text and nothing else."""
    return (
        isinstance(part, dict)
        and part.keys() == {"type", "text"}
        and part["type"] == "text"
        and isinstance(part["text"], str)
    )


def _is_thought(part: Any) -> TypeGuard[Json]:
    """Return True for a part that is a thought and nothing else."""
    return (
        isinstance(part, dict)
        and part.keys() == {"type", "thinking"}
        and part["type"] == "thinking"
        and isinstance(part["thinking"], list)
    )


def usage_of(body: Json) -> Usage:
    """The tokens of a chat or text completion."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        integer(usage.get("prompt_tokens")),
        integer(usage.get("completion_tokens")),
        # DeepSeek has a name of its own.
        tokens(usage, "prompt", "cached_tokens") or integer(usage.get("prompt_cache_hit_tokens")),
        tokens(usage, "prompt", "cache_write_tokens"),
        tokens(usage, "completion", "reasoning_tokens"),
    )


def choices_of(body: Json) -> list[Json] | None:
    """The choices in order of index, None unless they are objects numbered from 0 without gaps."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or body.get("error") is not None:
        return None
    if not all(isinstance(choice, dict) and type(choice.get("index", 0)) is int for choice in choices):
        return None
    ordered = sorted(choices, key=lambda choice: int(choice.get("index", 0)))
    if [choice.get("index", 0) for choice in ordered] != list(range(len(ordered))):
        return None
    return ordered
