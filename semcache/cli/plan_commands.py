"""`semcache plans`: the plan templates of agents, straight from the store.

Invariant: running servers learn of everything done here when they next look at the store; no model is loaded.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async, settings_from, store_of
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.agents.plan_library import PlanLibrary
    from semcache.agents.template import Template
    from semcache.config.settings import Settings

app = typer.Typer(help="Plan templates of agents: list, show, edit, purge.", no_args_is_help=True)
PlanId = Annotated[str, typer.Argument(metavar="ID", help="Plan id: 16 hexadecimal digits, as in x-semcache-plan.")]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="This tenant alone.")]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Of this agent alone.")]


@app.command("list")
def list_(
    tenant: Tenant = None,
    agent: Agent = None,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List templates with what is expected of them."""
    settings = settings_from(config, data=data)
    rows = [row for row in run_async(_rows(settings, tenant)) if agent in (None, row["agent"])]
    if as_json:
        output.as_json(rows)
        return
    if not rows:
        output.note("no plan template; plans are learned only where `plans.mode` is set")
        return
    columns = ("id", "tenant", "agent", "task", "steps", "runs", "success", "expires", "state")
    output.table(
        columns,
        [
            (
                row["id"], row["tenant"], row["agent"], row["task"], str(row["steps"]), str(row["runs"]),
                f"{row['success']:.0%}", output.moment(row["expires"]), row["retired"] or "in use",
            )
            for row in rows
        ],
        right=("steps", "runs", "success"),
    )  # fmt: skip


@app.command()
def show(
    plan_id: PlanId, config: options.Config = None, data: options.Data = None, as_json: options.Json = False
) -> None:
    """Show one template: its tasks, slots and steps. The JSON is what `edit` takes."""
    from semcache.agents.template import plain, view

    found = run_async(_get(settings_from(config, data=data), plan_id))
    if found is None:
        _unknown(plan_id)
    if as_json:
        output.as_json(view(found))
        return
    for pattern in found.patterns:
        output.text(f"task:   {pattern.text()}")
    for slot in found.slots:
        output.text(f"slot:   {slot.name} ({slot.kind.value}) from the {slot.source.value}, for {slot.about}")
    for number, step in enumerate(found.steps, 1):
        for one in step.actions:
            effect = "reads" if one.reads else "may change something"
            output.text(f"step {number}: {one.tool} {json.dumps(plain(one.arguments), ensure_ascii=False)} ({effect})")
        if step.text is not None:
            output.text(
                f"step {number}: {''.join(one if isinstance(one, str) else f'<{one.slot}>' for one in step.text.parts)}"
            )
    output.text(f"version {found.version}, {found.runs} runs, {found.good:g} successes, {found.bad:g} failures")


@app.command()
def edit(
    plan_id: PlanId,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON as `show --json` prints it, changed.")],
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Put an edited template in the place of the old one, as its next version."""
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidArgument(f"{file} holds no JSON object: start from `semcache plans show {plan_id} --json`")
    version = run_async(_edit(settings_from(config, data=data), plan_id, given))
    if as_json:
        output.as_json({"id": plan_id, "version": version})
    else:
        output.note(f"plan {plan_id} is now version {version}")


@app.command()
def purge(
    plan_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Plan ids.")] = None,
    tenant: Tenant = None,
    agent: Agent = None,
    everything: Annotated[bool, typer.Option("--all", help="Every template there is.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    config: options.Config = None,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Delete templates: those named, or all of a tenant or agent."""
    if not (plan_ids or tenant or agent or everything):
        raise InvalidArgument("say what to purge: plan ids, --tenant, --agent or --all")
    ids = run_async(_purge(settings_from(config, data=data), plan_ids or None, tenant, agent, dry_run))
    if as_json:
        output.as_json({"ids": ids, "count": len(ids), "dry_run": dry_run})
        return
    print("\n".join(ids), end="\n" * bool(ids))
    output.note(f"{len(ids)} plans would be deleted" if dry_run else f"{len(ids)} plans deleted")


@asynccontextmanager
async def _library(settings: Settings) -> AsyncIterator[PlanLibrary]:
    from semcache.agents.plan_library import PlanLibrary
    from semcache.storage.stores.plan_rows import plans_of

    async with store_of(settings) as store:
        library = PlanLibrary(plans_of(store), salt=store.salt)
        await library.refresh()
        yield library


async def _rows(settings: Settings, tenant: str | None) -> list[dict[str, Any]]:
    async with _library(settings) as library:
        tools = [sorted(one.tools) for one in library.templates(tenant)]
        rows = library.summaries(tenant, time.time())
        return [{**row, "tools": names} for row, names in zip(rows, tools, strict=True)]


async def _get(settings: Settings, plan_id: str) -> Template | None:
    async with _library(settings) as library:
        return library.get(plan_id)


async def _edit(settings: Settings, plan_id: str, data: dict[str, Any]) -> int:
    async with _library(settings) as library:
        return (await library.edit(plan_id, data)).version


async def _purge(
    settings: Settings, ids: list[str] | None, tenant: str | None, agent: str | None, dry_run: bool
) -> list[str]:
    async with _library(settings) as library:
        return await library.purge(ids, tenant=tenant, agent=agent, now=time.time(), dry_run=dry_run)


def _unknown(plan_id: str) -> NoReturn:
    output.note(f"error: there is no plan {plan_id}")
    raise typer.Exit(1)
