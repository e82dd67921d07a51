"""The trace that `semcache replay` and `semcache policy diff` read: its options, its lines, and progress.

Knows files, settings and terminals. Invariant: no cache is opened or changed, and no backend is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import output

if TYPE_CHECKING:
    from semcache.cli.log_lines import LineTally
    from semcache.cli.traces import TraceLine
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings
    from semcache.simulate.trace_replay import Trace
    from semcache.storage.prices import Prices


class TraceFormat(StrEnum):
    """Formats of a trace."""

    AUTO = "auto"
    TRACE = "trace"
    SEMCACHE = "semcache"
    OPENAI_BATCH = "openai-batch"
    OPENAI_JSONL = "openai-jsonl"
    LITELLM = "litellm"
    LANGFUSE = "langfuse"


class JudgeName(StrEnum):
    """Judges that compare answers without asking a model."""

    EXACT = "exact"
    NORMALISED = "normalised"


File = Annotated[Path, typer.Argument(metavar="TRACE", help="JSON lines, packed with gzip or not.")]


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Options of reading a trace and of judging its answers."""

    judge: Annotated[JudgeName, typer.Option("--judge", help="When a cached answer counts as right.")] = JudgeName.EXACT
    form: Annotated[TraceFormat, typer.Option("--format", help="auto looks at each line.")] = TraceFormat.AUTO
    requests: Annotated[
        Path | None, typer.Option("--requests", metavar="FILE", help="The input file of an OpenAI batch.")
    ] = None
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="For lines that name no model.")] = None
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Read no more than N sound lines.")
    ] = None
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the draws for audits.")] = 0


def read_lines(settings: Settings, file: Path, given: TraceOptions) -> tuple[list[TraceLine], LineTally, Prices]:
    """Return the sound lines of a trace; tell of the others on standard error. Raises SemcacheError."""
    from semcache.cli import log_import, traces
    from semcache.cli.log_formats import LogContext
    from semcache.storage.price_file import read_prices

    prices = read_prices(settings.prices)
    reading = LogContext(log_import.requests_of(given.requests) if given.requests else {}, given.model)
    with _bar() as progress:
        size = file.stat().st_size if file.is_file() else None
        task = progress.add_task(f"reading {file.name}", total=size)
        found, tally = traces.read(
            file,
            form=given.form.value,
            reading=reading,
            limit=given.limit,
            progress=lambda done: progress.update(task, completed=done),
        )
    for line in tally.summary():
        output.note(line)
    return found, tally, prices


async def build_traces(
    settings: Settings, given: TraceOptions, packs: Sequence[Pack], found: Sequence[TraceLine], prices: Prices
) -> tuple[list[Trace], str]:
    """Return the lines as a trace under each pack, and the id of the embedder. Raises ConfigError or EmbedError."""
    from semcache.cli import trace_arrivals
    from semcache.models.embedders import PATIENT, open_embedder
    from semcache.models.installed import spec_of

    for pack in packs:
        if pack.share != "user" and any(one.quorum > 1 for one in pack.categories.values()):
            output.note(f"pack {pack.name}: quorum is not simulated: a proxy holds back some of the hits shown here")
    embedder = open_embedder(spec_of(settings.embedder, settings.data), patience=PATIENT)
    try:
        vectors = trace_arrivals.TextVectors(embedder)
        texts = list(dict.fromkeys(text for pack in packs for text in trace_arrivals.texts_of(found, pack)))
        with _bar() as progress:
            task = progress.add_task("embedding", total=len(texts))
            await vectors.learn(texts, lambda done: progress.advance(task, done))
    finally:
        await embedder.close()
    judge = given.judge.value
    return [trace_arrivals.trace_of(found, pack, vectors, judge=judge, prices=prices) for pack in packs], embedder.id


@contextmanager
def simulation_progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show progress over that many simulated arrivals."""
    with _bar() as progress:
        task = progress.add_task("simulating", total=total)
        yield lambda done: progress.advance(task, done)
        # Fewer simulations than could have been needed are no reason to stop short of the end.
        progress.update(task, completed=total)


@contextmanager
def _bar() -> Iterator[Any]:
    """Show a progress bar with the time left, on standard error, or a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with output.bar(*columns) as progress:
        yield progress
