"""Policy packs: their schema, how they are found and read, and what they say of one category.

A pack is a YAML file. Knows nothing of requests, indexes or strategies beyond their names.
Invariant: a `Pack` that exists is valid; every mistake in a file is a ConfigError that names file, line, key and the
remedy.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
import yaml

from semcache.errors import ConfigError

Score = Annotated[float, msgspec.Meta(ge=-1.0, le=1.0, description="cosine similarity, higher is closer")]
Rate = Annotated[float, msgspec.Meta(gt=0.0, lt=1.0, description="a share of served hits")]
Duration = Annotated[
    str, msgspec.Meta(pattern=r"^\d+(\.\d+)?\s*(s|m|h|d|w)$", description="a number and a unit: 90s, 15m, 12h, 7d, 2w")
]
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
_PLAIN = (
    "cache",
    "semantic",
    "strategy",
    "threshold",
    "prior",
    "target",
    "contract",
    "audit",
    "verify",
    "context",
    "stale",
    "learn_ttl",
    "eviction",
    "wrong_cost",
    "quota",
    "live",
    "personal",
    "creative",
    "max_temperature",
    "max_chars",
)
Strategy = Literal["static", "per-category", "vcache", "certified"]
Profile = Literal["any", "service", "questions"]
EvictionName = Literal["value", "lru", "lfu", "sieve", "s3-fifo", "w-tinylfu", "gdsf", "lec"]
_DURATIONS = ("ttl", "change_every", "revalidate")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


class Rules(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What puts a request into a category without asking the embedder. Any match is enough."""

    patterns: list[str] = []
    """Regular expressions searched in the last user turn, ignoring case."""
    models: list[str] = []
    """Shell-style patterns of model names."""


class CategorySpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One kind of traffic. A field left out is taken from the pack's `defaults`."""

    description: str | None = None
    cache: bool | None = None
    """False: neither read nor write."""
    semantic: bool | None = None
    """False: only the exact tier."""
    strategy: Strategy | None = None
    """What decides whether a neighbour is served."""
    threshold: Score | None = None
    """Serve a neighbour whose score is at least this; every other strategy than `static` ignores it."""
    prior: Profile | None = None
    """What the category's traffic is like, before anything was learned of it: `certified` starts from that."""
    target: Rate | None = None
    """The error to keep in this category, where it is not the pack's."""
    contract: Literal["hit", "request"] | None = None
    """What the target is a share of: hits by meaning, or all requests that were looked up."""
    audit: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    """The highest share of hits by meaning that the backend is asked about all the same, to learn from."""
    verify: Literal["off", "verifier", "llm"] | None = None
    """Who is asked, while the client waits, about neighbours too uncertain to be served without."""
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
    eviction: EvictionName | None = None
    """What goes first when the category is full."""
    wrong_cost: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """US dollars that a wrong answer costs; it raises the hit rate from which the category pays."""
    guards: list[GuardName] | None = None
    live: bool | None = None
    """True: prompts about the present moment ("right now", "today") may be cached."""
    personal: bool | None = None
    """True: prompts about the caller ("my order") may be cached; only sensible with `share: user`."""
    creative: bool | None = None
    """True: prompts that ask for something new each time may be cached."""
    max_temperature: Annotated[float, msgspec.Meta(ge=0.0)] | None = None
    """A request that asks for a higher temperature is not cached."""
    max_chars: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Longer prompts use the exact tier only."""
    rules: Rules | None = None
    examples: list[str] | None = None
    """Prompts of this category; a request joins the category with the nearest centroid."""


class PackSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The file."""

    name: str
    description: str = ""
    share: Literal["tenant", "user"] = "tenant"
    """Who shares answers: everyone of a tenant, or each user alone."""
    target: Rate = 0.01
    """The error that the operator accepts."""
    confidence: Annotated[float, msgspec.Meta(gt=0.5, lt=1.0)] = 0.95
    """How sure a certificate of the error has to be."""
    relax_to: Rate | None = None
    """The error accepted while the backend is overloaded; never less than `target`."""
    capacity: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Entries of all categories together: a category may use what others leave unused. Left out, quotas are strict."""
    min_margin: Score = 0.25
    """A request whose best centroid scores below this joins the category `default`."""
    overlap: Annotated[float, msgspec.Meta(ge=0.0, le=2.0)] = 0.05
    """Paraphrases are also sought in categories whose centroid scores less than this below the best one."""
    defaults: CategorySpec = msgspec.field(default_factory=CategorySpec)
    categories: dict[str, CategorySpec] = {}


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """A category with every field settled."""

    name: str
    description: str = ""
    cache: bool = True
    semantic: bool = True
    strategy: Strategy = "certified"
    threshold: float = 0.92
    prior: Profile = "any"
    target: float | None = None
    contract: Literal["hit", "request"] = "hit"
    audit: float = 0.1
    verify: Literal["off", "verifier", "llm"] = "off"
    context: Literal["exact", "semantic"] = "exact"
    ttl: float = 7 * 86400.0
    learn_ttl: bool = True
    change_every: float | None = None
    stale: float = 0.02
    revalidate: float = 0.0
    quota: int = 100_000
    eviction: EvictionName = "value"
    wrong_cost: float = 0.0
    guards: tuple[GuardName, ...] = GUARDS
    live: bool = False
    personal: bool = False
    creative: bool = False
    max_temperature: float = 1.0
    max_chars: int = 1000
    patterns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """A valid policy pack. `categories` always holds "default"."""

    name: str
    description: str
    share: Literal["tenant", "user"]
    target: float
    min_margin: float
    overlap: float = 0.05
    confidence: float = 0.95
    relax_to: float | None = None
    capacity: int | None = None
    categories: dict[str, Category]
    source: str = ""

    def of(self, category: str) -> Category:
        """The category of that name, or "default" when the pack has none."""
        return self.categories.get(category) or self.categories["default"]

    def target_of(self, category: str) -> float:
        """The error to keep in a category."""
        own = self.of(category).target
        return self.target if own is None else own

    def with_target(self, target: float) -> Pack:
        """The same pack with another error target, in every category."""
        categories = {name: msgspec.structs.replace(one, target=None) for name, one in self.categories.items()}
        return msgspec.structs.replace(self, target=target, categories=categories)


def duration(text: str) -> float:
    """Seconds of "90s", "15m", "12h", "7d" or "2w". Raises ConfigError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if match is None:
        raise ConfigError(f"{text!r} is no duration: write a number and one of s, m, h, d, w, such as 12h")
    return float(match[1]) * _UNITS[match[2]]


@cache
def packs_dir() -> Path:
    """The folder of the shipped packs: inside the wheel, or at the root of a checkout."""
    here = Path(__file__).parent
    shipped = here / "policies"
    return shipped if shipped.is_dir() else here.parent / "policies"


def packs() -> list[str]:
    """Names of the shipped packs."""
    return sorted(path.stem for path in packs_dir().glob("*.yaml"))


def load(name_or_path: str) -> Pack:
    """Read the pack of that name, the YAML file, or the folder of YAML files (merged in name order).

    Raises ConfigError with file, line, key and the nearest valid name.
    """
    path = Path(name_or_path)
    if path.is_dir():
        files = sorted(path.glob("*.yaml"))
        if not files:
            raise ConfigError(f"{path}: no *.yaml file in this folder; `semcache policy show default` prints a start")
        first, *rest = [_read(file) for file in files]
        merged = first.categories
        for spec in rest:
            merged = merged | spec.categories
        first.categories = merged
        return _settle(first, str(path))
    if path.suffix in (".yaml", ".yml"):
        return _settle(_read(path), str(path))
    shipped = packs_dir() / f"{name_or_path}.yaml"
    if not shipped.is_file():
        hint = _nearest(name_or_path, packs())
        raise ConfigError(f"no policy pack {name_or_path!r}{hint}; shipped: {', '.join(packs())}")
    return _settle(_read(shipped), str(shipped))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a pack file, for editors and `semcache policy lint`."""
    return msgspec.json.schema(PackSpec)


def _read(path: Path) -> PackSpec:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: no valid YAML: {getattr(error, 'problem', error)}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}:1: a pack is a mapping with the key `name`, not {type(data).__name__}")
    data.setdefault("name", path.stem)
    for key in data.get("categories") or {} if isinstance(data.get("categories"), dict) else {}:
        if not isinstance(key, str):
            said = "on, off, yes and no are read as true and false" if isinstance(key, bool) else "names are texts"
            raise ConfigError(f"{path}: categories: {key!r} is no name of a category ({said}): put it in quotes")
    _spell_off(data)
    try:
        spec = msgspec.convert(data, PackSpec)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(path, node, str(error))) from error
    for name, category in spec.categories.items():
        for pattern in category.rules.patterns if category.rules else []:
            try:
                re.compile(pattern)
            except re.error as error:
                keys = ["categories", name, "rules", "patterns"]
                where = f"{path}:{_line(node, keys)}: {'.'.join(keys)}"
                raise ConfigError(f"{where}: {pattern!r} is no regular expression: {error}") from error
    return spec


def _spell_off(data: dict[str, Any]) -> None:
    """YAML reads `verify: off` as false."""
    categories = data.get("categories")
    for one in [data.get("defaults"), *(categories.values() if isinstance(categories, dict) else ())]:
        if isinstance(one, dict) and one.get("verify") is False:
            one["verify"] = "off"


def _settle(spec: PackSpec, source: str) -> Pack:
    base = _merge(Category(name="default"), spec.defaults, "default")
    named = {name: _merge(base, category, name) for name, category in spec.categories.items()}
    named.setdefault("default", base)
    return Pack(
        name=spec.name,
        description=spec.description,
        share=spec.share,
        target=spec.target,
        min_margin=spec.min_margin,
        overlap=spec.overlap,
        confidence=spec.confidence,
        relax_to=spec.relax_to,
        capacity=spec.capacity,
        categories=named,
        source=source,
    )


def _merge(base: Category, spec: CategorySpec, name: str) -> Category:
    changes: dict[str, Any] = {"name": name, "description": spec.description or ""}
    for key in _PLAIN:
        value = getattr(spec, key)
        if value is not None:
            changes[key] = value
    for key in _DURATIONS:
        value = getattr(spec, key)
        if value is not None:
            changes[key] = duration(value)
    if spec.guards is not None:
        changes["guards"] = tuple(spec.guards)
    rules = spec.rules or Rules()
    changes["patterns"], changes["models"] = tuple(rules.patterns), tuple(rules.models)
    changes["examples"] = tuple(spec.examples or ())
    return msgspec.structs.replace(base, **changes)


def _explain(path: Path, node: yaml.Node | None, message: str) -> str:
    """Turn msgspec's "… - at `$.categories[...].x`" into file, line, dotted key and a remedy."""
    text, _, where = message.partition(" - at `")
    steps = [step for step in re.split(r"[.\[\]]+", where.rstrip("`").removeprefix("$").replace("[...]", ".*")) if step]
    unknown = re.search(r"unknown field `([^`]+)`", text)
    keys = _resolve(node, steps, unknown[1] if unknown else None)
    dotted = ".".join(keys) or "the file"
    hint = _nearest(unknown[1], _fields(keys[:-1])) if unknown else ""
    return f"{path}:{_line(node, keys)}: {dotted}: {text.strip()}{hint}"


def _resolve(node: yaml.Node | None, steps: list[str], unknown: str | None) -> list[str]:
    """Name the keys behind msgspec's path, whose mapping keys read `*`, by looking for the first that fails."""
    keys: list[str] = []
    for position, step in enumerate(steps):
        if step != "*":
            keys.append(step)
            continue
        parent = _descend(node, keys)
        rest = steps[position + 1 :]
        for key, _ in getattr(parent, "value", []):
            trial = [*keys, key.value]
            try:
                msgspec.convert(_plain(_descend(node, trial)), CategorySpec)
            except msgspec.ValidationError:
                keys = trial
                break
        else:
            return keys + rest
    return [*keys, unknown] if unknown else keys


def _plain(node: yaml.Node | None) -> Any:
    return yaml.SafeLoader("").construct_object(node, deep=True) if node is not None else None


def _descend(node: yaml.Node | None, keys: list[str]) -> yaml.Node | None:
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if str(name.value) == key), None)
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
        else:
            return None
    return node


def _line(node: yaml.Node | None, keys: list[str]) -> int:
    """The 1-based line of the deepest of `keys` that exists in the file."""
    line = 1
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((name, value) for name, value in node.value if str(name.value) == key), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _fields(keys: list[str]) -> list[str]:
    if keys and keys[-1] == "rules":
        return list(Rules.__struct_fields__)
    return list(CategorySpec.__struct_fields__ if keys else PackSpec.__struct_fields__)


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
