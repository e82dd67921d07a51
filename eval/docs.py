"""Writes the generated parts of the documentation: what the code itself knows is never typed by hand.

A generated part lies between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. `python -m eval.docs` rewrites all of
them, `--check` changes nothing and fails when one is stale.
Invariant: the output depends on the checkout alone, not on the environment, the clock or the width of a terminal.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from eval.markdown import codes, duration, first_line, sentence, size, table, values
from eval.quoted import wrong_before_audits

if TYPE_CHECKING:
    from semcache.config.packs import Category

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)
_WIDTH = 100

BLOCKS: dict[str, Callable[[], str]] = {}


def block(make: Callable[[], str]) -> Callable[[], str]:
    """Let pages name the output of `make` by its name, with dashes."""
    BLOCKS[make.__name__.replace("_", "-")] = make
    return make


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite or check every page; exit status 1 when `--check` finds a stale one."""
    parser = argparse.ArgumentParser(prog="python -m eval.docs", description="Write the generated parts of the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a page is stale")
    options = parser.parse_args(arguments)
    stale = []
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = rendered(old)
        if new != old:
            stale.append(path)
            if not options.check:
                path.write_text(new, encoding="utf-8")
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale: run `make docs`' if options.check else 'rewritten'}")
    return 1 if options.check and stale else 0


def pages() -> list[Path]:
    """Every file that may hold generated parts."""
    return [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]


def rendered(page: str) -> str:
    """The page with its generated parts made anew. Raises KeyError for a part that nobody makes."""
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found["name"]]().strip() + "\n" + found[3], page)


# Settings


@block
def settings() -> str:
    """Every setting with its variable, values, default and meaning."""
    from eval.wording import SETTINGS
    from semcache.config.settings import KEYS, SECTIONS, Settings

    schema = Settings.model_json_schema()
    rows = []
    for key in KEYS:
        section, _, field = key.rpartition(".")
        model = SECTIONS[section] if section else Settings
        prop = (schema["$defs"][model.__name__] if section else schema)["properties"][field]
        default = model.model_fields[field].default
        in_bytes = field in ("max_body", "hot_bytes")
        shown = size(default) if in_bytes else str(default).lower() if isinstance(default, bool) else str(default)
        if key == "data":
            shown = "$XDG_DATA_HOME/semcache, else ~/.local/share/semcache"
        variable = "SEMCACHE_" + key.replace(".", "__").upper()
        kind = "size (`20 MiB`)" if in_bytes else values(prop)
        rows.append([f"`{key}`", f"`{variable}`", kind, "" if default is None else f"`{shown}`", SETTINGS[key]])
    return table(["setting", "environment variable", "values", "default", "meaning"], rows)


@block
def prices() -> str:
    """The prices beside those of genai-prices."""
    from semcache.storage.prices import OTHER_PRICES

    rows = [[f"`{name}`", f"{pair[0]:.2f}", f"{pair[1]:.2f}"] for name, pair in OTHER_PRICES.items()]
    return table(["model pattern", "input, $ per million", "output, $ per million"], rows)


# Policy packs


@block
def pack_fields() -> str:
    """The keys at the top of a pack file."""
    return _fields("PackSpec")


@block
def category_fields() -> str:
    """The keys of one category."""
    return _fields("CategorySpec")


@block
def rule_fields() -> str:
    """The keys of `rules`."""
    return _fields("RuleSpec")


@block
def tool_fields() -> str:
    """The keys of one of `tools`."""
    return _fields("ToolSpec")


@block
def model_fields() -> str:
    """The keys of one of `models`."""
    return _fields("ModelSpec")


@block
def near_fields() -> str:
    """The keys of `near`."""
    return _fields("NearSpec")


@block
def packs() -> str:
    """The shipped packs and their categories."""
    from semcache.config import packs as policy

    parts = []
    for name in policy.packs():
        pack = policy.load(name)
        rows = [
            [
                f"`{each.name}`",
                each.description,
                "no" if not each.cache else "exact only" if not each.semantic else _strategy(each),
                duration(each.ttl) if each.cache else "",
            ]
            for each in pack.categories.values()
        ]
        parts.append(f"### {name}\n\n{pack.description} Shared by {pack.share}; target {pack.target:g}.\n")
        parts.append(table(["category", "is", "served by meaning", "lives"], rows))
    return "\n".join(parts)


def _strategy(category: Category) -> str:
    return f"from {category.threshold:g}" if category.strategy == "static" else category.strategy


# The HTTP API


@block
def why() -> str:
    """The vocabulary of reasons."""
    from eval.wording import WHY
    from semcache.types import Why

    return table(["reason", "means"], [[f"`{each.value}`", WHY[each.value]] for each in Why])


@block
def endpoints() -> str:
    """Every path that the proxy answers itself."""
    from fastapi import FastAPI

    from semcache.dialects import dialects, embeddings
    from semcache.proxy.admin_routes import admin_routes
    from semcache.proxy.health_routes import health_routes
    from semcache.proxy.operator_routes import operator_routes
    from semcache.proxy.plan_routes import plan_routes
    from semcache.proxy.reload_route import reload_routes

    cached = [[f"`POST {dialect.path}`", "cached"] for dialect in dialects().values()]
    cached.append([f"`POST {embeddings.PATH}`", "cached, each input on its own, exact tier only"])
    cached.append(["WebSockets under `/v1/`, such as `/v1/realtime`", "tunnelled"])
    cached.append(["anything else under `/v1/`", "passed through untouched"])
    nothing: Any = SimpleNamespace(operating=None)  # what no route asks before it is called
    app = FastAPI()
    app.include_router(admin_routes(nothing, nothing))
    app.include_router(operator_routes(nothing, nothing))
    app.include_router(plan_routes(nothing, nothing))
    app.include_router(reload_routes(nothing, nothing))
    app.include_router(health_routes(nothing, tells=bool))
    paths = app.openapi()["paths"]
    rest = [
        [f"`{method.upper()} {path}`", operation["description"].rstrip(".")]
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]
    return table(["endpoint", "what it does"], cached + rest)


@block
def other_gateways() -> str:
    """Headers of other gateways that are understood."""
    from semcache.dialects import headers

    alias = {
        "`Cache-Control: no-cache`": sorted(headers._NO_CACHE - {"x-semcache-bypass"}),
        "`Cache-Control: no-store`": sorted(headers._NO_STORE),
    }
    for ours, names in (
        ("x-semcache-ttl", headers._TTL),
        ("x-semcache-namespace", headers._NAMESPACE),
        ("x-semcache-min-score", headers._MIN_SCORE),
    ):
        alias[f"`{ours}`"] = [name for name in names if name != ours]
    return table(["ours", "understood too"], [[ours, codes(names)] for ours, names in alias.items()])


# Operations

block(wrong_before_audits)


@block
def metrics() -> str:
    """Every Prometheus metric."""
    from semcache.runtime.telemetry import Meter

    found = {id(each): each for each in Meter().registry._names_to_collectors.values()}.values()
    rows = []
    for each in found:
        metric: Any = each
        name = f"{metric._name}_total" if metric._type == "counter" else metric._name
        rows.append([f"`{name}`", metric._type, codes(metric._labelnames), metric._documentation])
    return table(["metric", "type", "labels", "meaning"], rows)


@block
def log_line() -> str:
    """What one request writes to standard output."""
    import json

    from semcache import types
    from semcache.runtime.telemetry import log_fields

    event = types.Recorded(
        request_id="req_c5f7310000000003",
        at=1795256211.468,
        endpoint="chat",
        scope=types.Scope("acme"),
        model="gpt-4o-mini",
        category="support",
        outcome=types.Outcome.SEMANTIC,
        why=types.Why.SEMANTIC,
        status=200,
        entry_id=0x6E33B25DD79C17BF,
        score=0.9908,
        seconds=0.0042,
        timings=types.Timings(key=0.0002, embed=0.0021, search=0.0003, guard=0.0002),
    )
    return f"```json no-run\n{json.dumps(log_fields(event), indent=1)}\n```"


# Commands


@block
def commands() -> str:
    """The help of every command."""
    import typer

    from semcache.cli.app import app

    return "\n\n".join(
        f"## {name}\n\n```text\n{text}\n```" for name, text in _helps("semcache", typer.main.get_command(app))
    )


def _helps(name: str, command: Any) -> Iterator[tuple[str, str]]:
    # Rich draws boxes whose shape depends on its version; without it the words are the same.
    command.rich_markup_mode = None
    context = command.context_class(command, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH)
    yield name, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    # Asked by name: some groups import a command only when it is wanted.
    for child in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _helps(f"{name} {child}", command.get_command(context, child))


# The code


@block
def rooms() -> str:
    """The rooms of `semcache/`, top layer first, each with the first line of its docstring."""
    package = ROOT / "semcache"
    layers = _layers()
    rooms = {f"{path.parent.name}/": path for path in package.glob("*/__init__.py")}
    rooms |= {path.name: path for path in package.glob("*.py") if not path.name.startswith("__")}

    def layer(name: str) -> int:
        found = re.search(rf"\b{name.removesuffix('/').removesuffix('.py')}\b", layers)
        return len(layers) if found is None else found.start()

    rows = [[f"`{name}`", first_line(rooms[name])] for name in sorted(rooms, key=lambda name: (layer(name), name))]
    return table(["room", "holds"], rows)


@block
def adapters() -> str:
    """The adapters that ship."""
    paths = sorted((ROOT / "adapters").glob("semcache_*.py"))
    return table(["module", "what it is"], [[f"`{path.stem}`", first_line(path)] for path in paths])


@block
def protocols() -> str:
    """The extension points."""
    from semcache import protocols as module

    found = [each for each in vars(module).values() if getattr(each, "_is_protocol", False)]
    found = [each for each in found if inspect.isclass(each) and each.__module__.startswith(module.__name__)]
    rows = [[f"`{each.__name__}`", sentence(inspect.getdoc(each) or "")] for each in found]
    return table(["protocol", "what it is"], rows)


@block
def layers() -> str:
    """The contract that the linter checks, top first."""
    return f"```text\n{_layers()}\n```"


def _layers() -> str:
    text = (ROOT / ".importlinter").read_text(encoding="utf-8")
    found = re.search(r"^layers =\n(?P<lines>(?:    .+\n)+)", text, re.MULTILINE)
    assert found is not None
    return "\n".join(re.sub(r"[()]|semcache\.", "", line).strip() for line in found["lines"].splitlines())


def _fields(name: str) -> str:
    """A table of a schema's fields: what they take is in the schema, what they mean in the docstrings below them."""
    import msgspec

    from eval.wording import FIELDS
    from semcache.config import pack_schema
    from semcache.config import packs as policy

    schema = pack_schema.json_schema()["$defs"][name]["properties"]
    # A category's own fields are all optional: their defaults are those of the settled category.
    settled = policy.Category if name == "CategorySpec" else getattr(pack_schema, name)
    defaults = {field.name: field.default for field in msgspec.structs.fields(settled)}
    meant = _field_docs(getattr(pack_schema, name))
    rows = []
    for field, prop in schema.items():
        meaning = meant.get(field) or FIELDS[f"{name}.{field}"]
        rows.append([f"`{field}`", values(prop), _default(field, defaults.get(field)), " ".join(meaning.split())])
    return table(["key", "values", "default", "meaning"], rows)


def _default(field: str, value: object) -> str:
    if field == "guards":
        return "all of them"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (int, float)):
        return f"`{duration(value) if field == 'ttl' else value}`"
    return f"`{value}`" if isinstance(value, str) and value and field != "name" else ""


def _field_docs(struct: type) -> dict[str, str]:
    body = next(node.body for node in ast.parse(inspect.getsource(struct)).body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: doc.value.value
        for field, doc in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
        and isinstance(doc.value.value, str)
    }


if __name__ == "__main__":
    sys.exit(main())
