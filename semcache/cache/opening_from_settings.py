"""Opening a cache as the settings say: those of the server and of the command line.

Knows settings and makes choices of them; opens nothing but the judge's own backend. Invariant: a backend that is made
here is closed with the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from semcache.cache.decision_log import DecisionTerms
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening, VerdictTerms
from semcache.learning.judges import asks
from semcache.learning.restored_log import LearningTerms
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.priors import read_priors
from semcache.matching.verification import EntryOf, Verifiers
from semcache.models.installed import prior_of, spec_of
from semcache.models.verifiers import backend_for, may_ask, names_of, open_verifiers

if TYPE_CHECKING:
    from semcache.cache.common_parts import CommonParts
    from semcache.cache.components import Components
    from semcache.config.packs import Pack
    from semcache.config.settings import Settings
    from semcache.protocols import Backend
    from semcache.runtime.telemetry import Meter
    from semcache.storage.prices import TokenRates


async def open_from(
    settings: Settings,
    read: tuple[Pack, Mapping[str, TokenRates]] | None = None,
    *,
    clock: Callable[[], float],
    sink: Callable[[bytes], object] | None = None,
    judge_backend: Backend | None = None,
    upstream: Backend | None = None,
    common: CommonParts | None = None,
    looks: bool = False,
) -> Components:
    """Open a cache as the settings say, with a pack and prices that were `read` before. Raises SemcacheError.

    The judge "llm" asks `judge_backend`, or a backend of its own without one; a judge of a plug-in gets the same.
    Verifiers are opened if there is an `upstream`, which they may ask. `common` and `looks` are as in `Opening`.
    """
    opening = replace(
        _opening(settings, read, upstream, clock), sink=sink, judge_backend=judge_backend, common=common, looks=looks
    )
    if asks(settings.cache.judge) and judge_backend is None:
        own = backend_for(settings, settings.judge, None, timeout=settings.judge.timeout)
        opening = replace(opening, judge_backend=own, owned=(own,))
    second = _second_backend(settings, upstream)
    if second is not None:
        owned = opening.owned if second is upstream else (*opening.owned, second)
        opening = replace(opening, second_backend=second, owned=owned)
    return await open_components(opening)


def _opening(
    settings: Settings,
    read: tuple[Pack, Mapping[str, TokenRates]] | None,
    upstream: Backend | None,
    clock: Callable[[], float],
) -> Opening:
    """Return the choices that the settings make, with verifiers that may ask `upstream`."""
    keys = settings.store.seal_keys

    def verifiers(pack: Pack, entry_of: EntryOf, meter: Meter) -> Verifiers:
        if upstream is None:
            return Verifiers({}, meter=meter)
        return open_verifiers(settings, pack, upstream, entry_of, meter=meter)

    return Opening(
        data=settings.store_url if settings.store.url else str(settings.data),
        policies=settings.policies if read is None else read[0],
        judge=settings.cache.judge,
        embedder=spec_of(settings.embedder, settings.data),
        clock=clock,
        seed=settings.cache.seed,
        target=settings.cache.target,
        hot_bytes=settings.cache.hot_bytes,
        timeout=settings.cache.timeout,
        seal_keys=keys.get_secret_value() if keys else None,
        prices=settings.prices if read is None else read[1],
        verifiers=verifiers,
        judge_model=settings.judge.model,
        judge_timeout=settings.judge.timeout,
        noise=noise_of(settings),
        verdicts=_verdicts(settings, upstream),
        shared=settings.server.workers > 1 or settings.store_url.startswith("postgresql"),
        workers=settings.server.workers,
        decisions=DecisionTerms(**settings.decisions.model_dump()),
        undo=settings.store.undo,
        max_bytes=settings.store.max_bytes,
        share_memos=settings.cache.share_memos,
    )


def _second_backend(settings: Settings, upstream: Backend | None) -> Backend | None:
    """Return the backend of the models that are asked for verdicts; None if there is none, or if it is the judge's."""
    if upstream is None or settings.cache.judge == "llm" or "llm" not in names_of(settings):
        return None
    return backend_for(settings, settings.verifier, upstream, timeout=settings.judge.timeout)


def _verdicts(settings: Settings, upstream: Backend | None) -> VerdictTerms:
    """Return the terms of asking a language model; `auto` is `after` where the server may ask its upstream."""
    chosen = settings.verdicts
    mode = chosen.mode
    if mode == "auto":
        mode = "after" if upstream is not None and may_ask(settings) else "off"
    return VerdictTerms(mode, verdict_model(settings), chosen.budget, chosen.opted_out)


def learning_terms(settings: Settings, pack: Pack) -> LearningTerms:
    """Return the terms under which a server of these settings learns; nothing is opened. Raises ConfigError.

    They fit the labels of any embedder, judge and model: only an open embedder has a name, and who looks at a store
    need not have the settings of who fills it.
    """
    return LearningTerms(
        pack=pack,
        noise=noise_of(settings),
        priors=read_priors(prior_of(spec_of(settings.embedder, settings.data))),
        grants=1.0 / settings.server.workers,
    )


def noise_of(settings: Settings) -> LabelNoise:
    """Return how often the judge errs, as far as is known."""
    return LabelNoise(settings.judge.false_yes, settings.judge.false_no)


def verdict_model(settings: Settings) -> str | None:
    """Return the language model that gives verdicts, None if none is named."""
    return settings.verdicts.model or settings.verifier.model or None
