"""`semcache embedder synthesize`: training pairs from unlabelled prompts.

Knows files, settings and terminals; `semcache.train.synthesize` makes the pairs. Invariant: the output appears whole or
not at all, and a broken line of the input costs nothing but a line in the report.
"""

from __future__ import annotations

import gzip
import itertools
import os
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from semcache.cli import log_formats, options, output
from semcache.cli.log_formats import BrokenLine, LogContext, NotCacheable, Row
from semcache.cli.log_lines import LineTally, open_log
from semcache.cli.open_store import settings_from
from semcache.errors import InvalidArgument, StoreError, UpstreamError

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.train.pairs import Pair
    from semcache.train.synthesize import Counts

_COLUMNS = ("prompt", "text", "question", "query", "instruction", "intent")
_ANSWERED = ("response", "completion", "answer")
_EVERY = 500  # prompts between two movements of the progress bar


def synthesize(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Prompts: text, JSON lines, a table or a log; packed with gzip or not."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the pairs, as JSON lines.")] = Path(
        "pairs.jsonl"
    ),
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The field of the prompt; default: the usual names.")
    ] = None,
    each: Annotated[int, typer.Option("--each", metavar="N", min=0, help="Pairs a prompt by rules.")] = 4,
    written: Annotated[
        int | None,
        typer.Option(
            "--written",
            metavar="N",
            min=0,
            help="Also take pairs that ship with semcache, from the N groups nearest to the prompts; default: one a "
            "prompt, at most 2,000, none beside --only.",
        ),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="KIND,...", help="Kinds of edits to use.")] = None,
    without: Annotated[str | None, typer.Option("--without", metavar="KIND,...", help="Kinds not to use.")] = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="Print the kinds of edits and stop.")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of all choices by rules.")] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Read no more than N prompts.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Also ask this language model for pairs.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="What answers for --model; default: the upstream.")
    ] = None,
    asked: Annotated[
        int, typer.Option("--asked", metavar="N", min=1, help="Pairs of each label a prompt by the model.")
    ] = 3,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Make training pairs from unlabelled prompts: paraphrases and near misses, by rules and by a model.

    Every pair is checked by the guards and says how it was made. Rules, and the authored pairs that ship, need no
    language model; the same prompts and seed give the same pairs.
    """
    from semcache.train.synthesize import KINDS, Counts

    chosen = _chosen_kinds(only, without)
    if kinds:
        _show_kinds(KINDS, as_json=as_json)
        return
    if file is None:
        raise InvalidArgument("name the FILE of the prompts; `--kinds` alone needs none")
    if out.exists() and not force:
        raise InvalidArgument(f"{out} is there already: name another file with --out, or give --force")
    if each == 0 and not written and model is None:
        raise InvalidArgument("--each 0 makes no pair by rules: name a --model, or ask for at least one")
    if file.exists() and not file.is_file():
        raise InvalidArgument(f"{file} is no regular file, and prompts are read more than once: write them to one")
    settings = settings_from(config, **{"judge.url": url})
    tally, counts, fault = LineTally(), Counts(), _ModelFault()
    # Each way reads the file anew; what its lines are like is reported once.
    tallies = itertools.chain([tally], iter(LineTally, None))
    pairs: Iterator[Pair] = iter(())
    if each:
        prompts = _prompts(file, column, limit, next(tallies))
        pairs = itertools.chain(pairs, _by_rules(prompts, counts, each=each, seed=seed, kinds=chosen))
    if written or (written is None and each and only is None):
        prompts = _prompts(file, column, limit, next(tallies))
        pairs = itertools.chain(pairs, _authored(prompts, written, counts, seed=seed))
    if model is not None:
        prompts = _prompts(file, column, limit, next(tallies))
        pairs = itertools.chain(pairs, _by_model(settings, model, prompts, asked, counts, fault))
    _write(pairs, out, lambda: fault.reason or counts.no_reply or _dropped(counts))
    _report(tally, counts, out, fault, as_json=as_json)


class _ModelFault:
    """The fault for which a model was asked no more, None while it was."""

    reason: str | None = None


def _chosen_kinds(only: str | None, without: str | None) -> set[str] | None:
    """Return the kinds to use, None for all. Raises InvalidArgument for an unknown one."""
    from semcache.train.synthesize import KINDS

    wanted, refused = ({kind.strip() for kind in (names or "").split(",") if kind.strip()} for names in (only, without))
    unknown = sorted((wanted | refused) - KINDS.keys())
    if unknown:
        raise InvalidArgument(f"no kind {unknown[0]!r}; known: {', '.join(sorted(KINDS))}")
    if not wanted and not refused:
        return None
    left = (wanted or set(KINDS)) - refused
    if not left:
        raise InvalidArgument("--without leaves out every kind that --only names")
    return left


def _by_rules(
    prompts: Iterator[str], counts: Counts, *, each: int, seed: int, kinds: set[str] | None
) -> Iterator[Pair]:
    from semcache.train.synthesize import synthesize as made

    return made(prompts, seed=seed, each=each, kinds=kinds, counts=counts)


def _authored(prompts: Iterator[str], groups: int | None, counts: Counts, *, seed: int) -> Iterator[Pair]:
    """Yield authored pairs near the prompts; they are looked for when the first is asked for, which takes a while."""
    output.note("looking for authored pairs near the prompts")
    from semcache.models.embedders import DEFAULT_MODEL
    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.train.authored_neighbours import authored_neighbours

    yield from authored_neighbours(prompts, OnnxEmbedder(DEFAULT_MODEL).encode, groups=groups, seed=seed, counts=counts)


def _by_model(
    settings: Settings, model: str, prompts: Iterator[str], each: int, counts: Counts, fault: _ModelFault
) -> Iterator[Pair]:
    """Yield the model's pairs, as they come. A backend that fails for good is noted, and ends them."""
    import asyncio

    with asyncio.Runner() as runner:
        found = _ask_model(settings, model, prompts, each, counts)
        try:
            while True:
                try:
                    yield runner.run(anext(found))
                except StopAsyncIteration:
                    return
                except UpstreamError as error:
                    fault.reason = str(error)
                    return
        finally:
            runner.run(found.aclose())


async def _ask_model(
    settings: Settings, model: str, prompts: Iterator[str], each: int, counts: Counts
) -> AsyncGenerator[Pair, None]:
    from semcache.models.verifiers import backend_for
    from semcache.train.synthesize.chat_model import ChatModel
    from semcache.train.synthesize.language_model_pairs import synthesize_asking

    backend = backend_for(settings, settings.judge, None, timeout=60.0)
    try:
        made = synthesize_asking(prompts, ChatModel(backend, model), model=model, each=each, counts=counts)
        async for pair in made:
            yield pair
    finally:
        await backend.close()


def _prompts(file: Path, column: str | None, limit: int | None, tally: LineTally) -> Iterator[str]:
    """Yield the prompts of a file, one a line. Raises StoreError, or InvalidArgument where there is none."""
    found = 0
    with open_log(file) as (raw, lines), output.progress() as bar:
        task = bar.add_task(file.name, total=os.fstat(raw.fileno()).st_size)
        for number, read in _readers(file, lines, column, tally):
            tally.lines += 1
            try:
                prompt = read()
            except BrokenLine as error:
                tally.failed(number, str(error))
                continue
            except NotCacheable as error:
                tally.skipped[str(error)] += 1
                continue
            found += 1
            yield prompt
            if found % _EVERY == 0:
                bar.update(task, completed=raw.tell())
            if found == limit:
                break
    if not found:
        raise InvalidArgument(f"{file}: there is no prompt in it: {'; '.join(tally.summary()) or 'it is empty'}")


def _readers(
    file: Path, lines: Iterator[bytes], column: str | None, tally: LineTally
) -> Iterator[tuple[int, Callable[[], str]]]:
    """Yield the numbers of the lines that are not blank, and what reads the prompt of each."""
    sound = _unpacked(lines, tally)
    from semcache.train.table_rows import TableRows, is_table

    if not is_table(file):
        for number, line in enumerate(sound, 1):
            if line.strip():
                yield number, partial(_prompt, line, column)
        return
    texts = (line.decode("utf-8-sig" if number == 0 else "utf-8") for number, line in enumerate(sound))
    table = TableRows(file, texts)
    try:
        named = column or next((name for name in _COLUMNS if name in table.columns), None)
        if named is None:
            there = ", ".join(map(repr, table.columns)) or "none"
            raise InvalidArgument(f"{file}: which column holds the prompt? There are {there}: name it with --column")
        for number, row in table:
            yield number, partial(_text, row, named)
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{file}:{table.line + 1}: no table in UTF-8: {error}") from error


def _unpacked(lines: Iterator[bytes], tally: LineTally) -> Iterator[bytes]:
    """Yield the lines up to where a gzip file is damaged."""
    number = 0
    try:
        for line in lines:
            number += 1
            yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        tally.failed(number + 1, f"the gzip file is damaged from here on: {error}")


def _prompt(line: bytes, column: str | None) -> str:
    """Return the prompt of a line of text or JSON. Raises BrokenLine or NotCacheable."""
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise BrokenLine(f"not UTF-8 ({error.reason})") from error
    if "\0" in text:  # UTF-16 without its mark, which is UTF-8 as well
        raise BrokenLine("not UTF-8, for it holds NUL: convert the file, e.g. with iconv -f UTF-16 -t UTF-8")
    if not text.startswith("{"):
        if column is not None:
            raise BrokenLine(f"no JSON object, so no field {column!r}")
        return text
    try:
        row = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BrokenLine(f"no JSON object: {error}") from error
    if column is not None:
        return _text(row, column)
    name = next((name for name in _COLUMNS if isinstance(row.get(name), str) and "semcache" not in row), None)
    return _text(row, name) if name is not None else _logged(row)


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise BrokenLine(f"the field {column!r} is {value!r}, no text; there are {', '.join(map(str, row))}")
    return value


def _logged(row: Row) -> str:
    """Return the prompt of a line of a log; its answer is not needed."""
    try:
        form = log_formats.detect(row)
        if form == "openai-jsonl" and not any(name in row for name in _ANSWERED) and not _answered(row):
            row = {**row, "response": "-"}
        text = log_formats.read(row, form, LogContext({})).request.text
    except BrokenLine as error:
        raise BrokenLine(f"{error}; name the field of the prompt with --column") from error
    if not text:
        raise NotCacheable("no text was asked")
    return text


def _answered(row: Row) -> bool:
    """Return True if a conversation ends with its answer, as in files for fine-tuning."""
    messages = row.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return isinstance(last, dict) and last.get("role") == "assistant"


def _write(pairs: Iterator[Pair], out: Path, why: Callable[[], str]) -> None:
    """Write the file whole or not at all. Raises StoreError, or InvalidArgument where there is no pair."""
    from semcache.train import pairs as files

    part = out.with_name(f".{out.name}.{os.getpid()}.part")  # another process may be writing the same file
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        files.write(pairs, part)
        if not part.stat().st_size:
            raise InvalidArgument(f"no pair could be made: {why() or 'no rule of these kinds fits any prompt'}")
        part.replace(out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # the folder itself may be one that cannot be written to
            part.unlink()


def _report(tally: LineTally, counts: Counts, out: Path, fault: _ModelFault, *, as_json: bool) -> None:
    shown = {
        "out": str(out),
        "lines": tally.lines,
        "prompts": counts.prompts,
        "asked": counts.asked,
        "too_long_or_code": counts.skipped,
        "pairs": counts.pairs,
        "kinds": dict(counts.kinds.most_common()),
        "dropped": dict(counts.dropped.most_common()),
        "skipped": dict(tally.skipped),
        "broken": tally.broken,
        "broken_lines": [{"line": number, "error": reason} for number, reason in tally.examples],
        "model_failed": fault.reason,
        "no_reply": counts.no_reply,
    }
    if fault.reason is not None:
        output.note(f"the model was asked no more after failing again and again: {fault.reason}")
    elif counts.no_reply is not None:
        output.note(f"{counts.dropped['no reply']:,} calls got no reply; the last of them: {counts.no_reply}")
    if as_json:
        output.as_json(shown)
        return
    for line in tally.summary():
        output.note(line)
    if counts.skipped:
        output.note(f"{counts.skipped:,} prompts left out: too short, too long, or code")
    output.note(f"{counts.pairs:,} pairs in {out}; dropped: {_dropped(counts) or 'none'}")
    rows = [[kind, f"{count:,}"] for kind, count in counts.kinds.most_common()]
    output.table(["kind", "pairs"], rows, right=["pairs"])


def _dropped(counts: Counts) -> str:
    return ", ".join(f"{count:,} {why}" for why, count in counts.dropped.most_common())


def _show_kinds(kinds: dict[str, bool], *, as_json: bool) -> None:
    if as_json:
        output.as_json(kinds)
        return
    rows = [
        [kind, "keeps" if same else "changes"] for kind, same in sorted(kinds.items(), key=lambda one: (one[1], one[0]))
    ]
    output.table(["kind", "the meaning it"], rows)
