"""How well volatile prompts are recognised, and what lives learned from re-asked answers cost and save.

`python -m eval.freshness [--data DIR] [--seeds N]` writes `results/freshness.md` and `.json`. Reads the data sets and
the clock of none. The shipped weights saw none of the sets; variants trained on one set are shown on the others, and
FreshQA's DEV questions were looked at during development, so that only its TEST questions are reported.
Invariant: the same data and seeds give the same page.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from eval.embedded import embedded
from eval.freshness import classes, rehearsal, sets
from eval.freshness.page import page
from eval.freshness.sets import Row
from semcache.request.eligibility import is_live
from semcache.request.prompt_volatility import KINDS
from semcache.retention.freshness import Volatility, is_relative

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent.parent / "shared" / "data"
RESULTS = ROOT / "results"
CLASSES = {"never-changing": Volatility.NEVER, "slow-changing": Volatility.SLOW, "fast-changing": Volatility.FAST}


def measure(data: Path, seeds: int) -> Row:
    """All numbers."""
    fresh = [row for row in sets.rows(data, "freshqa") if row["split"] == "TEST"]
    texts, truth = [row["question"] for row in fresh], [CLASSES[row["fact_type"]] for row in fresh]
    situated = sets.timelines(data)
    labelled = [(line.question, line.kind) for line in situated if line.kind is not None]
    news = list(dict.fromkeys(row["question_sentence"] for row in sets.rows(data, "realtimeqa")))
    others = sets.ordinary(data)
    vectors = {"fresh": embedded(texts), "situated": embedded([text for text, _ in labelled]), "news": embedded(news)}
    vectors |= {name: embedded(each) for name, each in others.items()}
    models = classes.variants(situated, news)

    result: Row = {"freshqa": {}, "situatedqa": {}, "shares": {}, "lives": {}, "n": {"freshqa": len(fresh)}}
    result["n"] |= {"situatedqa": len(labelled), "realtimeqa": len(news)}
    always = [max(KINDS, key=truth.count)] * len(truth)
    result["freshqa"]["most frequent class"] = classes.scores(truth, always, np.full((len(truth), 3), 1 / 3))
    for name, model in models.items():
        for way in ("cues", "cues and embedding"):
            given = vectors if way != "cues" else dict.fromkeys(vectors)
            label = f"{name}, {way}"
            kinds, chance = classes.predict(model, texts, given["fresh"])
            result["freshqa"][label] = classes.scores(truth, kinds, chance)
            if name != "+ SituatedQA":
                found = classes.predict(model, [text for text, _ in labelled], given["situated"])
                result["situatedqa"][label] = classes.scores([kind for _, kind in labelled], *found)
            chosen = others if name == "+ RealTimeQA" else {"realtimeqa": news} | others
            key = {"realtimeqa": "news"}
            result["shares"][label] = {
                each: classes.shares(prompts, classes.predict(model, prompts, given[key.get(each, each)])[0])
                for each, prompts in chosen.items()
            }
    result["shares"]["only words of the moment (no model)"] = {
        each: [float(np.mean([is_live(text) for text in prompts])), 0.0, 0.0]
        for each, prompts in ({"realtimeqa": news} | others).items()
    }

    shipped = models["shipped"]
    for way, given_vectors in (("learned, cues", None), ("learned, cues and embedding", vectors["fresh"])):
        kinds = classes.predict(shipped, texts, given_vectors)[0]
        kinds = [Volatility.RELATIVE if is_relative(text) else kind for text, kind in zip(texts, kinds, strict=True)]
        prior = rehearsal.Known(rehearsal.pack(30 * rehearsal.DAY, 0.02), dict(zip(texts, kinds, strict=True)))
        result["lives"][way] = rehearsal.lives(truth, [prior.ttl(rehearsal.request(text), "default") for text in texts])
        mean = result["lives"][way]["mean_days"]
        result["lives"][f"fixed {mean:.1f} d (as {way})"] = rehearsal.lives(truth, [mean * rehearsal.DAY] * len(truth))
    for days in (1, 7, 30):
        result["lives"][f"fixed {days} d"] = rehearsal.lives(truth, [days * rehearsal.DAY] * len(truth))

    asked = [line.question for line in situated if line.kind is not None]
    by_cues, _ = classes.predict(shipped, asked, None)
    by_both, _ = classes.predict(shipped, asked, vectors["situated"])
    both = dict(zip(asked, by_both, strict=True))
    result["rates"] = rehearsal.rates(situated, both)
    result["situated_simulation"] = rehearsal.rehearse(
        situated,
        {
            "no classes": dict.fromkeys(asked, Volatility.SLOW),
            "cues": dict(zip(asked, by_cues, strict=True)),
            "embedding": both,
        },
        seeds,
    )
    return result


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m eval.freshness", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    if not (options.data / "freshqa").is_dir():
        parser.error(f"no data in {options.data}: name the folder that holds freshqa/ with --data")
    result = measure(options.data, options.seeds)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "freshness.json").write_text(json.dumps(_rounded(result), indent=1) + "\n", encoding="utf-8")
    (RESULTS / "freshness.md").write_text(page(result, options.seeds), encoding="utf-8")
    print(page(result, options.seeds))
    return 0


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return round(float(value), 4) if isinstance(value, float | np.floating) else value


if __name__ == "__main__":
    raise SystemExit(main())
