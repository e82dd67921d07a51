"""Plug-ins of installed packages: finds their entry points, and makes parts of the cache from them.

A package declares `[project.entry-points."semcache.KIND"]`, with `NAME = "module:maker"`, and NAME can be used wherever
the built-in names of that kind can. Knows the kinds and their Protocols, nothing of the built-in parts, and imports
nothing of a package before its name is used. Invariant: every fault of a plug-in is a ConfigError that names package
and entry point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

from semcache.config.yaml_mistakes import nearest
from semcache.errors import ConfigError, SemcacheError
from semcache.protocols import Backend, Embedder, EntryStore, Eviction, Guard, Judge, Threshold

T = TypeVar("T")

KINDS: Mapping[str, type] = {
    "embedders": Embedder,
    "stores": EntryStore,
    "judges": Judge,
    "strategies": Threshold,
    "evictions": Eviction,
    "guards": Guard,
    "backends": Backend,
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package, not imported yet."""

    kind: str
    name: str
    package: str
    version: str
    point: metadata.EntryPoint

    def __str__(self) -> str:
        return f"plug-in {self.name!r} of {self.package} {self.version} (semcache.{self.kind}: {self.point.value})"

    def load(self) -> Callable[..., Any]:
        """Import what it names. Raises ConfigError."""
        try:
            maker = self.point.load()
        except Exception as error:
            raise ConfigError(f"{self} cannot be imported: {_said(error)}; mend or uninstall the package") from error
        if not callable(maker):
            raise ConfigError(f"{self} names a {type(maker).__name__}: it must name a class or function that makes one")
        made: Callable[..., Any] = maker
        return made


def installed(kind: str) -> tuple[Plugin, ...]:
    """The plug-ins of one of `KINDS`, by name."""
    return _found(kind, tuple(sys.path))


def names(kind: str) -> list[str]:
    """The names of the plug-ins of this kind."""
    return sorted({plugin.name for plugin in installed(kind)})


def make(kind: str, name: str, *given: Any, **named: Any) -> Any:
    """Call the maker of that name; what it returns has every method of the kind's Protocol.

    Raises ConfigError for a name that no package has, or two have, and for a maker that fails. What the maker raises of
    `semcache.errors` is passed on.
    """
    found = [plugin for plugin in installed(kind) if plugin.name == name]
    if len(found) != 1:
        claims = "; ".join(map(str, found))
        raise ConfigError(f"{claims} have the same name: uninstall one" if found else unknown(kind, name, ()))
    [plugin] = found
    maker = plugin.load()
    try:
        part = maker(*given, **named)
    except SemcacheError:
        raise
    except Exception as error:
        raise ConfigError(f"{plugin} cannot be made: {_said(error)}") from error
    missing = [member for member in _members(KINDS[kind]) if not _has(part, member)]
    if missing:
        raise ConfigError(f"{plugin} made a {type(part).__name__}, which lacks: {', '.join(missing)}")
    return part


def unknown(kind: str, name: str, built_in: Iterable[str]) -> str:
    """The message for a name that is neither built in nor installed."""
    known = [*built_in, *names(kind)]
    said = f"; there are: {', '.join(known)}" if known else ""
    return f"no {name!r} among the {kind}{nearest(name, known)}{said}"


class PluggableMakers(dict[str, Callable[..., T]]):
    """The built-in makers of a kind by name; any other name is that of a plug-in, and KeyErrors are ConfigErrors."""

    def __init__(self, kind: str, built_in: Mapping[str, Callable[..., T]]) -> None:
        super().__init__(built_in)
        self._kind = kind

    def __missing__(self, name: str) -> Callable[..., T]:
        if name not in names(self._kind):
            raise ConfigError(unknown(self._kind, name, self))
        return lambda *given, **named: make(self._kind, name, *given, **named)


@cache
def _found(kind: str, _: tuple[str, ...]) -> tuple[Plugin, ...]:
    """Remembered for as long as packages are sought in the same places."""
    found = []
    for point in metadata.entry_points(group=f"semcache.{kind}"):
        package, version = (point.dist.name, point.dist.version) if point.dist is not None else ("?", "?")
        found.append(Plugin(kind, point.name, package, version, point))
    return tuple(sorted(found, key=str))


def _members(protocol: type) -> list[str]:
    """The public names that a Protocol asks for, its attributes and those of its parts included."""
    parts = [one for one in protocol.__mro__ if getattr(one, "_is_protocol", False)]
    names = {name for one in parts for name in (*vars(one), *vars(one).get("__annotations__", ()))}
    return sorted(name for name in names if not name.startswith("_"))


def _has(part: object, member: str) -> bool:
    # A property is not asked for its value, which a store that is not open yet does not know.
    return hasattr(type(part), member) or hasattr(part, member)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
