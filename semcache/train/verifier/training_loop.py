"""The training loop of the verifier on labelled pairs: seeded, resumable.

Knows pairs and a network; nothing of where pairs come from or of how the weights are used. Needs torch. Invariant: the
same weights, pairs and seed give the same steps, interrupted or not; the state of another training is never resumed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import random
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.verifier import cross_encoder_network, grid_weights
from semcache.train.verifier.token_rows import TokenRow, padded, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from semcache.train.verifier.cross_encoder_network import Module

_SAVE_EVERY = 200  # steps
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """Two texts, and the probability that they share an answer, as far as the data tell."""

    one: str
    two: str
    target: float


@dataclass(frozen=True, slots=True)
class VerifierTrainingOptions:
    """How to train. `rate` is the peak learning rate: linear warm-up over a share of the steps, then on to `last`.

    The classifier, which starts from nothing, learns `fresh` times as fast. With `half` products are of bfloat16
    numbers, which takes half of the time where the processor has them. With `levels` every step, from the share
    `grid_from` of them on, computes with the weights of the encoder's linear layers on a grid of so many values either
    side of zero; what it moves are the whole ones. With `both_orders` each pair is read both ways round in one step,
    under different dropout, and the two words are drawn together by half of the divergence between them either way
    (Liang et al. 2021, "R-Drop", equation 2).
    """

    passes: int = 1
    batch: int = 32
    rate: float = 8e-5
    last: float = 0.0
    warmup: float = 0.03
    clip: float = 1.0
    decay: float = 0.01
    fresh: float = 10.0
    half: bool = False
    levels: int = 0
    grid_from: float = 0.0
    both_orders: bool = False
    seed: int = 7


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Where training stands: step `done` of `of`, and the mean loss of late."""

    done: int
    of: int
    loss: float


def fit(
    module: Module,
    tokenizer: Any,
    examples: Sequence[TrainingExample],
    course: VerifierTrainingOptions,
    *,
    saved: Path | None = None,
    told: Callable[[TrainingStep], None] = lambda _: None,
    device: str = "cpu",
) -> None:
    """Train `module` in place, on torch's `device`, where it is left.

    With `saved` it stores its state there, and resumes from a state found there. It starts anew, with a warning in the
    log, where that is not of this very training: the same weights, examples, tokenizer and course. Raises
    InvalidArgument for examples of one class only.
    """
    import torch
    from torch.nn import functional

    targets = [example.target > 0.5 for example in examples]
    if not any(targets) or all(targets):
        raise InvalidArgument("examples of both classes are needed: pairs that share an answer, and pairs that do not")
    batches = _batches(examples, tokenizer, course)
    module.to(device)
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    classifier = {id(weight) for weight in module.classifier.parameters()}
    optimizer = torch.optim.AdamW(
        [
            {"params": [weight for weight in weights if (id(weight) in classifier) is fresh], "pace": pace}
            for fresh, pace in ((False, 1.0), (True, course.fresh))
        ],
        lr=0.0,
        weight_decay=course.decay,
    )
    start, loss_of_late = 0, math.log(2)
    run = "" if saved is None else _fingerprint(module, tokenizer, examples, course)
    if saved is not None and (state := _left(saved, run)):
        start, loss_of_late = state["done"], state["loss"]
        module.load_state_dict(state["weights"])
        optimizer.load_state_dict(state["optimizer"])
    linear = cross_encoder_network.linear_weights(module) if course.levels else []
    module.train()
    for done in range(start + 1, len(batches) + 1):
        some, wanted = batches[done - 1]
        torch.manual_seed(course.seed + done)  # of the dropout: a resumed run draws what an unbroken one does
        gridded = linear if done > course.grid_from * len(batches) else []
        with grid_weights.on_grid(gridded, course.levels):
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=course.half):
                logits = cross_encoder_network.judge(module, *_tensors(some, device)).float()
            loss = functional.binary_cross_entropy_with_logits(logits, torch.tensor(wanted, device=device))
            if course.both_orders:
                loss = loss + _divergence(*logits.chunk(2))
            optimizer.zero_grad()
            torch.autograd.backward([loss])
        torch.nn.utils.clip_grad_norm_(weights, course.clip)
        rate = _rate(done / len(batches), course)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["pace"]
        optimizer.step()
        loss_of_late += 0.02 * (float(loss.detach()) - loss_of_late)
        told(TrainingStep(done, len(batches), loss_of_late))
        if saved is not None and (done % _SAVE_EVERY == 0 or done == len(batches)):
            state = {"run": run, "done": done, "loss": loss_of_late, "optimizer": optimizer.state_dict()}
            state["weights"] = module.state_dict()
            torch.save(state, saved.with_suffix(".part"))
            saved.with_suffix(".part").replace(saved)
    module.eval()


def logits(module: Module, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """The logit of each pair, its texts in canonical order."""
    import torch

    read = rows(tokenizer, [(min(pair), max(pair)) for pair in pairs])
    found = np.empty(len(pairs), np.float32)
    device = next(module.parameters()).device
    order = sorted(range(len(pairs)), key=lambda place: len(read[place].ids))
    for start in range(0, len(order), 64):
        places = order[start : start + 64]
        with torch.inference_mode():
            some = _tensors([read[place] for place in places], device)
            found[places] = cross_encoder_network.judge(module, *some).cpu().numpy()
    return found


def _tensors(some: Sequence[TokenRow], device: Any) -> list[Any]:
    import torch

    return [torch.from_numpy(part).to(device) for part in padded(some)]


def _divergence(one: Any, two: Any) -> Any:
    """Half of the mean Kullback-Leibler divergences, either way, of the words of two logits (n,) about each pair."""
    return ((one.sigmoid() - two.sigmoid()) * (one - two)).mean() / 2


def _left(saved: Path, run: str) -> dict[str, Any]:
    """The state that an interrupted training of the fingerprint `run` left in `saved`; {} where there is none."""
    import torch

    if not saved.is_file():
        return {}
    try:
        state = torch.load(saved, weights_only=True, map_location="cpu")
        found = state.get("run")
    except Exception as error:  # torch raises whatever zip files and pickles do
        _log.warning("%s cannot be read (%s): the training starts anew and replaces it", saved, error)
        return {}
    if found != run:
        _log.warning("%s is of other weights, examples or settings: the training starts anew and replaces it", saved)
        return {}
    return dict(state)


def _fingerprint(
    module: Module, tokenizer: Any, examples: Sequence[TrainingExample], course: VerifierTrainingOptions
) -> str:
    """The fingerprint of the start of a training: two with the same fingerprint take the same steps."""
    texts = json.dumps([asdict(course), [asdict(example) for example in examples], tokenizer.to_str()])
    digest = hashlib.sha256(texts.encode())
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _batches(
    examples: Sequence[TrainingExample], tokenizer: Any, course: VerifierTrainingOptions
) -> list[tuple[list[TokenRow], list[float]]]:
    """Batches of pairs of similar length in random order, and their targets.

    Each pair is one way round or the other; for `both_orders` a batch holds all of its pairs the one way, and then all
    the other.
    """
    rng = random.Random(course.seed)
    found = []
    for _ in range(course.passes):
        order = list(examples)
        rng.shuffle(order)
        turned = [(one.two, one.one) if rng.random() < 0.5 else (one.one, one.two) for one in order]
        ways = [rows(tokenizer, turned)]
        if course.both_orders:
            ways.append(rows(tokenizer, [(two, one) for one, two in turned]))
        pool = 50 * course.batch
        for start in range(0, len(order), pool):
            part = sorted(range(start, min(start + pool, len(order))), key=lambda place: len(ways[0][place].ids))
            batches = [part[at : at + course.batch] for at in range(0, len(part), course.batch)]
            rng.shuffle(batches)
            found += [
                ([way[place] for way in ways for place in batch], [order[place].target for place in batch] * len(ways))
                for batch in batches
            ]
    return found


def _rate(progress: float, course: VerifierTrainingOptions) -> float:
    """The learning rate after this share of the steps."""
    return min(progress / course.warmup, 1.0) * (course.rate + (course.last - course.rate) * progress)
