"""`semcache doctor`: check an installation, and say how to mend what does not work."""

from __future__ import annotations

import typer

from semcache.cli import options, output
from semcache.cli.open_store import run_async


def doctor(
    upstream: options.Upstream = None,
    port: options.Port = None,
    host: options.Host = None,
    data: options.Data = None,
    policies: options.Policies = None,
    config: options.Config = None,
    embedder: options.Embedder = None,
    as_json: options.Json = False,
) -> None:
    """Check settings, data folder, store, keys, policies, embedder, index and upstream; exit 1 if one fails."""
    from semcache.cli import doctor_checks

    given = {"upstream.url": upstream, "server.port": port, "server.host": host, "data": data, "policies": policies}
    findings = run_async(doctor_checks.examine(config, {**given, "embedder": embedder}))
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        rows = [{"check": f.check, "state": f.state, "found": f.found, "remedy": f.remedy} for f in findings]
        output.as_json({"ok": not failed, "checks": rows})
    else:
        output.table(["state", "check", "found", "remedy"], [[f.state, f.check, f.found, f.remedy] for f in findings])
    if failed:
        raise typer.Exit(1)
