"""Training of a student to reproduce its teacher's vectors: no labels, any texts.

The mean squared difference of unit vectors is minimised (Reimers and Gurevych 2020, "Making monolingual sentence
embeddings multilingual", equation 1, of one language). Knows texts and vectors; needs torch. Invariant: equal texts,
targets and options give equal weights on the same machine, with and without an interruption.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcache.errors import StoreError
from semcache.train.length_batches import LengthBatchSampler

if TYPE_CHECKING:
    from semcache.types import Matrix

_log = logging.getLogger(__name__)
_AT_RISK = 60.0  # seconds of training that may be lost
Told = Callable[[int, int, float], None]  # steps done, all steps, loss of late


@dataclass(frozen=True, slots=True)
class MatchingOptions:
    """How to match. `rate` is the peak learning rate: linear warm-up over a tenth, then linear decay to 0."""

    epochs: int = 1
    batch: int = 64
    rate: float = 2e-4
    max_tokens: int = 48
    seed: int = 7


def match(
    model: Any,
    texts: Sequence[str],
    targets: Matrix,
    course: MatchingOptions,
    saved: Path,
    *,
    clock: Callable[[], float] = time.monotonic,
    told: Told = lambda *_: None,
) -> float:
    """Train `model`, a SentenceTransformer, in place towards `targets` (len(texts), dim), and return the last loss.

    Its state goes to the file `saved` now and then, and the run goes on from what lies there, if that is of this very
    run. Raises StoreError for a disk that is full.
    """
    import torch
    from torch.nn import functional

    batches = LengthBatchSampler([len(text) for text in texts], course.batch, seed=course.seed)
    order = []
    for epoch in range(course.epochs):
        batches.set_epoch(epoch)
        order += list(batches)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=0.0, weight_decay=0.01)
    done, late = 0, math.nan
    run = _fingerprint(model, texts, targets, course)
    state = _left(saved)
    if state.get("run") == run:
        done, late = state["done"], state["late"]
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    whole, model.max_seq_length = model.max_seq_length, course.max_tokens
    read = getattr(model, "preprocess", None) or model.tokenize  # renamed in version 6 of sentence-transformers
    model.train()
    since = clock()
    for step in range(done + 1, len(order) + 1):
        rows = order[step - 1]
        torch.manual_seed(course.seed + step)  # of the dropout: a run that is taken up draws what an unbroken one does
        features = read([texts[row] for row in rows])
        found = functional.normalize(model(features)["sentence_embedding"], dim=1)
        loss = (found - torch.from_numpy(targets[rows])).square().sum(dim=1).mean()
        optimizer.zero_grad()
        torch.autograd.backward([loss])
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = course.rate * min(10 * step / len(order), 1 - (step - 1) / len(order), 1.0)
        optimizer.step()
        late = float(loss.detach()) if math.isnan(late) else late + 0.05 * (float(loss.detach()) - late)
        told(step, len(order), late)
        if clock() - since > _AT_RISK:
            since = clock()
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            _keep({"run": run, "done": step, "late": late, **state}, saved)
    model.eval()
    model.max_seq_length = whole
    return late


def _left(saved: Path) -> dict[str, Any]:
    """The state that lies there; {} where there is none, or one that cannot be read, which is then written anew."""
    import torch

    try:
        state = torch.load(saved, weights_only=True) if saved.is_file() else {}
    except Exception as error:  # torch raises whatever zip files and pickles do
        _log.warning("%s cannot be read (%s): the matching starts anew and replaces it", saved, error)
        return {}
    return state if isinstance(state, dict) else {}


def _keep(state: dict[str, Any], saved: Path) -> None:
    import torch

    try:
        saved.parent.mkdir(parents=True, exist_ok=True)
        torch.save(state, saved.with_suffix(".part"))
        saved.with_suffix(".part").replace(saved)
    except (OSError, RuntimeError) as error:  # torch says the second of a full disk
        raise StoreError(f"{saved} cannot be written: {error}; run again to go on from there") from error


def _fingerprint(model: Any, texts: Sequence[str], targets: Matrix, course: MatchingOptions) -> str:
    """The fingerprint of the start of a run: two with the same fingerprint are the same."""
    digest = hashlib.sha256(json.dumps([asdict(course), list(texts)]).encode())
    digest.update(targets.tobytes())
    for name, tensor in sorted(model.state_dict().items()):
        if "pooler" not in name:  # unused, and drawn at random where the base has none
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
