"""Prefill from chunks computed earlier, by one of four methods, and the store of those chunks.

"blend" and "parallel" keep every document as it is behind the prompt's first token, or behind all that stands before
the first document. "craft" prefills documents together, measures how each attended to those before it, and keeps them
as they are there; "align" keeps whole beginnings, and takes of the one most like a prompt the runs that both have in
common. Where less than half would be spared, both compute everything and keep it. Knows the decoder and chunks, nothing
of pages and requests. Invariant: chunks kept under one root key serve no other; a prompt computed in full is exact.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semcache.engine.chunks.chunk_store import ChunkStore, chunk_key
from semcache.engine.decoder import Decoder
from semcache.engine.job import Approximation
from semcache.engine.prefix_tree import root_key
from semcache.engine.steps import Steps

if TYPE_CHECKING:
    import torch

    from semcache.engine.chunks.blend import Choose
    from semcache.engine.chunks.chunk import Chunk, PlacedChunk

_WEIGHED = 1 << 28  # entries of a prompt's attention weights, the mean over heads and layers: 1 GiB


@dataclass(frozen=True, slots=True)
class Prefilled:
    """(layers, 2, KV heads, places, dim) keys and values of the beginning of a prompt.

    `reused` is how many of its tokens did not have to be computed.
    """

    data: torch.Tensor
    reused: int


def parallel_order(spans: Sequence[range]) -> tuple[int, list[range]]:
    """Return where the first document begins, and the documents in the order in which they lie side by side.

    Each has with it the text since the document before. The longest is the last, since the text behind it has the
    positions that follow it.
    """
    head = spans[0].start
    texts = [range(start, span.stop) for start, span in zip([head, *(s.stop for s in spans)], spans, strict=False)]
    longest = max(range(len(texts)), key=lambda at: len(texts[at]))
    return head, [*texts[:longest], *texts[longest + 1 :], texts[longest]]


class ChunkReuse:
    """The chunks computed over one model, at most `capacity` bytes of them; a text is read `piece` tokens a step."""

    def __init__(self, decoder: Decoder, capacity: int, piece: int) -> None:
        self._decoder, self._piece = decoder, piece
        self._chunks = ChunkStore(capacity)

    @property
    def weighed(self) -> int:
        """The most tokens whose attention "craft" can measure at once."""
        return int(_WEIGHED**0.5)

    def read(self, way: Approximation, spans: Sequence[range], ids: Sequence[int], root: bytes) -> Steps[Prefilled]:
        """Keys and values of a prompt's beginning `ids` with documents at `spans`, in steps.

        Those of "parallel" are in the order of `parallel_order`. To be run in inference mode and `attending`.
        """
        made = {"blend": self._blend, "craft": self._craft, "parallel": self._parallel, "align": self._align}
        return made[way.chunks](way, spans, ids, root)

    def _blend(self, way: Approximation, spans: Sequence[range], ids: Sequence[int], root: bytes) -> Steps[Prefilled]:
        from semcache.engine.chunks.chunk import PlacedChunk

        chunk, known = yield from self._chunk(root, (), ids[: spans[0].start])
        placed = [PlacedChunk(0, chunk, exact=True)]
        for span in spans:
            chunk, found = yield from self._chunk(root, ids[:1], ids[span.start : span.stop])
            placed.append(PlacedChunk(span.start, chunk, exact=span.start == 1))
            known += found
        return (yield from self._put_together(ids, placed, self._deviating(way), known))

    def _craft(self, way: Approximation, spans: Sequence[range], ids: Sequence[int], root: bytes) -> Steps[Prefilled]:
        from semcache.engine.chunks.blend import Fixed
        from semcache.engine.chunks.chunk import PlacedChunk
        from semcache.engine.chunks.craft import best_variant

        head = ids[: spans[0].start]
        behind = root_key(root.hex(), "craft", repr(tuple(head)))
        texts = [ids[span.start : span.stop] for span in spans]
        keys = [chunk_key(behind, text) for text in texts]
        known = [self._chunks.find(key, text) for key, text in zip(keys, texts, strict=True)]
        placed: list[PlacedChunk] = []
        anew: list[int] = []
        for at, (span, variants) in enumerate(zip(spans, known, strict=True)):
            if not variants:
                return (yield from self._weigh(spans, ids, keys))
            variant = best_variant(variants, keys[:at], alpha=way.alpha)
            share = variant.fraction(keys[:at], alpha=way.alpha)
            self._chunks.used(keys[at], variant, fraction=share)
            placed.append(PlacedChunk(span.start, variant.chunk))
            anew += [span.start + token for token in variant.worst(share)]
        if 2 * len(anew) > sum(map(len, spans)):
            return (yield from self._weigh(spans, ids, keys))
        chunk, found = yield from self._chunk(root, (), head)
        placed.insert(0, PlacedChunk(0, chunk, exact=True))
        return (yield from self._put_together(ids, placed, Fixed(anew), found + sum(map(len, spans))))

    def _weigh(self, spans: Sequence[range], ids: Sequence[int], keys: Sequence[bytes]) -> Steps[Prefilled]:
        """Compute everything, and keep each document as it is behind those before it."""
        import torch

        from semcache.engine.chunks.chunk import chunk_from_cache
        from semcache.engine.chunks.craft import measure_variant
        from semcache.engine.press.query_recorder import attention_steps

        given = torch.tensor([list(ids)], device=self._device)
        cache, attention = yield from attention_steps(self._decoder.module, given, self._piece)
        for at, span in enumerate(spans):
            chunk = _resting(chunk_from_cache(cache, ids[span.start : span.stop], span.start))
            self._chunks.keep(keys[at], measure_variant(chunk, keys[:at], spans[:at], span, attention))
        return Prefilled(chunk_from_cache(cache, ids, 0).data, 0)

    def _parallel(
        self,
        way: Approximation,  # noqa: ARG002
        spans: Sequence[range],
        ids: Sequence[int],
        root: bytes,
    ) -> Steps[Prefilled]:
        import torch

        head, texts = parallel_order(spans)
        parts = [(yield from self._chunk(root, (), ids[:head]))]
        for text in texts:
            parts.append((yield from self._chunk(root, ids[:head], ids[text.start : text.stop])))
        data = torch.cat([chunk.data.to(self._device) for chunk, _ in parts], dim=-2)
        return Prefilled(data, sum(found for _, found in parts))

    def _align(
        self,
        way: Approximation,
        spans: Sequence[range],  # noqa: ARG002
        ids: Sequence[int],
        root: bytes,
    ) -> Steps[Prefilled]:
        from semcache.engine.chunks.alignment import align
        from semcache.engine.chunks.chunk import encode_steps
        from semcache.engine.chunks.craft import Variant

        key, words = root_key(root.hex(), "align"), Counter(ids)
        near = max(self._chunks.all(key), key=lambda one: (words & Counter(one.chunk.ids)).total(), default=None)
        if near is not None:
            common = align(ids, near.chunk)
            known = sum(len(one.chunk.ids) for one in common)
            if 2 * known >= len(ids):
                self._chunks.used(key, near, fraction=1 - known / len(ids))
                return (yield from self._put_together(ids, common, self._deviating(way), known))
        chunk = yield from encode_steps(self._decoder.module, ids, piece=self._piece)
        text = hashlib.blake2b(array("q", ids).tobytes(), digest_size=16).digest()
        self._chunks.keep(key, Variant(_resting(chunk), (text,), (0.0,), 1.0, ()))
        return Prefilled(chunk.data, 0)

    @property
    def _device(self) -> Any:
        return self._decoder.shape.device

    def _deviating(self, way: Approximation) -> Choose:
        from semcache.engine.chunks.blend import HighDeviation

        return HighDeviation(way.recompute)

    def _put_together(
        self, ids: Sequence[int], placed: Sequence[PlacedChunk], choose: Choose, known: int
    ) -> Steps[Prefilled]:
        from semcache.engine.chunks.blend import blend_steps
        from semcache.engine.chunks.chunk import chunk_from_cache

        made = yield from blend_steps(self._decoder.module, ids, placed, choose)
        anew = round(made.computed * len(ids))
        return Prefilled(chunk_from_cache(made.cache, ids, 0).data, max(0, min(known, len(ids) - anew)))

    def _chunk(self, root: bytes, before: Sequence[int], ids: Sequence[int]) -> Steps[tuple[Chunk, int]]:
        """A chunk computed behind `before` alone, and how many of its tokens were there already."""
        from semcache.engine.chunks.chunk import encode_steps
        from semcache.engine.chunks.craft import Variant

        key = chunk_key(root_key(root.hex(), "chunk", repr(tuple(before))), ids)
        for variant in self._chunks.find(key, ids):
            self._chunks.used(key, variant, fraction=0.0)
            return variant.chunk, len(ids)
        made = yield from encode_steps(self._decoder.module, ids, prefix=before, piece=self._piece)
        chunk = _resting(made)
        self._chunks.keep(key, Variant(chunk, (), (), 1.0, ()))
        return chunk, 0


def _resting(chunk: Chunk) -> Chunk:
    """Return the chunk in host memory, apart from the cache that it was cut from."""
    return replace(chunk, data=chunk.data.to("cpu"))
