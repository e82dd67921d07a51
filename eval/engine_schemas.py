"""Structured answers of the engine on the official JSON Schema test suite: how many end valid, and what is refused.

    python -m eval.engine_schemas SUITE [--seeds 3]

SUITE is the folder `json/tests` of the source distribution of `jsonschema` (`pip download --no-deps --no-binary
jsonschema jsonschema==4.26.0`), which carries the suite. A tiny model with random weights, which says nothing of its
own accord, is asked for each schema at temperature 1, and what it said is validated by `jsonschema`. Writes
`engine-schemas.{json,md}` in `eval/results`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema

from eval.engine_models import make
from semcache.engine import EngineConfig
from semcache.engine.engine import Engine
from semcache.engine.job import FinishReason
from semcache.engine.openai_requests import ServedModel, read_chat
from semcache.engine.startup import open_engine
from semcache.errors import RequestRejected

RESULTS = Path(__file__).parent / "results"
DRAFTS = {
    "draft2020-12": jsonschema.Draft202012Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft7": jsonschema.Draft7Validator,
}
_MOST = 100  # tokens of an answer


def measure(engine: Engine, folder: Path, validator: Any, seeds: int) -> dict[str, Any]:
    """Count the ends of the answers to every schema of a draft, and the keywords that were refused."""
    served = ServedModel.of(engine, "m")
    ends: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    wrong: list[str] = []
    schemas = [case["schema"] for file in sorted(folder.glob("*.json")) for case in json.loads(file.read_text())]
    # Without its name a draft is taken for the latest; the suite leaves out that of draft 7, as its folder says it.
    named = {"$schema": validator.META_SCHEMA["$schema"]}
    schemas = [named | schema if isinstance(schema, dict) else schema for schema in schemas]
    for at, schema in enumerate(schemas):
        for seed in range(seeds):
            given = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
            body = {"messages": [{"role": "user", "content": "go"}], "max_tokens": _MOST, "seed": seed}
            body |= {"temperature": 1.0, "response_format": given}
            try:
                (job,) = read_chat(json.dumps(body).encode(), engine.tokenizer, served, id=f"{at}-{seed}").jobs
            except RequestRejected as error:
                ends["refused"] += 1
                refused[str(error) if error.param == "response_format" else f"BY ANOTHER NAME: {error}"] += 1
                continue
            engine.submit(job)
            text, finish = "", None
            while not engine.idle:
                for delta in engine.step():
                    text, finish = text + delta.text, delta.finish or finish
            end = _judged(text, finish, schema, validator)
            ends[end] += 1
            if end not in ("valid", "max_tokens"):
                wrong.append(f"{end}: {text[:100]!r} for {json.dumps(schema)[:200]}")
    return {"schemas": len(schemas), **ends, "wrong": wrong, "reasons": dict(refused.most_common())}


def _judged(text: str, finish: FinishReason | None, schema: Any, validator: Any) -> str:
    if finish is not FinishReason.STOP:
        return "max_tokens" if finish is FinishReason.LENGTH else "failed"
    try:
        validator(schema).validate(json.loads(text))
    except (ValueError, jsonschema.ValidationError):
        return "invalid"
    return "valid"


def write(results: dict[str, Any]) -> str:
    """The results as a page."""
    lines = ["# Structured answers on the JSON Schema test suite", "", *(__doc__ or "").splitlines()[4:9], ""]
    lines += ["| draft | schemas | refused by name | ended | of these valid | cut off at max_tokens |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for draft, one in results.items():
        valid, wrong = one.get("valid", 0), len(one["wrong"])
        share = f"{valid / max(1, valid + wrong):.2%}"
        ends = [one["schemas"], one.get("refused", 0), valid + wrong, share, one.get("max_tokens", 0)]
        lines.append(f"| {draft} | {' | '.join(map(str, ends))} |")
    lines += ["", "Answers, several of each schema. What is refused, and how often, is in `engine-schemas.json`.", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(EngineConfig(str(make(Path(folder) / "llama")), cache_bytes=32 << 20))
        results = {
            draft: measure(engine, options.suite / draft, validator, options.seeds)
            for draft, validator in DRAFTS.items()
        }
    page = f"{write(results)}\n`python -m eval.engine_schemas SUITE --seeds {options.seeds}`\n"
    (RESULTS / "engine-schemas.json").write_text(json.dumps(results, indent=2) + "\n")
    (RESULTS / "engine-schemas.md").write_text(page)
    print(page)
    sys.exit(1 if any(one["wrong"] for one in results.values()) else 0)


if __name__ == "__main__":
    main()
