"""The floor of a semantic hit: tokeniser, model, graph and stored bytes, one request after the other.

`--prompts` is a file with one stored request body a line, `--replies` one with as many replies.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hnswlib
import msgspec
import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from eval.bench.bare import Answer, parser, run


def floor(model: Path, prompts: Path, replies: Path) -> Answer:
    """The answer function."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(str(model / "model.onnx"), options, providers=["CPUExecutionProvider"])
    names = {each.name for each in session.get_inputs()}
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    decode = msgspec.json.Decoder().decode

    def embed(text: str) -> Any:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return session.run(None, {name: value for name, value in feed.items() if name in names})[0]

    texts = [json.loads(line)["messages"][-1]["content"] for line in prompts.read_text().splitlines()]
    stored = replies.read_bytes().splitlines()
    index = hnswlib.Index(space="ip", dim=384)
    index.init_index(max_elements=len(texts), M=16, ef_construction=100)
    index.add_items(np.concatenate([embed(text) for text in texts]), num_threads=1)
    index.set_ef(64)

    def answer(body: bytes) -> bytes:
        labels, _ = index.knn_query(embed(decode(body)["messages"][-1]["content"]), k=1, num_threads=1)
        return stored[int(labels[0, 0])]

    return answer


if __name__ == "__main__":
    arguments = parser()
    for name in ("model", "prompts", "replies"):
        arguments.add_argument(f"--{name}", type=Path, required=True)
    chosen = arguments.parse_args()
    run(floor(chosen.model, chosen.prompts, chosen.replies), chosen.port)
