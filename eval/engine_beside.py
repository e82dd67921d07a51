"""The engine beside other runtimes: transformers in its own ways, OpenVINO GenAI and llama.cpp.

Knows how each is asked for the same tokens of the same weights. Invariant: all run on one thread, take turns within a
round, and get the same prompts; what they say is compared with what the engine says.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.engine_asking import NEW, PREFIX, Json, ask, cpu, spread, tokens
from eval.engine_peers import LLAMACPP, OPENVINO, peers
from semcache.engine import EngineConfig
from semcache.engine.cache_argument import cache_argument
from semcache.engine.startup import open_engine

_FLOATS = (
    f"{OPENVINO[1][0]} and {LLAMACPP[1][0]}; all in float32 except where a row says otherwise, from the same weights "
    "(float16 holds them exactly: OpenVINO reads no GGUF in float32)"
)


def ttft(folder: Path, rounds: int) -> Json:
    """Time to the first token: 2,048 tokens of shared prefix and 32 new ones, beside other runtimes."""
    import torch
    from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, DynamicCache, GenerationConfig

    engine, rng = open_engine(EngineConfig(str(folder))), random.Random(7)
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="sdpa")
    settings = ContinuousBatchingConfig(page_size=32, num_blocks=1024, max_batch_tokens=512, allow_block_sharing=True)
    greedy = GenerationConfig(max_new_tokens=1, do_sample=False, eos_token_id=-1, pad_token_id=0)
    manager = model.init_continuous_batching(generation_config=greedy, continuous_batching_config=settings)
    plain = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="sdpa")
    manager.start()

    def batched(prompt: Sequence[int]) -> None:
        name = manager.add_request(list(prompt), max_new_tokens=1)
        while (result := manager.get_result(name, timeout=60)) is None or not result.is_finished():
            pass

    def generated(prompt: Sequence[int], cache: Any = None) -> None:
        given = torch.tensor([list(prompt)])
        plain.generate(given, generation_config=greedy, **cache_argument(plain, cache))

    own = ("engine", "transformers, continuous batching", "transformers, generate and crop")
    with peers(folder) as (others, missing):
        labels = [*own, *(peer.name for peer in others)]
        cold: dict[str, list[float]] = {label: [] for label in labels}
        warm: dict[str, list[float]] = {label: [] for label in labels}
        same = asked = 0
        ask(engine, [tokens(rng, 64)], 1)
        batched(tokens(rng, 64))
        for peer in others:
            peer.ask([tokens(rng, 64)], 1)
        try:
            for _ in range(rounds):
                prefix = tokens(rng, PREFIX)
                cache = DynamicCache(config=plain.config)
                with torch.inference_mode():
                    plain(torch.tensor([prefix]), logits_to_keep=1, **cache_argument(plain, cache))
                once: dict[str, list[float]] = {label: [] for label in labels}
                for turn in range(6):
                    prompt, said = prefix + tokens(rng, NEW), []
                    past = cache if turn else None
                    once[own[0]].append(cpu(lambda: said.extend(ask(engine, [prompt], 1))))  # noqa: B023
                    once[own[1]].append(cpu(lambda: batched(prompt)))  # noqa: B023
                    once[own[2]].append(cpu(lambda: generated(prompt, past)))  # noqa: B023
                    if past is not None:
                        past.crop(-NEW)
                    for peer in others:
                        seconds, answer = peer.ask([prompt], 1)
                        once[peer.name].append(seconds)
                        same, asked = same + (answer == said), asked + 1
                for label, (first, *again) in once.items():
                    cold[label].append(first)
                    warm[label].append(statistics.median(again))
        finally:
            manager.stop(block=True)
    ratio = [slow / fast for slow, fast in zip(cold[own[0]], warm[own[0]], strict=True)]
    against = [mine / theirs for mine, theirs in zip(warm[own[0]], warm[own[1]], strict=True)]
    wanted = statistics.median(ratio) >= 20, statistics.median(against) <= 1.3
    return {
        "targets": [
            ["cold / warm", spread(ratio, " x"), ">= 20 x", wanted[0]],
            ["warm / warm of continuous batching", spread(against, " x", digits=2), "<= 1.3 x", wanted[1]],
        ],
        "columns": ["to the first token", "cold", "warm", "cold / warm"],
        "rows": [
            [
                label,
                spread(cold[label], " ms", 1e3),
                spread(warm[label], " ms", 1e3),
                spread([slow / fast for slow, fast in zip(cold[label], warm[label], strict=True)], " x"),
            ]
            for label in labels
        ],
        "notes": [_FLOATS, f"the other runtimes said the engine's token in {same} of {asked} cases", *missing],
    }


def throughput(folder: Path, rounds: int) -> Json:
    """16 requests at once that share 2,048 tokens, 32 new ones and 32 to say, against one after the other."""
    import torch
    from transformers import AutoModelForCausalLM, DynamicCache

    model, rng = AutoModelForCausalLM.from_pretrained(folder), random.Random(8)
    shared = open_engine(EngineConfig(str(folder), draft=0))
    apart = open_engine(EngineConfig(str(folder), draft=0, share=10**9))
    given = {"max_new_tokens": 32, "do_sample": False, "eos_token_id": -1, "pad_token_id": 0}

    def one(prompt: Sequence[int], cache: Any = None) -> list[int]:
        found = model.generate(torch.tensor([prompt]), **cache_argument(model, cache), **given)
        return [int(token) for token in found[0, len(prompt) :]]

    own = ("engine", "engine, no shared attention", "generate, one after the other")
    with peers(folder) as (others, missing):
        labels = [*own, *(peer.name for peer in others)]
        new: dict[str, list[float]] = {label: [] for label in labels}
        read: dict[str, list[float]] = {label: [] for label in labels}
        same = dict.fromkeys((own[2], *labels[3:]), 0)
        for _ in range(rounds):
            prefix = tokens(rng, PREFIX)
            cache = DynamicCache(config=model.config)
            with torch.inference_mode():
                model(torch.tensor([prefix]), logits_to_keep=1, **cache_argument(model, cache))
            for times in (new, read):
                prompts = [prefix + tokens(rng, NEW) for _ in range(16)]
                said: list[list[int]] = []
                times[own[0]].append(cpu(lambda: said.extend(ask(shared, prompts, 32))))  # noqa: B023
                times[own[1]].append(cpu(lambda: ask(apart, prompts, 32)))  # noqa: B023
                answers: list[list[int]] = []

                def sequential(past: Any = cache if times is read else None) -> None:
                    for prompt in prompts[:4]:  # noqa: B023
                        answers.append(one(prompt, past))  # noqa: B023
                        if past is not None:
                            past.crop(PREFIX - past.get_seq_length())

                # Four of sixteen are enough: they take equally long.
                times[own[2]].append(4 * cpu(sequential))
                same[own[2]] += sum(a == b for a, b in zip(answers, said, strict=False))
                for peer in others:
                    seconds, answers = peer.ask(prompts, 32)
                    times[peer.name].append(seconds)
                    same[peer.name] += sum(a == b for a, b in zip(answers, said, strict=True))
    ratio = [slow / fast for slow, fast in zip(new[own[2]], new[own[0]], strict=True)]
    counts = [f"{label}: {count} of {rounds * (8 if label == own[2] else 32)}" for label, count in same.items()]
    return {
        "targets": [["sequential generate / engine", spread(ratio, " x"), ">= 4 x", statistics.median(ratio) >= 4]],
        "columns": ["16 requests", "prefix new: CPU time", "tokens/s", "prefix read before: CPU time", "tokens/s"],
        "rows": [[label, *(cell for times in (new, read) for cell in _paces(times[label]))] for label in labels],
        "notes": [
            _FLOATS,
            f"answers of 32 tokens that were the engine's: {'; '.join(counts)}",
            "llama.cpp is told that the prompts share a beginning, by the program that calls its interface",
            "OpenVINO takes as long as reading a new prefix once for each of the requests that come together",
            *missing,
        ],
    }


def _paces(times: Sequence[float]) -> tuple[str, str]:
    return spread(times, " s", digits=2), f"{16 * 32 / statistics.median(times):.0f}"
