"""Settings: their sources, their values, and the check for values that are too dangerous to start with.

Knows the command line and the environment only as arguments. Invariant: settings that exist are valid, and each knows
its source; every mistake is a ConfigError that names file and line, variable or option, and the nearest valid name.

Order: command line, environment (`SEMCACHE_STORE__URL`), `semcache.yaml`, defaults.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, SecretStr, ValidationError

from semcache.config.sections import (
    AuthSection,
    BackgroundSection,
    CacheSection,
    DecisionsSection,
    JudgeSection,
    LimitsSection,
    LogSection,
    NearSection,
    PlansSection,
    RoutingSection,
    Section,
    ServerSection,
    StorageSection,
    TracesSection,
    UpstreamSection,
    VerdictsSection,
    VerifierSection,
    sendable,
)
from semcache.config.setting_mistakes import instead_of_section, is_of_pack, remedy_of
from semcache.errors import ConfigError
from semcache.runtime.unix_address import unix_path

PREFIX = "SEMCACHE_"
FILE_VARIABLE = "SEMCACHE_CONFIG"
FILE_NAME = "semcache.yaml"
MASK = "**********"
# What Kubernetes sets for a Service named semcache: these, and SEMCACHE_PORT to a URL.
_KUBERNETES = re.compile(
    r"SEMCACHE_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|SEMCACHE_PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?"
)
# In the URL of a database a password may hold "/" and "@" as they are; in any other URL "/" ends it.
_PASSWORD = re.compile(r"(?<=://).*(?=@)|(?<=password=)[^&]*", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(?<=://)[^/@?#\s]*(?=@)")


def _at_home(path: Path) -> Path:
    """The path with a leading ~ as a shell reads it, which reads none in a file or in quotes."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"{str(path)!r} names a home that cannot be found: write the whole path") from error


class Settings(Section):
    """Everything that can be set. Made by `load`."""

    upstream: UpstreamSection = Field(default_factory=UpstreamSection)
    routing: RoutingSection = Field(default_factory=RoutingSection)
    server: ServerSection = Field(default_factory=ServerSection)
    store: StorageSection = Field(default_factory=StorageSection)
    data: Annotated[Path, AfterValidator(_at_home)] = Path(".semcache")
    policies: str = "default"
    embedder: str = "default"
    cache: CacheSection = Field(default_factory=CacheSection)
    judge: JudgeSection = Field(default_factory=JudgeSection)
    verifier: VerifierSection = Field(default_factory=VerifierSection)
    verdicts: VerdictsSection = Field(default_factory=VerdictsSection)
    background: BackgroundSection = Field(default_factory=BackgroundSection)
    plans: PlansSection = Field(default_factory=PlansSection)
    near: NearSection = Field(default_factory=NearSection)
    decisions: DecisionsSection = Field(default_factory=DecisionsSection)
    auth: AuthSection = Field(default_factory=AuthSection)
    limits: LimitsSection = Field(default_factory=LimitsSection)
    traces: TracesSection = Field(default_factory=TracesSection)
    log: LogSection = Field(default_factory=LogSection)
    prices: Path | None = None

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    _openai_key: SecretStr | None = PrivateAttr(default=None)

    @classmethod
    def load(cls, cli: Mapping[str, Any], env: Mapping[str, str], file: Path | None) -> Settings:
        """Merge the sources.

        `cli` maps dotted keys ("server.port") to values, None for options not given; `env` is the whole environment;
        `file` is a file that must exist, or None for none (see `find_file`). Raises ConfigError.
        """
        layers = [_defaults(env), _from_file(file), _from_env(env), _from_cli(cli)]
        values: dict[str, Any] = {}
        sources: dict[str, str] = {}
        for layer in layers:
            for key, value, source in layer:
                values[key], sources[key] = value, source
        try:
            settings = cls.model_validate(_nest(values))
        except ValidationError as error:
            raise ConfigError("\n".join(_explain(problem, sources) for problem in error.errors())) from error
        settings._sources.update(sources)
        settings._check_sizes()
        settings._check_store()
        key = env.get("OPENAI_API_KEY", "").strip()
        try:
            settings._openai_key = sendable(SecretStr(key)) if key else None
        except ValueError as error:
            raise ConfigError(f"OPENAI_API_KEY: {error}") from None
        return settings

    def _check_sizes(self) -> None:
        """Raise ConfigError if a body may be larger than what is held at once: it would wait and be refused as busy."""
        server = self.server
        for name in ("max_tenant_in_flight", "max_in_flight"):
            most = getattr(server, name)
            if server.max_body > most:
                told = [self._sources[key] for key in ("server.max_body", f"server.{name}") if key in self._sources]
                raise ConfigError(
                    f"{' and '.join(told) or 'settings'}: server.max_body is {server.max_body} bytes, and a body of "
                    f"that size never fits into server.{name}, {most}: raise that, or lower server.max_body"
                )

    def _check_store(self) -> None:
        """Raise ConfigError for a bound on a database that is none of SQLite."""
        scheme, found, _ = self.store_url.partition("://")
        if self.store.max_bytes is not None and found and scheme.partition("+")[0] != "sqlite":
            where = self._sources.get("store.max_bytes", "settings")
            raise ConfigError(
                f"{where}: store.max_bytes bounds SQLite alone, and store.url names {scheme}: leave it out, and bound "
                "the entries with `quota` or `capacity` of the pack"
            )

    @property
    def fallback_key(self) -> SecretStr | None:
        """`OPENAI_API_KEY`, for clients that send no credentials; None where `upstream.api_key` is set."""
        return None if self.upstream.api_key else self._openai_key

    @property
    def store_url(self) -> str:
        """The database's URL, as SQLAlchemy spells it without a driver."""
        url = self.store.url
        return url.get_secret_value() if url else f"sqlite:///{self.data / 'semcache.db'}"

    def with_hot(self, newer: Settings) -> Settings:
        """These settings with what may change in a running server: policies, target, prices and limits."""
        cache = self.cache.model_copy(update={"target": newer.cache.target})
        hot = {"policies": newer.policies, "prices": newer.prices, "limits": newer.limits, "cache": cache}
        return self.model_copy(update=hot)

    def explain(self) -> list[tuple[str, str, str]]:
        """Every key as (dotted name, value with secrets masked, source), in the order of the fields."""
        return [(key, _show(value), self._sources.get(key, "default")) for key, value in _flatten(self)]


def find_file(env: Mapping[str, str], folder: Path) -> Path | None:
    """The settings file that was not named on the command line: `SEMCACHE_CONFIG`, or semcache.yaml in `folder`."""
    if env.get(FILE_VARIABLE):
        return Path(env[FILE_VARIABLE])
    path = folder / FILE_NAME
    return path if path.is_file() else None


def is_loopback(host: str) -> bool:
    """Return True if only this machine can connect to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Return True if only this machine can connect to a server at `host`, an address or a Unix socket."""
    return unix_path(host) is not None or is_loopback(host)


def check_exposure(settings: Settings, has_keys: bool) -> None:
    """Raise ConfigError when other machines could use the cache without a key and no setting allows it."""
    server, required = settings.server, settings.auth.required
    protected = required or (has_keys and required is not False)
    if is_local(server.host) or protected or (required is False and server.insecure):
        return
    found = "auth.required is false" if has_keys else "there is no API key"
    raise ConfigError(
        f"server.host is {server.host!r}, which other machines can reach, and {found}: make a key with "
        "`semcache keys create`, listen on 127.0.0.1, or set both auth.required=false and server.insecure=true"
    )


Layer = Iterator[tuple[str, Any, str]]


def _defaults(env: Mapping[str, str]) -> Layer:
    """The data folder, which depends on the user (XDG Base Directory Specification)."""
    homes = [Path(env.get("XDG_DATA_HOME", "")), Path(env.get("HOME", "")) / ".local" / "share"]
    home = next((path for path in homes if path.is_absolute()), None)
    yield "data", home / "semcache" if home else Path(".semcache"), "default"


def _from_cli(cli: Mapping[str, Any]) -> Layer:
    for key, value in cli.items():
        if value is not None:
            if key not in KEYS:
                raise ConfigError(f"command line: {key} is no setting{_nearest(key, KEYS)}")
            yield key, value, "command line"


def _from_env(env: Mapping[str, str]) -> Layer:
    known = {PREFIX + key.replace(".", "__").upper(): key for key in KEYS}
    for name in sorted(env):
        if name.startswith(PREFIX) and name != FILE_VARIABLE and not _is_of_kubernetes(name, env[name]):
            if name not in known:
                # Of SEMCACHE_PORT only the section was left out.
                meant = [key for key in known if key.endswith(f"__{name.removeprefix(PREFIX)}")]
                others = meant or [*known, FILE_VARIABLE]
                raise ConfigError(f"environment: {name} is no setting{_nearest(name, others)}")
            # An empty variable is how shells and compose files say "not set".
            if env[name].strip():
                yield known[name], env[name].strip(), name


def _is_of_kubernetes(name: str, value: str) -> bool:
    return _KUBERNETES.fullmatch(name) is not None or (name == "SEMCACHE_PORT" and "://" in value)


def _from_file(file: Path | None) -> Layer:
    if file is None:
        return
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except FileNotFoundError as error:
        raise ConfigError(f"{file}: no such file; --config and SEMCACHE_CONFIG name the settings file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as UTF-8 text: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: no valid YAML: lists or mappings lie too deep in each other") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        said = str(getattr(error, "problem", error))
        remedy = "; indent with spaces" if "'\\t'" in said else ""
        raise ConfigError(f"{where}: no valid YAML: {said}{remedy}") from error
    told: set[str] = set()
    for key, value, where in _walk(file, root, "") if root is not None else ():
        if key in told:
            raise ConfigError(f"{where}: {key} stands here twice: leave one of them")
        told.add(key)
        yield key, value, where


def _walk(file: Path, node: yaml.Node, prefix: str) -> Layer:
    if not isinstance(node, yaml.MappingNode):
        name, where = prefix.rstrip("."), f"{file}:{node.start_mark.line + 1}"
        if name:
            raise ConfigError(f"{where}: {instead_of_section(name, SECTIONS[name].model_fields)}")
        raise ConfigError(f"{where}: the file must be a mapping of settings")
    for key_node, value_node in node.value:
        key, where = f"{prefix}{key_node.value}", f"{file}:{key_node.start_mark.line + 1}"
        if key in SECTIONS:
            if not (isinstance(value_node, yaml.ScalarNode) and value_node.tag.endswith(":null")):
                yield from _walk(file, value_node, key + ".")
        elif key in KEYS:
            try:
                value = yaml.SafeLoader("").construct_object(value_node, deep=True)
            except (yaml.YAMLError, ValueError) as error:  # a tag that nobody knows, a date that there is not
                said = getattr(error, "problem", None) or error
                raise ConfigError(f"{where}: {key}: no valid YAML: {said}; put the value in quotes") from error
            yield key, value, where
        else:
            if not prefix and is_of_pack(key):
                raise ConfigError(f"{where}: {key} belongs into a policy pack, which `policies` or --policies names")
            siblings = [name for name in (*KEYS, *SECTIONS) if name.startswith(prefix)]
            raise ConfigError(f"{where}: {key} is no setting{_nearest(key, siblings)}")


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        *sections, field = key.split(".")
        inner = nested
        for name in sections:
            inner = inner.setdefault(name, {})
        inner[field] = value
    return nested


def _explain(problem: Any, sources: Mapping[str, str]) -> str:
    path = [str(step) for step in problem["loc"]]
    key = next((name for at in range(len(path), 0, -1) if (name := ".".join(path[:at])) in KEYS), ".".join(path[:2]))
    source = sources.get(key, "settings")
    said = problem["msg"].removeprefix("Value error, ")
    given = "" if _is_secret(key) or repr(problem["input"]) in said else f", not {problem['input']!r}"
    remedy = remedy_of(problem["type"], problem["input"], is_size="function _size " in _kind(key))
    return f"{source}: {key}: {said}{given}{remedy}"


def _is_secret(key: str) -> bool:
    return "SecretStr" in _kind(key)


def _kind(key: str) -> str:
    """The type of a setting, with what reads its values."""
    section, _, field = key.rpartition(".")
    model: type[BaseModel] = SECTIONS[section] if section else Settings
    found = model.model_fields.get(field)
    return "" if found is None else f"{found.annotation} {found.metadata}"


def _flatten(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _show(value: Any) -> str:
    if isinstance(value, SecretStr):
        plain = value.get_secret_value()
        return _PASSWORD.sub(MASK, plain) if "://" in plain else MASK
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else _masked(str(value))


def _masked(text: str) -> str:
    """A text without the credentials of the URLs in it."""
    return _CREDENTIALS.sub(MASK, text)


def _nearest(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(known))}"


def _sections(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """The sections of a model by dotted name, each before those within it."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield prefix + name, kind
            yield from _sections(kind, f"{prefix}{name}.")


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name in model.model_fields:
        section = SECTIONS.get(prefix + name)
        if section is None:
            yield prefix + name
        else:
            yield from _keys(section, f"{prefix}{name}.")


SECTIONS: dict[str, type[BaseModel]] = dict(_sections(Settings))
KEYS: tuple[str, ...] = tuple(_keys(Settings))
