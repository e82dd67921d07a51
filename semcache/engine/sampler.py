"""Sampling: the next token from logits.

Knows one row of logits and the tokens generated so far, nothing of models or batches. Invariant: one draw of the
generator per sampled token and none for a greedy one, so that the same seed gives the same text with and without
verified drafts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from semcache.engine.job import Sampling, TokenScore

if TYPE_CHECKING:
    import torch

_NUCLEUS = 256  # of a vocabulary, tried first
_COLDEST = 1e-6  # temperature at which only equals compete; less would divide logits to infinity


def plain(sampling: Sampling) -> bool:
    """True if only the likeliest token is asked for, so that a whole batch can be answered at once."""
    penalised = sampling.frequency_penalty or sampling.presence_penalty or sampling.bias
    penalised = penalised or sampling.repetition_penalty != 1
    return sampling.temperature == 0 and sampling.logprobs is None and not penalised


def mixed(seed: int, choice: int) -> int:
    """The seed of a choice: neighbouring seeds and choices have nothing in common."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {choice}".encode(), digest_size=7).digest(), "big")


def choose(
    logits: torch.Tensor,
    sampling: Sampling,
    counts: Mapping[int, int],
    generator: torch.Generator,
    prompt: Collection[int] = (),
    allowed: torch.Tensor | None = None,
) -> TokenScore:
    """Pick a token from float32 (vocabulary,) logits; `counts` says how often each was generated before.

    `prompt` are the tokens of the prompt, each once; they matter to the repetition penalty alone. Of the
    vocabulary only what is `allowed` is picked.

    The log-probabilities are those of the model, before temperature, penalties, bias and truncation. Raises ValueError
    when the logits are not finite.
    """
    import torch

    adjusted = _adjusted(_discounted(logits, sampling.repetition_penalty, counts, prompt), sampling, counts)
    if allowed is not None:
        adjusted = adjusted.masked_fill(~allowed.to(adjusted.device), -torch.inf)
    if sampling.temperature == 0:
        token = int(adjusted.argmax())
        if not bool(torch.isfinite(adjusted[token])):
            raise ValueError("the model gave logits that are no numbers")
    else:
        token = _drawn(adjusted / max(sampling.temperature, _COLDEST), sampling, generator)
    if sampling.logprobs is None:
        return TokenScore(token, 0.0)
    scores = torch.log_softmax(logits, dim=-1)
    best = scores.topk(min(sampling.logprobs, len(scores)))
    top = tuple(zip(best.indices.tolist(), best.values.tolist(), strict=True))
    return TokenScore(token, float(scores[token]), top)


def _discounted(
    logits: torch.Tensor, penalty: float, counts: Mapping[int, int], prompt: Collection[int]
) -> torch.Tensor:
    """Make every token that was seen less likely by a factor of its logit (Keskar et al. 2019, section 4.1)."""
    import torch

    seen = [] if penalty == 1 else list({*counts, *prompt})
    if not seen:
        return logits
    where = torch.tensor(seen, device=logits.device)
    values = logits[where]
    return logits.index_copy(0, where, torch.where(values > 0, values / penalty, values * penalty))


def _adjusted(logits: torch.Tensor, sampling: Sampling, counts: Mapping[int, int]) -> torch.Tensor:
    """OpenAI's formula: logit - count × frequency_penalty - (count > 0) × presence_penalty + bias."""
    import torch

    changes = dict(sampling.bias)
    if sampling.frequency_penalty or sampling.presence_penalty:
        for token, count in counts.items():
            penalty = count * sampling.frequency_penalty + sampling.presence_penalty
            changes[token] = changes.get(token, 0.0) - penalty
    if not changes:
        return logits
    where = torch.tensor(list(changes), device=logits.device)
    by = torch.tensor(list(changes.values()), dtype=logits.dtype, device=logits.device)
    return logits.index_add(0, where, by)


def _drawn(logits: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """Truncate to top-k, then top-p (Holtzman et al. 2020), then min-p, and draw by inverse transform."""
    import torch

    order: torch.Tensor | None = None
    if 0 < sampling.top_k < len(logits):
        logits, order = logits.topk(sampling.top_k)
    shares = torch.softmax(logits, dim=-1)
    if not bool(torch.isfinite(shares).all()):
        raise ValueError("the model gave logits that are no numbers")
    if sampling.top_p < 1:
        shares, likeliest = _nucleus(shares, sampling.top_p)
        order = likeliest if order is None else order[likeliest]
    if sampling.min_p > 0:
        shares = shares * (shares >= sampling.min_p * shares.max())
    mass = shares.double().cumsum(0)
    point = torch.rand((), generator=generator, dtype=torch.float64).to(mass.device) * mass[-1]
    # The last token that may be drawn, for a point that rounding puts beyond it.
    last = int((shares > 0).nonzero()[-1])
    place = min(int(torch.searchsorted(mass, point, right=True)), last)
    return place if order is None else int(order[place])


def _nucleus(shares: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The likeliest shares that together reach `top_p`, and their places; the vocabulary is not sorted as a whole."""
    import torch

    count = min(_NUCLEUS, len(shares))
    while True:
        best, order = shares.topk(count)
        before = best.cumsum(0) - best
        if count == len(shares) or bool(before[-1] >= top_p):
            return best * ((before < top_p) | (torch.arange(count, device=best.device) == 0)), order
        count = min(8 * count, len(shares))
