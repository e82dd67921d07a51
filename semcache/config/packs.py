"""Policy packs: loads them, and fills in every field of each category.

Knows nothing of requests, indexes or strategies except their names. Invariant: a `Pack` that exists is valid, and a
field that a category leaves out has the value of the pack's `defaults`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from semcache.config.agent_packs import ModelSpec, NearSpec, ToolSpec
from semcache.config.pack_schema import (
    GUARDS,
    WORDING,
    CategorySpec,
    PackSpec,
    Profile,
    RuleSpec,
    VerdictMode,
    WordingEdit,
    WordingLanguage,
    read,
)
from semcache.config.yaml_mistakes import nearest
from semcache.errors import ConfigError
from semcache.runtime.durations import duration

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
    "verdicts",
    "context",
    "stale",
    "learn_ttl",
    "eviction",
    "wrong_cost",
    "quota",
    "quorum",
    "live",
    "personal",
    "creative",
    "max_temperature",
    "max_chars",
)
_DURATIONS = ("ttl", "change_every", "revalidate")


class Category(msgspec.Struct, frozen=True, kw_only=True):
    """A category with every field settled."""

    name: str
    description: str = ""
    cache: bool = True
    semantic: bool = True
    strategy: str = "certified"
    threshold: float = 0.92
    prior: Profile = "any"
    target: float | None = None
    contract: Literal["hit", "request"] = "hit"
    audit: float = 0.1
    verify: Literal["off", "verifier", "llm"] = "off"
    verdicts: VerdictMode | None = None
    context: Literal["exact", "semantic"] = "exact"
    ttl: float = 7 * 86400.0
    learn_ttl: bool = True
    change_every: float | None = None
    stale: float = 0.02
    revalidate: float = 0.0
    quota: int = 100_000
    quorum: int = 1
    eviction: str = "value"
    wrong_cost: float = 0.0
    guards: tuple[str, ...] = GUARDS
    wording: tuple[WordingEdit, ...] = WORDING
    wording_by_language: tuple[tuple[WordingLanguage, tuple[WordingEdit, ...]], ...] = ()
    live: bool = False
    personal: bool = False
    creative: bool = False
    max_temperature: float = 1.0
    max_chars: int = 1000
    patterns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def asked(self) -> Literal["off", "verifier", "llm"]:
        """Who is asked while the client waits: `verify`, but never the local verifier where requests are counted."""
        return "off" if self.verify == "verifier" and self.contract == "request" else self.verify


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """A valid policy pack. `categories` always holds "default"."""

    name: str
    description: str
    share: Literal["tenant", "user"]
    ignore_in_system: tuple[str, ...] = ()
    target: float
    min_margin: float
    overlap: float = 0.2
    confidence: float = 0.95
    relax_to: float | None = None
    tenants: tuple[tuple[str, tuple[str, ...]], ...] = ()
    capacity: int | None = None
    categories: dict[str, Category]
    tools: dict[str, ToolSpec] = {}
    models: dict[str, ModelSpec] = {}
    near: NearSpec | None = None
    source: str = ""

    def of(self, category: str) -> Category:
        """The category of that name, or "default" when the pack has none."""
        return self.categories.get(category) or self.categories["default"]

    def target_of(self, category: str) -> float:
        """The error to keep in a category."""
        own = self.of(category).target
        return self.target if own is None else own

    def class_of(self, tenant: str) -> str:
        """The first class of tenants that names this one; any other is a class of its own."""
        for name, patterns in self.tenants:
            if any(fnmatchcase(tenant, pattern) for pattern in patterns):
                return name
        return tenant

    def with_target(self, target: float) -> Pack:
        """The same pack with another error target, in every category."""
        categories = {name: msgspec.structs.replace(one, target=None) for name, one in self.categories.items()}
        return msgspec.structs.replace(self, target=target, categories=categories)


@cache
def packs_dir() -> Path:
    """The folder of the shipped packs: inside the wheel, or at the root of a checkout."""
    here = Path(__file__).parent.parent
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
    try:
        is_folder = path.is_dir()
    except OSError as error:
        raise ConfigError(f"policy pack {name_or_path[:80]!r}: {error.strerror or error}") from error
    if is_folder:
        files = sorted(path.glob("*.yaml"))
        if not files:
            raise ConfigError(f"{path}: no *.yaml file in this folder; `semcache policy show default` prints a start")
        first, *rest = [read(file) for file in files]
        for spec in rest:
            first.categories = first.categories | spec.categories
            first.tools, first.models = first.tools | spec.tools, first.models | spec.models
        return _settle(first, str(path))
    if path.suffix in (".yaml", ".yml"):
        return _settle(read(path), str(path))
    if path.is_file():
        raise ConfigError(
            f"{path} is no policy pack: that is a file named *.yaml or *.yml, a folder of such files, or one of those "
            f"that ship: {', '.join(packs())}"
        )
    if path.name != name_or_path:
        raise ConfigError(f"{path}: no such file or folder")
    shipped = packs_dir() / f"{name_or_path}.yaml"
    if not shipped.is_file():
        hint = nearest(name_or_path, packs())
        raise ConfigError(f"no policy pack {name_or_path!r}{hint}; shipped: {', '.join(packs())}")
    return _settle(read(shipped), str(shipped))


def _settle(spec: PackSpec, source: str) -> Pack:
    base = _merge(Category(name="default"), spec.defaults, "default")
    named = {name: _merge(base, category, name) for name, category in spec.categories.items()}
    named.setdefault("default", base)
    return Pack(
        name=spec.name,
        description=spec.description,
        share=spec.share,
        ignore_in_system=tuple(spec.ignore_in_system),
        target=spec.target,
        min_margin=spec.min_margin,
        overlap=spec.overlap,
        confidence=spec.confidence,
        relax_to=spec.relax_to,
        tenants=tuple([(name, tuple(patterns)) for name, patterns in spec.tenants.items()]),
        capacity=spec.capacity,
        categories=named,
        tools=spec.tools,
        models=spec.models,
        near=spec.near,
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
    if spec.wording is not None:
        changes["wording"] = tuple(spec.wording)
    if spec.wording_by_language is not None:
        by_language = spec.wording_by_language
        changes["wording_by_language"] = tuple((one, tuple(by_language[one])) for one in sorted(by_language))
    rules = spec.rules or RuleSpec()
    changes["patterns"], changes["models"] = tuple(rules.patterns), tuple(rules.models)
    changes["examples"] = tuple(spec.examples or ())
    return msgspec.structs.replace(base, **changes)
