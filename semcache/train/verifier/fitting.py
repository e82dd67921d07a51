"""Train the verifier's head on labelled pairs: seeded, resumable.

Knows pairs, and texts as a frozen encoder has read them; nothing of where pairs come from or of what becomes of the
weights. Needs torch. Invariant: the same weights, pairs and seed give the same steps, interrupted or not.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.verifier import network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from semcache.train.verifier.network import Tensor, Weights

_SAVE_EVERY = 100  # steps


@dataclass(frozen=True, slots=True)
class Example:
    """Two texts, and the probability that they share an answer, as far as the data tell."""

    one: str
    two: str
    target: float


@dataclass(frozen=True, slots=True)
class Course:
    """How to train. `rate` is the peak learning rate: linear warm-up over a share of the steps, then linear decay."""

    passes: int = 6
    batch: int = 64
    rate: float = 1e-3
    warmup: float = 0.05
    clip: float = 1.0
    decay: float = 0.01
    dropout: float = 0.1
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Step:
    """Where training stands: step `done` of `of`, and the mean loss of late."""

    done: int
    of: int
    loss: float


class Readings(Protocol):
    """Texts as an encoder has read them (`reading.Reader`)."""

    heads: int

    def learn(self, texts: Sequence[str]) -> None:
        """Read those that are new."""
        ...

    def length(self, text: str) -> int:
        """Tokens of a text that was learned."""
        ...

    def batch(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
        """`states`, `mask` and `meanings` as `network.judge` takes them."""
        ...


def fit(
    weights: Weights,
    reader: Readings,
    examples: Sequence[Example],
    course: Course,
    *,
    saved: Path | None = None,
    told: Callable[[Step], None] = lambda _: None,
) -> None:
    """Train `weights` in place. With `saved` it stores its state there now and then, and goes on from what lies there.

    Raises InvalidArgument for examples of one class only.
    """
    import torch
    from torch.nn import functional

    targets = [example.target > 0.5 for example in examples]
    if not any(targets) or all(targets):
        raise InvalidArgument("examples of both classes are needed: pairs that share an answer, and pairs that do not")
    for weight in weights.values():
        weight.requires_grad_(True)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=0.0, weight_decay=course.decay)
    reader.learn([text for example in examples for text in (example.one, example.two)])
    batches = _batches(examples, reader, course)
    start, loss_of_late = 0, math.log(2)
    if saved is not None and saved.is_file():
        state = torch.load(saved, weights_only=True)
        start, loss_of_late = state["done"], state["loss"]
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(state["weights"][name])
        optimizer.load_state_dict(state["optimizer"])
    for done in range(start + 1, len(batches) + 1):
        chosen, flipped = batches[done - 1]
        rows = [examples[place] for place in chosen]
        pairs = [(row.two, row.one) if flip else (row.one, row.two) for row, flip in zip(rows, flipped, strict=True)]
        torch.manual_seed(course.seed + done)  # of the dropout: a resumed run draws what an unbroken one does
        logits = network.judge(weights, reader.heads, *_tensors(reader, pairs), dropout=course.dropout)
        loss = functional.binary_cross_entropy_with_logits(logits, torch.tensor([row.target for row in rows]))
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        torch.nn.utils.clip_grad_norm_(list(weights.values()), course.clip)
        for group in optimizer.param_groups:
            group["lr"] = course.rate * _pace(done / len(batches), course.warmup)
        optimizer.step()
        loss_of_late += 0.02 * (float(loss.detach()) - loss_of_late)
        told(Step(done, len(batches), loss_of_late))
        if saved is not None and (done % _SAVE_EVERY == 0 or done == len(batches)):
            state = {"done": done, "loss": loss_of_late, "optimizer": optimizer.state_dict()}
            state["weights"] = {name: weight.detach() for name, weight in weights.items()}
            torch.save(state, saved.with_suffix(".part"))
            saved.with_suffix(".part").replace(saved)
    for weight in weights.values():
        weight.requires_grad_(False)


def logits(weights: Weights, reader: Readings, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """The logit of each pair, its texts in canonical order."""
    import torch

    ordered = [(min(pair), max(pair)) for pair in pairs]
    reader.learn([text for pair in ordered for text in pair])
    found = np.empty(len(pairs), np.float32)
    order = sorted(range(len(pairs)), key=lambda place: max(reader.length(text) for text in ordered[place]))
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        with torch.no_grad():
            tensors = _tensors(reader, [ordered[row] for row in rows])
            found[rows] = network.judge(weights, reader.heads, *tensors).numpy()
    return found


def _tensors(reader: Readings, pairs: Sequence[tuple[str, str]]) -> tuple[Tensor, Tensor, Tensor]:
    import torch

    states, mask, meanings = reader.batch(pairs)
    return torch.from_numpy(states), torch.from_numpy(mask), torch.from_numpy(meanings)


def _batches(examples: Sequence[Example], reader: Readings, course: Course) -> list[tuple[list[int], list[bool]]]:
    """Batches of pairs of similar length in random order, and whether each pair changes sides."""
    rng = random.Random(course.seed)
    found = []
    for _ in range(course.passes):
        order = list(range(len(examples)))
        rng.shuffle(order)
        pool = 50 * course.batch
        for start in range(0, len(order), pool):
            rows = order[start : start + pool]
            rows.sort(key=lambda row: max(reader.length(examples[row].one), reader.length(examples[row].two)))
            batches = [rows[at : at + course.batch] for at in range(0, len(rows), course.batch)]
            rng.shuffle(batches)
            found += [(batch, [rng.random() < 0.5 for _ in batch]) for batch in batches]
    return found


def _pace(progress: float, warmup: float) -> float:
    """Linear warm-up, then linear to a twentieth."""
    return min(progress / warmup, 1.0) * max(0.05, 1.0 - progress)
