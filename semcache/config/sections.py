"""The settings, section by section: types, units, ranges and defaults.

Knows nothing of where a value comes from. Invariant: a section that exists is valid, and none is changed afterwards;
what cannot be used is a ValueError that says what can.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from semcache.config import plugins
from semcache.runtime.guarded_calls import PATIENCE
from semcache.runtime.unix_address import UNIX, unix_path
from semcache.types.evidence import JUDGES

_ADMIN_TOKEN = 20  # characters at least: it can be tried as often as the proxy answers
_UNITS = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9, "b": 1}


def _size(value: Any) -> Any:
    """Bytes of "20 MiB"; a plain number is left to the field's own type."""
    if isinstance(value, str):
        text = value.strip().lower()
        unit = next((unit for unit in _UNITS if text.endswith(unit)), None)
        if unit is not None:
            try:
                return int(float(text.removesuffix(unit)) * _UNITS[unit])
            except (ValueError, OverflowError):
                raise ValueError("a size is a number and one of B, KiB, MiB, GiB, kB, MB, GB, such as 20 MiB") from None
    return value


def sendable(key: SecretStr) -> SecretStr:
    """The key, without white space around it. Raises ValueError for one that no header can hold."""
    plain = key.get_secret_value().strip()
    if not (plain.isascii() and plain.isprintable()) or " " in plain:
        raise ValueError("a key is one line of ASCII without spaces: this one holds others, such as a line break")
    return SecretStr(plain)


def _switch(value: Any) -> Any:
    """Read "off", which YAML reads as false."""
    return "off" if value is False else value


def _replicas(value: Any) -> Any:
    """Replicas of a text, as the environment has it: URLs by commas, or JSON as in the settings file."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(f"is no JSON: {error}") from None
    if not isinstance(value, str):
        return [{"url": one} if isinstance(one, str) else one for one in value] if isinstance(value, list) else value
    return [{"url": url.strip()} for url in value.split(",") if url.strip()]


def _host(host: str) -> str:
    """A host; of a Unix socket the path with a leading ~ as a shell reads it."""
    path = unix_path(host)
    if path is None:
        return host
    if not path or path.startswith("@") or "\0" in path:
        raise ValueError("unix: needs the path of a file, such as unix:/run/semcache/proxy.sock")
    try:
        return f"{UNIX}{Path(path).expanduser()}"
    except RuntimeError as error:
        raise ValueError(f"{path!r} names a home that cannot be found: write the whole path") from error


def _names(value: Any) -> Any:
    """Names of a text, by commas, as the environment has them."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _admin_token(value: SecretStr | None) -> SecretStr | None:
    if value is not None and 0 < len(value) < _ADMIN_TOKEN:
        raise ValueError(
            f"has {len(value)} characters, and can be guessed: take at least {_ADMIN_TOKEN} at random, such as what "
            "`openssl rand -base64 24` prints"
        )
    return value


def _origins(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        scheme, found, rest = value.partition("://")
        if value != "*" and (not found or not scheme or not rest or "/" in rest.rstrip("/")):
            raise ValueError(f"{value!r} is no origin: write https://app.example.com, without a path, or *")
    return values


_SMALLEST_STORE = 16 << 20  # bytes: an empty one takes a few hundred thousand
Size = Annotated[int, BeforeValidator(_size), Field(gt=0)]
Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


HeaderKey: TypeAlias = Annotated[SecretStr, AfterValidator(sendable)]


class Section(BaseModel):
    """The base of the sections: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


class ReplicaSection(Section):
    """One of several backends. `events` and `replay` are where a vLLM or SGLang server publishes its KV events."""

    url: str
    kind: Literal["auto", "vllm", "sglang", "semcache", "llamacpp", "openai", "other"] = "auto"
    events: str | None = None
    replay: str | None = None


class UpstreamSection(Section):
    """The backend, or `replicas` in place of `url`. Without `api_key` the client's own is passed on.

    `busy_at` is how many calls at once, of one worker, are too many: near it, a pack's `relax_to` takes effect.
    `cache_salt` separates tenants in the prefix caches of servers that support it; a server is asked for its kind
    first. `passthrough` says which other endpoints of the API tenants may use: "stateless" those that store nothing
    upstream, "all" all of them, "auto" all unless several tenants share the server's own key.
    """

    url: str = "https://api.openai.com/v1"
    replicas: Annotated[tuple[ReplicaSection, ...], BeforeValidator(_replicas)] = ()
    api_key: HeaderKey | None = None
    timeout: Seconds = 600.0
    connect_timeout: Seconds = 10.0
    stream_timeout: Seconds | None = None
    anthropic_url: str | None = None
    proxy: SecretStr | None = None
    busy_at: Annotated[int, Field(ge=1)] | None = None
    cache_salt: bool = True
    passthrough: Literal["auto", "all", "stateless"] = "auto"


class RoutingSection(Section):
    """How requests are spread over several backends. `max_running` is per backend, None for no limit."""

    session_ttl: Seconds = 600.0
    hold: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    quantum: Annotated[int, Field(gt=0)] = 65_536
    max_running: Annotated[int, Field(ge=1)] | None = None
    assembly: Annotated[Literal["off", "canonical", "stable"], BeforeValidator(_switch)] = "off"


class ServerSection(Section):
    """Where the proxy listens: an address, or unix:PATH. `insecure` allows other machines in without API keys.

    `allowed_hosts` are names by which it may be called, `*` for any; none are checked where keys are needed and none is
    given. A client has `header_timeout` for a head, `body_timeout` (and a second more for every 16 KiB) for a body, and
    may take nothing of its reply for `write_timeout`. `max_in_flight` bounds the bodies that a worker holds at once,
    `max_tenant_in_flight` those of one tenant; `max_connections` None is what the file descriptors allow.
    Pages of `cors_origins` may use the API from a browser; "*" stands for all of them. `ui` is the operators' page at
    /semcache/ui: "auto" is there where an admin key exists or this machine alone can connect.
    """

    host: Annotated[str, AfterValidator(_host)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    max_body: Size = 20 << 20
    admin_token: Annotated[SecretStr | None, AfterValidator(_admin_token)] = None
    insecure: bool = False
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    max_header: Size = 64 << 10
    max_in_flight: Size = 256 << 20
    max_tenant_in_flight: Size = 128 << 20
    max_connections: Annotated[int, Field(ge=1)] | None = None
    header_timeout: Seconds = 20.0
    body_timeout: Seconds = 30.0
    write_timeout: Seconds = 60.0
    cors_origins: Annotated[tuple[str, ...], BeforeValidator(_names), AfterValidator(_origins)] = ()
    ui: Annotated[Literal["auto", "off"], BeforeValidator(_switch)] = "auto"


class StorageSection(Section):
    """The database; without `url`, SQLite in the data folder. `seal_keys` encrypt entries, newest first, by commas.

    `undo` is how many seconds a purge can be undone. `max_bytes` bounds a SQLite database; None is no bound.
    """

    url: SecretStr | None = None
    seal_keys: SecretStr | None = None
    undo: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 86400.0
    max_bytes: Annotated[int, BeforeValidator(_size), Field(ge=_SMALLEST_STORE)] | None = None


class DecisionsSection(Section):
    """Records of decisions: at most `rate` a second are made, kept for `keep` seconds, at most `most` of them."""

    rate: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 20.0
    keep: Seconds = 86400.0
    most: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000


def _judge(name: str) -> str:
    if name not in JUDGES and name not in plugins.names("judges"):
        raise ValueError(plugins.unknown("judges", name, JUDGES))
    return name


JudgeName: TypeAlias = Annotated[str, AfterValidator(_judge)]


class CacheSection(Section):
    """The cache itself. `target` None is the policy pack's.

    A request waits `timeout` seconds at most for the store, the index or the embedder, and goes on without them. With
    `share_memos`, texts that were parsed or embedded for one tenant are remembered for all. That saves an embedding if
    tenants ask the same, but lets each tell from the time of a reply what others have asked.
    """

    hot_bytes: Size = 256 << 20
    timeout: Seconds = PATIENCE
    target: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    judge: JudgeName = "verifier"
    seed: int | None = None
    share_memos: bool = False


class ModelSection(Section):
    """A language model that is asked for one word. `url` None is the upstream."""

    url: str | None = None
    model: str | None = None
    api_key: HeaderKey | None = None


class JudgeSection(ModelSection):
    """The model that compares answers in the background if `cache.judge` is llm; a plug-in's judge gets it too.

    `timeout` is for one comparison. For any judge, `false_yes` is the share of wrong answers that it calls right,
    `false_no` that of right answers that it calls wrong; learning corrects for them.
    """

    timeout: Seconds = 20.0
    false_yes: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    false_no: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0


class VerifierSection(ModelSection):
    """The verifier that is asked, while a client waits, about uncertain neighbours where a pack names one.

    "model" is the local one, for `verify: verifier`; "llm" sets up a language model too, for `verify: llm`: `timeout`
    is how long a client waits for that, `accuracy` the P(yes) that its plain yes counts as where its replies come
    without log-probabilities.
    """

    kind: Annotated[Literal["off", "model", "llm"], BeforeValidator(_switch)] = "model"
    timeout: Seconds = 1.5
    accuracy: Annotated[float, Field(gt=0.5, lt=1.0)] = 0.99


class VerdictsSection(Section):
    """A language model's verdict on candidates in doubt: when it is asked for, and how much that may cost.

    `mode` applies to packs that name none; `auto` is `after` in `semcache serve` with an upstream and a key of its own,
    and off elsewhere. `model` None is `verifier.model`, or else the model that a request names. `budget` is the share
    of upstream spend that asking may cost. None is 0.02 for verdicts that come after a forward, and no cap for the
    other modes, whose cost counts in their break-even. Without a key of its own the server asks with the caller's only
    if `callers_key` is set. No text of tenants that match `opted_out` is shown to a model.
    """

    mode: Annotated[Literal["auto", "off", "after", "first", "hedged"], BeforeValidator(_switch)] = "auto"
    model: str | None = None
    budget: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    callers_key: bool = False
    opted_out: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()


class BackgroundSection(Section):
    """Calls of the backend that no client waits for, per worker: audits (`audit_rate` a second), revalidation."""

    audit_rate: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 10.0
    concurrency: Annotated[int, Field(ge=1)] = 4
    waiting: Annotated[int, Field(ge=0)] = 100
    timeout: Seconds = 60.0


class SmallPlanSection(ModelSection):
    """The small model that fills open slots of plans and writes final messages, each once it is certified to do so.

    `url` None is the upstream, `model` None means no small model. `timeout` is for one answer. `target` is the accepted
    share of its work that is worse than that of the model that the request names, `rate` the highest share of it that
    is compared once it is certified.
    """

    timeout: Seconds = 20.0
    target: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1
    rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.1


class PlansSection(Section):
    """Plan templates of agents: what a known plan is used for, and which runs become one.

    `target` is the success below which no plan is used, `life` how many seconds one lives after its last success.
    """

    mode: Annotated[Literal["off", "answer", "hint"], BeforeValidator(_switch)] = "off"
    rule: Literal["explicit", "finished"] = "explicit"
    target: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.9
    life: Seconds = 30 * 86400.0
    small: SmallPlanSection = SmallPlanSection()


class NearSection(Section):
    """The server of the cheaper model of a pack's `near`; `url` None is the upstream. `timeout` is for one answer."""

    url: str | None = None
    api_key: HeaderKey | None = None
    timeout: Seconds = 20.0


class AuthSection(Section):
    """The authentication of callers.

    `required` None: as soon as a key exists. `expose_scores` shows scores to callers that are not trusted.
    `public_metrics` opens `/metrics` and `/openapi.json` to callers without an admin key; None: while there is no key.
    """

    required: bool | None = None
    trust_user_header: bool = False
    trust_user_field: bool = False
    expose_scores: bool = False
    public_metrics: bool | None = None


class TracesSection(Section):
    """Traces of requests by OpenTelemetry, which needs the extra `otel`.

    `endpoint` None is that of the environment (OTEL_EXPORTER_OTLP_ENDPOINT), or a collector on this machine. `sample`
    is the share of requests that are traced if no caller has decided that.
    """

    mode: Annotated[Literal["off", "otlp"], BeforeValidator(_switch)] = "off"
    endpoint: str | None = None
    sample: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    prompts: bool = False


class LimitsSection(Section):
    """Limits of every API key that has none of its own: `requests` and `tokens` a minute, `dollars` a day (UTC).

    None is no limit. `hits` says that answers of the cache count like those of the upstream. All workers of a data
    folder count together.
    """

    requests: Annotated[int, Field(ge=1)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None
    dollars: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] | None = None
    hits: bool = False


class LogSection(Section):
    """The log on standard output."""

    level: Literal["debug", "info", "warning", "error", "critical"] = "info"
