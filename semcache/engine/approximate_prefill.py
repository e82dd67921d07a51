"""Approximate prefill: documents compressed by a press when first stored, or assembled from chunks computed elsewhere.

Both end in keys and values that lie in pages like all others, under a root key of their own, so that a continuous batch
goes on from them as from any prefix. A compressed text takes fewer places than it has positions, and the positions of
the tokens behind it are shifted; its places are named by the text's first tokens, under a root key that is made of the
whole text. Knows the decoder, presses and chunks, nothing of pages. To be called by one thread at a time, as the
model's attention is exchanged during a step. Invariant: no key is that of exact keys and values, nor of another
approximation, tenant or text; what is computed is a whole number of blocks; at least one token of a prompt is left to
compute.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from semcache.engine.attention_merge import ParallelSpan
from semcache.engine.chunk_reuse import ChunkReuse, Prefilled, parallel_order
from semcache.engine.decoder import Decoder
from semcache.engine.job import CHUNKS, Approximation, Job
from semcache.engine.prefix_tree import root_key
from semcache.engine.press.presses import PRESSES
from semcache.engine.steps import Steps, step_of
from semcache.errors import ConfigError, RequestRejected

STORED = (
    "streaming",
    "keydiff",
    "lagkv",
    "kvzip",
    "h2o",
    "d2o",
)  # agnostic, and as many whole tokens in every head and layer


@dataclass(frozen=True, slots=True)
class PrefillPlan:
    """How the prompt of a sequence is prefilled approximately.

    `tokens` name its places, under the root key `root`; a position is a place plus `shift`. The first `ready` places,
    whole blocks, come from `ApproximatePrefill.read`; within `sides` documents lie side by side. `exact` is the root
    key of exact keys and values.
    """

    root: bytes
    exact: bytes
    tokens: tuple[int, ...]
    shift: int = 0
    ready: int = 0
    sides: ParallelSpan | None = None


class ApproximatePrefill:
    """Approximate prefills over one model, with at most `chunk_bytes` of chunks kept.

    `piece` is the tokens of a step; `codec` names how a disk keeps blocks in fewer bits, "" where it does not.
    """

    def __init__(self, decoder: Decoder, *, block: int, chunk_bytes: int, piece: int, codec: str = "") -> None:
        self._decoder, self._block, self._piece, self._codec = decoder, block, piece, codec
        self._reuse = ChunkReuse(decoder, chunk_bytes, piece)
        self._proven: bool | str = False  # or why not

    def check(self, job: Job) -> None:
        """Raise RequestRejected(400) for an approximation that cannot be served."""
        way = job.approximation
        if way is None:
            return
        end = 0
        for span in way.documents:
            if span.step != 1 or span.start < end or span.stop > len(job.ids) or not span:
                raise _refused(f"document {span.start} to {span.stop} is empty, overlaps another or leaves the prompt")
            end = span.stop
        if way.press and way.press not in STORED:
            known = "looks at the question or keeps its own layout" if way.press in PRESSES else "is not known"
            raise _refused(f"press {way.press!r} {known}: documents are stored by one of {', '.join(STORED)}", "press")
        if way.press and not 0 < way.keep < 1:
            raise _refused(f"keep {way.keep!r} is no share: give more than 0 and less than 1", "press")
        if way.chunks:
            self._check_chunks(job, way)

    def _check_chunks(self, job: Job, way: Approximation) -> None:
        if way.chunks not in CHUNKS:
            raise _refused(f"method {way.chunks!r} is not known: give one of {', '.join(CHUNKS)}", "chunks")
        if not 0 <= way.recompute < 1:
            raise _refused(f"recompute {way.recompute!r} is no share: give 0 or more and less than 1", "chunks")
        if not (0 < way.temperature <= 1 and 0 < way.scale <= 1):
            given = f"temperature {way.temperature!r} and scale {way.scale!r}"
            raise _refused(f"{given} must be more than 0 and at most 1", "chunks")
        if not 0 < way.alpha < math.inf:
            raise _refused(f"alpha {way.alpha!r} must be a positive number", "chunks")
        if way.chunks == "craft" and _end(job, way) > (most := self._reuse.weighed):
            raise _refused(f"craft weighs the attention of at most {most} tokens of this model at once: blend instead")
        self._prove()

    def plan(self, job: Job, root: bytes) -> PrefillPlan:
        """Plan the prefill of a job's prompt; the plan is exact where documents are too short to matter.

        `root` is the root key of exact keys and values.
        """
        way, exact = job.approximation, PrefillPlan(root, root, job.ids)
        if way is None:
            return exact
        end = _end(job, way)
        spans = ",".join(f"{span.start}-{span.stop}" for span in way.documents)
        named = root_key(root.hex(), way.label, spans, self._codec)
        if way.press:
            return self._pressed(job, way, end, named, root) or exact
        ready = end // self._block * self._block if way.chunks else 0
        if way.chunks == "parallel":
            return self._side_by_side(job, way, end, ready, named, root) or exact
        if way.chunks != "align" and not _within(way.documents, ready):
            ready = 0
        return PrefillPlan(named, root, job.ids, ready=ready) if ready or self._codec else exact

    def read(self, job: Job, plan: PrefillPlan) -> Steps[Prefilled]:
        """Compute the first `plan.ready` places, in steps: of some tokens, or of a layer of the model."""
        import torch

        from semcache.engine.press.observed_attention import attending

        way = job.approximation
        assert way is not None
        steps = self._press(job, way, plan) if way.press else self._assemble(job, way, plan)
        while True:
            with torch.inference_mode(), attending(self._decoder.module):
                read = step_of(steps)
            if read is not None:
                return read
            yield

    def _assemble(self, job: Job, way: Approximation, plan: PrefillPlan) -> Steps[Prefilled]:
        # Documents are read to their ends, though the last may reach into a block that is not stored.
        ids = job.ids[: _end(job, way)]
        read = yield from self._reuse.read(way, _within(way.documents, len(ids)), ids, plan.exact)
        return Prefilled(read.data[..., : plan.ready, :], min(read.reused, plan.ready))

    # -- presses

    def _pressed(self, job: Job, way: Approximation, end: int, named: bytes, exact: bytes) -> PrefillPlan | None:
        safe = end - sum(map(len, _within(way.documents, end)))
        kept = (safe + max(1, round(way.keep * (end - safe)))) // self._block * self._block
        if kept <= safe:
            kept += self._block
        if kept >= end or safe >= end:
            return None
        text = hashlib.blake2b(array("q", job.ids[:end]).tobytes(), digest_size=16).hexdigest()
        root = root_key(named.hex(), text)
        return PrefillPlan(root, exact, (*job.ids[:kept], *job.ids[end:]), shift=end - kept, ready=kept)

    def _press(self, job: Job, way: Approximation, plan: PrefillPlan) -> Steps[Prefilled]:
        import torch

        from semcache.engine.press.compress import press_steps

        end = plan.ready + plan.shift
        protected = _outside(_within(way.documents, end), end)
        safe = sum(map(len, protected))
        ids = torch.tensor([job.ids[:end]], device=self._decoder.shape.device)
        keep = (plan.ready - safe) / (end - safe)
        by, piece = PRESSES[way.press](), self._piece
        made = yield from press_steps(
            self._decoder.module, ids, by, keep=keep, protected=protected, stored=True, piece=piece
        )
        data = torch.stack([torch.stack([layer.keys[0], layer.values[0]]) for layer in made.cache.layers])
        if data.shape[3] != plan.ready:
            raise ValueError(f"press {way.press!r} kept {data.shape[3]} of {end} tokens instead of {plan.ready}")
        return Prefilled(data, 0)

    # -- chunks

    def _side_by_side(
        self, job: Job, way: Approximation, end: int, ready: int, named: bytes, exact: bytes
    ) -> PrefillPlan | None:
        if not (spans := _within(way.documents, end)):
            return None
        head, texts = parallel_order(spans)
        tail = texts[-1]  # only of the last text may some be left to compute
        if ready <= end - len(tail):
            return None
        order = [at for text in (range(head), *texts, range(end, len(job.ids))) for at in text]
        sides = ParallelSpan(head, ready, way.temperature, way.scale)
        tokens = tuple(job.ids[at] for at in order)
        return PrefillPlan(named, exact, tokens, shift=head + len(tail) - end, ready=ready, sides=sides)

    def _prove(self) -> None:
        if self._proven is False:
            from semcache.engine.chunks.probe import probe_chunks
            from semcache.engine.press.observed_attention import attending

            try:
                with attending(self._decoder.module):
                    probe_chunks(self._decoder.module)
                self._proven = True
            except ConfigError as error:
                self._proven = str(error)
        if self._proven is not True:
            raise _refused(str(self._proven), "chunks")


def _end(job: Job, way: Approximation) -> int:
    """Return the end of the last document, or of the last token before those that are left to compute."""
    if not way.documents:
        return len(job.ids) - 1 if way.chunks == "align" else 0
    return min(way.documents[-1].stop, len(job.ids) - 1)


def _within(documents: Sequence[range], end: int) -> list[range]:
    """The parts of documents before `end`.

    The first token of a prompt, on which attention rests, belongs to no document.
    """
    cut = [range(max(1, span.start), min(span.stop, end)) for span in documents]
    return [span for span in cut if span]


def _outside(spans: Sequence[range], end: int) -> list[range]:
    """The parts of the text before `end` that are in no span."""
    stops, starts = [0, *(span.stop for span in spans)], [*(span.start for span in spans), end]
    return [range(start, stop) for start, stop in zip(stops, starts, strict=True) if start < stop]


def _refused(message: str, param: str = "messages") -> RequestRejected:
    return RequestRejected(400, message, code="invalid_value", param=param)
