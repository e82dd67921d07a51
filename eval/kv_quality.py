"""The quality that presses and chunk reuse cost, against computing and keeping everything.

    python -m eval.kv_quality [presses|chunks|codecs|perplexity|report] [--texts 32] [--seed 7] [--minutes 9]

Reads the model that `python -m eval.toy_model` trains and, for perplexity, the tiny real models of
`../shared/data/models`; writes `kv-quality.{json,md,png}` into `eval/results`. Every part keeps its rows as soon as
they are measured, and measures only what is missing. Texts are made from the seed and are not those of training.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from eval.kv_chunk_ways import BASELINES, FRACTIONS, Prompt, chunk_ways, drawn, foremost
from eval.toy_tasks import ACROSS, ALONE, FILLER, STOP, TASKS, Question, Text, text
from semcache.engine.cache_argument import cache_argument

RESULTS = Path(__file__).parent / "results"
FOLDER = Path(".eval") / "toy-model"
MODELS = Path(__file__).parents[2] / "shared" / "data" / "models"
KEEPS = (0.5, 0.25, 0.125, 0.75)
CHUNK, BATCH, _LENGTH = 64, 16, 256
SHARES = {"kivi": (0.25, 0.125, 0.0625), "fp8": (0.25,)}
_BLOCK = 32
_READ, _SCORED = 257, 129  # tokens of a story: pressed, and scored behind


def texts(task: str, count: int, seed: int) -> list[tuple[list[int], Text, list[Question]]]:
    """Contexts of the same length with two questions each; filler goes in front where one is shorter.

    What takes several sentences is asked where they stand in several chunks, and headings serve other facts too.
    """
    rng = random.Random(f"{seed} {task}")
    found: list[tuple[list[int], Text, list[Question]]] = []
    while len(found) < count:
        made = text(rng, (task, "lookup") if task in ACROSS else (task,), _LENGTH - 12, chunk=CHUNK, dense=0.6)
        short = _LENGTH - len(made.ids)
        asked = [one for one in made.questions if one.task == task and (one.apart or task in ALONE)]
        if short < 2 or len(asked) < (1 if task == "needle" else 2):
            continue
        first = (*rng.choices(FILLER, k=short - 1), STOP)
        whole = replace(made, chunks=(first + made.chunks[0], *made.chunks[1:]))
        found.append((whole.ids, whole, (asked * 2)[:2]))
    return found


def answers(model: Any, cache: Any, logits: Any, size: int) -> list[list[int]]:
    """`size` greedy tokens for every row, from the logits (rows, vocabulary) of what was read last."""
    import torch

    from eval.kv.sentencekv import read_on

    said = [logits.argmax(-1)]
    for _ in range(size - 1):
        said.append(read_on(model, said[-1][:, None], cache)[:, -1].argmax(-1))
    return torch.stack(said, 1).tolist()


def press_by_name(name: str, ids: Any, ends: Sequence[int]) -> Any:
    """A press with its default settings for (batch, n) ids; `ends` are tokens that close a sentence."""
    from eval.kv.presses import PRESSES
    from eval.kv.sentencekv import SentenceKV

    if name == SentenceKV.name:
        return SentenceKV(at for at, token in enumerate(ids[0].tolist()) if token in ends)
    return PRESSES[name]()


def press_row(model: Any, name: str, keep: float, task: str, *, count: int, seed: int, asked: bool) -> dict[str, Any]:
    """Accuracy of a press: on the context alone with questions afterwards, or on context and question together."""
    import torch

    from eval.kv.sentencekv import read_on
    from semcache.engine.press.compress import press

    some = texts(task, count, seed)
    batch = 1 if name == "sentencekv" else BATCH
    right = asks = size = 0
    began = time.process_time()
    for start in range(0, count, batch):
        part = some[start : start + batch]
        ids = torch.tensor([one[0] for one in part])
        for number in range(2):
            questions = [one[2][number] for one in part]
            more = torch.tensor([question.ids for question in questions])
            if asked:
                whole = torch.cat([ids, more], 1)
                made = press(model, whole, press_by_name(name, whole, [STOP]), keep=keep, protected=[range(1)])
                logits, cache = made.logits[:, -1], made.cache
            else:
                if not number:
                    made = press(model, ids, press_by_name(name, ids, [STOP]), keep=keep, protected=[range(1)])
                cache = copy.deepcopy(made.cache)
                logits = read_on(model, more, cache)[:, -1]
            said = answers(model, cache, logits, len(questions[0].answer))
            right += sum(tuple(one) == question.answer for one, question in zip(said, questions, strict=True))
            asks += len(questions)
            size = made.bytes // len(part)
    spent = time.process_time() - began
    return {"accuracy": right / asks, "asks": asks, "bytes": size, "ms": 1000 * spent / asks}


def presses(model: Any, *, count: int, seed: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every row there is to measure, by key."""
    from eval.kv.presses import PRESSES

    row = partial(press_row, model, count=count, seed=seed)
    for task in TASKS:
        yield f"presses/full/1/stored/{task}", partial(row, "streaming", 1.0, task, asked=False)
    for at, name, task in itertools.product(range(len(KEEPS)), PRESSES, TASKS):
        keeps = SHARES.get(name, KEEPS)
        if at < len(keeps):
            keep = keeps[at]
            yield f"presses/{name}/{keep:g}/stored/{task}", partial(row, name, keep, task, asked=False)
            if name not in ("kivi", "fp8", "sentencekv"):  # these keep every token, whatever is asked
                yield f"presses/{name}/{keep:g}/asked/{task}", partial(row, name, keep, task, asked=True)


@lru_cache(maxsize=1)
def prompts(model: Any, task: str, count: int, seed: int) -> list[Prompt]:
    """Prompts with one question each, the same for every way."""
    rng = random.Random(f"{seed} {task} chunks")
    return [Prompt(model, made, questions[0], rng) for _, made, questions in texts(task, count, seed)]


def chunk_row(model: Any, way: str, task: str, *, count: int, seed: int) -> dict[str, Any]:
    """Accuracy of a way to reuse chunks, with the share of tokens computed."""
    import torch

    from eval.kv.parallel import read_on as beside
    from eval.kv.sentencekv import read_on
    from semcache.engine.attention_merge import ParallelSpan

    rng = random.Random(f"{seed} {task} {way}")
    right, computed, spent = 0, 0.0, 0.0
    for prompt in prompts(model, task, count, seed):
        answer = prompt.question.answer
        began = time.process_time()
        result = chunk_ways()[way](prompt, rng)
        spent += time.process_time() - began
        said = [int(result.logits.argmax())]
        sides = None
        if way.startswith("ape/"):
            heat, scale = map(float, way[4:].split())
            sides = ParallelSpan(1, 1 + sum(map(len, prompt.chunks)), heat, scale)
        while len(said) < len(answer):
            more = torch.tensor([said[-1:]])
            logits = read_on(model, more, result.cache) if sides is None else beside(model, more, result.cache, sides)
            said.append(int(logits[0, -1].argmax()))
        right += tuple(said) == answer
        computed += result.computed
    return {"accuracy": right / count, "asks": count, "computed": computed / count, "ms": 1000 * spent / count}


def chunks(model: Any, *, count: int, seed: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every row there is to measure, by key."""
    for task in TASKS:
        for way in chunk_ways():
            yield f"chunks/{way}/{task}", partial(chunk_row, model, way, task, count=count, seed=seed)


def through_disk(cache: Any, codec: str) -> tuple[int, int, float]:
    """Let keys and values of a cache of one text be what a disk gives back, block by block; bytes there, bytes here,
    and seconds to write and read a block."""
    import torch

    from semcache.engine.kv_codec import decoded, encoded

    data = torch.stack([torch.stack([layer.keys[0], layer.values[0]]) for layer in cache.layers])
    found, size, began = [], 0, time.process_time()
    blocks = data.split(_BLOCK, 3)
    for block in blocks:
        content = encoded(block, codec)
        size += len(content)
        found.append(decoded(content, codec, shape=tuple(block.shape), dtype=block.dtype))
    spent = (time.process_time() - began) / len(blocks)
    for layer, (keys, values) in zip(cache.layers, torch.cat(found, 3), strict=True):
        layer.keys, layer.values = keys[None], values[None]
    return size, int(data.nbytes), spent


def codec_row(model: Any, codec: str, task: str, *, count: int, seed: int) -> dict[str, Any]:
    """Accuracy of questions after a context whose keys and values come from a disk."""
    import torch

    from semcache.engine.press.compress import press, read_on
    from semcache.engine.press.presses import PRESSES

    right = asks = stored = held = 0
    spent = 0.0
    for ids, _, questions in texts(task, count, seed):
        made = press(model, torch.tensor([ids]), PRESSES["streaming"](), keep=1.0)
        size, full, took = through_disk(made.cache, codec)
        stored, held, spent = stored + size, held + full, spent + took
        for question in questions:
            cache = copy.deepcopy(made.cache)
            logits = read_on(model, torch.tensor([question.ids]), cache)[:, -1]
            (said,) = answers(model, cache, logits, len(question.answer))
            right += tuple(said) == question.answer
            asks += 1
    return {"accuracy": right / asks, "asks": asks, "bytes": stored / held, "ms": 1000 * spent / count}


def codecs(model: Any, *, count: int, seed: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every row there is to measure, by key."""
    from semcache.engine.kv_codec import CODECS

    for codec in CODECS:
        for task in TASKS:
            yield f"codecs/{codec}/{task}", partial(codec_row, model, codec, task, count=count, seed=seed)


def real_models() -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The tiny real models that are there, with the tokens that end a sentence."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from eval.llama2c import load

    found: dict[str, tuple[Any, tuple[int, ...]]] = {}
    if (path := MODELS / "stories260K" / "stories260K.bin").is_file():
        found["stories260K"] = (load(path), (426,))  # "." in its vocabulary
    if (path := MODELS / "tinystories-656k").is_dir():
        tokenizer = AutoTokenizer.from_pretrained(path)
        ends = tuple(at for word, at in tokenizer.get_vocab().items() if word.strip("Ġ▁ ") in (".", "!", "?"))
        found["tinystories-656k"] = (AutoModelForCausalLM.from_pretrained(path).eval(), ends)
    return found


@cache
def stories(model: Any, count: int, seed: int) -> Any:
    """(count, tokens) that the model itself says, drawn as likely as it finds them."""
    import torch

    torch.manual_seed(seed)
    start = torch.full((count, 1), 1)
    with torch.inference_mode():
        return model.generate(
            start, max_new_tokens=_READ + _SCORED - 1, do_sample=True, top_k=0, eos_token_id=None, pad_token_id=2
        )


def loss(logits: Any, ids: Any) -> float:
    """Mean negative log-likelihood of what follows, nats a token."""
    from torch.nn.functional import cross_entropy

    return float(cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten()))


def perplexity_row(model: Any, ends: Sequence[int], name: str, keep: float, *, count: int, seed: int) -> dict[str, Any]:
    """Perplexity of the rest of stories after their first part was pressed."""
    import torch

    from eval.kv.sentencekv import read_on
    from semcache.engine.press.compress import press

    ids = stories(model, count, seed)
    losses = []
    held = 0
    for part in ids.split(1 if name == "sentencekv" else count):
        read = part[:, :_READ]
        by = press_by_name(name, read, ends)
        made = press(model, read, by, keep=keep, protected=[range(1)], stored=keep == 1)
        held = made.bytes // len(part)
        rest = part[:, _READ:]
        if name == "sentencekv":  # it asks for sentences as it speaks, not for the whole rest at once
            logits = torch.cat(
                [read_on(model, rest[:, at : at + 1], made.cache, ends=ends) for at in range(_SCORED)], 1
            )
        else:
            logits = read_on(model, rest, made.cache)
        losses.append(loss(logits, rest))
    return {"perplexity": math.exp(sum(losses) / len(losses)), "bytes": held, "tokens": ids.shape[0] * (_SCORED - 1)}


def chunk_perplexity_row(model: Any, way: str, share: float, *, count: int, seed: int) -> dict[str, Any]:
    """Perplexity of the rest of stories whose first part was put together from chunks."""
    import torch

    from eval.kv.parallel import parallel, read_on
    from semcache.engine.attention_merge import ParallelSpan
    from semcache.engine.chunks.blend import Fixed, HighDeviation, blend
    from semcache.engine.chunks.chunk import PlacedChunk, encode

    losses, computed, rng = [], 0.0, random.Random(seed)
    for row in stories(model, count, seed):
        ids = row[:_READ].tolist()
        bos, cuts = encode(model, ids[:1]), range(1, _READ, CHUNK)
        alone = [encode(model, ids[at : min(at + CHUNK, _READ - 1)], prefix=ids[:1]) for at in cuts]
        if way == "ape":
            made = parallel(model, bos, alone, ids[-1:], temperature=share, scale=share)
            sides = ParallelSpan(1, 1 + sum(len(one.ids) for one in alone), share, share)
            logits = read_on(model, row[None, _READ:], made.cache, sides)
        else:
            placed = [PlacedChunk(at, one, exact=at == 1) for at, one in zip(cuts, alone, strict=True)]
            choose: Any = HighDeviation(share)
            if way != "cacheblend":
                choose = Fixed(foremost(placed, share) if way == "first tokens" else drawn(placed, share, rng))
            made = blend(model, ids, [PlacedChunk(0, bos, exact=True), *placed], choose)
            with torch.inference_mode():
                logits = model(row[None, _READ:], use_cache=True, **cache_argument(model, made.cache)).logits
        losses.append(loss(logits, row[None, _READ:]))
        computed += made.computed
    return {"perplexity": math.exp(sum(losses) / count), "computed": computed / count, "tokens": count * (_SCORED - 1)}


def codec_perplexity_row(model: Any, codec: str, *, count: int, seed: int) -> dict[str, Any]:
    """Perplexity of the rest of stories whose first part comes from a disk."""
    import torch
    from transformers import DynamicCache

    losses, stored, held = [], 0, 0
    for row in stories(model, count, seed):
        cache = DynamicCache(config=model.config)
        with torch.inference_mode():
            model(row[None, :_READ], use_cache=True, **cache_argument(model, cache))
            size, full, _ = through_disk(cache, codec)
            logits = model(row[None, _READ:], use_cache=True, **cache_argument(model, cache)).logits
        stored, held = stored + size, held + full
        losses.append(loss(logits, row[None, _READ:]))
    return {"perplexity": math.exp(sum(losses) / count), "bytes": stored / held, "tokens": count * (_SCORED - 1)}


def perplexities(*, count: int, seed: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every row there is to measure, by key."""
    from eval.kv.presses import PRESSES
    from semcache.engine.kv_codec import CODECS

    for title, (model, ends) in real_models().items():
        press = partial(perplexity_row, model, ends, count=count, seed=seed)
        yield f"perplexity/{title}/full/1", partial(press, "streaming", 1.0)
        for name in PRESSES:
            for keep in SHARES.get(name, KEEPS):
                yield f"perplexity/{title}/{name}/{keep:g}", partial(press, name, keep)
        for codec in CODECS:
            yield (
                f"perplexity/{title}/disk/{codec}",
                partial(codec_perplexity_row, model, codec, count=count, seed=seed),
            )
        chunk = partial(chunk_perplexity_row, model, count=count, seed=seed)
        for share in FRACTIONS:
            yield f"perplexity/{title}/cacheblend/{share:g}", partial(chunk, "cacheblend", share)
        for way in ("first tokens", "random tokens"):
            for share in BASELINES:
                yield f"perplexity/{title}/{way}/{share:g}", partial(chunk, way, share)
        for share in (0.9, 1.0):  # temperature and scale
            yield f"perplexity/{title}/ape/{share:g} {share:g}", partial(chunk, "ape", share)


def _measure(
    rows: dict[str, Any], todo: Iterator[tuple[str, Callable[[], dict[str, Any]]]], path: Path, until: float
) -> None:
    for key, run in todo:
        if key not in rows and time.process_time() < until:
            rows[key] = run()
            print(key, rows[key], flush=True)
            path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measure what is missing and write the page."""
    import torch
    from transformers import AutoModelForCausalLM

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("presses", "chunks", "codecs", "perplexity", "report"))
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--model", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--minutes", type=float, default=math.inf, help="of processor time, then the rest is left")
    given = parser.parse_args()
    until = time.process_time() + 60 * given.minutes
    torch.set_num_threads(1)
    path = RESULTS / "kv-quality.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    parts = (("presses", presses), ("chunks", chunks), ("codecs", codecs))
    if given.part in (None, *(name for name, _ in parts)):
        model = AutoModelForCausalLM.from_pretrained(given.model).eval()
        for name, made in parts:
            if given.part in (None, name):
                _measure(rows, made(model, count=given.texts, seed=given.seed), path, until)
    if given.part in (None, "perplexity"):
        _measure(rows, perplexities(count=16, seed=given.seed), path, until)
    from eval.kv_quality_report import write

    write(rows, RESULTS, seed=given.seed)


if __name__ == "__main__":
    main()
