"""Ways to put a prompt together from chunks that were computed elsewhere, for `eval.kv_quality`.

Knows the package's chunk modules and how an earlier prompt may have looked. Every way takes a prompt and a random
generator, and gives a cache with the logits of the last token.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from eval.toy_tasks import BOS, FILLER, Question, Text
from semcache.engine.cache_argument import cache_argument

FRACTIONS = (1.0, 0.15, 0.2, 0.0, 0.5, 0.1, 0.3, 0.05)
BASELINES = (0.15, 0.3)


class Prompt:
    """A context in chunks, each computed behind `<bos>` alone and behind others, and a question."""

    def __init__(self, model: Any, made: Text, question: Question, rng: random.Random) -> None:
        from semcache.engine.chunks.chunk import PlacedChunk, encode

        self.model, self.question = model, question
        self.chunks = [list(chunk) for chunk in made.chunks]
        self.ids = [*made.ids, *question.ids]
        self.bos = encode(model, [BOS])
        self.alone = [encode(model, chunk, prefix=[BOS]) for chunk in self.chunks]
        at, self.placed = 1, [PlacedChunk(0, self.bos, exact=True)]
        for number, chunk in enumerate(self.alone):
            self.placed.append(PlacedChunk(at, chunk, exact=not number))
            at += len(chunk.ids)
        self.order = rng.sample(range(len(self.chunks)), len(self.chunks))

    def craft(self, alpha: float) -> Any:
        """Cache-Craft: variants from an earlier prompt with the same chunks in another order."""
        import torch

        from semcache.engine.chunks.blend import Fixed, blend
        from semcache.engine.chunks.chunk import PlacedChunk, chunk_from_cache
        from semcache.engine.chunks.craft import measure_variant
        from semcache.engine.press.observed_attention import attending
        from semcache.engine.press.query_recorder import attention_steps
        from semcache.engine.steps import finished

        earlier = [BOS]
        spans: list[range] = []
        for number in self.order:
            spans.append(range(len(earlier), len(earlier) + len(self.chunks[number])))
            earlier += self.chunks[number]
        with torch.inference_mode(), attending(self.model):
            cache, attention = finished(attention_steps(self.model, torch.tensor([earlier])))
        at, placed, anew = 1, [PlacedChunk(0, self.bos, exact=True)], []
        for number, chunk in enumerate(self.chunks):
            turn = self.order.index(number)
            before = [str(other).encode() for other in self.order[:turn]]
            variant = measure_variant(
                chunk_from_cache(cache, chunk, spans[turn].start), before, spans[:turn], spans[turn], attention
            )
            now = [str(other).encode() for other in range(number)]
            share = variant.fraction(now, alpha=alpha)
            placed.append(PlacedChunk(at, variant.chunk, exact=share == 0 and variant.chunk.start == at))
            anew += [at + token for token in variant.worst(share)]
            at += len(chunk)
        return blend(self.model, self.ids, placed, Fixed(anew))


def neighbour(prompt: Prompt, rng: random.Random, *, share: float) -> Any:
    """KVShare: the keys and values of a prompt in which some words are others."""
    import torch
    from transformers import DynamicCache

    from semcache.engine.chunks.alignment import align
    from semcache.engine.chunks.blend import HighDeviation, blend
    from semcache.engine.chunks.chunk import chunk_from_cache

    old = list(prompt.ids)
    for at in sorted(rng.sample(range(1, len(old)), 6), reverse=True):
        old[at : at + rng.randint(0, 2)] = [rng.choice(FILLER) for _ in range(rng.randint(0, 2))]
    cache = DynamicCache(config=prompt.model.config)
    with torch.inference_mode():
        prompt.model(torch.tensor([old]), use_cache=True, **cache_argument(prompt.model, cache))
    return blend(prompt.model, prompt.ids, align(prompt.ids, chunk_from_cache(cache, old, 0)), HighDeviation(share))


def blended(prompt: Prompt, _: random.Random, *, share: float, first: int = 1) -> Any:
    """CacheBlend."""
    from semcache.engine.chunks.blend import HighDeviation, blend

    return blend(prompt.model, prompt.ids, prompt.placed, HighDeviation(share, first=first))


def by_lot(prompt: Prompt, rng: random.Random, *, share: float) -> Any:
    """As many tokens, whichever."""
    from semcache.engine.chunks.blend import Fixed, blend

    return blend(prompt.model, prompt.ids, prompt.placed, Fixed(drawn(prompt.placed, share, rng)))


def by_place(prompt: Prompt, _: random.Random, *, share: float) -> Any:
    """As many tokens, the first of every chunk."""
    from semcache.engine.chunks.blend import Fixed, blend

    return blend(prompt.model, prompt.ids, prompt.placed, Fixed(foremost(prompt.placed, share)))


def drawn(placed: Sequence[Any], share: float, rng: random.Random) -> list[int]:
    """Positions of a random share of the tokens that chunks cover: what choosing well must beat."""
    moved = [at for one in placed if not one.exact for at in range(one.at, one.at + len(one.chunk.ids))]
    return rng.sample(moved, round(share * len(moved)))


def foremost(placed: Sequence[Any], share: float) -> list[int]:
    """Positions of the first tokens of every chunk, that share of them."""
    moved = [one for one in placed if not one.exact]
    return [at for one in moved for at in range(one.at, one.at + round(share * len(one.chunk.ids)))]


def crafted(prompt: Prompt, _: random.Random, *, alpha: float) -> Any:
    """Cache-Craft."""
    return prompt.craft(alpha)


def sideways(prompt: Prompt, _: random.Random, *, heat: float, scale: float) -> Any:
    """APE."""
    from eval.kv.parallel import parallel

    return parallel(prompt.model, prompt.bos, prompt.alone, prompt.question.ids, temperature=heat, scale=scale)


def chunk_ways() -> dict[str, Callable[[Prompt, random.Random], Any]]:
    """Ways to reuse chunks, by name."""
    ways: dict[str, Callable[[Prompt, random.Random], Any]] = {}
    for share in FRACTIONS:
        ways[f"cacheblend/{share:g}"] = partial(blended, share=share)
    for share in (0.15, 0.2, 0.5):
        ways[f"cacheblend first 2/{share:g}"] = partial(blended, share=share, first=2)
    for share in BASELINES:
        ways[f"first tokens/{share:g}"] = partial(by_place, share=share)
        ways[f"random tokens/{share:g}"] = partial(by_lot, share=share)
    for alpha in (0.25, 0.5, 1.0):
        ways[f"cache-craft/{alpha:g}"] = partial(crafted, alpha=alpha)
    for heat, scale in ((1.0, 1.0), (0.9, 0.9), (0.7, 0.9), (0.5, 0.9)):
        ways[f"ape/{heat:g} {scale:g}"] = partial(sideways, heat=heat, scale=scale)
    for share in (0.0, 0.15):
        ways[f"kvshare/{share:g}"] = partial(neighbour, share=share)
    return ways
