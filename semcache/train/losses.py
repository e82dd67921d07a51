"""The losses that an embedder can be trained with, by name, and the columns that each of them reads.

Knows sentence-transformers and torch, which are imported when a loss is made. Invariant: a loss sees texts and labels
in the columns that `table` writes for it.

`ranking` is ours. A cache compares every pair with one threshold, whatever the query: so every pair of the same answer
should outrank every other pair of the batch, not only those of its own query. Labelled pairs are compared as in RankNet
(Burges et al. 2005, section 3), whose bounded gradient forgives wrong labels; prompts that merely share a batch are
further negatives, as in InfoNCE (arXiv 1807.03748, equation 4), less those of the same answer. Few pairs say of few
prompts that they share an answer, so what lies as near as the pair's own text counts as an unlabelled duplicate and is
left out as well, by the rule of `semcache.train.mining`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, get_args

from semcache.train.mining import CEILING
from semcache.train.pairs import Pair
from semcache.train.text_identity import caseless

LossName = Literal["ranking", "contrastive", "mnr"]
LOSSES: tuple[str, ...] = get_args(LossName)
_TEMPERATURE = 0.05  # cosine differences of this size matter
_TOGETHER = 16  # texts that go through the network together on a processor
_PADDED = ("input_ids", "attention_mask", "token_type_ids")
_NEGATIVES = 4  # of a triplet's first text: with all of them, a popular text gives the square of its pairs
_CROWD = 0.2  # weight of the prompts that merely share a batch, beside the labelled ones


def make(name: LossName, model: Any) -> Any:
    """The loss as a torch module over `model`, a SentenceTransformer."""
    if name == "ranking":
        return _ranking(model)
    losses = import_module("sentence_transformers.sentence_transformer.losses")
    return losses.OnlineContrastiveLoss(model) if name == "contrastive" else losses.MultipleNegativesRankingLoss(model)


def table(name: LossName, pairs: Sequence[Pair], classes: Mapping[str, int]) -> dict[str, list[Any]]:
    """The columns of a training table. `classes` numbers the answers of caseless texts.

    For "mnr" every positive becomes a triplet with each of its first text's negatives, four at most, of which the
    positives of one text take turns; without any it stays out.
    """
    if name == "mnr":
        negatives: dict[str, list[str]] = {}
        for pair in pairs:
            if not pair.same:
                negatives.setdefault(pair.one, []).append(pair.two)
                negatives.setdefault(pair.two, []).append(pair.one)
        taken: Counter[str] = Counter()
        rows = []
        for pair in pairs:
            there = negatives.get(pair.one, [])
            if pair.same and there:
                some = min(_NEGATIVES, len(there))
                rows += [(pair.one, pair.two, there[(taken[pair.one] + n) % len(there)]) for n in range(some)]
                taken[pair.one] += some
        anchors, positives, others = zip(*rows, strict=True) if rows else ((), (), ())
        return {"anchor": list(anchors), "positive": list(positives), "negative": list(others)}
    columns: dict[str, list[Any]] = {"one": [pair.one for pair in pairs], "two": [pair.two for pair in pairs]}
    if name == "contrastive":
        return columns | {"label": [int(pair.same) for pair in pairs]}
    labels = [[int(pair.same), classes[caseless(pair.one)], classes[caseless(pair.two)]] for pair in pairs]
    return columns | {"label": labels}


def ranking(one: Any, two: Any, labels: Any) -> Any:
    """The ranking loss of unit vectors `one` and `two`, shape (n, dim), and `labels`, shape (n, 3).

    A row of labels is: 1 for the same answer, and the answer classes of the two texts. A scalar tensor, 0 for a batch
    that has nothing to rank.
    """
    torch = import_module("torch")
    functional = import_module("torch.nn.functional")
    scores = (one * two).sum(1)
    same = labels[:, 0] == 1
    right, wrong = scores[same], scores[~same]
    total = scores.sum() * 0.0
    if len(right) and len(wrong):
        gaps = (wrong[None, :] - right[:, None]) / _TEMPERATURE
        total = total + functional.softplus(gaps).mean()
    if len(right):
        crowd = one[same] @ two.T
        relatives = labels[same, 1][:, None] == labels[None, :, 2]
        relatives |= torch.eye(len(labels), dtype=torch.bool, device=labels.device)[same]
        relatives |= crowd.detach() > CEILING * right.detach()[:, None]
        pool = (crowd / _TEMPERATURE).masked_fill(relatives, float("-inf")).logsumexp(1)
        total = total + _CROWD * functional.softplus(pool - right / _TEMPERATURE).mean()
    return total


def _embedded(model: Any, part: Mapping[str, Any]) -> Any:
    """The embeddings of a column, shape (n, dim); on a processor a few texts of similar length at a time.

    There the time goes with the tokens, a third of which would be padding; a GPU prefers them all at once.
    """
    mask = part.get("attention_mask")
    foreign = any(hasattr(value, "shape") and name not in _PADDED for name, value in part.items())
    if mask is None or foreign or mask.device.type != "cpu" or not bool(mask[:, 0].all()):  # padded on the left
        return model(dict(part))["sentence_embedding"]
    torch = import_module("torch")
    lengths = mask.sum(1)
    order = lengths.argsort(stable=True)
    found = []
    for rows in order.split(_TOGETHER):
        width = int(lengths[rows].max())
        cut = {name: value[rows, :width] if name in _PADDED else value for name, value in part.items()}
        found.append(model(cut)["sentence_embedding"])
    return torch.cat(found)[order.argsort()]


def _ranking(model: Any) -> Any:
    nn = import_module("torch.nn")
    functional = import_module("torch.nn.functional")

    def start(self: Any) -> None:
        nn.Module.__init__(self)
        self.model = model

    def forward(self: Any, features: Any, labels: Any) -> Any:
        one, two = (functional.normalize(_embedded(self.model, part).float(), dim=1) for part in features)
        return ranking(one, two, labels)

    # Made here and not by a class statement, whose base would have to be imported with this module.
    return type("RankingLoss", (nn.Module,), {"__init__": start, "forward": forward})()
