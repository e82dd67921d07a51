"""A job of the engine and its deltas, as values.

Knows nothing of HTTP, scheduling or tensors. Invariant: every value is frozen; a `Job` is complete, so that the thread
that owns the model needs nothing else of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class FinishReason(StrEnum):
    """The end of a choice, in OpenAI's words; ERROR never reaches a reply."""

    STOP = "stop"
    LENGTH = "length"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings by which tokens are chosen.

    `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 keep all tokens. With `max_tokens` 0 none is chosen: the prompt
    is prefilled, so that it is cached for jobs that begin with it.

    Penalties are OpenAI's, over the tokens generated so far, but for `repetition_penalty`, which counts the prompt too
    (Keskar et al. 2019, section 4.1). `logprobs` None gives none, n >= 0 gives that of the token
    and of the n likeliest, before temperature and penalties.
    """

    max_tokens: int = 16
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    n: int = 1
    logprobs: int | None = None
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    bias: Mapping[int, float] = field(default_factory=dict)
    ignore_eos: bool = False


CHUNKS = ("blend", "craft", "parallel", "align")


@dataclass(frozen=True, slots=True)
class Approximation:
    """The approximate prefill of a prompt, which makes its answer approximate.

    `documents` are spans of the prompt, in order and apart. With `press`, of all up to the end of the last document the
    documents keep only the share `keep` in (0, 1); with `chunks`, one of CHUNKS, documents that were prefilled before
    are reused wherever they stand. "blend" computes the share `recompute` in [0, 1) of the documents' tokens anew;
    "craft" as much as their contexts mattered and have changed, times `alpha` > 0; "parallel" nothing, but attends to
    them with `temperature` and `scale` in (0, 1]; "align" reuses a similar prompt, with or without documents, and
    computes the share `recompute` of the tokens in common anew. With any of them, and without, keys and values may come
    from a disk that keeps them in fewer bits.
    """

    documents: tuple[range, ...] = ()
    press: str = ""
    keep: float = 1.0
    chunks: str = ""
    recompute: float = 0.15
    alpha: float = 1.0
    temperature: float = 0.9
    scale: float = 0.9

    @property
    def label(self) -> str:
        """The name that replies give it."""
        if self.press:
            return f"press={self.press};keep={self.keep:g}"
        settings = {
            "blend": f"chunks;recompute={self.recompute:g}",
            "craft": f"chunks=craft;alpha={self.alpha:g}",
            "parallel": f"chunks=parallel;temperature={self.temperature:g};scale={self.scale:g}",
            "align": f"chunks=align;recompute={self.recompute:g}",
        }
        return settings.get(self.chunks, "disk")


@dataclass(frozen=True, slots=True)
class Job:
    """A prompt as token ids, at least one, and how to answer it.

    `tenant` separates caches: jobs of different tenants never share keys and values. `draft` is a guess at the answer,
    verified as a speculation; it never changes the answer. An `approximation` does. With a `grammar` the answer is a
    sentence of it. With `continues` the answer goes on with the text of the prompt, instead of being a text of its own.
    Jobs of one `request` take turns with others as one; "" is a request of its own.
    """

    id: str
    ids: tuple[int, ...]
    sampling: Sampling = Sampling()
    tenant: str = ""
    draft: tuple[int, ...] = ()
    approximation: Approximation | None = None
    grammar: str = ""
    continues: bool = False
    request: str = ""

    @property
    def group(self) -> tuple[str, str]:
        """The request that it is a part of, among those of its tenant."""
        return self.tenant, self.request or self.id


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token with its natural log-probability; `top` are the likeliest ones with theirs, best first."""

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a job cost: of its prompt, how many of those came from the cache, and generated.

    Of drafted tokens, `accepted` were those of the answer and `rejected` were not.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    accepted: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class Delta:
    """The text that one choice of a job emitted in a step.

    `finish` ends the choice; the last one of a job carries `spent`. `scores` are of the tokens that `text` completes.
    With `finish` ERROR, `error` says what happened, and `refused` that it was what the job asked for.
    """

    job: str
    choice: int
    text: str = ""
    scores: tuple[TokenScore, ...] = ()
    finish: FinishReason | None = None
    spent: TokenUsage | None = None
    error: str = ""
    refused: bool = False
