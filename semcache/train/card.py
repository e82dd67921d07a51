"""A finished model folder: exported, measured, recalibrated and described; the onnx embedder loads it.

Knows the weights, the export and the figures; nothing of how the weights came about but what it is told. Invariant: the
folder's int8 model is the one that was measured and that its prior belongs to.

    model.onnx tokenizer.json model.json    int8, one scale per output channel: what `onnx:FOLDER` runs
    float32/                                the same in full precision, `onnx:FOLDER/float32`
    weights/                                sentence-transformers: further training starts from here
    prior.json measured.json README.md
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.export import export
from semcache.train.metrics import Quality, measure
from semcache.train.pairs import Pair

if TYPE_CHECKING:
    from semcache.types import Matrix

WEIGHTS, PRIOR, MEASURED = "weights", "prior.json", "measured.json"
FIGURES = ("average_precision", "roc_auc", "precision", "recall", "f1", "f05", "recall_95", "recall_99")
TITLES: Mapping[str, str] = {
    "average_precision": "AP",
    "roc_auc": "ROC-AUC",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "f05": "best F0.5",
    "recall_95": "R at P 0.95",
    "recall_99": "R at P 0.99",
}


def export_checked(folder: Path, *, name: str, origin: str, licence: str, language: str | None) -> OnnxEmbedder:
    """Export `folder`/weights in both precisions and return the int8 embedder, after it has embedded a text.

    `language` is the only one that the weights were made for; None: they may read any.

    Raises InvalidArgument for weights that cannot be exported, ConfigError for a result that does not load.
    """
    for place, precision in ((folder, "int8"), (folder / "float32", "float32")):
        export(
            folder / WEIGHTS,
            place,
            name=name,
            origin=origin,
            licence=licence,
            language=language,
            precision="int8" if precision == "int8" else "float32",
        )
    return checked_embedder(folder)


def checked_embedder(folder: Path) -> OnnxEmbedder:
    """The embedder of a folder, after it has embedded a text. Raises ConfigError for a folder that is no model."""
    embedder = OnnxEmbedder(folder, threads=1)
    try:
        embedder.encode(["How do I reset my password?", ""])
    except Exception as error:  # a model.json that says another dimension than the graph gives, among others
        raise ConfigError(f"the model in {folder} does not work ({error}): export it again") from error
    return embedder


def quality(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix]) -> Quality:
    """The figures of an embedder on labelled pairs. Raises InvalidArgument for one class."""
    return measure(scores(pairs, encode), np.array([pair.same for pair in pairs], dtype=np.bool_))


def texts_of(pairs: Sequence[Pair]) -> list[str]:
    """The distinct texts of these pairs, in their order."""
    return list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))


def scores(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix]) -> Any:
    """The cosine similarity of each pair, float64 of shape (len(pairs),); a text is embedded once."""
    texts = texts_of(pairs)
    rows = encode(texts)
    place = {text: row for row, text in enumerate(texts)}
    one, two = (rows[[place[text] for text in side]] for side in ([p.one for p in pairs], [p.two for p in pairs]))
    return np.einsum("ij,ij->i", one.astype(np.float64), two.astype(np.float64))


def describe(folder: Path, *, data: Mapping[str, Any], before: Quality | None, after: Quality | None) -> None:
    """Add to the card that `export` wrote: from what it was trained, and how good it is."""
    lines = ["", "## Made by `semcache embedder finetune`", ""]
    lines += [f"- {name}: {value}" for name, value in data.items()]
    if after is not None:
        lines += ["", f"Held-out pairs ({after.pairs}, of which {after.same} the same), int8, cosine alone:", ""]
        lines += table(before, after)
        lines += ["", "P, R and F1 at the threshold of the best F1 on these pairs, chosen in hindsight."]
    lines += [
        "",
        "Limits: a model is good for traffic like what it was trained on, and worse elsewhere; prompts about other "
        "matters, in other languages or much longer were not measured. A score of this model means something else than "
        "the same score of another: thresholds do not carry over.",
    ]
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "\n".join(lines) + "\n", encoding="utf-8")


def table(before: Quality | None, after: Quality) -> list[str]:
    """The figures as lines of Markdown."""
    rows = ["| | " + " | ".join(TITLES.values()) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    for name, one in (("before", before), ("after", after)):
        if one is not None:
            rows.append(f"| {name} | " + " | ".join(f"{getattr(one, figure):.3f}" for figure in FIGURES) + " |")
    return rows


def write_json(path: Path, value: Any) -> None:
    """Write one JSON value."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
