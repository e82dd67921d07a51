"""A file of requests in OpenAI's batch format, those with a common prefix together.

Requests are ordered over the whole file at once: by common prefix, so that a prefix is computed once and may be evicted
when its last user has finished, and groups with long answers for their prompts first, so that their tokens fill the
steps in which other prompts are prefilled (BatchLLM: Zheng et al. 2024, sections 4.1 and 4.2). Knows lines and their
order, nothing of files or HTTP. Invariant: every line gives exactly one result; an invalid line gives an error and
stops no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from semcache.engine.engine import Engine
from semcache.engine.job import FinishReason, TokenUsage
from semcache.engine.openai_replies import ChatReply, ChoiceText, CompletionReply, error_body, rejection, usage
from semcache.engine.openai_requests import ParsedRequest, ServedModel, read_chat, read_completion
from semcache.engine.overload import Overloaded
from semcache.engine.prefix_tree import chain_keys
from semcache.errors import RequestRejected

Json = dict[str, Any]
RESULT = b'{"id":"batch_req_'  # what the line of a result begins with
_READERS: dict[str, tuple[Callable[..., ParsedRequest], type[ChatReply] | type[CompletionReply]]] = {
    "/v1/chat/completions": (read_chat, ChatReply),
    "/v1/completions": (read_completion, CompletionReply),
}


class _Line(msgspec.Struct):
    custom_id: str
    url: str
    body: msgspec.Raw
    method: str = "POST"


@dataclass(slots=True)
class _Work:
    """A line in progress: the request, and the answers of its choices so far."""

    custom_id: str
    ask: ParsedRequest
    shape: ChatReply | CompletionReply
    told: list[ChoiceText]
    left: int
    spent: list[TokenUsage] = field(default_factory=list)
    error: str = ""


def run(
    engine: Engine, lines: Iterable[bytes], *, name: str, clock: Callable[[], float], ids: Callable[[], str]
) -> Iterator[Json]:
    """Results in the order in which they are ready: custom_id, response with status_code and body, and error."""
    works: list[_Work] = []
    for line in lines:
        if line.strip():
            read = _read(line, engine, name=name, clock=clock, ids=ids)
            if isinstance(read, _Work):
                works.append(read)
            else:
                yield read
    prompts = [(work.ask.jobs[0].ids, work.ask.jobs[0].sampling.max_tokens) for work in works]
    waiting = [works[at] for at in order(prompts, engine.config.block)]
    yield from _work(engine, waiting, ids)


def order(prompts: Sequence[tuple[Sequence[int], int]], block: int) -> list[int]:
    """Positions of prompts (token ids, tokens of the answer) in the order in which to work on them."""
    keys = [tuple(chain_keys(b"", ids, block)) for ids, _ in prompts]
    tokens: dict[bytes, tuple[int, int]] = {}
    for chain, (ids, answer) in zip(keys, prompts, strict=True):
        group = chain[0] if chain else b""
        asked, said = tokens.get(group, (0, 0))
        tokens[group] = asked + len(ids), said + answer
    ratio = {group: said / max(1, asked) for group, (asked, said) in tokens.items()}

    def rank(at: int) -> tuple[float, tuple[bytes, ...], int]:
        chain = keys[at]
        return -ratio[chain[0] if chain else b""], chain, at

    return sorted(range(len(prompts)), key=rank)


def custom_id_of(line: bytes) -> str | None:
    """The custom_id of a line, of requests or of results; None where it has none."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    name = found.get("custom_id") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def _work(engine: Engine, waiting: list[_Work], ids: Callable[[], str]) -> Iterator[Json]:
    """Keep as many jobs in the engine as it accepts; the next line follows in order."""
    open_jobs: dict[str, tuple[_Work, int]] = {}
    queue = [(work, at) for work in reversed(waiting) for at in reversed(range(len(work.ask.jobs)))]
    while queue or not engine.idle:
        while queue:
            work, at = queue[-1]
            job = work.ask.jobs[at]
            try:
                engine.submit(job)
            except Overloaded:
                break
            queue.pop()
            open_jobs[job.id] = work, at
        for delta in engine.step():
            if delta.job not in open_jobs:
                continue
            work, at = open_jobs[delta.job]
            work.told[at * work.ask.jobs[at].sampling.n + delta.choice].add(delta)
            if delta.finish is FinishReason.ERROR:
                work.error = delta.error
            if delta.spent is not None:
                del open_jobs[delta.job]
                work.spent.append(delta.spent)
                work.left -= 1
                if not work.left:
                    yield _result(work, ids)


def _read(
    line: bytes, engine: Engine, *, name: str, clock: Callable[[], float], ids: Callable[[], str]
) -> _Work | Json:
    try:
        given = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        wrong = RequestRejected(400, f"the line is no request of a batch: {error}", code="invalid_line")
        return _failed(custom_id_of(line), wrong, ids)
    try:
        if given.url not in _READERS or given.method != "POST":
            message = f"{given.method} {given.url} cannot be batched: use POST and one of {', '.join(_READERS)}"
            raise RequestRejected(400, message, code="invalid_url", param="url")
        read, kind = _READERS[given.url]
        unique = ids()
        ask = read(
            bytes(given.body),
            engine.tokenizer,
            ServedModel.of(engine, name),
            id=unique,
        )
        if ask.stream:
            raise RequestRejected(400, "a batch cannot stream", code="invalid_value", param="stream")
        for job in ask.jobs:
            engine.check(job)
    except RequestRejected as error:
        return _failed(given.custom_id, error, ids)
    scored = ask.jobs[0].sampling.logprobs is not None
    shape: ChatReply | CompletionReply = kind(
        engine.tokenizer, id=f"{kind.prefix}{unique}", created=int(clock()), model=name, scored=scored, shape=ask.shape
    )
    choices = len(ask.jobs) * ask.jobs[0].sampling.n
    return _Work(given.custom_id, ask, shape, [ChoiceText() for _ in range(choices)], len(ask.jobs))


def _result(work: _Work, ids: Callable[[], str]) -> Json:
    if work.error:
        body = msgspec.json.decode(error_body(500, work.error, code="engine_failed"))
        return _line(work.custom_id, 500, body, ids)
    spent = usage(work.spent, predicted=work.ask.predicted, approximate=work.ask.approximate)
    return _line(work.custom_id, 200, work.shape.whole(work.told, spent), ids)


def _failed(custom_id: str | None, error: RequestRejected, ids: Callable[[], str]) -> Json:
    return _line(custom_id, error.status, msgspec.json.decode(rejection(error)), ids)


def _line(custom_id: str | None, status: int, body: Json, ids: Callable[[], str]) -> Json:
    response = {"status_code": status, "request_id": ids(), "body": body}
    return {"id": f"batch_req_{ids()}", "custom_id": custom_id, "response": response, "error": None}
