"""GPTCache's own server application, filled and started; runs in GPTCache's environment, without this package.

What it differs in from `gptcache_server --openai`: the embedding function is ours (its own model needs a download), the
token counter is off (it installs a package at run time), and its manager holds everything (it keeps 1,000 by default).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import uvicorn
from gptcache import Cache, Config
from gptcache.adapter.api import init_similar_cache
from gptcache.manager import CacheBase, VectorBase, get_data_manager
from gptcache.processor.pre import last_content
from gptcache.similarity_evaluation import SearchDistanceEvaluation
from gptcache_server import server
from tokenizers import Tokenizer

THRESHOLD = 0.95  # of its score, which is a cosine similarity of 0.9


class Embedding:
    """One model folder; `threads` is one, as everywhere in this comparison."""

    dimension = 384

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._names = {each.name: each.type for each in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()

    def to_embeddings(self, text: str, **_: object) -> Any:
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return self._session.run(None, {name: value for name, value in feed.items() if name in self._names})[0][0]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, required=True)
    for name in ("data", "model", "prompts", "answers"):
        arguments.add_argument(f"--{name}", type=Path, required=True)
    options = arguments.parse_args()
    embedding = Embedding(options.model)
    prompts = [json.loads(line)["messages"][-1]["content"] for line in options.prompts.read_text().splitlines()]
    answers = json.loads(options.answers.read_text())
    manager = get_data_manager(
        CacheBase("sqlite", sql_url=f"sqlite:///{options.data / 'sqlite.db'}"),
        VectorBase("faiss", dimension=embedding.dimension, index_path=str(options.data / "faiss.index")),
        max_size=10 * len(prompts),
    )
    cache = Cache()
    init_similar_cache(
        cache_obj=cache,
        pre_func=last_content,
        embedding=embedding,
        data_manager=manager,
        evaluation=SearchDistanceEvaluation(),
        config=Config(similarity_threshold=THRESHOLD, enable_token_counter=False),
    )
    vectors = [embedding.to_embeddings(prompt) for prompt in prompts]
    manager.import_data(prompts, answers, vectors, [None] * len(prompts))
    server.openai_cache = cache
    uvicorn.run(server.app, port=options.port, loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
