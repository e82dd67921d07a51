"""The schema of a policy pack file, and reading a file by it.

A pack is a YAML file. Knows fields, names and plug-ins, nothing of the values of omitted fields. Invariant: a pack that
was read is valid; every mistake in a file is a ConfigError that names file, line, key and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
import yaml

from semcache.config import plugins
from semcache.config.agent_packs import ModelSpec, NearSpec, ToolSpec
from semcache.config.system_parts import NAMED
from semcache.config.yaml_mistakes import explain, line, misread_key, nearest, repeated
from semcache.errors import ConfigError
from semcache.runtime.durations import Duration

LONGEST = 16_000  # characters of a prompt that is compared by meaning; guards take up to a third of a second for those
Score = Annotated[float, msgspec.Meta(ge=-1.0, le=1.0, description="cosine similarity, higher is closer")]
Rate = Annotated[float, msgspec.Meta(gt=0.0, lt=1.0, description="a share of served hits")]
GuardName = Literal[
    "form",
    "code",
    "scope",
    "quantifiers",
    "ellipsis",
    "question",
    "numbers",
    "dates",
    "negation",
    "direction",
    "entities",
]
GUARDS: tuple[GuardName, ...] = get_args(GuardName)
WordingEdit = Literal[
    "characters", "contraction", "spelling", "filler", "number", "abbreviation", "frame", "order", "typo"
]
WORDING: tuple[WordingEdit, ...] = get_args(WordingEdit)
WordingLanguage = Literal["en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "ar", "hi", "zh", "ja", "ko", "other"]
Strategy = Literal["static", "per-category", "vcache", "certified"]
"""The built-in strategies, as `GuardName` and `EvictionName` are the built-in guards and eviction policies."""
Profile = Literal["any", "service", "questions"]
EvictionName = Literal["value", "lru", "lfu", "sieve", "s3-fifo", "w-tinylfu", "gdsf", "lec"]
# Fields that hold names of plug-ins too: the kind of plug-in, and the names that are built in.
_NAMED: dict[str, tuple[str, tuple[str, ...]]] = {
    "strategy": ("strategies", get_args(Strategy)),
    "eviction": ("evictions", get_args(EvictionName)),
    "guards": ("guards", GUARDS),
}


class RuleSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The rules that put a request into a category without asking the embedder. Any match is enough."""

    patterns: list[str] = []
    """Regular expressions searched in the last user turn, ignoring case."""
    models: list[str] = []
    """Shell-style patterns of model names."""


VerdictMode: TypeAlias = Literal["off", "after", "first", "hedged"]


class CategorySpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One kind of traffic. A field left out is taken from the pack's `defaults`."""

    description: str | None = None
    cache: bool | None = None
    """False: neither read nor write."""
    semantic: bool | None = None
    """False: only the exact tier."""
    strategy: str | None = None
    """What decides whether a neighbour is served: a `Strategy`, or the name of a plug-in."""
    threshold: Score | None = None
    """Serve a neighbour whose score is at least this; every other strategy than `static` ignores it."""
    prior: Profile | None = None
    """What the category's traffic is like, before anything was learned of it: `certified` starts from that."""
    target: Rate | None = None
    """The error to keep in this category, where it is not the pack's."""
    contract: Literal["hit", "request"] | None = None
    """What the target is a share of: hits by meaning, or all requests that were looked up."""
    audit: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    """The share of hits by meaning that the backend is asked about all the same, to learn from: less with evidence, and
    five times as much for the few hits after one that was wrong."""
    verify: Literal["off", "verifier", "llm"] | None = None
    """Who is asked, while the client waits, about neighbours too uncertain to be served without."""
    verdicts: VerdictMode | None = None
    """When a language model is asked about what is still in doubt: before a request is forwarded, beside it, after it.

    Left out, `verify: llm` is `first`, and any other the server's `verdicts.mode`."""
    context: Literal["exact", "semantic"] | None = None
    """How the earlier turns of a conversation have to match."""
    ttl: Duration | None = None
    """How long an answer lives at most, counted from its creation."""
    learn_ttl: bool | None = None
    """True: answers that were seen to change shorten the lives of others."""
    change_every: Duration | None = None
    """How long an answer stays true on average, before anything was learned; left out, it follows from `ttl`."""
    stale: Rate | None = None
    """The accepted probability that a served answer is out of date."""
    revalidate: Duration | None = None
    """How long after its end of life an answer may still be served while the backend is asked anew."""
    quota: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Entries this category may hold."""
    quorum: Annotated[int, msgspec.Meta(ge=1, le=64)] | None = None
    """Users of a tenant who must have asked for an answer before another one is served it; 1 holds nothing back."""
    eviction: str | None = None
    """What goes first when the category is full: an `EvictionName`, or the name of a plug-in."""
    wrong_cost: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """US dollars that a wrong answer costs; it raises the hit rate from which the category pays."""
    guards: list[str] | None = None
    wording: list[WordingEdit] | None = None
    """Kinds of edits that make two wordings one, found before anything is embedded; `off` or [] for none."""
    wording_by_language: dict[WordingLanguage, list[WordingEdit]] | None = None
    """The kinds for prompts in one language, by its code, instead of `wording`: `{de: [characters], ja: off}`; `other`
    is any language that has no code here."""
    live: bool | None = None
    """True: prompts about the present moment ("right now", "today") may be cached."""
    personal: bool | None = None
    """True: prompts about the caller ("my order") may be cached; only sensible with `share: user`."""
    creative: bool | None = None
    """True: prompts that ask for something new each time may be cached."""
    max_temperature: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """A request that asks for a higher temperature is not cached."""
    max_chars: Annotated[int, msgspec.Meta(ge=1, le=LONGEST)] | None = None
    """Longer prompts use the exact tier only. At most 16,000: the guards' time grows with the length of a prompt."""
    rules: RuleSpec | None = None
    examples: list[str] | None = None
    """Prompts of this category; a request joins the category with the nearest centroid."""


class PackSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The file."""

    name: str
    description: str = ""
    share: Literal["tenant", "user"] = "tenant"
    """Who shares answers: everyone of a tenant, or each user alone."""
    ignore_in_system: list[str] = []
    """Parts of a system prompt that answers do not depend on: requests which differ in them alone share answers.

    `date` and `time` (the current ones), `request_id` (also of sessions, conversations, traces), or regular
    expressions, of which a group called `kept` still has to be equal. What is forwarded keeps all."""
    target: Rate = 0.01
    """The error that the operator accepts."""
    confidence: Annotated[float, msgspec.Meta(gt=0.5, lt=1.0)] = 0.95
    """How sure a certificate of the error has to be."""
    relax_to: Rate | None = None
    """The error accepted while the backend is overloaded; never less than `target`."""
    tenants: dict[str, list[str]] = {}
    """Classes of tenants whose error is certified together: shell-style patterns of names; others are alone."""
    capacity: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Entries of all categories together: a category may use what others leave unused. Left out, quotas are strict."""
    min_margin: Score = 0.25
    """A request whose nearest centroid scores less joins `default`: a least score, not a lead over the second."""
    overlap: Annotated[float, msgspec.Meta(ge=0.0, le=2.0)] = 0.2
    """Paraphrases are also sought in categories whose centroid scores less than this below the best one."""
    defaults: CategorySpec = msgspec.field(default_factory=CategorySpec)
    categories: dict[str, CategorySpec] = {}
    tools: dict[str, ToolSpec] = {}
    models: dict[str, ModelSpec] = {}
    near: NearSpec | None = None


_MOST = 50  # mistakes that are told at once
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_KINDS: dict[str, type[msgspec.Struct]] = {
    "defaults": CategorySpec,
    "categories": CategorySpec,
    "tools": ToolSpec,
    "models": ModelSpec,
    "near": NearSpec,
}


def read(path: Path) -> PackSpec:
    """The pack of a file. Raises ConfigError with file, line, key and the nearest valid name."""
    node, data = _mapping(path, _text_of(path))
    _check_names(path, node)
    _spell_off(data)
    problems, spec = _converted(path, node, data)
    if spec is not None:
        problems += _problems(path, node, spec)
    if spec is None or problems:
        raise ConfigError("\n".join(problems))
    return spec


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file or folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as UTF-8 text: {error}") from error


def _mapping(path: Path, text: str) -> tuple[yaml.Node | None, dict[str, Any]]:
    """The file as YAML has it, and its keys and values. Raises ConfigError for a file that is no pack."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        twice = repeated(node)
        data = None if node is None else yaml.SafeLoader("").construct_document(node)
    except RecursionError as error:
        raise ConfigError(f"{path}: no valid YAML: lists or mappings lie too deep in each other") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: no valid YAML: {getattr(error, 'problem', error)}") from error
    except ValueError as error:  # a date that there is not
        raise ConfigError(f"{path}: no valid YAML: {error}; put the value in quotes") from error
    if not isinstance(data, dict):
        found = "this file is empty" if data is None else f"this is a {type(data).__name__}"
        raise ConfigError(f"{path}:1: a pack is a mapping with keys such as `name` and `categories`: {found}")
    known = PackSpec.__struct_fields__
    if data and not any(key in known or nearest(str(key), known) for key in data):
        settings = "; settings are read by `semcache serve --config`" if {"upstream", "server"} & data.keys() else ""
        raise ConfigError(
            f"{path}:1: this is no policy pack: it holds {', '.join(map(str, [*data][:5]))}, and none of the keys of a "
            f"pack ({', '.join(known)}){settings}"
        )
    if twice is not None:
        raise ConfigError(f"{path}:{twice.start_mark.line + 1}: {twice.value} stands here twice: leave one of them")
    return node, data


def _check_names(path: Path, node: yaml.Node | None) -> None:
    """Raise ConfigError for a category, a tenant or the like whose name YAML reads as something else than a text."""
    if (key := misread_key(node)) is not None:
        value = yaml.SafeLoader("").construct_object(key)
        read = "true or false" if isinstance(value, bool) else f"{value!r}"
        raise ConfigError(
            f"{path}:{key.start_mark.line + 1}: YAML reads the name {key.value} as {read}: put it in quotes"
        )


def _problems(path: Path, node: yaml.Node | None, spec: PackSpec) -> Iterator[str]:
    """The mistakes in names and expressions of a pack whose form is right."""
    yield from _problems_of_parts(path, node, spec.ignore_in_system)
    yield from _problems_of_names(path, node, ["defaults"], spec.defaults)
    for name, category in spec.categories.items():
        yield from _problems_of_names(path, node, ["categories", name], category)
        patterns = category.rules.patterns if category.rules else []
        yield from _problems_of_expressions(path, node, ["categories", name, "rules", "patterns"], patterns)


def _converted(path: Path, node: yaml.Node | None, data: dict[str, Any]) -> tuple[list[str], PackSpec | None]:
    """Every mistake of form, each found after those before it were left out, and what is left of the pack."""
    problems: list[str] = []
    mistaken: set[str] = set()
    while len(problems) < _MOST:
        data.setdefault("name", path.stem)
        try:
            return problems, msgspec.convert(data, PackSpec)
        except msgspec.ValidationError as error:
            problem = explain(path, node, str(error), PackSpec, _KINDS)
            dotted = problem.split(": ", 2)[1]
            missing = _MISSING.match(str(error))
            if missing is None or f"{dotted}.{missing[1]}" not in mistaken:
                problems.append(problem)
            mistaken.add(dotted)
            _pruned(node, dotted)
            if not _left_out(data, dotted):
                break
    return problems, None


def _pruned(node: yaml.Node | None, dotted: str) -> None:
    """Take the same out of the file as YAML has it, whose lines stay what they are."""
    if not isinstance(node, yaml.MappingNode):
        return
    node.value = [pair for pair in node.value if str(pair[0].value) != dotted]
    for key, value in node.value:
        if dotted.startswith(f"{key.value}."):
            _pruned(value, dotted[len(str(key.value)) + 1 :])


def _left_out(data: Any, dotted: str) -> bool:
    """Take out of the pack what stands under these keys; False where nothing does."""
    if isinstance(data, list):
        place, _, rest = dotted.partition(".")
        return place.isdigit() and int(place) < len(data) and bool(rest) and _left_out(data[int(place)], rest)
    if not isinstance(data, dict):
        return False
    if dotted in data:
        del data[dotted]
        return True
    return any(_left_out(data[key], dotted[len(key) + 1 :]) for key in data if dotted.startswith(f"{key}."))


def _problems_of_expressions(
    path: Path, node: yaml.Node | None, keys: list[str], expressions: Iterable[str], *, filled: bool = False
) -> Iterator[str]:
    """The mistakes in regular expressions; one that has to be `filled` may not match an empty text."""
    where = f"{path}:{line(node, keys)}: {'.'.join(keys)}"
    for expression in expressions:
        try:
            empty = re.search(expression, "") is not None
        except re.error as error:
            yield f"{where}: {expression!r} is no regular expression: {error}"
        else:
            if filled and empty:
                yield f"{where}: {expression!r} matches an empty text, too: say what has to be there"


def _problems_of_parts(path: Path, node: yaml.Node | None, entries: Sequence[str]) -> Iterator[str]:
    keys, expressions = ["ignore_in_system"], []
    for entry in entries:
        if entry.isidentifier() and entry not in NAMED and (hint := nearest(entry, [*NAMED])):
            where = f"{path}:{line(node, keys)}: {keys[0]}"
            yield f"{where}: no part is called {entry!r}{hint}; '\\b{entry}\\b' is the word"
        else:
            expressions.append(entry)
    yield from _problems_of_expressions(path, node, keys, expressions, filled=True)


def _problems_of_names(path: Path, node: yaml.Node | None, keys: list[str], spec: CategorySpec) -> Iterator[str]:
    for field, (kind, built_in) in _NAMED.items():
        said = getattr(spec, field)
        for name in said if isinstance(said, list) else [said] if said is not None else []:
            if name not in built_in and name not in plugins.names(kind):
                where = [*keys, field]
                problem = plugins.unknown(kind, name, built_in)
                yield f"{path}:{line(node, where)}: {'.'.join(where)}: {problem}"


def _spell_off(data: dict[str, Any]) -> None:
    """YAML reads `verify: off`, `verdicts: off`, `wording: off`, `de: off` and `near: off` as false."""
    if data.get("near") is False:
        data["near"] = None
    categories = data.get("categories")
    for one in [data.get("defaults"), *(categories.values() if isinstance(categories, dict) else ())]:
        for field in ("verify", "verdicts"):
            if isinstance(one, dict) and one.get(field) is False:
                one[field] = "off"
        by_language = one.get("wording_by_language") if isinstance(one, dict) else None
        for fields in (one, by_language):
            for field in ("wording", *get_args(WordingLanguage)):
                if isinstance(fields, dict) and fields.get(field) in (False, "off"):
                    fields[field] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a pack file, for editors and `semcache policy lint`, with the names of installed plug-ins."""
    schema = msgspec.json.schema(PackSpec)
    fields = schema["$defs"]["CategorySpec"]["properties"]
    for field, (kind, built_in) in _NAMED.items():
        known: dict[str, Any] = {"enum": sorted({*built_in, *plugins.names(kind)})}
        several = fields[field]["anyOf"][0]["type"] == "array"
        fields[field]["anyOf"][0] = {"type": "array", "items": known} if several else known
    fields["wording"]["anyOf"].append({"const": "off"})
    by_language = fields["wording_by_language"]["anyOf"][0]
    by_language["additionalProperties"] = {"anyOf": [by_language["additionalProperties"], {"const": "off"}]}
    return schema
