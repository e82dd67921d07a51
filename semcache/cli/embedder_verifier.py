"""`semcache embedder verifier`: train the verifier further on the labels of a cache.

Knows settings and terminals; `semcache.train.verifier` learns and compares. Invariant: a verifier that the comparison
speaks against is not installed, and the command then ends with exit status 1.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semcache.cli import options, output
from semcache.cli.embedder_inputs import Seed, need_training, pairs_of_labels, read_pairs
from semcache.cli.open_store import run_async, settings_from

if TYPE_CHECKING:
    from semcache.train.verifier.retraining import RetrainingOutcome
    from semcache.train.verifier.training_loop import TrainingStep

FOLDER = "verifier"  # in the data folder


def verifier(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PAIRS...", help="Also learn from labelled pairs: JSON lines, CSV or TSV."),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="Learn from the cache's labels: feedback, audits, judge.")
    ] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to install it; default: the data folder.")
    ] = None,
    seed: Seed = 7,
    data: options.Data = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Train the verifier on what this cache has learned; a worse one is not installed.

    Old and new are compared on labels held out and on the check set that ships. Exit status 1: the old one stays.
    """
    need_training()
    from semcache.train.verifier.retraining import retrain

    settings = settings_from(config, data=data)
    place = out or settings.data / FOLDER
    pairs = read_pairs(files or [])
    if labels:
        pairs += run_async(pairs_of_labels(settings))
    outcome = retrain(_installed_folder(place), place, pairs, seed=seed, told=_show_step)
    _show(outcome, place, as_json=as_json)
    if not outcome.installed:
        raise typer.Exit(1)


def _installed_folder(place: Path) -> Path:
    """Return the folder of the verifier in use: the cache's own, or the one that ships."""
    from semcache.models.cross_encoder import DEFAULT_VERIFIER

    return place if (place / "model.json").is_file() else DEFAULT_VERIFIER


def _show_step(step: TrainingStep) -> None:
    if step.done % max(1, step.of // 10) == 0 or step.done == step.of:
        output.note(f"step {step.done} of {step.of}, loss {step.loss:.3f}")


def _show(outcome: RetrainingOutcome, place: Path, *, as_json: bool) -> None:
    drift = outcome.drift
    if as_json:
        output.as_json({**asdict(outcome), "installed": outcome.installed})
        return
    rows = [
        [name, str(one.pairs), f"{one.log_loss:.3f}", f"{one.served_right:.1%}", f"{one.served_wrong:.1%}"]
        for name, one in (
            ("held-out labels, old", drift.labels_old),
            ("held-out labels, new", drift.labels_new),
            ("check set, old", drift.check_old),
            ("check set, new", drift.check_new),
        )
    ]
    columns = ["", "pairs", "log loss", "right ones served", "wrong ones served"]
    output.table(columns, rows, right=columns[1:])
    if outcome.installed:
        output.note(f"installed in {place}: {outcome.id}")
    for reason in drift.against:
        output.note(f"not installed: {reason}")
