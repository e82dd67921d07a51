"""The shipped models beside all-MiniLM-L6-v2: `python -m eval.models [--verifier DIR] [--card]`.

- ranking: pairs of several sets ordered by cosine and by the verifier, average precision and recall at high precision.
- chain: what a cache with one entry serves at shipped defaults without a verifier, with the shipped one, and with one
  that is always right; and how much of what that one adds the shipped one adds.
- latency: one core, one text of 15 tokens and one pair of 20 tokens each.

Knows data sets and figures. Invariant: `fow_cache`, Quora and STS pairs are only measured on; of PAWS and the intents
only the quarter that the recipe holds out.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.decisions import data
from eval.decisions.data import Pair
from eval.decisions.pairs import Cache
from eval.embedded import embedded
from semcache.config import packs
from semcache.models.cross_encoder import DEFAULT_VERIFIER, CrossEncoder
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import metrics
from semcache.train.recipe import sources, verifier_card
from semcache.train.verifier import logit_calibration
from semcache.types import Forward, Serve, Why
from semcache.types.evidence import wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results"
SEED = 7
_QUORA = 2000
_TURNS = 60
_FIFTEEN = "how can I change the address that is printed on my bill?"
_TWENTY = (
    "how can i change the address that is printed on my monthly credit card bill please",
    "what do i need to do in order to change the address on my monthly card bill",
)


def main(argv: Sequence[str]) -> int:
    """Measure and write the page and the facts; 1 without data."""
    parser = argparse.ArgumentParser("python -m eval.models", description=__doc__.partition("\n")[0])
    parser.add_argument("--verifier", type=Path, default=DEFAULT_VERIFIER)
    parser.add_argument("--quora", type=int, default=_QUORA, help="Quora pairs of the reporting half")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--card", action="store_true", help="also write the figures into the verifier's card")
    chosen = parser.parse_args(argv)
    if not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    verifier = CrossEncoder(chosen.verifier)
    sets = _sets(chosen.quora)
    words = {name: verifier.logits([(one.cached, one.asked) for one in some]) for name, some in sets.items()}
    logits = {name: np.where(np.isnan(some), -30.0, some).astype(np.float64) for name, some in words.items()}
    known = {name: verifier.calibrated(some) for name, some in words.items()}
    facts: dict[str, Any] = {
        "command": " ".join(["python -m eval.models", *argv]),
        "seed": SEED,
        "embedder": OnnxEmbedder(DEFAULT_MODEL).id,
        "verifier": verifier.id,
        "ranking": {name: _ranked(some, logits[name], known[name]) for name, some in sets.items()},
        "stsb": _likeness(verifier),
        "chain": _chain(sets, known),
        "latency": _latency(verifier),
    }
    chosen.out.mkdir(exist_ok=True)
    (chosen.out / "models.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "models.md").write_text(_page(facts), encoding="utf-8")
    if chosen.card:
        card = chosen.verifier / "README.md"
        card.write_text(verifier_card.measured(card.read_text(encoding="utf-8"), _summary(facts)), encoding="utf-8")
    print(_page(facts))
    return 0


def _sets(quora: int) -> dict[str, list[Pair]]:
    half = [one for one in data.pairs("qqp") if data.split(one.group) == "report"]
    held = [
        Pair(one, two, same, "paws", "paws")
        for one, two, same, kept in sources.paraphrases(data.DATA)
        if kept
    ]  # fmt: skip
    return {
        "fow_cache": list(data.pairs("fow_cache")),
        "paws_wiki": held,
        "qqp": random.Random(SEED).sample(half, min(quora, len(half))),
    }


# Ranking


def _ranked(some: Sequence[Pair], logits: Array, p: Array) -> dict[str, Any]:
    same = np.array([one.same for one in some])
    cosine = (embedded([one.cached for one in some]) * embedded([one.asked for one in some])).sum(axis=1).astype(float)
    found: dict[str, Any] = {"pairs": len(some)}
    for name, scores in (("cosine", cosine), ("verifier", logits)):
        quality = metrics.measure(scores, same)
        low, high = metrics.interval(scores, same, seed=SEED)
        found[name] = {
            "average_precision": round(quality.average_precision, 4),
            "interval": [round(low, 4), round(high, 4)],
            "roc_auc": round(quality.roc_auc, 4),
            "recall_95": round(quality.recall_95, 4),
            "recall_99": round(quality.recall_99, 4),
        }
    found["calibration_error"] = round(logit_calibration.expected_error(p, same.tolist()), 4)
    return found


def _likeness(verifier: CrossEncoder) -> dict[str, float]:
    """Spearman correlation with STS scores, which grade likeness: a verifier is not made for them."""
    spearmanr = import_module("scipy.stats").spearmanr
    rows = list(data.rows("stsb/test.jsonl.gz"))
    one, two = ([str(row[name]) for row in rows] for name in ("sentence1", "sentence2"))
    scores = [float(row["score"]) for row in rows]
    cosine = (embedded(one) * embedded(two)).sum(axis=1)
    logits = verifier.logits(list(zip(one, two, strict=True)))
    return {
        "cosine": round(float(spearmanr(cosine, scores)[0]), 4),
        "verifier": round(float(spearmanr(logits, scores)[0]), 4),
    }


# The chain

_GREY = (Why.VERIFY_FAILED, Why.NO_VERDICT)


def _chain(sets: Mapping[str, Sequence[Pair]], known: Mapping[str, Array]) -> dict[str, Any]:
    pack = packs.load("default")
    enough = 1.0 - pack.target_of("default") - 1e-9
    cache, found = Cache(pack), {}
    for name, some in sets.items():
        decisions = cache.decisions(some)
        grey = np.array([isinstance(one, Forward) and one.why in _GREY for one in decisions])
        alone = np.array([isinstance(one, Serve) for one in decisions])
        same = np.array([one.same for one in some])
        said = known[name] >= enough
        words = {(one.asked, one.cached): p for one, p in zip(some, known[name].tolist(), strict=True)}
        both = np.array(Cache(pack, said=lambda *texts, words=words: words[texts]).served(some))
        ways = {
            "without": alone,
            "verifier": alone | (grey & said),
            "posterior": both,
            "oracle": (alone | grey) & same,
        }
        found[name] = {
            "grey": [int((grey & same).sum()), int((grey & ~same).sum())],
            **{way: [int((hits & same).sum()), int((hits & ~same).sum())] for way, hits in ways.items()},
            "of": [int(same.sum()), int((~same).sum())],
            "kinds": _by_kind(some, ways),
        }
    return found


def _by_kind(some: Sequence[Pair], ways: Mapping[str, NDArray[np.bool_]]) -> dict[str, list[int]]:
    found = {}
    for kind in sorted({one.kind for one in some}):
        of = np.array([one.kind == kind for one in some])
        found[kind] = [*(int((hits & of).sum()) for hits in ways.values()), int(of.sum())]
    return found


# Latency


def _latency(verifier: CrossEncoder) -> dict[str, Any]:
    embedder = OnnxEmbedder(DEFAULT_MODEL)
    return {
        "processor": platform.processor() or platform.machine(),
        "embedder_ms": _median(lambda: embedder.encode([_FIFTEEN])),
        "verifier_ms": _median(lambda: verifier.probabilities([_TWENTY])),
    }


def _median(work: Callable[[], object]) -> list[float]:
    """Median and lower quartile of the wall time in ms, after some turns to warm up."""
    taken = []
    for _ in range(_TURNS):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1e3)
    return [round(float(np.quantile(taken[10:], share)), 2) for share in (0.5, 0.25)]


# The page


def _page(facts: Mapping[str, Any]) -> str:
    lines = [
        "# The shipped models beside all-MiniLM-L6-v2",
        "",
        f"- `{facts['command']}`, seed {facts['seed']}",
        f"- embedder `{facts['embedder']}`, verifier `{facts['verifier']}`",
        "- 95% intervals: bootstrap over pairs for average precision, Wilson for shares",
        "",
        "## Ranking pairs",
        "",
        "| set | pairs | by | AP | 95% | ROC-AUC | recall at P 0.95 | at P 0.99 | calibration error |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in facts["ranking"].items():
        for by in ("cosine", "verifier"):
            row = one[by]
            low, high = row["interval"]
            error = f"{one['calibration_error']:.3f}" if by == "verifier" else ""
            lines.append(
                f"| {name} | {one['pairs']} | {by} | {row['average_precision']:.3f} | {low:.3f}–{high:.3f} "
                f"| {row['roc_auc']:.3f} | {row['recall_95']:.3f} | {row['recall_99']:.3f} | {error} |"
            )
    likeness = facts["stsb"]
    lines += [
        "",
        f"Spearman with STS scores: cosine {likeness['cosine']:.3f}, verifier {likeness['verifier']:.3f}.",
        "",
        "## The chain at shipped defaults",
        "",
        "Every category asks the verifier. Served is what its word alone finds the same with at least 1 less the",
        "target, beside what likeness alone serves; or, as the cache does, what is sure enough for the pooled budget",
        "with its word among the features, and nothing to which it objects. An oracle is always right.",
        "",
        "| set | | pairs | in the grey zone | without verifier | its word alone | with the belief | with an oracle "
        "| of the oracle's gain |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in facts["chain"].items():
        for place, label in enumerate(("should be served", "trap")):
            of = one["of"][place]
            shares = [_share(one[way][place], of) for way in ("without", "verifier", "posterior", "oracle")]
            gain = one["oracle"][0] - one["without"][0]
            part = f"{(one['posterior'][0] - one['without'][0]) / gain:.0%}" if place == 0 and gain else ""
            lines.append(f"| {name} | {label} | {of} | {one['grey'][place]} | {' | '.join(shares)} | {part} |")
    lines += ["", "By kind, of fow_cache:", ""]
    lines += [
        "| kind | pairs | without | its word alone | with the belief | oracle |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kind, (*ways, of) in facts["chain"]["fow_cache"]["kinds"].items():
        lines.append(f"| {kind} | {of} | {' | '.join(map(str, ways))} |")
    speed = facts["latency"]
    lines += [
        "",
        "## Latency, one core",
        "",
        f"On {speed['processor']}: the embedder {speed['embedder_ms'][0]} ms (15 tokens), the verifier "
        f"{speed['verifier_ms'][0]} ms (two prompts of 20 tokens); lower quartiles {speed['embedder_ms'][1]} and "
        f"{speed['verifier_ms'][1]} ms.",
        "",
    ]
    return "\n".join(lines)


def _summary(facts: Mapping[str, Any]) -> list[str]:
    """The lines of the card on the figures."""
    lines = ["By `python -m eval.models`, beside the cosine of the shipped embedder:", ""]
    lines += [
        "| set | AP, cosine | AP, verifier | recall at P 0.95, cosine | verifier |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, one in facts["ranking"].items():
        figures = [one[by][figure] for figure in ("average_precision", "recall_95") for by in ("cosine", "verifier")]
        lines.append(f"| {name} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")
    served = facts["chain"]["fow_cache"]
    shares = [_share(served[way][place], served["of"][place]) for way in ("without", "posterior") for place in (0, 1)]
    return [
        *lines,
        "",
        f"Of fow_cache at shipped defaults, a cache with one entry serves {shares[0]} of the rightful hits and "
        f"{shares[1]} of the traps without it, {shares[2]} and {shares[3]} by its word and the decision's belief "
        "together. Where it ranks worse than cosine it must not be the only judge.",
    ]


def _share(count: int, of: int) -> str:
    known = wilson(count, of)
    return f"{known.estimate:.1%} ({known.low:.1%}–{known.high:.1%})"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
