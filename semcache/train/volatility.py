"""The weights of `semcache.request.prompt_volatility`: a softmax regression on prompts of known volatility.

`python -m semcache.train.volatility [--out FILE]` makes the shipped file from `volatility.yaml` alone;
`--prompts FILE` adds prompts of one's own, JSON lines of {"prompt": ..., "kind": "never" | "slow" | "fast"}.
Pure numpy and deterministic. Invariant: the same prompts give the same file.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from semcache.errors import ConfigError
from semcache.request import volatility_cues
from semcache.request.prompt_volatility import KINDS
from semcache.types import Volatility

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CUES_PENALTY = 3.0  # ridge penalty of a cue's weight, in prompts
EMBEDDING_PENALTY = 1.0  # of a dimension's weight
VARIANTS = 6  # fillings of a frame
_STEPS = 600
Labelled = tuple[str, Volatility]


def own_prompts(variants: int = VARIANTS) -> list[Labelled]:
    """The written frames, each filled in some ways; every second one as a proper sentence."""
    rng = random.Random(0)
    found: dict[str, Volatility] = {}
    written = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    for kind in KINDS:
        for frame in written[kind.value]:
            for number in range(variants if "{" in frame else 2):
                text = re.sub(r"{(\w+)}", lambda slot: _fill(slot[1], written["fillers"], rng), frame)
                found[f"{text[0].upper()}{text[1:]}?" if number % 2 else text.lower()] = kind
    return list(found.items())


def _fill(slot: str, fillers: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    return str(rng.randint(1900, 2019)) if slot == "year" else rng.choice(fillers[slot])


def weights(
    prompts: Sequence[Labelled], vectors: Array, embedder: str, *, importance: Sequence[float] | None = None
) -> dict[str, Any]:
    """The weights for `VolatilityModel`; `vectors[i]` is the embedding of prompt i, shape (n, dim).

    `importance`: weights of the prompts before the kinds are given equal weight (default 1 each).
    """
    found = np.array([[1.0, *volatility_cues.of(text)] for text, _ in prompts])
    kinds = np.array([KINDS.index(kind) for _, kind in prompts])
    each = np.ones(len(prompts)) if importance is None else np.asarray(importance, np.float64)
    for kind in range(len(KINDS)):
        each[kinds == kind] *= len(prompts) / len(KINDS) / max(each[kinds == kind].sum(), 1e-9)
    ridge = np.array([1e-3] + [CUES_PENALTY] * len(volatility_cues.NAMES))
    lexical = fit(found, kinds, each, ridge)
    both = np.hstack([found, vectors])
    joint = fit(both, kinds, each, np.concatenate([ridge, np.full(vectors.shape[1], EMBEDDING_PENALTY)]))
    wide = found.shape[1]
    return {
        "embedder": embedder,
        "names": list(volatility_cues.NAMES),
        "lexical": _short(lexical),
        "cues": _short(joint[:, :wide]),
        "embedding": _short(joint[:, wide:]),
    }


def fit(rows: Array, kinds: NDArray[np.int64], each: Array, ridge: Array) -> Array:
    """Softmax regression with ridge penalty by accelerated gradient steps (Nesterov 1983); shape (kinds, columns)."""
    truth = np.eye(len(KINDS))[kinds]
    # An upper bound of the curvature: half the largest eigenvalue of the weighted Gram matrix (Bohning 1992).
    step = 1.0 / (0.5 * float(np.linalg.eigvalsh((rows * each[:, None]).T @ rows)[-1]) + float(ridge.max()))
    found = ahead = np.zeros((len(KINDS), rows.shape[1]))
    for number in range(_STEPS):
        logits = rows @ ahead.T
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = (powers / powers.sum(axis=1, keepdims=True) - truth) * each[:, None]
        last, found = found, ahead - step * (error.T @ rows + ridge * ahead)
        ahead = found + number / (number + 3) * (found - last)
    return found


def _short(values: Array) -> list[list[float]]:
    return [[round(float(value), 3) for value in row] for row in values]


def read(path: Path) -> list[Labelled]:
    """Prompts from a JSON lines file. Raises ConfigError with the line's number."""
    found = []
    lines = path.read_text(encoding="utf-8").split("\n")  # not at U+2028, which JSON may hold
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found.append((str(row["prompt"]), Volatility(row["kind"])))
        except (ValueError, KeyError, TypeError) as error:
            wanted = '{"prompt": "...", "kind": "never" | "slow" | "fast"}'
            raise ConfigError(f"{path}:{number}: {error}: a line is {wanted}") from error
        if found[-1][1] not in KINDS:
            raise ConfigError(f"{path}:{number}: prompts of kind {found[-1][1]!r} are found by rules, not learned")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write."""
    from semcache.models.embedders import DEFAULT_MODEL
    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.request import prompt_volatility

    parser = argparse.ArgumentParser(prog="python -m semcache.train.volatility", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(prompt_volatility.__file__).with_name("volatility.json"))
    parser.add_argument("--prompts", type=Path, action="append", default=[], help="further prompts, JSON lines")
    options = parser.parse_args(arguments)
    prompts = own_prompts() + [row for path in options.prompts for row in read(path)]
    embedder = OnnxEmbedder(DEFAULT_MODEL)
    vectors = np.asarray(embedder.encode([text for text, _ in prompts]), np.float64)
    text = json.dumps(weights(prompts, vectors, embedder.id), separators=(",", ":"))
    options.out.write_text(text + "\n", encoding="utf-8")
    sys.stderr.write(f"{len(prompts)} prompts, {len(text)} bytes: {options.out}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
