"""Distillation of a teacher into a smaller model folder: cut, match, map, measure, recalibrate, publish.

Knows the order of the steps and the input of each, not how it is done. Invariant: choices are made on the check part,
the test part is read for the figures and for nothing else; the folder appears whole or not at all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.models.embedders.static_table import VECTORS, StaticEmbedder
from semcache.train import card, finetune, metrics, splits
from semcache.train.atomic_folder import published, vacant, workplace
from semcache.train.distill import linear_map, pca, projection, student, student_metrics, token_table, vector_matching
from semcache.train.pairs import Pair, both_classes
from semcache.train.recalibrate import recalibrate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix

Stage = Callable[[str], None]
_TIMED = 200  # texts
_SEARCHED = 2000  # texts


@dataclass(frozen=True, slots=True)
class DistillationSpec:
    """The smaller model to make.

    None leaves dimension, layers or vocabulary as the teacher has them. `static` makes a table instead of a network.
    `labels` lets the map to fewer dimensions learn from labels, where that does better on the check part than principal
    directions alone. `check` and `test` are shares of the components.
    """

    out: Path
    base: str = "default"
    dim: int | None = None
    layers: int | None = None
    vocabulary: int | None = None
    static: bool = False
    labels: bool = True
    check: float = 0.1
    test: float = 0.1
    force: bool = False
    seed: int = 7
    course: vector_matching.MatchingOptions = field(default_factory=vector_matching.MatchingOptions)

    def __post_init__(self) -> None:
        if self.static and (self.layers or self.vocabulary):
            raise InvalidArgument("a static student has no layers, and every word of its teacher: leave those options")
        if self.dim is None and self.layers is None and self.vocabulary is None and not self.static:
            raise InvalidArgument("nothing would be smaller: ask for fewer dimensions, layers or words, or for a table")


@dataclass(frozen=True, slots=True)
class TeacherModel:
    """The teacher's folder, and its embedder."""

    folder: Path
    embedder: OnnxEmbedder


def make(
    pairs: Sequence[Pair],
    spec: DistillationSpec,
    *,
    clock: Callable[[], float],
    stage: Stage = lambda _: None,
    told: vector_matching.Told = lambda *_: None,
) -> dict[str, Any]:
    """Make the model folder and return the report that is kept beside it. Raises SemcacheError.

    `clock` gives seconds and times the models. Broken off, the same call goes on with the matching.
    """
    vacant(spec.out, replace=spec.force)
    both_classes(pairs, "the pairs")
    clean = splits.distinct(pairs)
    parts = splits.split(clean, check=spec.check, test=spec.test, seed=spec.seed)
    splits.usable(parts, clean, more="a larger `--test-share`")
    with (
        workplace(spec.out, "matching") as work,
        tempfile.TemporaryDirectory(prefix="semcache-distill-") as temporary,
    ):
        place = Path(temporary)
        stage("opening the teacher")
        source = _teacher_folder(spec, place)
        teacher = TeacherModel(source, OnnxEmbedder(source))
        if spec.dim is not None:
            pca.check_dim(spec.dim, teacher.embedder.dim, len(card.texts_of(parts.train)))
        with published(spec.out, replace=spec.force) as folder:
            if spec.static:
                stage("reading the vocabulary")
                whole, how = _static(teacher.folder, parts, spec, folder)
            else:
                whole, how = _network(teacher, parts, spec, place, folder, work, stage, told)
            report = _measured(folder, teacher, whole, parts, spec, how, clock, stage)
    return report


def open_student(folder: Path) -> OnnxEmbedder | StaticEmbedder:
    """The embedder of a folder that `make` wrote."""
    return StaticEmbedder(folder) if (folder / VECTORS).is_file() else OnnxEmbedder(folder)


def _teacher_folder(spec: DistillationSpec, place: Path) -> Path:
    """A model folder: the one that ships, the one that is named, or one exported from weights that are named."""
    if spec.base == "default":
        return DEFAULT_MODEL
    if (Path(spec.base) / "model.json").is_file():
        return Path(spec.base)
    folder = place / "teacher"
    finetune.save(finetune.load(spec.base), folder / card.WEIGHTS)
    origin = finetune.base_label(spec.base)
    name, language = origin.rpartition("/")[2], finetune.base_language(spec.base)
    card.export_checked(folder, name=name, origin=origin, licence="as its source", language=language)
    return folder


def _static(teacher: Path, parts: splits.PairSplits, spec: DistillationSpec, folder: Path) -> tuple[None, list[str]]:
    """Write the table, whose map is folded into its vectors."""
    texts = card.texts_of(parts.train)
    words = token_table.weighted(token_table.token_vectors(teacher), teacher, texts)
    how = [f"a table of {len(words)} tokens"]
    token_table.write(words, teacher, folder, name=spec.out.name, how=how[0])
    matrix, chosen = _map(StaticEmbedder(folder).encode, spec.dim or words.shape[1], parts, spec)
    how.append(chosen)
    token_table.write(words @ matrix.T, teacher, folder, name=spec.out.name, how=", ".join(how))
    return None, how


def _network(
    teacher: TeacherModel,
    parts: splits.PairSplits,
    spec: DistillationSpec,
    place: Path,
    folder: Path,
    work: Path,
    stage: Stage,
    told: vector_matching.Told,
) -> tuple[OnnxEmbedder, list[str]]:
    """Write the encoder, and return it before the map to fewer dimensions."""
    source, how = teacher.folder, []
    if spec.layers or spec.vocabulary:
        stage("matching the teacher")
        whole = place / "whole"
        finetune.save(finetune.load(spec.base), whole)
        kept = student.cut(whole, place / "cut", layers=spec.layers, vocabulary=spec.vocabulary)
        how = [f"layers {', '.join(map(str, kept))}"] + [f"{spec.vocabulary} words"] * bool(spec.vocabulary)
        model, texts = finetune.load(str(place / "cut")), card.texts_of(parts.train)
        named = work / f"{'-'.join(map(str, kept))}-{spec.vocabulary}-{len(texts)}-{spec.seed}.pt"
        loss = vector_matching.match(model, texts, teacher.embedder.encode(texts), spec.course, named, told=told)
        how.append(f"matched on {len(texts)} texts (mean squared difference {loss:.3f})")
        source = place / "student" if spec.dim else folder
        finetune.save(model, source / card.WEIGHTS)
        origin = f"distilled from {teacher.embedder.id}, {', '.join(how)}"
        language = teacher.embedder.language or None
        card.export_checked(source, name=spec.out.name, origin=origin, licence="as its source", language=language)
    encoder = OnnxEmbedder(source)
    if spec.dim:
        stage("finding fewer dimensions")
        matrix, chosen = _map(encoder.encode, spec.dim, parts, spec)
        how.append(chosen)
        projection.project(source, folder, matrix, name=spec.out.name, how=", ".join(how))
        exact = source / "float32"
        if (exact / "model.json").is_file():
            projection.project(exact, folder / "float32", matrix, name=spec.out.name, how=", ".join(how))
    return encoder, how


def _map(
    encode: Callable[[Sequence[str]], Matrix], dim: int, parts: splits.PairSplits, spec: DistillationSpec
) -> tuple[Any, str]:
    """The map to `dim` dimensions and its description: the better on the check part of those that are allowed."""
    encode = _remembering(encode)
    directions = pca.directions(encode(card.texts_of(parts.train)), dim)
    if not spec.labels:
        return directions, f"{dim} principal directions"
    train, check = linear_map.examples(parts.train, encode), linear_map.examples(parts.check, encode)
    part = linear_map.FullMap(directions)
    course = linear_map.LinearMapOptions(seed=spec.seed)
    fitted = linear_map.fit(part, linear_map.start(part), train, course, prefixes=student_metrics.prefixes(dim))
    learned = linear_map.matrix_of(part, fitted)

    def worth(matrix: NDArray[np.float32]) -> float:
        return metrics.measure(linear_map.cosines(matrix, check), check.same).average_precision

    if worth(learned) > worth(directions):
        return learned, f"{dim} dimensions learned from {len(parts.train)} pairs, nested"
    return directions, f"{dim} principal directions"


def _measured(
    folder: Path,
    teacher: TeacherModel,
    whole: OnnxEmbedder | None,
    parts: splits.PairSplits,
    spec: DistillationSpec,
    how: Sequence[str],
    clock: Callable[[], float],
    stage: Stage,
) -> dict[str, Any]:
    """Write prior and report, and return the report."""
    stage("measuring")
    embedder, test = open_student(folder), parts.test
    texts = card.texts_of(test)
    took = student_metrics.latency(
        {"teacher": teacher.embedder.encode, "student": embedder.encode}, texts[:_TIMED], clock
    )
    teacher_reads, reads = _remembering(teacher.embedder.encode), _remembering(embedder.encode)
    rows = [student_metrics.row("teacher", test, teacher_reads), student_metrics.row("student", test, reads)]
    shown = [
        {**student_metrics.as_json(row), "milliseconds": round(took[row.name], 3), "size": student_metrics.size(where)}
        for row, where in zip(rows, (teacher.folder, folder), strict=True)
    ]
    for width in student_metrics.prefixes(embedder.dim):
        shown.append(student_metrics.as_json(student_metrics.row(f"student, first {width}", test, reads, width=width)))
    stage("recalibrating")
    outcome = recalibrate(parts.check, reads, seed=spec.seed)
    if outcome.priors:
        card.write_json(folder / card.PRIOR, {"embedder": embedder.id, "seed": spec.seed, "profiles": outcome.priors})
    report = {
        "embedder": embedder.id,
        "teacher": teacher.embedder.id,
        "dim": embedder.dim,
        "how": list(how),
        "pairs": {part: len(held) for part, held in parts._asdict().items()},
        "rows": shown,
        "storage": round(1 - embedder.dim / teacher.embedder.dim, 4),
        "nearest": student_metrics.rescored(texts[:_SEARCHED], whole.encode if whole else teacher_reads, reads),
        "prior": outcome.told,
        "course": asdict(spec.course) if spec.layers or spec.vocabulary else None,
        "seed": spec.seed,
    }
    card.write_json(folder / card.MEASURED, report)
    heads = ["", "dim", "ms", *(card.TITLES[name] for name in card.FIGURES)]
    lines = ["", "## Made by `semcache embedder distill`", "", f"On {len(test)} held-out pairs, by cosine alone:", ""]
    lines += ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in shown:
        cells = [row["name"], row["dim"], row["milliseconds"] or "", *(row[name] for name in card.FIGURES)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    text = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
    return report


def _remembering(encode: Callable[[Sequence[str]], Matrix]) -> Callable[[Sequence[str]], Matrix]:
    """Return `encode` with a memo, so that every text is read once."""
    known: dict[str, Any] = {}

    def remembering(texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return remembering
