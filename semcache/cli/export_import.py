"""`semcache export` and `semcache import`: entries out of a cache, and logs into it.

Invariant: an exported file is complete or not there; importing it into an empty cache gives the same answers again.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NamedTuple

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import InvalidArgument, StoreError

if TYPE_CHECKING:
    from semcache.config.settings import Settings
    from semcache.types import Entry

_PAGE = 500


class ExportFormat(StrEnum):
    """Formats of an export."""

    JSONL = "jsonl"


class ImportFormat(StrEnum):
    """Formats of a log."""

    AUTO = "auto"
    SEMCACHE = "semcache"
    OPENAI_BATCH = "openai-batch"
    OPENAI_JSONL = "openai-jsonl"
    LITELLM = "litellm"
    LANGFUSE = "langfuse"


def export(
    form: Annotated[ExportFormat, typer.Option("--format", help="One JSON object a line.")] = ExportFormat.JSONL,  # noqa: ARG001
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default: standard output.")
    ] = None,
    config: options.Config = None,
    data: options.Data = None,
) -> None:
    """Write every entry with its answer, for `semcache import`. Encrypted entries come out in the clear."""
    settings = settings_from(config, data=data)
    with _target(out) as file:
        done = run_async(_export(settings, file))
    output.note(f"{done.written} entries exported" + (f" to {out}" if out else ""))
    if done.rejected:
        output.note(
            f"of {done.rejected} of them it is known for which requests they are wrong; that stays behind: to move a "
            "cache with what it has learned, use `semcache backup`"
        )
    if done.counted:
        output.note(
            f"of {done.counted} of them it is counted who has asked (`quorum`); that stays behind, and what is "
            "imported is served to all: to keep it, use `semcache backup`"
        )
    if done.unreadable:
        output.note(f"error: {done.unreadable} entries could not be decrypted: `semcache doctor` says why")
        raise typer.Exit(1)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines, packed with gzip or not.")],
    form: Annotated[ImportFormat, typer.Option("--format", help="auto looks at each line.")] = ImportFormat.AUTO,
    requests: Annotated[
        Path | None, typer.Option("--requests", metavar="FILE", help="The input file of an OpenAI batch.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", metavar="T", help="Whose answers these are.")] = None,
    category: Annotated[str | None, typer.Option("--category", metavar="NAME", help="Default: as for traffic.")] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="For lines that name no model.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Let every answer live as if it were given now.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be imported.")] = False,
    config: options.Config = None,
    data: options.Data = None,
    policies: options.Policies = None,
    as_json: options.Json = False,
) -> None:
    """Warm the cache up from a log: our own export, OpenAI batches and JSONL, LiteLLM, Langfuse."""
    from semcache.cli import log_import
    from semcache.cli.log_formats import LogContext

    if tenant is not None and (not tenant.strip() or not tenant.isprintable()):
        raise InvalidArgument(f"--tenant is {tenant!r}, not a printable name: name the tenant, or leave it out")
    tenant = tenant if tenant is None else tenant.strip()
    settings = settings_from(config, data=data, policies=policies)
    reading = LogContext(log_import.requests_of(requests) if requests else {}, model)
    chosen = log_import.ImportOptions(form.value, tenant, category, fresh, dry_run)
    report = run_async(log_import.import_file(settings, file, chosen, reading))
    if as_json:
        output.as_json(log_import.as_dict(report, dry_run=dry_run))
    else:
        for line in log_import.summary(report, dry_run=dry_run):
            output.note(line)
    if not report.useful:
        raise typer.Exit(1)


class _Exported(NamedTuple):
    """The entries `written`, those that could not be opened, and those of which something stays behind."""

    written: int
    unreadable: int
    rejected: int
    counted: int


async def _export(settings: Settings, file: BinaryIO) -> _Exported:
    """Write all entries."""
    from semcache.cache.quorum import OPERATOR
    from semcache.types import Selector

    written, counted, after = 0, 0, -1
    async with store_of(settings) as store:
        while page := await store.select(Selector(everything=True), limit=_PAGE, after=after):
            for entry in page:
                file.write(line(entry))
            written += len(page)
            counted += sum(bool(entry.askers) and OPERATOR not in entry.askers for entry in page)
            after = page[-1].id
        rejected = {one.entry_id for one in await store.rejections()}
        return _Exported(written, getattr(store, "unreadable", 0), len(rejected), counted)


def line(entry: Entry) -> bytes:
    """Return an entry as a line of JSON, without its digests: they are keyed with the salt of the store."""
    import msgspec

    from semcache.request.keys import unframe
    from semcache.types import public_id

    scope = entry.key.scope
    fields = {
        "semcache": 1,
        "id": public_id(entry.id),
        "endpoint": entry.endpoint.value,
        "model": entry.model,
        "tenant": scope.tenant,
        "user": scope.user,
        "namespace": scope.namespace,
        "category": entry.category,
        "identity": msgspec.Raw(unframe(entry.key.canonical)[2]),
        "text": entry.key.text,
        "answer": msgspec.Raw(_one_line(entry.body)),
        "created": entry.created,
        "expires": entry.expires,
        "tags": entry.tags,
        "source": entry.source,
        "semantic": bool(entry.partition),
        "prompt_tokens": entry.usage.prompt_tokens,
        "completion_tokens": entry.usage.completion_tokens,
    }
    return msgspec.json.encode(fields) + b"\n"


def _one_line(body: bytes) -> bytes:
    """Return the same JSON without line breaks, which it can only have between its tokens."""
    return body.replace(b"\r", b" ").replace(b"\n", b" ")


@contextmanager
def _target(out: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a private file that appears under its name only when it is complete.

    A device or a pipe is written to as it is.
    """
    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if out.exists() and not out.is_file():
        try:
            with out.open("wb") as file:
                yield file
        except OSError as error:
            raise StoreError(f"{out} cannot be written: {error.strerror}") from error
        return
    try:
        descriptor, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}-")
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}") from error
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
