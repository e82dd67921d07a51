"""Writes the generated parts of the documentation: what the code itself knows is never typed by hand.

A generated part lies between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. `python -m eval.docs` rewrites all of
them, `--check` changes nothing and fails when one is stale. MkDocs loads this file too, as a hook.
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
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)
_FENCE_WORDS = re.compile(r"^(```\w+)[ ]+[\w -]+$", re.MULTILINE)
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


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs' hook: the words after a fence's language are for the tests; its Markdown does not know them."""
    return _FENCE_WORDS.sub(r"\1", markdown)


# Settings


SETTINGS = {
    "upstream.url": "What answers misses: a base URL, `litellm:MODEL`, or `echo` (a scripted upstream, for trials).",
    "upstream.api_key": "Replaces the client's credentials. Without it they are passed on; `OPENAI_API_KEY` fills in "
    "for clients that send none.",
    "upstream.timeout": "Seconds of silence before a call is given up; a stream that keeps sending has no limit.",
    "upstream.connect_timeout": "Seconds to connect.",
    "upstream.anthropic_url": "Where `/v1/messages` goes, if not to `upstream.url`.",
    "upstream.proxy": "An HTTP proxy on the way to the upstream; may hold a password. `HTTP_PROXY` is not read.",
    "server.host": "Address to listen on. Any but loopback needs API keys, see [operations](operations.md).",
    "server.port": "Port; 0 takes a free one.",
    "server.workers": "Worker processes. They share the store, not memory.",
    "server.max_body": "Largest request body, after decompression.",
    "server.admin_token": "An API key with all rights that needs no store, for bootstrap and `semcache stats --url`.",
    "server.insecure": "Together with `auth.required: false`: serve other machines without keys.",
    "store.url": "`sqlite:///FILE`, `postgresql://USER:PASSWORD@HOST/NAME` or `memory://`. Empty: SQLite in `data`.",
    "store.seal_keys": "Encryption keys, newest first: `id:base64,id:base64`, 32 bytes each.",
    "data": "Folder of the SQLite file and of the index snapshot.",
    "policies": "Policy pack: a shipped name, a YAML file, or a folder of them.",
    "embedder": "`default`, `onnx:DIR`, `sentence:NAME` (needs the extra `train`), `hashing[:DIM]` (tests).",
    "cache.hot_bytes": "Memory for answers that are replayed without asking the store, per worker.",
    "cache.target": "Error per hit to accept; overrides the pack's. See [limits](limits.md).",
    "cache.judge": "How a served answer is compared with a fresh one. `verifier` and `llm` are reserved: the start "
    "refuses them.",
    "cache.seed": "Makes random choices reproducible.",
    "auth.required": "Whether requests need an API key. Empty: as soon as one was ever made.",
    "auth.trust_user_header": "Believe `x-semcache-user` of every caller; for a gateway in front that sets it.",
    "auth.expose_scores": "Show `x-semcache-*` reply headers to callers that are not trusted.",
    "log.level": "What the server says on standard error.",
    "log.format": "Reserved: request lines are JSON whatever it says.",
    "prices": "YAML file, one `model-pattern: [input, output]` a line, US dollars per million tokens.",
}


@block
def settings() -> str:
    """Every setting with its variable, values, default and meaning."""
    from semcache.config import KEYS, SECTIONS, Settings

    schema = Settings.model_json_schema()
    rows = []
    for key in KEYS:
        section, _, field = key.rpartition(".")
        model = SECTIONS[section] if section else Settings
        prop = (schema["$defs"][model.__name__] if section else schema)["properties"][field]
        default = model.model_fields[field].default
        size = field in ("max_body", "hot_bytes")
        shown = _size(default) if size else str(default).lower() if isinstance(default, bool) else str(default)
        if key == "data":
            shown = "$XDG_DATA_HOME/semcache, else ~/.local/share/semcache"
        variable = "SEMCACHE_" + key.replace(".", "__").upper()
        values = "size (`20 MiB`)" if size else _values(prop)
        rows.append([f"`{key}`", f"`{variable}`", values, "" if default is None else f"`{shown}`", SETTINGS[key]])
    return _table(["setting", "environment variable", "values", "default", "meaning"], rows)


@block
def prices() -> str:
    """The price list that is built in."""
    from semcache.ledger import LIST_PRICES

    rows = [[f"`{name}`", f"{pair[0]:.2f}", f"{pair[1]:.2f}"] for name, pair in LIST_PRICES.items()]
    return _table(["model pattern", "input, $ per million", "output, $ per million"], rows)


# Policy packs


FIELDS = {
    "PackSpec.name": "Name of the pack; left out, the name of the file.",
    "PackSpec.description": "A line for people.",
    "PackSpec.defaults": "What every category starts from; the fields of a category.",
    "PackSpec.categories": "Categories by name. There always is one called `default`.",
    "CategorySpec.description": "A line for people.",
    "CategorySpec.strategy": "How a score becomes a decision. There is one: the threshold as written.",
    "CategorySpec.guards": "Checks that veto a neighbour; `[]` switches them off.",
    "CategorySpec.rules": "What puts a request here without asking the embedder.",
    "CategorySpec.examples": "Prompts of this category; a request joins the category with the nearest centroid.",
}


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
    return _fields("Rules")


@block
def packs() -> str:
    """The shipped packs and their categories."""
    from semcache import policy

    parts = []
    for name in policy.packs():
        pack = policy.load(name)
        rows = [
            [
                f"`{each.name}`",
                each.description,
                "no" if not each.cache else "exact only" if not each.semantic else f"from {each.threshold:g}",
                _duration(each.ttl) if each.cache else "",
            ]
            for each in pack.categories.values()
        ]
        parts.append(f"### {name}\n\n{pack.description} Shared by {pack.share}; target {pack.target:g}.\n")
        parts.append(_table(["category", "is", "served by meaning", "lives"], rows))
    return "\n".join(parts)


# The HTTP API


WHY = {
    "exact": "The same request was answered before.",
    "semantic": "A neighbour passed the guards and reached the threshold.",
    "cold": "Nothing near enough to look at is stored.",
    "below-threshold": "The best neighbour's score is too low.",
    "guard": "A guard found a conflict with the best neighbour: another number, date, name, or an opposite.",
    "rejected-before": "The neighbour was reported wrong for this very request.",
    "expired": "The neighbour's time is over.",
    "max-age": "The entry is older than the request accepts.",
    "exact-only": "No paraphrase may be sought: the category says so, the prompt is too long or not text, or the last "
    "turn is not the user's.",
    "verify-failed": "The decision needed a verifier, and none could confirm it.",
    "explore": "Reserved.",
    "no-cache": "The request said so.",
    "category-disabled": "The pack does not cache this category.",
    "personal": "The answer belongs to the caller's own records, or the pack shares per user and no user was named.",
    "live": "The answer depends on the moment of asking.",
    "creative": "Something new is wanted each time.",
    "temperature": "The request's temperature is above the category's `max_temperature`.",
    "stateful": "The answer depends on state that only the upstream holds (stored prompts, hosted tools, ...).",
    "secret": "A credential or account number was seen.",
    "unreadable": "Reserved.",
    "cache-fault": "A part of the cache failed; the request was forwarded.",
    "no-store": "The request, or a `ttl` of 0, said so.",
    "status": "The upstream did not answer 200.",
    "incomplete": "The answer did not end as its dialect ends an answer.",
    "refusal": "The model declined, or a filter did.",
    "tool-step": "The answer asks for tools again, in the middle of an agent's run.",
    "too-large": "The answer is larger than an entry may be.",
    "quota": "Reserved.",
}


@block
def why() -> str:
    """The vocabulary of reasons."""
    from semcache.types import Why

    return _table(["reason", "means"], [[f"`{each.value}`", WHY[each.value]] for each in Why])


@block
def endpoints() -> str:
    """Every path that the proxy answers itself."""
    from fastapi import FastAPI

    from semcache.proxy.admin import admin_routes
    from semcache.proxy.health import health_routes
    from semcache.wire import dialects, embeddings

    cached = [[f"`POST {dialect.path}`", "cached"] for dialect in dialects().values()]
    cached.append([f"`POST {embeddings.PATH}`", "cached, each input on its own, exact tier only"])
    cached.append(["anything else under `/v1/`", "passed through untouched"])
    nothing: Any = None
    app = FastAPI()
    app.include_router(admin_routes(nothing, nothing))
    app.include_router(health_routes(nothing))
    paths = app.openapi()["paths"]
    rest = [
        [f"`{method.upper()} {path}`", operation["description"].rstrip(".")]
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]
    return _table(["endpoint", "what it does"], cached + rest)


@block
def other_gateways() -> str:
    """Headers of other gateways that are understood."""
    from semcache.wire import headers

    alias = {"`Cache-Control: no-cache`": sorted(headers._NO_CACHE - {"x-semcache-bypass"})}
    for ours, names in (
        ("x-semcache-ttl", headers._TTL),
        ("x-semcache-namespace", headers._NAMESPACE),
        ("x-semcache-min-score", headers._MIN_SCORE),
    ):
        alias[f"`{ours}`"] = [name for name in names if name != ours]
    return _table(["ours", "understood too"], [[ours, _codes(names)] for ours, names in alias.items()])


# Operations


@block
def metrics() -> str:
    """Every Prometheus metric."""
    from semcache.telemetry import Meter

    found = {id(each): each for each in Meter().registry._names_to_collectors.values()}.values()
    rows = []
    for each in found:
        metric: Any = each
        name = f"{metric._name}_total" if metric._type == "counter" else metric._name
        rows.append([f"`{name}`", metric._type, _codes(metric._labelnames), metric._documentation])
    return _table(["metric", "type", "labels", "meaning"], rows)


@block
def log_line() -> str:
    """What one request writes to standard output."""
    import json

    from semcache import types
    from semcache.telemetry import log_fields

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
    for child in getattr(command, "commands", {}).values():
        yield from _helps(f"{name} {child.name}", child)


# The code


@block
def rooms() -> str:
    """The modules and packages of `semcache/`, each with the first line of its docstring."""
    package = ROOT / "semcache"
    files = [*package.glob("*.py"), *package.glob("*/__init__.py")]
    rows = []
    for path in sorted(files, key=lambda path: path.parent.name if path.name == "__init__.py" else path.stem):
        if path.parent == package and path.name.startswith("__"):
            continue
        name = f"{path.parent.name}/" if path.name == "__init__.py" else path.name
        rows.append([f"`{name}`", _first_line(path)])
    return _table(["room", "what it does"], rows)


@block
def adapters() -> str:
    """The adapters that ship."""
    paths = sorted((ROOT / "adapters").glob("semcache_*.py"))
    return _table(["module", "what it is"], [[f"`{path.stem}`", _first_line(path)] for path in paths])


@block
def protocols() -> str:
    """The extension points."""
    from semcache import protocols as module

    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each) and each.__module__ == module.__name__ and getattr(each, "_is_protocol", False)
    ]
    rows = [[f"`{each.__name__}`", _sentence(inspect.getdoc(each) or "")] for each in found]
    return _table(["protocol", "what it is"], rows)


@block
def layers() -> str:
    """The contract that the linter checks, top first."""
    text = (ROOT / ".importlinter").read_text(encoding="utf-8")
    found = re.search(r"^layers =\n(?P<lines>(?:    .+\n)+)", text, re.MULTILINE)
    assert found is not None
    lines = [re.sub(r"[()]|semcache\.", "", line).strip() for line in found["lines"].splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```"


def _first_line(path: Path) -> str:
    return _sentence(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def _sentence(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0].replace("|", "\\|")


def _fields(name: str) -> str:
    """A table of a schema's fields, with the docstrings that follow them in the source."""
    from semcache import policy

    # Definitions are named by class; what a field is comes from the schema, what it means from the source.
    schema = policy.json_schema()["$defs"][name]["properties"]
    meant = _field_docs(name)
    rows = []
    for field, prop in schema.items():
        meaning = meant.get(field) or FIELDS[f"{name}.{field}"]
        rows.append([f"`{field}`", _values(prop), _default(name, field), " ".join(meaning.split())])
    return _table(["key", "values", "default", "meaning"], rows)


def _default(name: str, field: str) -> str:
    from semcache import policy

    struct: Any = policy.Category if name == "CategorySpec" else getattr(policy, name)
    names: tuple[str, ...] = struct.__struct_fields__
    if field in ("name", "examples", "rules", "categories", "defaults", "description") or field not in names:
        return ""
    values = {each.name: each.default for each in __import__("msgspec").structs.fields(struct)}
    value = values[field]
    if not isinstance(value, (str, int, float, bool, tuple)):
        return ""
    if field == "ttl":
        return f"`{_duration(float(value))}`"
    if isinstance(value, tuple):
        return "all of them"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _field_docs(name: str) -> dict[str, str]:
    tree = ast.parse((ROOT / "semcache" / "policy.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {
        field.target.id: doc.value.value
        for field, doc in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
    }


def _values(prop: dict[str, Any]) -> str:
    """What a JSON Schema property accepts, in words."""
    for part in prop.get("anyOf", [prop]):
        if part.get("type") == "null":
            continue
        if "enum" in part or "const" in part:
            return _codes(part.get("enum") or [part["const"]])
        if part.get("type") == "array":
            return f"list of {_values(part['items'])}"
        if "$ref" in part:
            return f"a mapping ({part['$ref'].rpartition('/')[2]})" if "Rules" in part["$ref"] else "a mapping"
        if "pattern" in part:
            return str(part.get("description", "text"))
        if part.get("format") == "password":
            return "text, masked"
        if part.get("type") == "boolean":
            return "`true`, `false`"
        if part.get("type") in ("number", "integer"):
            return ("whole number" if part["type"] == "integer" else "number") + _range(part)
        return {"object": "a mapping"}.get(str(part.get("type")), "text")
    return ""


def _range(part: dict[str, Any]) -> str:
    low, high = part.get("minimum", part.get("exclusiveMinimum")), part.get("maximum", part.get("exclusiveMaximum"))
    if low is None:
        return ""
    if high is None:
        return f" from {low:g}" if "minimum" in part else f" above {low:g}"
    return f", {low:g} to {high:g}" + (", both excluded" if "exclusiveMinimum" in part else "")


def _size(value: int) -> str:
    return f"{value // (1 << 20)} MiB"


def _duration(seconds: float) -> str:
    unit, size = next((pair for pair in (("d", 86400), ("h", 3600), ("m", 60)) if seconds % pair[1] == 0), ("s", 1))
    return f"{seconds / size:g}{unit}"


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("\n", " ") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
