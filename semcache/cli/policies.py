"""`semcache policy`: check, print and compare policy packs.

Knows what a pack says, nothing of traffic.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.errors import ConfigError

if TYPE_CHECKING:
    from semcache.policy import Pack

app = typer.Typer(help="Check, print and compare policy packs.", no_args_is_help=True)

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))
_ABOUT = ("name", "description", "source", "categories")
Name = Annotated[str, typer.Argument(metavar="PACK|DIR|FILE", help="A shipped pack, a file or a folder.")]


@app.command()
def lint(
    packs: Annotated[list[str], typer.Argument(metavar="PACK|DIR|FILE...", help="Shipped packs, files or folders.")],
    as_json: options.Json = False,
) -> None:
    """Check packs; exit 1 if one is not valid."""
    from semcache.policy import load

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
            print(f"{row['pack']}: ok" if row["ok"] else f"error: {row['error']}")
            for warning in row["warnings"]:
                print(f"{row['pack']}: warning: {warning}")
    if not all(row["ok"] for row in found):
        raise typer.Exit(1)


@app.command()
def show(name: Name, as_json: options.Json = False) -> None:
    """Print a pack as it is written; with --json, every category with every field settled."""
    import msgspec
    import yaml

    from semcache.policy import load

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
    from semcache.policy import json_schema

    output.as_json(json_schema())


@app.command()
def diff(first: Name, second: Name, as_json: options.Json = False) -> None:
    """Print what the second pack sets differently, category by category."""
    from semcache.policy import load

    rows = differences(load(first), load(second))
    if as_json:
        names = ("category", "setting", "first", "second")
        output.as_json([dict(zip(names, row, strict=True)) for row in rows])
    elif rows:
        shown = [[name, field, _text(field, a, b), _text(field, b, a)] for name, field, a, b in rows]
        output.table(["category", "setting", first, second], shown)
    else:
        output.note("no difference")


def differences(first: Pack, second: Pack) -> list[tuple[str, str, Any, Any]]:
    """(category, setting, first's value, second's value) where they differ; the category "" is the pack itself.

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
    """A setting in a table: of a long list only how many items the other pack lacks."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple) and field in ("examples", "patterns"):
        return f"{len(value)}, {sum(item not in other for item in value)} only here"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return _duration(value) if field == "ttl" else str(value)


def _duration(seconds: float) -> str:
    unit, size = next((pair for pair in _UNITS if seconds >= pair[1] and seconds % pair[1] == 0), ("s", 1))
    return f"{seconds / size:g}{unit}"


def _warnings(pack: Pack) -> list[str]:
    if pack.share == "user":
        return []
    return [
        f"categories.{name}.personal is true and share is tenant: one user's answer may reach another; set share: user"
        for name, category in pack.categories.items()
        if category.personal
    ]
