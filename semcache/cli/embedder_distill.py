"""`semcache embedder distill`: make a smaller embedder out of a larger one, and measure both.

Knows files and terminals; `semcache.train.distill` makes and measures. Invariant: no cache is changed; a wish that
cannot be met is refused before anything is trained.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.embedder_inputs import (
    Columns,
    Folder,
    Pairs,
    ReplaceFolder,
    Seed,
    TestShare,
    need_training,
    read_pairs,
)
from semcache.errors import InvalidArgument


def distill(
    files: Pairs = None,
    out: Folder = Path("distilled"),
    base: Annotated[
        str, typer.Option("--base", metavar="NAME|DIR", help="The teacher; default: the model that ships.")
    ] = "default",
    dim: Annotated[
        int | None, typer.Option("--dim", min=2, help="Dimensions; 64 save 83% of the storage of vectors.")
    ] = None,
    layers: Annotated[int | None, typer.Option("--layers", min=1, help="Layers; needs the teacher's weights.")] = None,
    vocabulary: Annotated[
        int | None, typer.Option("--vocabulary", metavar="WORDS", help="Words; needs the teacher's weights.")
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="A table of words instead of a network: microseconds a text.")
    ] = False,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="Let fewer dimensions learn from labels, if that helps.")
    ] = True,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes of fewer layers over the texts.")] = 1,
    batch: Annotated[int, typer.Option("--batch", min=2, help="Texts a step, of fewer layers.")] = 64,
    rate: Annotated[
        float, typer.Option("--rate", min=1e-8, max=1.0, help="Peak learning rate of fewer layers.")
    ] = 2e-4,
    columns: Columns = None,
    test_share: TestShare = 0.1,
    seed: Seed = 7,
    force: ReplaceFolder = False,
    as_json: options.Json = False,
) -> None:
    """Make a smaller embedder: fewer dimensions, layers or words, or a table; measure both on your pairs.

    Broken off, the same command goes on where it stood.
    """
    from semcache.train.distill import distillation
    from semcache.train.distill.vector_matching import MatchingOptions

    need_training()
    if not files:
        raise InvalidArgument("nothing to distil with: name a file of labelled pairs")
    wish = distillation.DistillationSpec(
        out, base, dim, layers, vocabulary, static, labels, test=test_share, force=force, seed=seed,
        course=MatchingOptions(epochs, batch, rate, seed=seed),
    )  # fmt: skip

    def show_step(done: int, steps: int, loss: float) -> None:
        if done % max(1, steps // 10) == 0 or done == steps:
            output.note(f"step {done} of {steps}, mean squared difference {loss:.4f}")

    report = distillation.make(
        read_pairs(files, columns), wish, clock=time.perf_counter, stage=output.note, told=show_step
    )
    if as_json:
        output.as_json(report)
        return
    _show(report, out, static=static)


def _show(report: Mapping[str, Any], out: Path, *, static: bool) -> None:
    from semcache.train.card import FIGURES, TITLES

    columns = ["", "dim", "bytes a vector", "ms a text", "model MB", *(TITLES[figure] for figure in FIGURES)]
    rows = [
        [
            row["name"], str(row["dim"]), str(row["vector_bytes"]),
            "" if row["milliseconds"] is None else f"{row['milliseconds']:.2f}",
            "" if row["size"] is None else f"{row['size'] / 1e6:.1f}",
            *(f"{row[figure]:.3f}" for figure in FIGURES),
        ]
        for row in report["rows"]
    ]  # fmt: skip
    output.table(columns, rows, right=columns[1:])
    near = report["nearest"]
    output.note(f"storage of vectors: {report['storage']:.1%} less; made of {', '.join(report['how'])}")
    output.note(
        f"the nearest text at full precision is found by {near['alone']:.1%} of searches alone, and by "
        f"{near['rescored']:.1%} when {near['candidates']} candidates are compared again at full precision"
    )
    kind = "static" if static else "onnx"
    output.note(f"model in {out}: try it with --embedder {kind}:{out}")
