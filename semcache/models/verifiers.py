"""Opening of verifiers: the shipped model, one trained on the cache's own labels, a language model, a user's own.

Knows settings, folders and backends; nothing of when somebody is asked. Invariant: a verifier that cannot be loaded is
a ConfigError at the start, never silence later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from semcache.errors import ConfigError
from semcache.matching.verification import ConfiguredVerifier, EntryOf, Verifiers, no_entry
from semcache.models.language_model import LlmVerifier

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.config.sections import ModelSection
    from semcache.config.settings import Settings
    from semcache.models.cross_encoder import CrossEncoder
    from semcache.protocols import Backend, Verifier
    from semcache.runtime.telemetry import Meter

FOLDER = "verifier"  # in the data folder: one that was trained on the cache's own labels
MODEL_PATIENCE = 0.75  # some ten times what it takes on a slow core, and less than the answer that it may spare
LLM_PATIENCE = 1.5


def open_verifiers(
    settings: Settings,
    pack: Pack,
    upstream: Backend | None = None,
    entry_of: EntryOf = no_entry,
    *,
    meter: Meter | None = None,
) -> Verifiers:
    """The verifiers that the settings set up and the pack wants. `upstream` is asked where no URL is set.

    `entry_of` finds the entries that they read. Raises ConfigError.
    """
    chosen = settings.verifier
    names = names_of(settings)
    known = local_verifier(pack, settings.data) if "verifier" in names else {}
    if chosen.kind == "llm" and not (chosen.model or settings.verdicts.model):
        raise ConfigError("verifier.model is not set: name the small, fast model that verifier.kind=llm is to ask")
    if "llm" not in names:
        return Verifiers(known, entry_of, meter=meter)
    backend = backend_for(settings, chosen, upstream, timeout=2 * chosen.timeout)
    verifier = LlmVerifier(backend, settings.verdicts.model or chosen.model, accuracy=chosen.accuracy)
    known["llm"] = ConfiguredVerifier(verifier, chosen.timeout, best=chosen.accuracy)
    return Verifiers(known, entry_of, meter=meter, backends=() if backend is upstream else (backend,))


def names_of(settings: Settings) -> frozenset[str]:
    """The names, as packs give them, of the verifiers that the settings set up; nothing is loaded."""
    chosen = settings.verifier
    local = frozenset(("verifier",)) if chosen.kind != "off" else frozenset[str]()
    asks = settings.verdicts.mode != "off" and (chosen.kind == "llm" or may_ask(settings))
    return local | {"llm"} if asks else local


def may_ask(settings: Settings) -> bool:
    """Return True if a language model may be asked for its verdict: by a key of the server's own, or as it was told.

    `auto` asks upstreams that are reached over HTTP alone, so that what runs inside the process is left as it is.
    """
    chosen = settings.verdicts
    if chosen.mode == "off":
        return False
    own = settings.upstream.api_key or settings.fallback_key or settings.verifier.api_key
    from semcache.upstream.backends import is_served

    named = chosen.mode != "auto" or settings.verifier.kind == "llm"
    real = is_served(settings.upstream.url) or bool(settings.upstream.replicas)
    return named or (real and (own is not None or chosen.callers_key))


def lends_key(settings: Settings) -> bool:
    """Return True if a caller's key is used to ask about its own request: as it was told, and of the upstream alone."""
    own = settings.upstream.api_key or settings.fallback_key or settings.verifier.api_key
    return settings.verdicts.callers_key and own is None and settings.verifier.url is None


def backend_for(settings: Settings, chosen: ModelSection, upstream: Backend | None, *, timeout: float) -> Backend:
    """The backend of a model that is asked for verdicts: `upstream`, or one of its own, which is to be closed.

    Raises ConfigError for a URL that cannot be used.
    """
    from semcache.upstream.backends import open_backend
    from semcache.upstream.backends.connection import Connection

    if upstream is not None and chosen.url is None and chosen.api_key is None:
        return upstream
    key = chosen.api_key or (None if chosen.url else settings.upstream.api_key or settings.fallback_key)
    connection = Connection(key.get_secret_value() if key else None, timeout=timeout, connect_timeout=timeout)
    return open_backend(chosen.url or settings.upstream.url, connection)


def verifiers_for_library(
    verifier: Verifier | Literal["model", "off"],
    pack: Pack,
    data: Path | None,
    entry_of: EntryOf = no_entry,
    *,
    meter: Meter | None = None,
) -> Verifiers:
    """The verifiers of a user of the library: none, the local model, or beside it one for `verify: llm`.

    `entry_of` finds the entries that they read. Raises ConfigError.
    """
    if verifier == "off":
        return Verifiers({}, meter=meter)
    if verifier != "model" and not hasattr(verifier, "same"):
        raise ConfigError(f"verifier is {verifier!r}, not 'model', 'off' or a verifier with a method `same`")
    known = local_verifier(pack, data)
    if not isinstance(verifier, str):
        known["llm"] = ConfiguredVerifier(verifier, LLM_PATIENCE)
    return Verifiers(known, entry_of, meter=meter)


def local_verifier(pack: Pack, data: Path | None) -> dict[str, ConfiguredVerifier]:
    """The local model by the name that packs give it; {} for a pack that never asks it. Raises ConfigError."""
    model = _model(pack, data)
    if model is None:
        return {}
    return {"verifier": ConfiguredVerifier(model, MODEL_PATIENCE, best=model.best, reads=model.reads)}


def offline_verifier(pack: Pack, data: Path | None) -> Callable[[str, str], float | None] | None:
    """P(same) by the local model, as `simulate.Simulator` asks for it; None for a pack that never asks it.

    What it says is None of texts that it does not read. Raises ConfigError.
    """
    model = _model(pack, data)
    if model is None:
        return None

    @cache
    def said(query: str, cached: str) -> float | None:
        return float(model.probabilities([(query, cached)])[0]) if model.reads(query, cached) else None

    return said


def _model(pack: Pack, data: Path | None) -> CrossEncoder | None:
    """The model in the data folder, or else the one that ships; it is not loaded for a pack that never asks it."""
    if not any(one.verify == "verifier" for one in pack.categories.values()):
        return None
    from semcache.models.cross_encoder import DEFAULT_VERIFIER, CrossEncoder

    own = None if data is None else data / FOLDER
    return CrossEncoder(own if own is not None and (own / "model.json").is_file() else DEFAULT_VERIFIER)
