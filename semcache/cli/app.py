"""The tree of commands: their names and their order.

Knows nothing of what a command does.
"""

from __future__ import annotations

from typing import Annotated

import typer

from semcache import __version__
from semcache.cli import (
    asking,
    audit_commands,
    backup,
    config_commands,
    doctor,
    embedder_commands,
    engine_commands,
    entry_commands,
    export_import,
    key_commands,
    mcp_commands,
    plan_commands,
    policy_commands,
    purge,
    reload,
    replay,
    reseal,
    serve,
    stats,
)

app = typer.Typer(
    name="semcache",
    help="A semantic response cache for large language models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"semcache {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # noqa: ARG001 - eager: handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    return


app.command("serve")(serve.serve)
app.command("stats")(stats.stats)
app.command("requests")(asking.requests)
app.command("why")(asking.why)
app.command("explain")(asking.explain)
app.command("get")(entry_commands.get)
app.command("purge")(purge.purge)
app.command("undo")(entry_commands.undo)
app.command("feedback")(entry_commands.feedback)
app.command("actions")(entry_commands.actions)
app.command("export")(export_import.export)
app.command("import")(export_import.import_)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("replay")(replay.replay)
app.command("reseal")(reseal.reseal)
app.command("reload")(reload.reload)
app.command("doctor")(doctor.doctor)
app.command("mcp")(mcp_commands.mcp)
app.add_typer(policy_commands.app, name="policy")
app.add_typer(embedder_commands.app, name="embedder")
app.add_typer(plan_commands.app, name="plans")
app.add_typer(key_commands.app, name="keys")
app.add_typer(audit_commands.app, name="audit")
app.add_typer(config_commands.app, name="config")
app.add_typer(engine_commands.app, name="engine")
