"""The dialect of OpenAI text completions, the legacy endpoint that self-hosted servers still speak.

Knows the fields of /v1/completions. A prompt of tokens, or of several texts, has no text to search for, and is
looked up exactly alone.
Invariant: assembling the stream of a stored answer gives that answer again, usage included if it was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semcache.dialects import body as bodies
from semcache.dialects import provider_search
from semcache.dialects.answer import openai_error, parsed, pieces, stored
from semcache.dialects.choices import (
    FINISHED,
    ChunkAssembler,
    Json,
    choices_of,
    chunks,
    keep_last,
    merge_field,
    usage_of,
)
from semcache.dialects.controls import kind, refusal
from semcache.errors import IntegrityError
from semcache.types import Assembled, Endpoint, Request, Traits


class CompletionsDialect:
    """The dialect of /v1/completions."""

    endpoint = Endpoint.COMPLETIONS
    path = "/v1/completions"

    def read(self, raw: bytes) -> Request:
        """Parse a request body."""
        body, raw, controls = bodies.read(raw)
        model = bodies.model(body)
        prompt = body.get("prompt")
        if prompt is not None and not isinstance(prompt, str | list):
            raise refusal(f"prompt must be a string or an array, not {kind(prompt)}", "prompt")
        if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
            prompt = prompt[0]
        identity = bodies.settle(body)
        text, frame = "", None
        if isinstance(prompt, str):
            identity["prompt"], text, frame = bodies.take_question(prompt, "text")
        return Request(
            endpoint=Endpoint.COMPLETIONS,
            model=model,
            identity=identity,
            text=text,
            raw=raw,
            stream=bodies.flag(body, "stream"),
            replay={"include_usage": bodies.include_usage(body)},
            traits=Traits(
                temperature=bodies.number(body, "temperature"),
                last_role="user",
                stateful=provider_search.is_asked_for(body),
                repeats_prompt=bodies.repeats_prompt(body),
            ),
            user=bodies.user(body),
            controls=controls,
            frame=frame,
        )

    def assembler(self) -> ChunkAssembler:
        """A reader for one stream."""
        return ChunkAssembler(object_name="text_completion", merge=_merge, settle=_settle, assemble=_assemble)

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer."""
        return parsed(body, _assemble)

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:
        """The stored answer as chunks and `[DONE]`."""
        answer = stored(body)
        choices = choices_of(answer)
        if choices is None or not all(isinstance(choice.get("text"), str) for choice in choices):
            raise IntegrityError("the stored completion has no readable choices; purge the entry")
        return chunks(answer, choices, _updates, include_usage=replay.get("include_usage") is True)

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:
        """An OpenAI error body."""
        return openai_error(status, message, code=code, param=param)


DIALECT = CompletionsDialect()


def _merge(choice: Json, update: Json) -> bool:
    text = update.get("text")
    for key, value in update.items():
        if key not in ("text", "index"):
            keep_last(choice, key, value)
    merge_field(choice, "text", text)
    return text is None or isinstance(text, str)


def _settle(choice: Json) -> Json:
    return {"index": choice.pop("index"), "text": choice.pop("text", None) or "", **choice}


def _assemble(answer: Json, body: bytes) -> Assembled:
    choices = choices_of(answer)
    usage = usage_of(answer)
    if choices is None or not all(isinstance(choice.get("text"), str) for choice in choices):
        return Assembled(body, "", complete=False, usage=usage)
    reasons = [choice.get("finish_reason") for choice in choices]
    return Assembled(
        body,
        choices[0]["text"],
        complete=all(isinstance(reason, str) and reason in FINISHED for reason in reasons),
        refusal="content_filter" in reasons,
        usage=usage,
    )


def _updates(index: int, choice: Json) -> list[Json]:
    frame: Json = {"logprobs": None} if "logprobs" in choice else {}
    end = {key: value for key, value in choice.items() if key not in ("index", "text", "logprobs")}
    updates: list[Json] = [
        {"index": index, "text": piece, **frame, "finish_reason": None} for piece in pieces(choice["text"])
    ]
    updates.append({**end, "index": index, "text": "", **frame})
    if "logprobs" in choice:
        updates[0]["logprobs"] = choice["logprobs"]
    return updates
