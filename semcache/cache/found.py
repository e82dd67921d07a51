"""The result of a library user's lookup, and the requests and bodies that prompts and answers become.

Knows the chat dialect and no I/O. Invariant: `answer` is set iff the cache served.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from semcache.cache.reasons import explained
from semcache.dialects import dialects, unbound
from semcache.errors import InvalidArgument, RequestRejected
from semcache.types import Conflict, Endpoint, Entry, Forward, Lookup, Outcome, Request, Scope, Serve, Why, public_id


@dataclass(frozen=True, slots=True)
class Found:
    """A decision, and the answer that it serves."""

    lookup: Lookup
    entry: Entry | None = None

    def __repr__(self) -> str:
        # Without texts: what was asked and answered does not belong in a log.
        told = f"outcome={self.outcome.value!r}, why={self.why.value!r}, score={self.score}, p_correct={self.p_correct}"
        return f"Found({told}, entry_id={self.entry_id!r}, category={self.category!r}, audit={self.audit})"

    @property
    def answer(self) -> str | None:
        """The cached answer's text; None when the model has to be asked."""
        return None if self.entry is None else dialects()[self.lookup.request.endpoint].parse(self.entry.body).text

    @property
    def completion(self) -> dict[str, Any] | None:
        """The cached answer as the whole chat completion, a fresh dict at each call; None when nothing is served.

        An answer to other words comes without reasoning that its provider has signed.
        """
        if self.entry is None:
            return None
        same = self.outcome is Outcome.EXACT
        said = self.entry.body if same else unbound(dialects()[self.lookup.request.endpoint], self.entry.body)
        body: dict[str, Any] = msgspec.json.decode(said)
        return body

    @property
    def outcome(self) -> Outcome:
        """The outcome of the request."""
        match self.lookup.decision:
            case Serve(how=how):
                return Outcome(how.value)
            case Forward(outcome=outcome):
                return Outcome(outcome.value)
        return Outcome.MISS

    @property
    def why(self) -> Why:
        """The reason for the outcome."""
        match self.lookup.decision:
            case Serve():
                return self.lookup.decision.why
            case Forward(why=why):
                return why
        return Why.NO_VERDICT

    @property
    def score(self) -> float | None:
        """Cosine similarity to the served entry, or to the nearest one that was not; None without a neighbour."""
        match self.lookup.decision:
            case Forward(nearest=None):
                return None
            case Forward(nearest=nearest) if nearest is not None:
                return nearest.score
            case Serve(score=score):
                return score
        return None

    @property
    def p_correct(self) -> float | None:
        """The strategy's P(correct) of the served answer, or else of the best candidate.

        None if there was no neighbour, or none that the strategy was asked about.
        """
        return self.lookup.decision.p_correct

    @property
    def reason(self) -> str:
        """The reason for the outcome in a sentence."""
        return explained(self.why)[0]

    @property
    def guards(self) -> tuple[Conflict, ...]:
        """The findings of guards against the nearest entry that was not served."""
        nearest = getattr(self.lookup.decision, "nearest", None)
        return () if nearest is None else nearest.conflicts

    @property
    def nearest_id(self) -> str | None:
        """The id of the nearest entry that was not served; None if there is none, or it was served."""
        nearest = getattr(self.lookup.decision, "nearest", None)
        return None if nearest is None else public_id(nearest.card.id)

    @property
    def entry_id(self) -> str | None:
        """The id to give to `feedback`; None when nothing is served."""
        return public_id(self.lookup.decision.card.id) if isinstance(self.lookup.decision, Serve) else None

    @property
    def request_id(self) -> str:
        """The id to give to `semcache why`."""
        return self.lookup.request_id

    @property
    def category(self) -> str:
        """The category that the request was put into."""
        return self.lookup.category

    @property
    def audit(self) -> bool:
        """True if the model should be asked all the same and its answer given to `record`, once this one is served.

        The hit was drawn for an audit, or the entry's time is over. Of a request that wants a stored answer or none
        (only-if-cached) no model is asked.
        """
        decision, controls = self.lookup.decision, self.lookup.request.controls
        return isinstance(decision, Serve) and (decision.audit or decision.stale) and not controls.only_if_cached


def chat_request(
    prompt: str | Sequence[Mapping[str, Any]], model: str, params: Mapping[str, Any], scope: Scope, category: str | None
) -> Request:
    """A library user's prompt as a request of the chat dialect. Raises InvalidArgument.

    Where the scope names no namespace, that of the `cache` object counts.
    """
    if isinstance(prompt, str):
        messages: list[Any] = [{"role": "user", "content": prompt}]
    elif isinstance(prompt, Sequence) and not isinstance(prompt, (bytes, bytearray, memoryview)):
        messages = list(prompt)
    else:
        raise InvalidArgument(f"a prompt is a string or a list of messages, not {type(prompt).__name__}")
    check_scope(scope)
    if "messages" in params:
        raise InvalidArgument("messages stand in the place of the prompt: give either, as the first argument")
    if category is not None and not isinstance(category, str):
        raise InvalidArgument(f"a category is a name, not {type(category).__name__}")
    try:
        for name, value in {"model": model, "messages": messages, **params}.items():
            _check_said(name, value)
        raw = msgspec.json.encode({"model": model, "messages": messages, **params})
        request = dialects()[Endpoint.CHAT].read(raw)
    except (TypeError, ValueError, RecursionError, RequestRejected) as error:  # a number or a nesting beyond JSON
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"this is no chat request: {error}") from error
    controls = request.controls if category is None else replace(request.controls, category=category)
    scope = replace(scope, namespace=scope.namespace or controls.namespace or "")
    return replace(request, scope=scope, controls=controls)


def _check_said(name: str, value: object) -> None:
    """Raise InvalidArgument for a value, or one inside it, that would be written as another one, or in any order."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidArgument(f"{name} is {value}, which no request can say")
    if isinstance(value, (bytes, bytearray, memoryview, set, frozenset)):
        instead = "list" if isinstance(value, (set, frozenset)) else "string"
        raise InvalidArgument(f"{name} holds {type(value).__name__}, which JSON does not have: give a {instead}")
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            _check_said(name, part)


def chat_completion(answer: str | Mapping[str, Any], model: str) -> bytes:
    """A model's answer as the body of a chat completion. Raises InvalidArgument."""
    if isinstance(answer, str):
        message = {"role": "assistant", "content": answer}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = bare_completion([choice], model)
    if not isinstance(answer, Mapping):
        remedy = ": give its `model_dump()`" if hasattr(answer, "model_dump") else ""
        kind = type(answer).__name__
        raise InvalidArgument(f"an answer is a string or a chat completion as a dict, not {kind}{remedy}")
    try:
        return msgspec.json.encode(answer)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"this answer cannot be written as JSON: {error}") from error


def bare_completion(choices: list[dict[str, Any]], model: str) -> dict[str, Any]:
    """A chat completion with these choices, whose time and number of tokens are unknown."""
    named = hashlib.blake2b(repr((model, choices)).encode("utf-8", "replace"), digest_size=12).hexdigest()
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    head = {"id": f"chatcmpl-{named}", "object": "chat.completion", "created": 0, "model": model}
    return {**head, "choices": choices, "usage": usage}


def check_scope(scope: Scope) -> None:
    """Raise InvalidArgument for a scope of which no digest and no row could be made."""
    names: dict[str, object] = {"tenant": scope.tenant, "namespace": scope.namespace}
    if scope.user is not None:
        names["user"] = scope.user
    for name, value in names.items():
        if not isinstance(value, str):
            raise InvalidArgument(f"{name}={value!r} is no string: give str({name})")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgument(f"{name}={value!r} cannot be written as UTF-8: {error}") from error


def check_report(entry_id: object, tenant: str | None, *, correct: object = True) -> None:
    """Raise InvalidArgument for what `lookup` found itself, a tenant that is no string, or a verdict but yes and no."""
    if isinstance(entry_id, Found):
        raise InvalidArgument("a report is about an entry: give `found.entry_id` in place of what `lookup` found")
    if tenant is not None:
        check_scope(Scope(tenant))
    if correct not in (True, False):
        raise InvalidArgument(f"correct={correct!r} is no verdict: give True or False")
