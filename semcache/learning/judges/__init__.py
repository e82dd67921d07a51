"""Judges: whether two answers to the same question agree. One file a kind.

Knows which name means which judge and what each needs. Invariant: a judge that cannot tell says None, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from semcache.config import plugins
from semcache.errors import ConfigError
from semcache.learning.judges.by_text import ExactJudge, NormalisedJudge
from semcache.matching.label_noise import LabelNoise
from semcache.protocols import Judge
from semcache.types.evidence import JUDGE_PATIENCE, JUDGES

if TYPE_CHECKING:
    from semcache.protocols import Backend, Embedder, Verifier

__all__ = ["JUDGES", "ExactJudge", "NormalisedJudge", "asks", "judge_id", "open_judge"]

_PLAIN: Mapping[str, Callable[[], Judge]] = {"exact": ExactJudge, "normalised": NormalisedJudge}


def asks(name: str) -> bool:
    """Return True if the judge of that name may ask a backend: "llm" does, and a plug-in is given one to do so."""
    return name == "llm" or name not in JUDGES


def open_judge(
    name: str,
    *,
    embedder: Embedder | None = None,
    verifier: Verifier | None = None,
    backend: Backend | None = None,
    model: str | None = None,
    timeout: float = JUDGE_PATIENCE,
) -> Judge:
    """The judge of that name. Raises ConfigError for an unknown name, or one that lacks what it needs.

    "verifier" needs an `embedder` and takes a `verifier` for what it doubts; "llm" needs a `backend` and a `model`, and
    waits for `timeout` seconds. The maker of a plug-in is given the other four by name, None where there is none.
    """
    if name in _PLAIN:
        return _PLAIN[name]()
    if name == "verifier":
        from semcache.learning.judges.by_verifier import VerifierJudge

        if embedder is None:
            raise ConfigError("the judge 'verifier' compares embeddings: give it an embedder")
        return VerifierJudge(embedder, verifier)
    if name == "llm":
        from semcache.learning.judges.by_language_model import LlmJudge

        if backend is None or not model:
            raise ConfigError("the judge 'llm' asks a language model: give it a backend and a model")
        return LlmJudge(backend, model, patience=timeout)
    if name in plugins.names("judges"):
        made: Judge = plugins.make("judges", name, embedder=embedder, verifier=verifier, backend=backend, model=model)
        return made
    raise ConfigError(plugins.unknown("judges", name, JUDGES))


def judge_id(judge: Judge | str, model: str | None, noise: LabelNoise) -> str:
    """The name that tells verdicts of a judge from those of others: its own name, its model, and how often it errs."""
    name = judge if isinstance(judge, str) else getattr(judge, "name", type(judge).__name__)
    return f"{name} {model or '' if asks(name) else ''} {noise.kind:g} {noise.harsh:g}"
