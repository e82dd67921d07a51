"""The gain of fine-tuning: `python -m eval.finetuning [all|show|SECTION ...] [options]`.

Every model is made by the very steps of `semcache embedder finetune` and kept in `.eval/finetuning`, so that a run that
was broken off goes on, and what is there is not made again; `show` only writes the page of what is there. The sections:

- losses: the three losses on the same few Quora pairs, compared on pairs that are reported nowhere else.
- qqp: Quora pairs, train and test apart by component; also measured on other domains before and after.
- synthetic: such prompts without their labels, with the pairs that rules make of them and the authored ones that ship
  and are near them, on the same test.
- written: the authored ones alone.
- banking77, clinc150: half of the intents are in no training pair; measured on pairs of the other half.

Knows data sets and figures. Invariant: nothing that is reported was trained or stopped on, and where a choice was made
by it, the page says so.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from eval import finetuning_report
from eval.decisions import data
from eval.embedded import FOLDER, embedded
from semcache.models.embedders import DEFAULT_MODEL
from semcache.train import card, losses, metrics, mining, pipeline, splits
from semcache.train.finetune import FinetuneOptions
from semcache.train.pairs import Pair
from semcache.train.text_identity import caseless

RESULTS = Path(__file__).parent / "results"
WORK = FOLDER / "finetuning"
SECTIONS = ("losses", "qqp", "synthetic", "written", "banking77", "clinc150")
SEED = 7
TEST_SHARE = 0.1
_ELSEWHERE = 3000  # pairs of each domain that a model was not trained on
_CHECKED = 1200  # pairs to stop and to mix by, at most


def main(argv: Sequence[str]) -> int:
    """Make what is missing, then write the page, the facts and the figure; 1 without data."""
    parser = argparse.ArgumentParser("python -m eval.finetuning", description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", default=["all"], choices=["all", "show", *SECTIONS])
    parser.add_argument("--base", default="default", help="weights of all-MiniLM-L6-v2, where their package is absent")
    parser.add_argument("--pairs", type=int, default=47_000, help="Quora pairs to train on")
    parser.add_argument("--prompts", type=int, default=3_000, help="Quora prompts to make synthetic pairs of")
    parser.add_argument("--few", type=int, default=1_500, help="pairs for the comparison of losses")
    parser.add_argument("--intents", type=int, default=3_000, help="pairs of each set of intents to train on")
    parser.add_argument("--rate", type=float, default=FinetuneOptions().rate)
    parser.add_argument("--loss", choices=losses.LOSSES, default=FinetuneOptions().loss)
    chosen = parser.parse_args(argv)
    if not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    wanted = SECTIONS if "all" in chosen.sections else chosen.sections
    for name in SECTIONS:
        if name in wanted:
            _MAKERS[name](chosen)
            page(argv)
    page(argv)
    return 0


# Data


def quora() -> splits.PairSplits:
    """All Quora pairs, apart by component."""
    pairs = [Pair(one.cached, one.asked, one.same) for one in data.pairs("qqp")]
    # Not the seed of the plan: by that, what trains is split once more, and equal seeds draw equal places.
    return splits.split(splits.distinct(pairs), check=0.1, test=TEST_SHARE, seed=SEED + 1)


def intents(name: str, held: bool) -> list[Pair]:
    """Pairs of the intents that are held out, or of the others; half of them nearest of another intent, by MiniLM.

    Pairs of the same intent are drawn at random; each has a near and a random prompt of another intent against it.
    """
    chosen = [one for one in data.questions(name) if not one.alone and _held(one.answer) == held]
    rng = random.Random(SEED)
    by_answer: dict[str, list[str]] = {}
    for one in chosen:
        by_answer.setdefault(one.answer, []).append(one.text)
    answers = {one.text: one.answer for one in chosen}
    positives = []
    for texts in by_answer.values():
        rng.shuffle(texts)
        positives += [Pair(one, two, True) for one, two in zip(texts, texts[1:] + texts[:1], strict=True)]
    numbers = {answer: number for number, answer in enumerate(by_answer)}
    classes = {caseless(text): numbers[answer] for text, answer in answers.items()}
    texts = list(answers)
    near = mining.mine(positives, embedded(texts), texts, classes)
    far = []
    for pair in positives:
        other = rng.choice(texts)
        if answers[other] != answers[pair.one]:
            far.append(Pair(pair.one, other, False))
    return splits.distinct([*positives, *near, *far])


def _held(answer: str) -> bool:
    return bool(hashlib.sha256(f"finetuning:{answer}".encode()).digest()[0] % 2)


def elsewhere(trained: str) -> dict[str, list[Pair]]:
    """Test pairs of the domains that a model was not trained on."""
    sets: dict[str, Callable[[], list[Pair]]] = {
        "qqp": lambda: quora().test,
        "banking77": lambda: intents("banking77", True),
        "clinc150": lambda: intents("clinc150", True),
        "fow_cache": lambda: [Pair(one.cached, one.asked, one.same) for one in data.pairs("fow_cache")],
        "paws_wiki": lambda: [Pair(one.cached, one.asked, one.same) for one in data.pairs("paws_wiki")],
    }
    return {name: _some(made(), _ELSEWHERE) for name, made in sets.items() if name != trained}


def _some(pairs: Sequence[Pair], count: int) -> list[Pair]:
    return random.Random(SEED).sample(list(pairs), min(count, len(pairs)))


# Models


def _losses(chosen: argparse.Namespace) -> None:
    parts = quora()
    for loss in losses.LOSSES:
        few, check = _some(parts.train, chosen.few), _some(parts.check, _ELSEWHERE)
        make(f"loss-{loss}", few, check, chosen.base, _plan(chosen, loss))


def _quora(chosen: argparse.Namespace) -> None:
    parts = quora()
    make("qqp", _some(parts.train, chosen.pairs), parts.test, chosen.base, _plan(chosen, chosen.loss))
    _measure_elsewhere("qqp")


def _synthetic(chosen: argparse.Namespace) -> None:
    from semcache.train.synthesize import synthesize

    _of_prompts("synthetic", chosen, lambda prompts: synthesize(prompts, seed=SEED, each=4))


def _written(chosen: argparse.Namespace) -> None:
    _of_prompts("written", chosen, lambda _: ())


def _of_prompts(name: str, chosen: argparse.Namespace, ruled: Callable[[Sequence[str]], Iterable[Pair]]) -> None:
    """A model of prompts without labels: by what `ruled` makes of them, and by authored pairs near them."""
    from semcache.train.authored_neighbours import authored_neighbours

    parts = quora()
    prompts = sorted({text for pair in parts.train for text in (pair.one, pair.two)})
    random.Random(SEED).shuffle(prompts)
    prompts = prompts[: chosen.prompts]
    made = [*ruled(prompts), *authored_neighbours(prompts, embedded, seed=SEED)]
    make(name, splits.without(made, parts.test), parts.test, chosen.base, _plan(chosen, chosen.loss))


def _banking(chosen: argparse.Namespace) -> None:
    _intents("banking77", chosen)


def _clinc(chosen: argparse.Namespace) -> None:
    _intents("clinc150", chosen)


def _intents(name: str, chosen: argparse.Namespace) -> None:
    held = intents(name, True)
    make(
        name,
        splits.without(_some(intents(name, False), chosen.intents), held),
        held,
        chosen.base,
        _plan(chosen, chosen.loss),
    )
    _measure_elsewhere(name)


_MAKERS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "losses": _losses,
    "qqp": _quora,
    "synthetic": _synthetic,
    "written": _written,
    "banking77": _banking,
    "clinc150": _clinc,
}


def _plan(chosen: argparse.Namespace, loss: losses.LossName) -> FinetuneOptions:
    return FinetuneOptions(loss=loss, rate=chosen.rate, max_tokens=48, seed=SEED)


def make(name: str, train: Sequence[Pair], test: Sequence[Pair], base: str, plan: FinetuneOptions) -> Path:
    """Make a model unless it is there, and return its folder. The part that stops the training comes out of `train`."""
    out = WORK / name
    if (out / card.MEASURED).is_file():
        return out
    WORK.mkdir(parents=True, exist_ok=True)
    check = min(0.1, _CHECKED / len(train))
    wish = pipeline.FinetuneSpec(out, base, name, check=check, data=(name,), plan=plan)

    def told(done: int, steps: int, figures: Mapping[str, float]) -> None:
        if done % 10 == 0 or done == steps:
            print(f"{name}: step {done} of {steps} {dict(figures)}", file=sys.stderr, flush=True)

    pipeline.make(
        train, test, wish, stage=lambda stage: print(f"{name}: {stage}", file=sys.stderr, flush=True), told=told
    )
    base, tuned = (_scores(test, model) for model in (DEFAULT_MODEL, out))
    same = np.array([pair.same for pair in test])
    spread = {place: metrics.interval(rows, same, seed=SEED) for place, rows in (("before", base), ("after", tuned))}
    card.write_json(out / "spread.json", spread)
    return out


def _measure_elsewhere(name: str) -> None:
    """Average precision on other domains, before and after."""
    path = WORK / name / "elsewhere.json"
    if path.is_file():
        return
    found = {}
    for domain, pairs in elsewhere(name).items():
        same = np.array([pair.same for pair in pairs])
        before, after = (metrics.measure(_scores(pairs, model), same) for model in (DEFAULT_MODEL, WORK / name))
        found[domain] = {"before": _bare(before), "after": _bare(after)}
    card.write_json(path, found)


def _scores(pairs: Sequence[Pair], model: Path) -> Any:
    return card.scores(pairs, lambda texts: embedded(texts, model=model))


def _bare(quality: metrics.Quality) -> dict[str, Any]:
    return asdict(replace(quality, curve=()))


# The page


def page(argv: Sequence[str]) -> None:
    """Write what has been made so far."""
    made = {name: json.loads((WORK / name / card.MEASURED).read_text()) for name in _made()}
    if not made:
        return
    spread = {name: json.loads((WORK / name / "spread.json").read_text()) for name in made if _is(name, "spread.json")}
    others = {
        name: json.loads((WORK / name / "elsewhere.json").read_text()) for name in made if _is(name, "elsewhere.json")
    }
    facts = {"models": made, "interval_of_ap": spread, "elsewhere": others}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "finetuning.json").write_text(json.dumps(facts, separators=(",", ":"), sort_keys=True) + "\n")
    (RESULTS / "finetuning.md").write_text(finetuning_report.page(made, spread, others, argv, SEED), encoding="utf-8")
    finetuning_report.figure(made, RESULTS / "finetuning.png")
    print((RESULTS / "finetuning.md").read_text())


def _made() -> list[str]:
    names = [*(f"loss-{loss}" for loss in losses.LOSSES), *SECTIONS[1:]]
    return [name for name in names if _is(name, card.MEASURED)]


def _is(name: str, file: str) -> bool:
    return (WORK / name / file).is_file()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
