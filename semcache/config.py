"""Settings: what they are, where each comes from, and which are too dangerous to start with.

Knows the command line and the environment only as arguments. Invariant: settings that exist are valid, and each knows
its source; every mistake is a ConfigError that names file and line, variable or option, and the nearest valid name.

Order: command line, environment (`SEMCACHE_STORE__URL`), `semcache.yaml`, defaults.
"""

from __future__ import annotations

import difflib
import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
)

from semcache import plugins
from semcache.errors import ConfigError

PREFIX = "SEMCACHE_"
FILE_VARIABLE = "SEMCACHE_CONFIG"
FILE_NAME = "semcache.yaml"
MASK = "**********"
# What Kubernetes sets for a Service named semcache.
_KUBERNETES = re.compile(r"SEMCACHE_(SERVICE|PORT)(_[A-Z0-9]+)*")
_PASSWORD = re.compile(r"(?<=://)[^/@]*(?=@)|(?<=[?&]password=)[^&]*", re.IGNORECASE)
_UNITS = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9, "b": 1}


def _size(value: Any) -> Any:
    """Bytes of "20 MiB"; a plain number is left to the field's own type."""
    if isinstance(value, str):
        text = value.strip().lower()
        unit = next((unit for unit in _UNITS if text.endswith(unit)), None)
        if unit is not None:
            try:
                return int(float(text.removesuffix(unit)) * _UNITS[unit])
            except ValueError:
                raise ValueError("a size is a number and one of B, KiB, MiB, GiB, kB, MB, GB, such as 20 MiB") from None
    return value


def _switch(value: Any) -> Any:
    """The word "off", which YAML reads as false."""
    return "off" if value is False else value


def _replicas(value: Any) -> Any:
    """Replicas of a text, as the environment has it: URLs by commas, or JSON as in the settings file."""
    if not isinstance(value, str):
        return [{"url": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"is no JSON: {error}") from None
    return [{"url": url.strip()} for url in value.split(",") if url.strip()]


Size = Annotated[int, BeforeValidator(_size), Field(gt=0)]
Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


class Replica(_Section):
    """One of several backends. `events` and `replay` are where a vLLM or SGLang server publishes its KV events."""

    url: str
    kind: Literal["auto", "vllm", "sglang", "semcache", "llamacpp", "openai", "other"] = "auto"
    events: str | None = None
    replay: str | None = None


class Upstream(_Section):
    """The backend, or `replicas` in the place of `url`. Without `api_key` the client's own is passed on.

    `busy_at` is how many calls at once, of one worker, are too many: towards it, a pack's `relax_to` takes effect.
    `cache_salt` keeps the prefix caches of servers that know it apart by tenant; a server is asked what it is first.
    """

    url: str = "https://api.openai.com/v1"
    replicas: Annotated[tuple[Replica, ...], BeforeValidator(_replicas)] = ()
    api_key: SecretStr | None = None
    timeout: Seconds = 600.0
    connect_timeout: Seconds = 10.0
    anthropic_url: str | None = None
    proxy: SecretStr | None = None
    busy_at: Annotated[int, Field(ge=1)] | None = None
    cache_salt: bool = True


class Routing(_Section):
    """How requests are spread over several backends. `max_running` is per backend, None for no limit."""

    session_ttl: Seconds = 600.0
    hold: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    quantum: Annotated[int, Field(gt=0)] = 65_536
    max_running: Annotated[int, Field(ge=1)] | None = None
    assembly: Annotated[Literal["off", "canonical", "stable"], BeforeValidator(_switch)] = "off"


class Server(_Section):
    """Where the proxy listens. `insecure` allows other machines in without API keys."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    max_body: Size = 20 << 20
    admin_token: SecretStr | None = None
    insecure: bool = False


class Storage(_Section):
    """The database; without `url`, SQLite in the data folder. `seal_keys` encrypt entries, newest first, by commas."""

    url: SecretStr | None = None
    seal_keys: SecretStr | None = None


def _judge(name: str) -> str:
    known = ("exact", "normalised", "verifier", "llm")
    if name not in known and name not in plugins.names("judges"):
        raise ValueError(plugins.unknown("judges", name, known))
    return name


JudgeName: TypeAlias = Annotated[str, AfterValidator(_judge)]


class Cache(_Section):
    """The cache itself. `target` None is the policy pack's."""

    hot_bytes: Size = 256 << 20
    target: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    judge: JudgeName = "verifier"
    seed: int | None = None


class Model(_Section):
    """A language model that is asked for one word. `url` None is the upstream."""

    url: str | None = None
    model: str | None = None
    api_key: SecretStr | None = None


class Judge(Model):
    """Who compares answers in the background where `cache.judge` is llm. `timeout` is that of one comparison.

    Of whichever judge it is, `false_yes` is the share of wrong answers that it calls right, `false_no` of right ones
    that it calls wrong: what is learned makes up for them.
    """

    timeout: Seconds = 20.0
    false_yes: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    false_no: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0


class Verifier(Model):
    """Who is asked, while a client waits, about uncertain neighbours of categories whose pack names a verifier.

    "model" is the local one, for `verify: verifier`; "llm" sets up a language model too, for `verify: llm`: `timeout`
    is how long a client waits for that, `accuracy` the share of its verdicts that are right.
    """

    kind: Annotated[Literal["off", "model", "llm"], BeforeValidator(_switch)] = "model"
    timeout: Seconds = 1.5
    accuracy: Annotated[float, Field(gt=0.5, lt=1.0)] = 0.99


class Background(_Section):
    """Calls of the backend that no client waits for, per worker: audits (`audit_rate` a second), revalidation."""

    audit_rate: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    concurrency: Annotated[int, Field(ge=1)] = 4
    waiting: Annotated[int, Field(ge=0)] = 100
    timeout: Seconds = 60.0


class Plans(_Section):
    """Plan templates of agents: what a known plan is used for, and which runs become one.

    `target` is the success below which no plan is used, `life` how many seconds one lives after its last success.
    """

    mode: Annotated[Literal["off", "answer", "hint"], BeforeValidator(_switch)] = "off"
    rule: Literal["explicit", "finished"] = "explicit"
    target: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.9
    life: Seconds = 30 * 86400.0


class Near(_Section):
    """Where the cheaper model of a pack's `near` is asked; `url` None is the upstream. `timeout` is what it has."""

    url: str | None = None
    api_key: SecretStr | None = None
    timeout: Seconds = 20.0


class Auth(_Section):
    """Who may call. `required` None: as soon as a key exists. `expose_scores` shows scores to callers not trusted."""

    required: bool | None = None
    trust_user_header: bool = False
    expose_scores: bool = False


class Log(_Section):
    level: Literal["debug", "info", "warning", "error", "critical"] = "info"


class Settings(_Section):
    """Everything that can be set. Made by `load`."""

    upstream: Upstream = Field(default_factory=Upstream)
    routing: Routing = Field(default_factory=Routing)
    server: Server = Field(default_factory=Server)
    store: Storage = Field(default_factory=Storage)
    data: Path = Path(".semcache")
    policies: str = "default"
    embedder: str = "default"
    cache: Cache = Field(default_factory=Cache)
    judge: Judge = Field(default_factory=Judge)
    verifier: Verifier = Field(default_factory=Verifier)
    background: Background = Field(default_factory=Background)
    plans: Plans = Field(default_factory=Plans)
    near: Near = Field(default_factory=Near)
    auth: Auth = Field(default_factory=Auth)
    log: Log = Field(default_factory=Log)
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
        key = env.get("OPENAI_API_KEY", "").strip()
        settings._openai_key = SecretStr(key) if key else None
        return settings

    @property
    def fallback_key(self) -> SecretStr | None:
        """`OPENAI_API_KEY`, for clients that send no credentials; None where `upstream.api_key` is set."""
        return None if self.upstream.api_key else self._openai_key

    @property
    def store_url(self) -> str:
        """The database's URL, as SQLAlchemy spells it without a driver."""
        url = self.store.url
        return url.get_secret_value() if url else f"sqlite:///{self.data / 'semcache.db'}"

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
    """Whether only this machine can connect to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposure(settings: Settings, has_keys: bool) -> None:
    """Raise ConfigError when other machines could use the cache without a key and nobody said so aloud."""
    server, required = settings.server, settings.auth.required
    protected = required or (has_keys and required is not False)
    if is_loopback(server.host) or protected or (required is False and server.insecure):
        return
    found = "auth.required is false" if has_keys else "there is no API key"
    raise ConfigError(
        f"server.host is {server.host}, which other machines can reach, and {found}: make a key with "
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
        if name.startswith(PREFIX) and name != FILE_VARIABLE and not _KUBERNETES.fullmatch(name):
            if name not in known:
                raise ConfigError(f"environment: {name} is no setting{_nearest(name, [*known, FILE_VARIABLE])}")
            # An empty variable is how shells and compose files say "not set".
            if env[name].strip():
                yield known[name], env[name].strip(), name


def _from_file(file: Path | None) -> Layer:
    if file is None:
        return
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as UTF-8 text: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ConfigError(f"{where}: no valid YAML: {getattr(error, 'problem', error)}") from error
    if root is not None:
        yield from _walk(file, root, "")


def _walk(file: Path, node: yaml.Node, prefix: str) -> Layer:
    if not isinstance(node, yaml.MappingNode):
        name = prefix.rstrip(".") or "the file"
        raise ConfigError(f"{file}:{node.start_mark.line + 1}: {name} must be a mapping of settings")
    for key_node, value_node in node.value:
        key, where = f"{prefix}{key_node.value}", f"{file}:{key_node.start_mark.line + 1}"
        if key in SECTIONS:
            if not (isinstance(value_node, yaml.ScalarNode) and value_node.tag.endswith(":null")):
                yield from _walk(file, value_node, key + ".")
        elif key in KEYS:
            value = yaml.SafeLoader("").construct_object(value_node, deep=True)
            yield key, value, where
        else:
            siblings = [name for name in (*KEYS, *SECTIONS) if name.startswith(prefix)]
            raise ConfigError(f"{where}: {key} is no setting{_nearest(key, siblings)}")


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in values.items():
        section, _, field = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[field] = value
    return nested


def _explain(problem: Any, sources: Mapping[str, str]) -> str:
    key = ".".join(str(step) for step in problem["loc"][:2])
    source = sources.get(key, "settings")
    said = problem["msg"].removeprefix("Value error, ")
    given = "" if _is_secret(key) or repr(problem["input"]) in said else f", not {problem['input']!r}"
    return f"{source}: {key}: {said}{given}"


def _is_secret(key: str) -> bool:
    section, _, field = key.rpartition(".")
    model: type[BaseModel] = SECTIONS[section] if section else Settings
    return field in model.model_fields and "SecretStr" in str(model.model_fields[field].annotation)


def _flatten(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _flatten(value, f"{name}.")
        else:
            yield prefix + name, value


def _show(value: Any) -> str:
    if isinstance(value, SecretStr):
        plain = value.get_secret_value()
        return _PASSWORD.sub(MASK, plain) if "://" in plain else MASK
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nearest(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(sorted(known))}"


SECTIONS: dict[str, type[BaseModel]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
}
KEYS: tuple[str, ...] = tuple(
    key
    for name in Settings.model_fields
    for key in ([f"{name}.{field}" for field in SECTIONS[name].model_fields] if name in SECTIONS else [name])
)
