"""Sampling: the next token from logits.

Knows one row of logits and the tokens generated so far, nothing of models or batches. Invariant: one draw of the
generator per sampled token and none for a greedy one, so that the same seed gives the same text with and without
verified drafts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from semcache.engine.job import Sampling, TokenScore

if TYPE_CHECKING:
    import torch

_COLDEST = 1e-6  # temperature at which only equals compete; less would divide logits to infinity


def plain(sampling: Sampling) -> bool:
    """True if only the likeliest token is asked for, so that a whole batch can be answered at once."""
    penalised = sampling.frequency_penalty or sampling.presence_penalty or sampling.bias
    return sampling.temperature == 0 and sampling.logprobs is None and not penalised


def mixed(seed: int, choice: int) -> int:
    """The seed of a choice: neighbouring seeds and choices have nothing in common."""
    return int.from_bytes(hashlib.blake2b(f"{seed} {choice}".encode(), digest_size=7).digest(), "big")


def choose(
    logits: torch.Tensor, sampling: Sampling, counts: Mapping[int, int], generator: torch.Generator
) -> TokenScore:
    """Pick a token from float32 (vocabulary,) logits; `counts` says how often each was generated before.

    The log-probabilities are those of the model, before temperature, penalties, bias and truncation. Raises ValueError
    when the logits are not finite.
    """
    import torch

    adjusted = _adjusted(logits, sampling, counts)
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

    values, order = logits.sort(descending=True, stable=True)
    if sampling.top_k:
        values, order = values[: sampling.top_k], order[: sampling.top_k]
    shares = torch.softmax(values, dim=-1)
    if not bool(torch.isfinite(shares).all()):
        raise ValueError("the model gave logits that are no numbers")
    keep = torch.ones_like(shares, dtype=torch.bool)
    if sampling.top_p < 1:
        keep &= shares.cumsum(0) - shares < sampling.top_p
    if sampling.min_p > 0:
        keep &= shares >= sampling.min_p * shares[0]
    keep[0] = True
    mass = (shares * keep).double().cumsum(0)
    point = torch.rand((), generator=generator, dtype=torch.float64).to(mass.device) * mass[-1]
    return int(order[min(int(torch.searchsorted(mass, point, right=True)), len(order) - 1)])
