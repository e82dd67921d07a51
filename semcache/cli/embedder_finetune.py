"""`semcache embedder finetune` and `evaluate`: train an embedder on your own pairs, and measure embedders.

Knows files and terminals; `semcache.train` trains and measures. Invariant: no cache is changed; a wish that cannot be
met is refused before anything is trained.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.embedder_inputs import (
    Columns,
    Folder,
    Pairs,
    Seed,
    TestShare,
    need_measuring,
    need_training,
    pairs_of_labels,
    read_pairs,
)
from semcache.cli.open_store import run_async, settings_from
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.train.log_pairs import LogPairs
    from semcache.train.metrics import Quality
    from semcache.train.pairs import Pair


class Loss(StrEnum):
    """Losses of `semcache.train.losses`."""

    RANKING = "ranking"
    CONTRASTIVE = "contrastive"
    MNR = "mnr"


class Device(StrEnum):
    """The device to train on."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


def finetune(
    files: Pairs = None,
    out: Folder = Path("embedder"),
    labels: Annotated[
        bool, typer.Option("--labels", help="Also learn from the labels of a cache: feedback, audits, judge.")
    ] = False,
    logs: Annotated[
        list[Path] | None,
        typer.Option("--logs", metavar="FILE", help="Also learn from logs: prompts of one answer are the same."),
    ] = None,
    columns: Columns = None,
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="Pairs to measure on, instead of a share.")
    ] = None,
    test_share: TestShare = 0.1,
    check_share: Annotated[
        float, typer.Option("--check-share", min=0.01, max=0.5, help="Of the pairs, to stop early and calibrate by.")
    ] = 0.1,
    base: Annotated[
        str, typer.Option("--base", metavar="NAME|DIR", help="What to start from: default is all-MiniLM-L6-v2.")
    ] = "default",
    loss: Annotated[Loss, typer.Option("--loss", help="What is minimised.")] = Loss.RANKING,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="Passes over the pairs; more forget what is not there.")
    ] = 1,
    batch: Annotated[int, typer.Option("--batch", min=2, help="Pairs a step.")] = 64,
    rate: Annotated[float, typer.Option("--rate", min=1e-8, max=1.0, help="Peak learning rate.")] = 5e-5,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=8, help="Longer texts are cut while training.")] = 64,
    mined: Annotated[
        int, typer.Option("--mined", min=0, help="Hard negatives to find for a pair, where few are given.")
    ] = 1,
    mix: Annotated[
        float | None,
        typer.Option(
            "--mix",
            min=0.0,
            max=1.0,
            help="Share of the trained weights, the rest the base's; default: the best by checks.",
        ),
    ] = None,
    seed: Seed = 7,
    device: Annotated[Device, typer.Option("--device", help="auto takes a GPU where there is one.")] = Device.AUTO,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="In the embedder's id; default: DIR's name.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Replace DIR, and train although texts of the test pairs are among them.")
    ] = False,
    install: Annotated[
        bool,
        typer.Option(
            "--install", help="Then install it in the cache of --data, as `embedder install` does, if it gained."
        ),
    ] = False,
    data: options.Data = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Train an embedder on your pairs, labels or logs; measure, export and calibrate it.

    Give a file of pairs, --labels, --logs, or several of them. Broken off, the same command goes on where it stood.
    With --install, exit status 1 where nothing was gained: the cache keeps the embedder that it has.
    """
    from semcache.cli.embedder_install import check_installable, install_model
    from semcache.train import pipeline
    from semcache.train.finetune import FinetuneOptions

    need_training()
    plan = FinetuneOptions(loss.value, epochs, batch, rate, max_tokens, mined, seed=seed, device=device.value)
    sources = [path.name for path in [*(files or []), *(logs or [])]] + ["labels of a cache"] * labels
    if not sources:
        raise InvalidArgument("nothing to learn from: name a file of pairs, or give --labels or --logs")
    wish = pipeline.FinetuneSpec(
        out, base, name, check=check_share, test=test_share, mix=mix, force=force, data=tuple(sources), plan=plan
    )
    settings = settings_from(config, data=data)
    if install:
        check_installable(settings)
    pairs = read_pairs(files or [], columns)
    if labels:
        pairs += run_async(pairs_of_labels(settings))
    held = None if test is None else read_pairs([test], columns)
    with _steps() as (stage, told):
        logged = None
        if logs:
            stage("reading logs")
            logged = _logged(logs, base, plan.device)
        report = pipeline.make(pairs, held, wish, logged=logged, stage=stage, told=told)
    _show(report, out, as_json=as_json)
    if install and not _gained(report):
        output.note(f"not installed: `semcache embedder install {out}` installs it all the same")
        raise typer.Exit(1)
    if install:
        run_async(install_model(settings, str(out)))


def evaluate(
    files: Annotated[list[Path], typer.Argument(metavar="PAIRS...", help="JSON lines, CSV or TSV of labelled pairs.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="SPEC", help="default, onnx:DIR, static:DIR, sentence:NAME; several are compared."
        ),
    ] = None,
    columns: Columns = None,
    as_json: options.Json = False,
) -> None:
    """Measure embedders on labelled pairs: precision, recall, F1, AP, ROC-AUC, recall at high precision."""
    need_measuring()
    pairs = read_pairs(files, columns)
    found = {spec: run_async(_measured(spec, pairs)) for spec in model or ["default"]}
    if as_json:
        from dataclasses import asdict

        output.as_json({spec: asdict(quality) for spec, quality in found.items()})
        return
    _table(found)


async def _measured(spec: str, pairs: Sequence[Pair]) -> Quality:
    from semcache.models.embedders import PATIENT, open_embedder
    from semcache.train.card import quality, texts_of

    embedder = open_embedder(spec, patience=PATIENT)
    try:
        texts = texts_of(pairs)
        rows = await embedder.embed(texts)
    finally:
        await embedder.close()
    place = {text: row for row, text in enumerate(texts)}
    return quality(pairs, lambda wanted: rows[[place[text] for text in wanted]])


def _logged(logs: Sequence[Path], base: str, device: str) -> LogPairs:
    """Return the pairs of logs, out of prompts that say alone what is asked: nothing that follows upon other turns."""
    from semcache.cli import traces
    from semcache.cli.log_formats import LogContext
    from semcache.train import finetune as training
    from semcache.train.log_pairs import AnsweredPrompt, LogPairs

    rows = []
    for path in logs:
        found, tally = traces.read(path, reading=LogContext({}))
        for one in found:
            request, scope = one.logged.request, one.logged.scope
            traits = request.traits
            alone = traits.turns == 1 and not traits.stateful and not traits.multimodal
            if alone and not one.exact_only and not one.logged.answer.refusal:
                tenant = scope.tenant if scope is not None else "default"
                rows.append(AnsweredPrompt(request.text, one.answer, tenant, one.labelled))
        for line in tally.summary():
            output.note(line)
    model = training.load(base, device=training.device_of(device))
    return LogPairs(rows, lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False))


@contextmanager
def _steps() -> Iterator[tuple[Callable[[str], None], Callable[[int, int, Mapping[str, float]], None]]]:
    """Show the stage, and the time left of the training, on standard error."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )  # fmt: skip
    terminal = sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not terminal) as progress:
        task = progress.add_task("starting", total=None, figures="")

        def stage(name: str) -> None:
            nonlocal task
            # A task keeps its total when it is reset, and a bar at 0 of 120 would stand still until the stage ends.
            progress.remove_task(task)
            task = progress.add_task(name, total=None, figures="")
            if not terminal:
                output.note(name)

        def told(done: int, steps: int, figures: Mapping[str, float]) -> None:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            progress.update(task, completed=done, total=steps, figures=shown)
            if not terminal and (done % max(1, steps // 10) == 0 or done == steps):
                output.note(f"step {done} of {steps}{f': {shown}' if shown else ''}")

        yield stage, told


def _gained(report: Mapping[str, Any]) -> bool:
    """Return True if the model tells the test pairs apart better than what it was trained from."""
    gained = report["after"]["average_precision"] > report["before"]["average_precision"]
    return bool(gained and report["mixing"]["share"] > 0.0)


def _show(report: dict[str, Any], out: Path, *, as_json: bool) -> None:
    if as_json:
        output.as_json(report)
        return
    from semcache.train.metrics import Quality

    _table({name: Quality(**report[name]) for name in ("before", "after")})
    prior, mixed = report["prior"], report["mixing"]
    output.note(f"weights: {mixed['share']:.0%} trained, the rest the base's")
    output.note(f"decision prior: {prior['chosen']} {prior.get('log_loss', prior.get('note', ''))}")
    if not _gained(report):
        gained = report["after"]["average_precision"] - report["before"]["average_precision"]
        output.note(
            f"nothing was gained on the test pairs (average precision {gained:+.3f}): keep the embedder that you have. "
            f"More pairs, above all near ones with different answers, are what helps. The model is in {out}"
        )
        return
    output.note(f"model in {out}: try it with --embedder onnx:{out}, or `semcache embedder install {out} --data DIR`")


def _table(found: Mapping[str, Quality]) -> None:
    from semcache.train.card import FIGURES, TITLES

    columns = ["", "pairs", *(TITLES[figure] for figure in FIGURES)]
    rows = [
        [name, str(one.pairs), *(f"{getattr(one, figure):.3f}" for figure in FIGURES)] for name, one in found.items()
    ]
    output.table(columns, rows, right=columns[1:])
