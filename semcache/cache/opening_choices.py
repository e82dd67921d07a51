"""The choices about a cache before it is opened: where it keeps its entries, what it decides by, and what it may ask.

Opens nothing. Invariant: what can be refused without looking at the store is refused when the choices are made.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from semcache.cache.common_parts import CommonParts
from semcache.cache.decision_log import EVERY_DECISION, DecisionTerms
from semcache.config.pack_schema import VerdictMode
from semcache.errors import ConfigError
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.protocols import Backend, Embedder, Judge, Verifier
from semcache.runtime.guarded_calls import PATIENCE
from semcache.types.evidence import JUDGE_PATIENCE

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.matching.verification import EntryOf, Verifiers
    from semcache.runtime.telemetry import Meter
    from semcache.storage.prices import TokenRates


class VerdictTerms(NamedTuple):
    """When and by which `model` a language model is asked for its verdict, for which `share` of upstream spend.

    None is the usual share of each mode. The library spends nothing upstream that a share could be taken of.
    """

    mode: VerdictMode = "off"
    model: str | None = None
    share: float | None = float("inf")
    opted_out: tuple[str, ...] = ()


NO_VERDICTS = VerdictTerms()


class CacheOptions(TypedDict, total=False):
    """The options of a library user who opens a cache, described in `SemanticCache.open`; each may be left out."""

    policies: str | os.PathLike[str]
    target: float | None
    judge: str | Judge
    seed: int | None
    embedder: str | Embedder
    verifier: Verifier | Literal["model", "off"]
    judge_backend: Backend | None
    judge_model: str | None
    timeout: float
    clock: Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """All choices about a cache before it is opened.

    `data` is a folder or a store URL; the fields of `CacheOptions` have the same meaning here. `verifiers` makes
    verifiers in place of `verifier`. `judge_timeout` is how many seconds a judge has for a comparison, and `noise` how
    often it errs. `verdicts` says when a language model is asked for its verdict, if the pack does not. `shared`: other
    workers serve from the same store, and `workers` is how many share the grant of first answers. `sink` takes log
    lines, `hot_bytes` bounds the answers in memory, and `owned` backends are closed with the cache. Models behind
    `second_backend` are asked what the judge cannot tell of an audit. `decisions` says how many decisions are recorded,
    `undo` for how many seconds a deletion can be undone; with `share_memos` tenants share parsed and embedded texts.
    `max_bytes` bounds the database. `common` are the parts of an open cache, for one beside it. One that only `looks`
    leaves the snapshot of the index, which may be another embedder's, as it is. `policies` and `prices` may have been
    read before.
    """

    data: str
    policies: str | os.PathLike[str] | Pack = "default"
    target: float | None = None
    judge: str | Judge = "exact"
    seed: int | None = None
    embedder: str | Embedder = "default"
    verifier: Verifier | Literal["model", "off"] = "model"
    verifiers: Callable[[Pack, EntryOf, Meter], Verifiers] | None = None
    judge_backend: Backend | None = None
    judge_model: str | None = None
    judge_timeout: float = JUDGE_PATIENCE
    second_backend: Backend | None = None
    timeout: float = PATIENCE
    clock: Callable[[], float] = time.time
    hot_bytes: int = 256 << 20
    seal_keys: str | None = None
    prices: Path | Mapping[str, TokenRates] | None = None
    sink: Callable[[bytes], object] | None = None
    noise: LabelNoise = FAITHFUL
    verdicts: VerdictTerms = NO_VERDICTS
    shared: bool = False
    workers: int = 1
    owned: tuple[Backend, ...] = ()
    decisions: DecisionTerms = EVERY_DECISION
    undo: float = 86400.0
    max_bytes: int | None = None
    share_memos: bool = False
    common: CommonParts | None = None
    looks: bool = False

    def __post_init__(self) -> None:
        if self.target is not None and not _is_between(self.target, 1.0):
            raise ConfigError(f"target={self.target!r}: the error per hit is a rate between 0 and 1, such as 0.01")
        if not _is_between(self.timeout, float("inf")):
            raise ConfigError(f"timeout={self.timeout!r}: the time to wait is in seconds and above 0, such as 2.0")

    @property
    def folder(self) -> Path | None:
        """The data folder, None where `data` is a URL."""
        return None if "://" in self.data else Path(self.data)


def _is_between(value: object, end: float) -> bool:
    """Return True for a number between 0 and `end`, both excluded."""
    return isinstance(value, (int, float)) and 0.0 < value < end
