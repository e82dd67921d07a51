"""The fine-tuning pipeline: split, train, mix, export, measure before and after, recalibrate, publish.

Knows the order of the steps and the input of each, not how it is done. Invariant: the test part is read for the figures
and for nothing else; the folder appears whole or not at all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from semcache.errors import InvalidArgument
from semcache.train import card, finetune, splits, weight_interpolation
from semcache.train.atomic_folder import published, vacant, workplace
from semcache.train.general_pairs import general
from semcache.train.log_pairs import LogPairs
from semcache.train.metrics import Quality
from semcache.train.pairs import Pair, both_classes
from semcache.train.recalibrate import recalibrate
from semcache.train.text_identity import caseless

Stage = Callable[[str], None]
_LOOKED = 1500  # check pairs that stop the training and choose the mix: more cost more than they tell


@dataclass(frozen=True, slots=True)
class FinetuneSpec:
    """The model to make by fine-tuning, and how.

    `check` and `test` are shares of the components; `test` does not count where pairs to test on are given. `mix` is
    the share of the trained weights in the model, in [0, 1], the rest being the base's; None chooses it
    (`semcache.train.weight_interpolation`). `force` replaces a model at `out` and lets texts of the test part be
    trained on.
    """

    out: Path
    base: str = "default"
    name: str = ""
    licence: str = "Apache-2.0 (the base); as the training data allow"
    check: float = 0.1
    test: float = 0.1
    mix: float | None = None
    force: bool = False
    data: Sequence[str] = ()
    plan: finetune.FinetuneOptions = field(default_factory=finetune.FinetuneOptions)

    def __post_init__(self) -> None:
        if self.mix is not None and not 0.0 <= self.mix <= 1.0:
            raise InvalidArgument(f"mix is {self.mix}: it is a share of the trained weights, from 0 to 1")


def prepared(
    pairs: Sequence[Pair], test: Sequence[Pair] | None, spec: FinetuneSpec, logged: LogPairs | None = None
) -> tuple[splits.PairSplits, list[str]]:
    """The parts, and the texts that training and test share. Raises InvalidArgument for pairs that cannot be used.

    Pairs that occur twice count once, and those labelled both ways not at all. Near prompts of `logged` are looked for
    within a part: across parts, they would tie all pairs of a log together.
    """
    pairs = [*pairs, *(logged.same() if logged is not None else ())]
    if logged is None:
        both_classes(pairs, "the pairs")
    clean = splits.distinct(pairs)
    share, seed = spec.test if test is None else 0.0, spec.plan.seed
    leaks = [] if test is None else splits.leaks(clean, test)
    if leaks and not spec.force:
        raise InvalidArgument(
            f"{len(leaks)} texts are in the training and in the test pairs, such as {leaks[0]!r}: the figures "
            "would flatter; take them out of one, or --force"
        )
    parts = splits.split(clean, check=spec.check, test=share, seed=seed)
    if logged is not None:
        part_of = splits.divider(clean, check=spec.check, test=share, seed=seed)
        parts = _contrasted(parts, logged, part_of, test or ())
    if test is not None:
        parts = parts._replace(test=splits.distinct(test))
    splits.usable(parts, clean, more="`--test FILE` and a larger `--check-share`")
    return parts, leaks


def _contrasted(
    parts: splits.PairSplits, logged: LogPairs, part_of: Callable[[str], str], test: Sequence[Pair]
) -> splits.PairSplits:
    """The parts with near prompts of another answer; none has a text of the pairs to test on."""
    held = {caseless(text) for text in card.texts_of(test)}
    found = {}
    for name, part in parts._asdict().items():
        known = {frozenset((caseless(pair.one), caseless(pair.two))) for pair in part}
        here = {text for text in logged.texts if part_of(text) == name and caseless(text) not in held}
        near = logged.different(here.__contains__)
        fresh = (pair for pair in near if frozenset((caseless(pair.one), caseless(pair.two))) not in known)
        found[name] = splits.distinct([*part, *fresh])  # what is labelled stands against what was found
    return splits.PairSplits(**found)


def make(
    pairs: Sequence[Pair],
    test: Sequence[Pair] | None,
    spec: FinetuneSpec,
    *,
    logged: LogPairs | None = None,
    stage: Stage,
    told: finetune.Told | None = None,
) -> dict[str, Any]:
    """Make the model folder and return the report that is kept beside it. Raises SemcacheError.

    The pairs of `logged` are learned from too. `stage` is told the name of every step, `told` of the training's
    progress. Broken off, the same call goes on.
    """
    vacant(spec.out, replace=spec.force)
    parts, leaks = prepared(pairs, test, spec, logged)
    stage("loading the weights")
    device = finetune.device_of(spec.plan.device)
    model = finetune.load(spec.base, device=device)
    name = spec.name or spec.out.name
    with workplace(spec.out, "training") as work, published(spec.out, replace=spec.force) as folder:
        stage("measuring before")  # and first of all whether what comes of this base can be exported
        before = _before(spec.base, folder, parts.test)
        start, known = weight_interpolation.weights_of(model), _general(model, parts) if spec.mix is None else {}
        stage("training")
        looked = parts.check[:: max(1, -(-len(parts.check) // _LOOKED))]
        trained = finetune.train(model, parts.train, looked, spec.plan, work, told=told)
        stage("mixing with the base")
        mixed = weight_interpolation.settle(model, start, looked, known, share=spec.mix)
        stage("exporting")
        finetune.save(model, folder / card.WEIGHTS)
        origin = f"fine-tuned from {finetune.base_label(spec.base)}"
        embedder = card.export_checked(
            folder, name=name, origin=origin, licence=spec.licence, language=finetune.base_language(spec.base)
        )
        stage("measuring after")
        after = card.quality(parts.test, embedder.encode)
        stage("recalibrating")
        outcome = recalibrate(parts.check, embedder.encode, seed=spec.plan.seed)
        if outcome.priors:
            card.write_json(
                folder / card.PRIOR, {"embedder": embedder.id, "seed": spec.plan.seed, "profiles": outcome.priors}
            )
        report = {
            "embedder": embedder.id,
            "dim": embedder.dim,
            "pairs": {"given": len(pairs), **{part: len(held) for part, held in parts._asdict().items()}},
            "shared_texts": len(leaks),
            "plan": {**asdict(spec.plan), "base": finetune.base_label(spec.base), "device": device},
            "training": trained,
            "mixing": mixed,
            "before": asdict(before),
            "after": asdict(after),
            "prior": outcome.told,
        }
        card.write_json(folder / card.MEASURED, report)
        card.describe(folder, data=_data(spec, report), before=before, after=after)
        _plot(before, after, folder / "curve.png")
    return report


def _general(model: Any, parts: splits.PairSplits) -> dict[str, list[Pair]]:
    """Pairs out of the domain, none of whose texts is in a part; `model` is as it was before the training."""
    known = {caseless(text) for part in parts for text in card.texts_of(part)}
    return general(
        lambda texts: model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False), without=known
    )


def _before(base: str, folder: Path, test: Sequence[Pair]) -> Quality:
    """The figures of the base, exported like the result."""
    place = folder / "before"
    finetune.save(finetune.load(base), place / card.WEIGHTS)
    try:
        embedder = card.export_checked(place, name="before", origin="", licence="", language=None)
        return card.quality(test, embedder.encode)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _data(spec: FinetuneSpec, report: dict[str, Any]) -> dict[str, Any]:
    counts, plan = report["pairs"], report["plan"]
    return {
        "Data": ", ".join(spec.data) or "pairs given by the caller",
        "Pairs": f"{counts['train']} to train, {counts['check']} to stop and calibrate, {counts['test']} to measure, "
        "apart by connected component",
        "Training": f"{plan['loss']} loss, {plan['epochs']} epoch(s), batch {plan['batch']}, rate {plan['rate']:g}, "
        f"seed {plan['seed']}, {report['training']['steps']} steps",
        "Weights": _weights(report["mixing"]),
        "Decision prior": f"{report['prior']['chosen']} ({report['prior']['candidates']} candidates)",
        "Texts shared by training and test": report["shared_texts"],
    }


def _weights(mixed: dict[str, Any]) -> str:
    """The lines of a card on the mixing."""
    said = f"{mixed['share']:.0%} of the way from the base's to the trained ones"
    if not mixed["looks"]:
        return f"{said}, as was asked for"
    base, chosen = (next(one for one in mixed["looks"] if one["share"] == share) for share in (0.0, mixed["share"]))
    lost = (f"{100 * (chosen['general'][name] - value):+.1f} on {name}" for name, value in base["general"].items())
    return f"{said}, chosen on the check pairs; points of AP on general pairs: {', '.join(lost)}"


def _plot(before: Quality, after: Quality, path: Path) -> None:
    """Precision over cache-hit ratio; nothing where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for quality, label, colour in ((before, "before", "#8a8f98"), (after, "after", "#1f6feb")):
        hits, precision = zip(*quality.curve, strict=True)
        axes.plot(hits, precision, label=f"{label} (AP {quality.average_precision:.3f})", color=colour, linewidth=1.8)
    axes.axvline(after.same / after.pairs, color="#d0d4da", linewidth=1, zorder=0)
    axes.annotate("all rightful hits", (after.same / after.pairs, 0.02), rotation=90, color="#8a8f98", fontsize=8)
    axes.set(xlabel="cache-hit ratio on held-out pairs", ylabel="precision of hits", xlim=(0, 1), ylim=(0, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=144)
