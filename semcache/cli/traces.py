"""Traces: the request, answer, cost and time in each line of a log.

Knows the formats that `semcache import` reads and plain lines (`prompt`, `answer`, `at`, ...); knows no pack, embedder
or cache. Invariant: a trace is in order of time, and every value is taken from its line: one that the line lacks is
None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from semcache.cli import log_formats, log_lines
from semcache.cli.log_formats import BrokenLine, LogContext, LoggedCall, NotCacheable, Row, named
from semcache.cli.log_lines import LineTally
from semcache.errors import InvalidArgument
from semcache.types import Assembled, Scope, Usage

_ANSWERS = ("answer", "response", "completion", "output", "label", "intent")
_LABELS = ("label", "intent")
_COSTS = ("cost", "response_cost", "spend", "totalCost", "calculatedTotalCost", "total_cost")
_LATENCIES = ("latency", "seconds", "duration")
_LOGS = ("semcache", "custom_id", "messages", "request", "input")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line: its number in the file, the request and its answer, US dollars and seconds where the line has them.

    `exact_only`: the line names the request by a key and does not hold its text. `labelled`: the answer is the name of
    a class, such as an intent.
    """

    line: int
    logged: LoggedCall
    answer: str
    cost: float | None = None
    latency: float | None = None
    exact_only: bool = False
    labelled: bool = False

    @property
    def at(self) -> float:
        """Unix seconds; 0 until `in_order` has dated the line."""
        return self.logged.at or 0.0


def read(
    file: Path,
    *,
    form: str = "auto",
    reading: LogContext,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[list[TraceLine], LineTally]:
    """Return the sound lines of a file, at most `limit`, by time. `progress` is told how many bytes have been read.

    Raises StoreError for a file that cannot be read, InvalidArgument where no line is of use.
    """
    tally, found = LineTally(), []
    with log_lines.open_log(file) as (raw, text):
        for number, row in log_lines.rows(text, tally):
            try:
                found.append(read_line(number, row, form, reading))
            except BrokenLine as error:
                tally.failed(number, str(error))
            except NotCacheable as error:
                tally.skipped[str(error)] += 1
            if progress is not None and number % 256 == 0:
                progress(log_lines.place(raw))
            if limit is not None and len(found) >= limit:
                break
    if not found:
        reasons = "\n".join(tally.summary()) or "it is empty"
        raise InvalidArgument(f"{file}: no line can be replayed: {reasons}")
    return in_order(found), tally


def read_line(number: int, row: Row, form: str, reading: LogContext) -> TraceLine:
    """Return the request and answer of one line. Raises BrokenLine or NotCacheable."""
    if form == "trace" or (form == "auto" and _is_plain(row)):
        return _plain(number, row, reading)
    logged = log_formats.read(row, log_formats.detect(row) if form == "auto" else form, reading)
    if not logged.answer.text and not logged.answer.body:
        raise BrokenLine("there is no answer")
    # An answer that is no text, such as a call of tools, is compared as the JSON that it is.
    answer = logged.answer.text or logged.answer.body.decode("utf-8", "replace")
    return TraceLine(number, logged, answer, _amount(row, _COSTS), _amount(row, _LATENCIES))


def in_order(found: Sequence[TraceLine]) -> list[TraceLine]:
    """Return the lines by time: one without a time behind the line before it; if none has one, a second apart."""
    if all(one.logged.at is None for one in found):
        return [_dated(one, float(place)) for place, one in enumerate(found)]
    latest = next(one.logged.at for one in found if one.logged.at is not None)
    dated = []
    for one in found:
        latest = latest if one.logged.at is None else one.logged.at
        dated.append(_dated(one, latest))
    return sorted(dated, key=lambda one: one.at)


def _dated(one: TraceLine, at: float) -> TraceLine:
    return replace(one, logged=replace(one.logged, at=at))


def _is_plain(row: Row) -> bool:
    named = isinstance(row.get("prompt"), str) or isinstance(row.get("text"), str)
    keyed = "key" in row or "hash_ids" in row
    return (named or keyed) and not any(name in row for name in _LOGS)


def _plain(number: int, row: Row, reading: LogContext) -> TraceLine:
    prompt = next((row[name] for name in ("prompt", "text") if isinstance(row.get(name), str)), None)
    key = None if prompt is not None else _key(row)
    field = next((name for name in _ANSWERS if row.get(name) is not None), None)
    answer, labelled = (key, False) if field is None else (row[field], field in _LABELS)
    if prompt is None and key is None:
        raise BrokenLine("there is neither a prompt nor a key")
    if answer is None:
        raise BrokenLine(f"there is no answer: one of {', '.join(_ANSWERS)}")
    said = answer if isinstance(answer, str | Mapping) else str(answer)
    asked = {"prompt": prompt or key, "answer": said, "model": row.get("model"), "timestamp": _moment(row)}
    logged = log_formats.read(asked, "openai-jsonl", reading)
    usage = _usage(row) or logged.answer.usage
    scope = Scope(named(row, "tenant") or "default", named(row, "user"), named(row, "namespace") or "")
    logged = replace(logged, answer=replace(logged.answer, usage=usage), scope=scope, category=named(row, "category"))
    return TraceLine(
        number,
        logged,
        _answer_text(logged.answer, said),
        _amount(row, _COSTS),
        _amount(row, _LATENCIES),
        prompt is None,
        labelled,
    )


def _answer_text(answer: Assembled, given: Any) -> str:
    return given if isinstance(given, str) else answer.text or answer.body.decode("utf-8", "replace")


def _key(row: Row) -> str | None:
    """Return the key of a request whose text is not in the line, as in traces of prefix caches."""
    parts = row.get("hash_ids")
    if isinstance(parts, list) and parts:
        return " ".join(map(str, parts))
    key = row.get("key")
    return None if key is None else str(key)


def _moment(row: Row) -> Any:
    """Return the time of a line as `log_formats` reads times: a number as text, for 0 counts as no time there."""
    named = ("at", "timestamp", "time", "created_at")
    value = next((row[name] for name in named if row.get(name) is not None), None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        # Traces of prefix caches count milliseconds from their start.
        return f"{value / 1e3 if 'hash_ids' in row else value:.6f}"
    except OverflowError as error:
        raise BrokenLine(f"{value!r} is no time") from error


def _usage(row: Row) -> Usage | None:
    """Return the tokens of prompt and completion where they are told apart, else all as the completion's."""
    pairs = (("prompt_tokens", "completion_tokens"), ("input_length", "output_length"))
    for prompt, completion in pairs:
        if prompt in row or completion in row:
            return Usage(_count(row, prompt), _count(row, completion))
    return Usage(0, _count(row, "tokens")) if "tokens" in row else None


def _count(row: Row, name: str) -> int:
    value = row.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise BrokenLine(f"{name} {value!r} is no count")
    return int(value)


def _amount(row: Row, names: Sequence[str]) -> float | None:
    """Return the first of these fields that holds a number; anything else in it breaks the line."""
    name = next((name for name in names if row.get(name) is not None), None)
    if name is None:
        return None
    try:
        value = float(row[name])
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(row[name], bool) or not 0.0 <= value < 1e12:
        raise BrokenLine(f"{name} {repr(row[name])[:40]} is no amount")
    return value
