"""`semcache policy`: check, print and compare policy packs.

Knows packs; `semcache.simulate` says what one would do to traffic. Invariant: prompts are printed only when they are
asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output, policy_diff
from semcache.cli.open_store import run_async, settings_from
from semcache.cli.option_groups import with_groups
from semcache.cli.trace_input import (
    TraceOptions,
)
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.config.packs import Pack

app = typer.Typer(help="Check, print and compare policy packs.", no_args_is_help=True)

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))
_DURATIONS = ("ttl", "change_every", "revalidate")
_ABOUT = ("name", "description", "source", "categories")
Name = Annotated[str, typer.Argument(metavar="PACK|DIR|FILE", help="A shipped pack, a file or a folder.")]


@app.command()
def lint(
    packs: Annotated[list[str], typer.Argument(metavar="PACK|DIR|FILE...", help="Shipped packs, files or folders.")],
    as_json: options.Json = False,
) -> None:
    """Check packs; exit 1 if one is not valid."""
    from semcache.config.packs import load

    found: list[dict[str, Any]] = []
    for name in packs:
        try:
            pack = load(name)
        except ConfigError as error:
            found.append({"pack": name, "ok": False, "error": str(error), "warnings": []})
        else:
            found.append({"pack": name, "ok": True, "error": None, "warnings": _warnings(pack)})
    if as_json:
        output.as_json(found)
    else:
        for row in found:
            for problem in (row["error"] or "").splitlines():
                print(f"error: {problem}")
            if row["ok"]:
                print(f"{row['pack']}: ok")
            for warning in row["warnings"]:
                print(f"{row['pack']}: warning: {warning}")
    if not all(row["ok"] for row in found):
        raise typer.Exit(1)


@app.command()
def show(name: Name, as_json: options.Json = False) -> None:
    """Print a pack as it is written; with --json, every category with every field settled."""
    import msgspec
    import yaml

    from semcache.config.packs import load

    pack = load(name)
    if as_json:
        output.as_json(msgspec.to_builtins(pack))
    elif Path(pack.source).is_file():
        print(Path(pack.source).read_text(encoding="utf-8"), end="")
    else:
        print(yaml.safe_dump(msgspec.to_builtins(pack), sort_keys=False, allow_unicode=True), end="")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a pack file, for editors."""
    from semcache.config.pack_schema import json_schema

    output.as_json(json_schema())


@app.command()
@with_groups
def diff(
    *,
    first: Name,
    second: Name,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="Also replay this trace or log through both.")
    ] = None,
    given: TraceOptions,
    examples: Annotated[int, typer.Option("--examples", metavar="N", min=0, help="Changes to show of each kind.")] = 3,
    show_prompts: Annotated[
        bool, typer.Option("--show-prompts", help="Show their prompts, not only their lines.")
    ] = False,
    embedder: options.Embedder = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Print what the second pack sets differently; with --trace also what it would have served differently.

    The trace is read as by `semcache replay`, and goes through both packs from an empty cache on.
    """
    from semcache.config.packs import load

    old, new = load(first), load(second)
    rows = differences(old, new)
    told = [dict(zip(("category", "setting", "first", "second"), row, strict=True)) for row in rows]
    traffic = None
    if trace is not None:
        settings = settings_from(config, embedder=embedder)
        traffic = run_async(
            policy_diff.traffic(settings, trace, given, old, new, examples=examples, show_prompts=show_prompts)
        )
    if as_json:
        output.as_json(told if traffic is None else {"settings": told, "traffic": traffic})
        return
    if rows:
        shown = [[name, field, _text(field, a, b), _text(field, b, a)] for name, field, a, b in rows]
        output.table(["category", "setting", first, second], shown)
    else:
        output.note("no difference")
    if traffic is not None:
        policy_diff.show(traffic, first, second)


def differences(first: Pack, second: Pack) -> list[tuple[str, str, Any, Any]]:
    """Return (category, setting, first's value, second's value) where they differ; "" is the pack itself.

    A category that one of them lacks is compared with "default", which is what its traffic falls to.
    """
    import msgspec

    a, b = msgspec.to_builtins(first), msgspec.to_builtins(second)
    rows = [("", field, a[field], b[field]) for field in a if field not in _ABOUT and a[field] != b[field]]
    for name in sorted({*first.categories, *second.categories}):
        old, new = a["categories"].get(name), b["categories"].get(name)
        if old is None or new is None:
            rows.append((name, "category", _presence(old), _presence(new)))
        old, new = old or a["categories"]["default"], new or b["categories"]["default"]
        rows += [
            (name, field, old[field], new[field]) for field in old if field not in _ABOUT and old[field] != new[field]
        ]
    return rows


def _presence(category: dict[str, Any] | None) -> str:
    return "not there (default applies)" if category is None else "there"


def _text(field: str, value: Any, other: Any) -> str:
    """Return a setting for a table: of a long list only how many items the other pack lacks."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and field in ("examples", "patterns"):
        return f"{len(value)}, {sum(item not in other for item in value)} only here"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return _duration(value) if field in _DURATIONS and value else str(value)


def _duration(seconds: float) -> str:
    unit, size = next((pair for pair in _UNITS if seconds >= pair[1] and seconds % pair[1] == 0), ("s", 1))
    return f"{seconds / size:g}{unit}"


def _warnings(pack: Pack) -> list[str]:
    """Return warnings of settings that are valid and hardly meant."""
    found = []
    for name, category in pack.categories.items():
        where = f"categories.{name}"
        if category.personal and pack.share != "user":
            found.append(
                f"{where}.personal is true and share is tenant: one user's answer may reach another; set share: user"
            )
        if category.strategy == "certified" and category.audit == 0 and category.cache and category.semantic:
            found.append(f"{where}.audit is 0: no hit is ever checked, so no error can be certified; allow some audits")
        if pack.relax_to is not None and pack.relax_to < pack.target_of(name):
            found.append(
                f"{where}: relax_to {pack.relax_to:g} is stricter than its target {pack.target_of(name):g}, "
                "so an overloaded backend changes nothing"
            )
    return found
