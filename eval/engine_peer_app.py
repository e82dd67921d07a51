"""Another runtime of language models behind lines of JSON; runs in that runtime's environment, without this package.

Reads {"prompts": [[token]], "most": n}; writes {"seconds": CPU seconds of this process, "said": [[token]]}. Greedy, on
one thread; prefixes are kept from one line to the next. The model is first written as GGUF, from a Llama-shaped folder
whose weights float16 holds exactly.
Knows OpenVINO GenAI and llama.cpp, nothing of the benchmark. Invariant: what is timed is only the answering.
Run: python engine_peer_app.py {openvino,llamacpp} {float32,default,flash,plain} FOLDER GGUF
"""

from __future__ import annotations

import json
import sys
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

CELLS, CHUNK, MOST = 65_536, 512, 16  # tokens held, tokens of one pass, requests at once


def to_gguf(folder: Path, out: Path, *, half: bool) -> None:
    """Write a model folder as GGUF: in float32, or with `half` the matrices in float16."""
    import gguf
    import numpy as np
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    heads, shared, dim = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(shared)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(dim)
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32)
    # A tokenizer trained on little text has fewer words than the model has rows.
    words = {number: f"[{number}]" for number in range(config["vocab_size"])}
    words |= {number: word for word, number in tokenizer["model"]["vocab"].items()}
    special = {token["id"] for token in tokenizer["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(words.values()))
    writer.add_token_types([gguf.TokenType.CONTROL if n in special else gguf.TokenType.NORMAL for n in words])
    writer.add_token_merges([" ".join(merge) for merge in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(config["bos_token_id"])
    writer.add_eos_token_id(config["eos_token_id"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, stored in load_file(folder / "model.safetensors").items():
        tensor = stored.astype(np.float16 if half and stored.ndim == 2 else np.float32)
        turned = heads if "q_proj" in name else shared if "k_proj" in name else 0
        if turned:  # GGUF rotates neighbouring numbers of a head, transformers the halves of one
            tensor = tensor.reshape(turned, 2, dim // 2, -1).swapaxes(1, 2).reshape(stored.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), np.ascontiguousarray(tensor))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class OpenVino:
    """OpenVINO GenAI's continuous batching, in float32 or in what it chooses itself (`default`). Of GGUF it reads
    matrices in float16 and not in float32."""

    def __init__(self, variant: str, folder: Path, out: Path) -> None:
        import openvino_genai as genai

        to_gguf(folder, out, half=True)
        settings: dict[str, Any] = {"INFERENCE_NUM_THREADS": 1}
        if variant == "float32":
            settings |= {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
        scheduler = genai.SchedulerConfig()
        scheduler.enable_prefix_caching = True
        scheduler.num_kv_blocks = CELLS // 32
        scheduler.max_num_batched_tokens = CHUNK
        self._pipeline = genai.ContinuousBatchingPipeline(out, scheduler, "CPU", settings)

    def ask(self, prompts: list[list[int]], most: int) -> list[list[int]]:
        import numpy as np
        import openvino
        import openvino_genai as genai

        config = genai.GenerationConfig(max_new_tokens=most, ignore_eos=True, do_sample=False)
        given = [openvino.Tensor(np.array([prompt], np.int64)) for prompt in prompts]
        results = self._pipeline.generate(given, [config] * len(given))
        return [list(result.m_generation_ids[0]) for result in results]


class LlamaCpp:
    """llama.cpp by its C interface, in float32, with flash attention or without (`plain`): what prompts share is read
    once, into cells that all their sequences share."""

    def __init__(self, variant: str, folder: Path, out: Path) -> None:
        import llama_cpp

        to_gguf(folder, out, half=False)
        self._c: Any = llama_cpp
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(str(out).encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = CELLS, CHUNK, CHUNK, MOST
        params.n_threads = params.n_threads_batch = 1
        params.kv_unified = True
        params.type_k = params.type_v = llama_cpp.GGML_TYPE_F32
        plain, flash = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED, llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        params.flash_attn_type = plain if variant == "plain" else flash
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        self._words = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model))
        self._batch = llama_cpp.llama_batch_init(CHUNK, 0, 1)
        self._held: list[int] = []  # the first sequence's tokens

    def ask(self, prompts: list[list[int]], most: int) -> list[list[int]]:
        memory = self._c.llama_get_memory(self._context)
        first = prompts[0]
        common = min(_common(first, other) for other in prompts)
        kept = min(_common(self._held, first), common, len(first) - 1)
        common = common if len(prompts) > 1 else kept
        for number in range(1, MOST):
            self._c.llama_memory_seq_rm(memory, number, -1, -1)
        self._c.llama_memory_seq_rm(memory, 0, kept, -1)
        self._read([(0, at, first[at], False) for at in range(kept, common)])
        for number in range(1, len(prompts)):
            self._c.llama_memory_seq_cp(memory, 0, number, -1, -1)
        said: list[list[int]] = [[] for _ in prompts]
        rows = [(n, at, ids[at], at + 1 == len(ids)) for n, ids in enumerate(prompts) for at in range(common, len(ids))]
        while True:
            for number, token in self._read(rows):
                said[number].append(token)
            if len(said[0]) == most:
                break
            rows = [(n, len(prompts[n]) + len(one) - 1, one[-1], True) for n, one in enumerate(said)]
        self._held = first
        return said

    def _read(self, rows: list[tuple[int, int, int, bool]]) -> list[tuple[int, int]]:
        """Decode (sequence, position, token, wanted); the sequences of the wanted, with the likeliest next token."""
        import numpy as np

        found = []
        for start in range(0, len(rows), CHUNK):
            piece = rows[start : start + CHUNK]
            self._batch.n_tokens = len(piece)
            for at, (number, position, token, wanted) in enumerate(piece):
                self._batch.token[at], self._batch.pos[at], self._batch.logits[at] = token, position, wanted
                self._batch.n_seq_id[at], self._batch.seq_id[at][0] = 1, number
            if self._c.llama_decode(self._context, self._batch):
                raise RuntimeError("llama_decode failed")
            for at, (number, _, _, wanted) in enumerate(piece):
                if wanted:
                    logits = self._c.llama_get_logits_ith(self._context, at)
                    found.append((number, int(np.ctypeslib.as_array(logits, (self._words,)).argmax())))
        return found


def _common(one: list[int], other: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def main() -> None:
    """Answer lines until there are no more."""
    kind, variant, folder, out = sys.argv[1:]
    runtime = {"openvino": OpenVino, "llamacpp": LlamaCpp}[kind](variant, Path(folder), Path(out))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.process_time()
        said = runtime.ask(asked["prompts"], asked["most"])
        print(json.dumps({"seconds": time.process_time() - began, "said": said}), flush=True)


if __name__ == "__main__":
    main()
