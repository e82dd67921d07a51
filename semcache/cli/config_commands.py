"""`semcache config`: every setting, and where it was set."""

from __future__ import annotations

import typer

from semcache.cli import options, output
from semcache.cli.open_store import settings_from

app = typer.Typer(help="Show the settings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    return


@app.command("show")
def show(config: options.Config = None, data: options.Data = None, as_json: options.Json = False) -> None:
    """Print every setting with its source; secrets are masked."""
    rows = settings_from(config, data=data).explain()
    if as_json:
        output.as_json({key: {"value": value, "source": source} for key, value, source in rows})
    else:
        output.table(["setting", "value", "source"], rows)
