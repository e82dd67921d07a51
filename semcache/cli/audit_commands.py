"""`semcache audit`: what tenants learn about each other, measured on a proxy.

Knows the command line and who is asked; how times are compared is in `semcache.cli.timing`. Invariant: exit status 1
says that one tenant can tell what another asked, 2 that the audit could not have seen it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semcache.cli.timing.timed_client import TimedClient
    from semcache.cli.timing.timing_audit import Audit
    from semcache.cli.timing.timing_probes import Probe
    from semcache.cli.timing.timing_prompts import Prompts

app = typer.Typer(help="Audit what tenants learn about each other.", no_args_is_help=True)

_OVER_HTTP = ("exact", "semantic", "single-flight", "embeddings")
_OWN = (*_OVER_HTTP, "plans", "tools")
_PATHS = (*_OWN, "prefixes")


@app.callback()
def _root() -> None:
    return


@app.command()
def timing(
    *,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="A proxy that runs; left out, one is started.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option("--key", metavar="KEY", help="With --url, twice: keys of two tenants.")
    ] = None,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The model that is asked for.")] = "echo",
    paths: Annotated[
        str | None, typer.Option("--paths", metavar="NAMES", help=f"By commas, of: {', '.join(_PATHS)}.")
    ] = None,
    engine: Annotated[
        Path | None,
        typer.Option("--engine", metavar="DIR", help="A model for the local engine, whose prefixes are audited too."),
    ] = None,
    policies: options.Policies = None,
    samples: Annotated[int, typer.Option("--samples", min=20, metavar="N", help="Times of each kind.")] = 500,
    level: Annotated[
        float, typer.Option("--level", min=1e-9, max=0.5, metavar="P", help="The chance of a false alarm on any path.")
    ] = 1e-3,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of prompts and their order.")] = 7,
    as_json: options.Json = False,
) -> None:
    """Test whether the time of a reply tells one tenant what another has asked.

    A path passes where times of what another tenant asked before, and of what nobody asked, cannot be told apart
    (Kolmogorov-Smirnov, Holm's correction over the paths), while those of a tenant's own earlier requests can. Each
    path costs eight requests a sample, of which the upstream of a running proxy sees most.
    """
    import random
    import tempfile

    from semcache.cli.timing.timing_audit import audit
    from semcache.cli.timing.timing_prompts import Prompts

    wanted = _wanted(paths, url, key or [], engine)
    rng = random.Random(seed)
    prompts = Prompts(rng)
    with ExitStack() as stack:
        probes: dict[str, Probe] = {}
        if url is not None:
            clients = _clients(stack, url, key or [])
            probes = _over_http(clients, prompts, model, wanted)
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="semcache-audit-")))
            serving = [] if policies is None else ["--policies", policies]
            probes = _own(stack, folder, prompts, wanted, serving, engine)
        found = audit(probes, samples=samples, level=level, rng=rng, note=output.note)
    if as_json:
        output.as_json(_view(found))
    else:
        _show(found)
    if found.leaks:
        raise typer.Exit(1)
    if found.blind:
        raise typer.Exit(2)


def _wanted(paths: str | None, url: str | None, keys: list[str], engine: Path | None) -> list[str]:
    from semcache.errors import InvalidArgument

    if (url is None) != (not keys) or len(keys) not in (0, 2):
        raise InvalidArgument(
            "a proxy that runs needs --url and two --key, of two tenants; for one of its own give none"
        )
    if url is not None and len(set(keys)) < 2:
        raise InvalidArgument("--key is twice the same: give keys of two tenants, see `semcache keys create`")
    given = [one.strip() for one in (paths or "").split(",") if one.strip()]
    possible = (*_OVER_HTTP, "prefixes") if url is not None else (*_OWN, "prefixes") if engine else _OWN
    for one in given:
        if one not in possible:
            said = "prefixes needs --engine DIR" if one == "prefixes" else f"there are {', '.join(possible)}"
            raise InvalidArgument(f"--paths {one!r}: {said}")
    return given or list(_OVER_HTTP if url is not None else possible)


def _clients(stack: ExitStack, url: str, keys: list[str]) -> Callable[[str, int], TimedClient]:
    """Return what gives a tenant's connection by its role and number."""
    from semcache.cli.timing.timed_client import TimedClient
    from semcache.cli.timing.timing_audit import OTHER, VICTIM

    known: dict[tuple[str, int], TimedClient] = {}

    def client(role: str, number: int) -> TimedClient:
        if (role, number) not in known:
            made = TimedClient(url, {VICTIM: keys[0], OTHER: keys[1]}[role])
            stack.callback(made.close)
            known[role, number] = made
        return known[role, number]

    return client


def _over_http(
    clients: Callable[[str, int], TimedClient], prompts: Prompts, model: str, wanted: list[str]
) -> dict[str, Probe]:
    from semcache.cli.timing import timing_probes as known

    makers: dict[str, Callable[[], Probe]] = {
        "exact": lambda: known.ChatProbe(clients, prompts, model),
        "semantic": lambda: known.ChatProbe(clients, prompts, model, reworded=True),
        "single-flight": lambda: known.ChatProbe(clients, prompts, model, flying=True),
        "embeddings": lambda: known.EmbeddingProbe(clients, prompts, model),
        "plans": lambda: known.PlanProbe(clients, prompts, model),
        "prefixes": lambda: known.PrefixProbe(clients, prompts, model),
    }
    return {one: makers[one]() for one in wanted if one in makers}


def _own(
    stack: ExitStack, folder: Path, prompts: Prompts, wanted: list[str], serving: list[str], engine: Path | None
) -> dict[str, Probe]:
    """Start what the paths need, and return their probes."""
    from semcache.cli.timing import own_proxy
    from semcache.cli.timing.timing_audit import OTHER, VICTIM
    from semcache.cli.timing.timing_probes import ToolProbe

    probes: dict[str, Probe] = {}
    for name, some in (
        ("scripted", [one for one in wanted if one not in ("tools", "prefixes")]),
        ("engine", ["prefixes"]),
    ):
        chosen = [one for one in some if one in wanted]
        if not chosen:
            continue
        data = folder / name
        if name == "engine":
            upstream, model = (
                stack.enter_context(own_proxy.engine(str(engine), folder)),
                Path(str(engine)).resolve().name,
            )
        else:
            upstream, model = stack.enter_context(own_proxy.scripted(folder)), "echo"
        keys = [own_proxy.new_key(data, role) for role in (VICTIM, OTHER)]
        url = stack.enter_context(own_proxy.proxy(upstream, data, serving))
        probes |= _over_http(_clients(stack, url, keys), prompts, model, chosen)
    if "tools" in wanted:
        probes["tools"] = ToolProbe(_tool(stack, folder), prompts)
    return probes


def _tool(stack: ExitStack, folder: Path) -> Callable[[str, str], float]:
    """Open a cache in this process whose tool does the same work each time; return what times a call."""
    import time

    from semcache import SemanticCache

    pack = folder / "tools.yaml"
    pack.write_text("name: audit\ntools:\n  read:\n    effect: reads\n    ttl: 1h\n")
    cache = stack.enter_context(SemanticCache.open(str(folder / "tools"), policies=str(pack)))

    def read(given: Mapping[str, Any]) -> dict[str, Any]:
        return {"name": given["name"], "sum": sum(range(2_000))}

    def call(tenant: str, name: str) -> float:
        run = cache.tools.run(tenant=tenant)
        begun = time.perf_counter()
        run.call("read", {"name": name}, read)
        return time.perf_counter() - begun

    return call


def _view(found: Audit) -> dict[str, Any]:
    return {
        "samples": found.samples,
        "level": found.level,
        "smallest_distance": round(found.distance, 4),
        "leaks": found.leaks,
        "blind": found.blind,
        "paths": [one.row() for one in found.paths],
    }


def _show(found: Audit) -> None:
    rows = []
    for one in found.paths:
        verdict = "LEAKS" if one.told else "passed" if one.seen else "cannot see"
        between, within = f"{one.between.distance:.3f}", f"{one.within.distance:.3f}"
        told = f"{one.within.told_right:.0%}"
        rows.append(
            [
                one.path,
                between,
                f"{one.between.p:.2g}",
                within,
                f"{one.within.p:.2g}",
                told,
                f"{1e3 * one.visible:.2f}",
                verdict,
            ]
        )
    columns = ["path", "D between", "p", "D within", "p within", "told right within", "visible ms", "verdict"]
    output.table(columns, rows, right=columns[1:-1])
    output.note(
        f"{found.samples} samples of each kind; all paths together err with probability {found.level:g}. The smallest "
        f"distance that is seen is {found.distance:.3f}: a threshold that puts "
        f"{0.5 + found.distance / 2:.0%} of single times on the right side."
    )
