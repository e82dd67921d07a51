"""Import of a log into a cache: every sound line goes through the same admission as live traffic.

Knows files and the cache, no log format. Invariant: a line that is broken or not admitted costs nothing but a line in
the report; an entry that is counted as imported is durable. An answer is as old as the log says, so importing a stale
one does not make it fresh; of several to one request the newest is kept.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.cli import log_formats, output
from semcache.cli.log_formats import BrokenLine, LogContext, LoggedCall, NotCacheable, Row
from semcache.cli.log_lines import LineTally, open_log, place, rows
from semcache.cli.open_store import cache_of, exists
from semcache.errors import InvalidArgument, RequestRejected
from semcache.types import Card, Discard, Lookup, Scope, Store

if TYPE_CHECKING:
    from semcache.cache.response_cache import ResponseCache
    from semcache.config.settings import Settings

_TOGETHER = 32  # lookups at a time, so that they are embedded in batches


@dataclass
class ImportReport(LineTally):
    """The counts of an import; lines that the policy did not admit count as `skipped`.

    `answered` tells when the answers of this file that were imported were given, by the digest of the request.
    """

    imported: int = 0
    present: int = 0
    expired: int = 0
    undated: int = 0
    answered: dict[bytes, float] = field(default_factory=dict)

    @property
    def useful(self) -> bool:
        """True if the cache holds anything of this file now."""
        return self.imported + self.present > 0


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import; None leaves a value to the line."""

    form: str
    tenant: str | None = None
    category: str | None = None
    fresh: bool = False
    dry_run: bool = False


class ImportClock:
    """A clock that gives the real time, or the time at which the answer that is being kept was given."""

    def __init__(self) -> None:
        self._at: float | None = None

    def __call__(self) -> float:
        """Return Unix seconds."""
        return time.time() if self._at is None else self._at

    @contextmanager
    def set(self, at: float | None) -> Iterator[None]:
        """Stand still at `at` for a block."""
        self._at = at
        try:
            yield
        finally:
            self._at = None


async def import_file(settings: Settings, file: Path, options: ImportOptions, reading: LogContext) -> ImportReport:
    """Import `file` into the cache of these settings. Raises SemcacheError."""
    clock, report = ImportClock(), ImportReport()
    with open_log(file) as (raw, lines), output.progress() as bar:
        task = bar.add_task(file.name, total=os.fstat(raw.fileno()).st_size or None)
        async with cache_of(_unwritten(settings) if options.dry_run else settings, clock) as cache:
            if options.category is not None and options.category not in cache.pack.categories:
                known = ", ".join(sorted(cache.pack.categories))
                raise InvalidArgument(
                    f"no category {options.category!r} in policy pack {cache.pack.name!r}; known: {known}"
                )
            numbered = _read(lines, options, reading, report)
            while batch := list(islice(numbered, _TOGETHER)):
                await _keep(cache, clock, batch, options, report)
                bar.update(task, completed=place(raw))
    return report


def _unwritten(settings: Settings) -> Settings:
    """Return settings with a store in memory where there is none yet: looking makes no cache."""
    if exists(settings):
        return settings
    from pydantic import SecretStr

    return settings.model_copy(update={"store": settings.store.model_copy(update={"url": SecretStr("memory://")})})


def requests_of(file: Path) -> dict[str, Row]:
    """Return the requests of a batch's input file by custom id. Raises InvalidArgument or StoreError."""
    found: dict[str, Row] = {}
    tally = LineTally()
    with open_log(file) as (_, lines):
        for number, row in rows(lines, tally):
            name = row.get("custom_id")
            if isinstance(name, str):
                found[name] = row
            elif name is not None:
                tally.failed(number, f"custom_id {name!r} is no string")
    for number, reason in tally.examples[:1]:
        raise InvalidArgument(f"{file}:{number}: {reason}")
    if not found:
        raise InvalidArgument(f"{file}: no line has a custom_id: this is not the input file of a batch")
    return found


def _read(
    lines: Iterator[bytes], options: ImportOptions, reading: LogContext, report: ImportReport
) -> Iterator[tuple[int, LoggedCall]]:
    """Yield the sound lines with their numbers."""
    for number, row in rows(lines, report):
        try:
            form = log_formats.detect(row) if options.form == "auto" else options.form
            yield number, log_formats.read(row, form, reading)
        except BrokenLine as error:
            report.failed(number, str(error))
        except NotCacheable as error:
            report.skipped[str(error)] += 1


async def _keep(
    cache: ResponseCache,
    clock: ImportClock,
    batch: Sequence[tuple[int, LoggedCall]],
    options: ImportOptions,
    report: ImportReport,
) -> None:
    asked = [_place(cache, logged, options) for _, logged in batch]
    lookups = await asyncio.gather(
        *(cache.consult(one.request, f"import-{number}") for (number, _), one in zip(batch, asked, strict=True)),
        return_exceptions=True,
    )
    for (number, _), logged, lookup in zip(batch, asked, lookups, strict=True):
        if isinstance(lookup, RequestRejected):
            report.failed(number, lookup.message)
        elif isinstance(lookup, BaseException):
            raise lookup
        else:
            await _keep_one(cache, clock, logged, lookup, options, report)


async def _keep_one(
    cache: ResponseCache,
    clock: ImportClock,
    logged: LoggedCall,
    lookup: Lookup,
    options: ImportOptions,
    report: ImportReport,
) -> None:
    now = clock()
    given = None if logged.at is None else min(logged.at, now)
    exact = lookup.key.exact if lookup.key is not None else b""
    card = cache.registry.exact(exact)
    held = card if card is not None and card.expires > now else None
    answered = report.answered.get(exact)
    since = held.created if answered is None and held is not None and not options.fresh else answered
    if since is not None and (given is None or given <= since) and not await _is_lost(cache, held, answered):
        report.present += 1
        return
    if held is not None:
        lookup = await cache.with_vector(lookup)
    at = None if options.fresh else given
    decision = cache.admission(lookup, logged.answer)
    if isinstance(decision, Store) and at is not None and at + decision.ttl <= now:
        report.expired += 1
        return
    if isinstance(decision, Store) and not options.dry_run:
        with clock.set(at):
            decision = await cache.admit(lookup, logged.answer, source="import")
    if isinstance(decision, Discard):
        report.skipped[decision.why.value] += 1
        return
    report.answered[exact] = now if given is None else given
    report.imported += 1
    report.undated += at is None and not options.fresh


async def _is_lost(cache: ResponseCache, card: Card | None, answered: float | None) -> bool:
    """Return True if paraphrases no longer find an entry of an earlier run, because the embedder has changed since."""
    if card is None or answered is not None or not card.partition:
        return False
    entry = await cache.get(card.id)
    return entry is not None and entry.embedder_id != cache.embedder_id


def _place(cache: ResponseCache, logged: LoggedCall, options: ImportOptions) -> LoggedCall:
    """Return the same line in the scope and category in which it is to be kept."""
    request, pack = logged.request, cache.pack
    scope = logged.scope or Scope(namespace=request.controls.namespace or "", user=request.user)
    scope = replace(scope, tenant=options.tenant or scope.tenant, user=scope.user if pack.share == "user" else None)
    controls = replace(request.controls, no_cache=False)
    category = options.category or controls.category or logged.category
    if options.category is None and category not in pack.categories:
        category = controls.category
    return replace(logged, request=replace(request, scope=scope, controls=replace(controls, category=category)))


def summary(report: ImportReport, *, dry_run: bool) -> list[str]:
    """Return the report in words, one line each."""
    verb = "would be imported" if dry_run else "imported"
    lines = [f"{report.imported} of {report.lines} lines {verb}"]
    if report.undated:
        lines.append(f"{report.undated} of them carry no time in the log and count as answered now")
    if report.present:
        lines.append(f"{report.present} were in the cache already")
    if report.expired:
        lines.append(
            f"{report.expired} were answered longer ago than their category keeps answers (--fresh keeps them)"
        )
    lines += [f"{count} not kept: {reason}" for reason, count in report.skipped.most_common()]
    if report.broken:
        lines.append(f"{report.broken} broken lines; the first:")
        lines += [f"  line {number}: {reason}" for number, reason in report.examples]
    return lines


def as_dict(report: ImportReport, *, dry_run: bool) -> dict[str, Any]:
    """Return the report as JSON shows it."""
    counts = {name: getattr(report, name) for name in ("lines", "imported", "present", "expired", "undated", "broken")}
    shown: Mapping[str, Any] = {
        "discarded": dict(report.skipped),
        "broken_lines": [{"line": number, "error": reason} for number, reason in report.examples],
        "dry_run": dry_run,
    }
    return {**counts, **shown}
