"""The engine: jobs in, deltas out, one forward pass at a time.

Every step admits the jobs that fit, lets every sequence that is decoding emit its next token (or verifies a draft of
several), and fills the rest of the step with pieces of prompts, so that long prompts never hold up decoding (chunked
prefill: SARATHI, Agrawal et al. 2023). When pages run out, blocks that no sequence uses are evicted first and then the
youngest sequence is preempted, which is computed again later from the blocks that are still shared. Knows everything of
this package and nothing of threads, HTTP or clocks (`clock` gives seconds). Invariant: an answer does not depend on the
other jobs of a batch, up to the rounding of a batched product; a job that fails, is cancelled or cannot fit harms no
other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from semcache.engine import sampler
from semcache.engine.approximate_prefill import ApproximatePrefill
from semcache.engine.constraint import GrammarFailed
from semcache.engine.decoder import Decoder
from semcache.engine.delta_stream import DeltaStream
from semcache.engine.detokenizer import DecodedText, Detokenizer
from semcache.engine.drafter import Drafter
from semcache.engine.engine_config import EngineConfig
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.fairness import TenantDeficits
from semcache.engine.free_memory import LEAST
from semcache.engine.job import Delta, FinishReason, Job, TokenScore
from semcache.engine.job_limits import JobLimits
from semcache.engine.kv_cache import KVCache
from semcache.engine.kv_publisher import KvPublisher
from semcache.engine.kv_tensor import KVTensor
from semcache.engine.offload import OffloadTiers
from semcache.engine.overload import Overloaded, Throughput, refusal
from semcache.engine.packing import SequenceSlice
from semcache.engine.prefix_tree import cost_aware, root_key, uniform
from semcache.engine.sequence import Sequence, SequenceArrival
from semcache.engine.steps import step_of
from semcache.engine.tokenizer import Tokenizer
from semcache.engine.waiting_queue import WaitingQueue
from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch

_ALONE = 4  # sequences up to which the text so far is searched for drafts; more of them fill a step by themselves


class Engine:
    """A scheduler of jobs over one model. Not thread-safe: one thread owns it.

    `seeds` gives seeds to jobs that name none; `publisher` is told what is cached, and is the engine's from then on.
    """

    def __init__(
        self,
        decoder: Decoder,
        tokenizer: Tokenizer,
        config: EngineConfig,
        *,
        clock: Callable[[], float],
        seeds: Callable[[], int],
        metrics: EngineMetrics,
        tiers: OffloadTiers,
        publisher: KvPublisher | None = None,
    ) -> None:
        self.config, self.tokenizer, self.decoder, self.metrics = config, tokenizer, decoder, metrics
        self._clock, self._seeds = clock, seeds
        self.grammars = tokenizer.grammars(decoder.vocabulary, decoder.ends)
        self._piece = max(1, config.step // 2)  # of a document: the other half is left to other prompts
        size = LEAST if config.cache_bytes is None else config.cache_bytes
        pages = size // (decoder.shape.token_bytes * config.block)
        if pages < 2:
            need = 2 * decoder.shape.token_bytes * config.block
            raise ConfigError(f"engine cache_bytes {size:,} holds no two blocks: give at least {need:,}")
        worth = cost_aware(config.block * decoder.slope) if config.eviction == "cost" else uniform
        self._publisher = publisher
        note = publisher.note if publisher is not None else lambda _: None
        self._kv_cache = KVCache(KVTensor(decoder.shape, pages=pages, block=config.block), tiers, metrics, worth, note)
        self.limits = JobLimits(decoder.context, self._kv_cache.capacity, decoder.vocabulary, config.max_running)
        self._approximate = ApproximatePrefill(
            decoder,
            block=config.block,
            chunk_bytes=config.chunk_bytes,
            piece=self._piece,
            codec=config.lossy_codec,
        )
        self._waiting = WaitingQueue(TenantDeficits(config.quantum), block=config.block, cached=self._kv_cache.cached)
        self._running: list[Sequence] = []
        self._deltas = DeltaStream()
        self._throughput = Throughput()
        self._arrivals = 0

    @property
    def idle(self) -> bool:
        """True if no job is open and no delta waits."""
        return not (len(self._waiting) or self._running) and self._deltas.empty

    def check(self, job: Job) -> None:
        """Raise RequestRejected for a job that can never be served."""
        self.limits.check(job)
        self._approximate.check(job)

    def submit(self, job: Job) -> None:
        """Queue a job.

        Raises RequestRejected for one that cannot be served, Overloaded for one that would have to wait too long.
        """
        self.check(job)
        config, before = self.config, self._waiting.before(job)
        overload = refusal(
            self._throughput,
            queued=self._waiting.counted(job, config.max_waiting),
            tokens=self._tokens_ahead(before),
            max_waiting=config.max_waiting,
            max_wait=config.max_wait,
        )
        if overload is not None:
            self.metrics.refused.inc()
            raise Overloaded(overload)
        sequence = self._sequence(job, 0)
        sequence.cached = self._kv_cache.cached(sequence)
        self._deltas.open(job)
        self._waiting.append(sequence)

    def cancel(self, job_id: str) -> None:
        """Stop working on a job; unknown ones are ignored."""
        for sequence in [one for one in self._running if one.job.id == job_id]:
            self._release(sequence)
        self._waiting.drop(job_id)
        self._deltas.close(job_id)

    def step(self) -> list[Delta]:
        """Do one forward pass and return its deltas. Never raises for what a job asked."""
        began = self._clock()
        self._admit()
        planned = self._plan(self.config.step - self._piece if self._read_documents() else self.config.step)
        if planned:
            self._advance(planned)
            tokens = sum(len(piece.ids) for _, piece, _ in planned)
            self._throughput.step(tokens, self._clock() - began)
            self.metrics.step(tokens, self._clock() - began)
        self.metrics.state(len(self._running), len(self._waiting), self._kv_cache.usage, self._kv_cache.blocks)
        if self._publisher is not None:
            self._publisher.flush()
        return self._deltas.drain()

    def reset(self) -> None:
        """Forget all jobs and all cached keys and values, after a fault that cannot be attributed to a job."""
        for sequence in self._waiting:
            self._waiting.drop(sequence.job.id)
        self._running, self._deltas = [], DeltaStream()
        self._kv_cache.reset()
        if self._publisher is not None:
            self._publisher.flush()

    def close(self) -> None:
        """Write the cached blocks to disk, where there is one, and end what was opened for this engine."""
        self._kv_cache.close()
        if self._publisher is not None:
            self._publisher.close()

    def _sequence(self, job: Job, choice: int) -> Sequence:
        seed = job.sampling.seed if job.sampling.seed is not None else self._seeds()
        self._arrivals += 1
        root = root_key(self.decoder.fingerprint, self.tokenizer.digest, job.tenant)
        # What a grammar allows is not known before each token, so that there is nothing to guess ahead.
        draft, most = ((), 0) if job.grammar else (job.draft[: self.limits.most], self.config.draft)
        sequence = Sequence(
            job,
            choice,
            self._approximate.plan(job, root),
            arrival=SequenceArrival(self._arrivals, self._clock()),
            block=self.config.block,
            detokenizer=Detokenizer(
                self.tokenizer.reader(job.ids if job.continues else ()),
                job.sampling.stop,
                scored=job.sampling.logprobs is not None,
            ),
            drafter=Drafter(job.ids, draft, most),
            seed=sampler.mixed(seed, choice),
        )
        if job.grammar:
            sequence.constraint = self.grammars.begin(job.grammar)
        return sequence

    # -- admission

    def _tokens_ahead(self, before: list[Sequence]) -> float:
        """Tokens to compute before a job behind these could emit its first, as far as can be foreseen."""
        prompts = sum(len(one.tokens) - one.cached for one in before)
        prompts += sum(len(one.tokens) - one.done for one in self._running)
        if self._slots() < self.config.max_running:
            return prompts
        # While the engine is full, a place becomes free whenever it has said as much as an answer has on average.
        return prompts + (1 + len(before)) * self._throughput.answer

    def _slots(self) -> int:
        """Sequences that run, and those that will once a prompt is computed."""
        return sum(one.slots for one in self._running)

    def _admit(self) -> None:
        while len(self._waiting) and self._slots() < self.config.max_running:
            best = self._waiting.next(self._running)
            if best is None or self._slots() + best.slots > self.config.max_running:
                return
            compute = self._throughput.wait(self.config.block)
            if not self._kv_cache.admit(best, compute=compute, alone=not self._running):
                return
            self._waiting.take(best)
            self._running.append(best)
            if best.ready:
                self._charge(best, best.done + max(0, best.shift))

    def _charge(self, sequence: Sequence, reused: int) -> None:
        """Count a prompt, of which so many tokens did not have to be computed, when it is first begun."""
        if not sequence.charged:
            sequence.charged, sequence.cached = True, sequence.done
            self._deltas.count_cached(sequence.job, reused)
            self._waiting.deficits.pay(sequence.job.tenant, prompt=len(sequence.job.ids) - reused)
            self.metrics.prompt(len(sequence.job.ids), reused)

    # -- documents that are read approximately

    def _read_documents(self) -> bool:
        """Do a step of the oldest approximate prefill; returns False when there is none."""
        sequence = next((one for one in self._running if not one.ready), None)
        if sequence is None:
            return False
        if sequence.reading is None and not self._reserve(sequence, sequence.plan.ready - sequence.done):
            return False
        try:
            sequence.reading = sequence.reading or self._approximate.read(sequence.job, sequence.plan)
            read = step_of(sequence.reading)
            if read is not None:
                sequence.reading = None
                self._kv_cache.fill(sequence, read.data)
                self.metrics.approximated.labels("press" if sequence.shift > 0 else "chunks").inc()
                self._charge(sequence, read.reused)
        except Exception as error:  # whatever a kernel raises
            self._fail(sequence, f"the model failed: {error!r}")
        return True

    # -- planning

    def _plan(self, budget: int) -> list[tuple[Sequence, SequenceSlice, int]]:
        """The step: of each sequence a slice, with the number of its tokens that are a draft."""
        wanted: list[tuple[Sequence, list[int], int]] = []
        speaking = [one for one in self._running if one.done == len(one.tokens) - 1]
        reading = [one for one in self._running if one.ready and one.done < len(one.tokens) - 1]
        for one in (*speaking, *reading):
            ids = one.tokens[one.done : one.done + max(budget, one.done == len(one.tokens) - 1)]
            if not ids:
                continue
            budget -= len(ids)
            draft: list[int] = []
            if one.done + len(ids) == len(one.tokens):
                draft = one.drafter.guess(min(budget, one.room - 1), look_back=len(self._running) <= _ALONE)
                budget -= len(draft)
            wanted.append((one, [*ids, *draft], len(draft)))
        planned: list[tuple[Sequence, SequenceSlice, int]] = []
        for one, ids, drafted in wanted:
            if one in self._running and self._reserve(one, len(ids)):
                ends = one.done + len(ids) - drafted == len(one.tokens)
                piece = SequenceSlice(ids, one.done, one.pages, drafted + 1 if ends else 0, one.shift, one.sides)
                planned.append((one, piece, drafted))
        return [plan for plan in planned if plan[0] in self._running]

    def _reserve(self, sequence: Sequence, tokens: int) -> bool:
        """Reserve pages for the next tokens, preempting the youngest sequence if need be.

        Returns False when that is the sequence itself.
        """
        while not self._kv_cache.reserve(sequence, tokens):
            youngest = max(self._running, key=lambda one: one.order)
            self._release(youngest)
            self._waiting.put_back(youngest)
            self.metrics.preempted.inc()
            if youngest is sequence:
                return False
        return True

    def _release(self, sequence: Sequence, *, forget: bool = False) -> None:
        self._running.remove(sequence)
        sequence.reading = None
        self._kv_cache.release(sequence, forget=forget)

    # -- computing

    def _advance(self, planned: list[tuple[Sequence, SequenceSlice, int]]) -> None:
        try:
            logits = self.decoder.logits([one[1] for one in planned], self._kv_cache.store, share=self.config.share)
        except Exception as error:  # whatever a kernel raises; alone it is known whose it is
            if len(planned) == 1:
                self._fail(planned[0][0], f"the model failed: {error!r}")
                return
            for one in planned:
                if one[0] in self._running:  # else its job ended just now, with an error of another choice
                    self._advance([one])
            return
        row = 0
        for sequence, piece, drafted in planned:
            mine = logits[row : row + piece.wanted]
            row += piece.wanted
            if sequence not in self._running:
                continue  # its job ended in this step, with an error of another choice
            sequence.done += len(piece.ids) - drafted
            self._kv_cache.publish(sequence)
            if piece.wanted:
                try:
                    self._emit(sequence, mine, piece.ids[len(piece.ids) - drafted :])
                except ValueError as error:
                    self._fail(sequence, str(error), refused=isinstance(error, GrammarFailed))

    def _emit(self, sequence: Sequence, logits: torch.Tensor, draft: list[int]) -> None:
        """Emit the tokens that the logits give: one, and one more for each token of the draft that was right.

        A sampled token is drawn as it would have been without the draft and then compared, which is rejection sampling
        with a draft that is certain of itself (Leviathan et al. 2023, algorithm 1).
        """
        if not sequence.room:  # it was to be read, and no more
            sequence.ended = FinishReason.LENGTH
            self._end(sequence)
            return
        best = logits.argmax(dim=-1).tolist()
        for fork in self._forks(sequence):
            if not self._append(fork, fork.sampled(logits[0], best[0])):
                self._end(fork)
        right = 0
        for at, row in enumerate(logits):
            score = sequence.sampled(row, best[at])
            hit = at < len(draft) and draft[at] == score.token
            right += hit
            if not self._append(sequence, score) or not hit:
                break
            sequence.done += 1  # the draft's keys and values are those of the token
        if draft:
            sequence.drafter.judged(len(draft), right)
            sequence.accepted += right
            sequence.rejected += len(draft) - right
            self.metrics.drafted(len(draft), right)
        if sequence.ended is not None:
            self._end(sequence)
        else:
            self._kv_cache.publish(sequence)

    def _forks(self, sequence: Sequence) -> list[Sequence]:
        """The other choices of a job, once its prompt is computed: they hold the same pages."""
        if sequence.forked:
            return []
        sequence.forked = True
        forks = []
        for choice in range(1, sequence.job.sampling.n):
            fork = self._sequence(sequence.job, choice)
            fork.forked = fork.charged = True
            fork.arrived = sequence.arrived
            self._kv_cache.fork(sequence, fork)
            forks.append(fork)
        self._running.extend(forks)
        return forks

    def _append(self, sequence: Sequence, score: TokenScore) -> bool:
        """Append a token and emit its text; returns False when it was the last, with the reason in `ended`."""
        sampling = sequence.job.sampling
        if not sequence.generated:
            self.metrics.first_token.observe(self._clock() - sequence.arrived)
        sequence.append(score)
        self._waiting.deficits.pay(sequence.job.tenant, generated=1)
        self.metrics.generated.inc()
        if score.token in self.decoder.ends and not sampling.ignore_eos:
            sequence.ended = FinishReason.STOP
            return False
        said = sequence.detokenizer.feed(score)
        self._deltas.append(sequence, said)
        whole = sequence.constraint is not None and not sequence.constraint.take(score.token)
        if whole or sequence.detokenizer.stopped:
            sequence.ended = FinishReason.STOP
        elif not sequence.room:
            sequence.ended = FinishReason.LENGTH
        return sequence.ended is None

    def _end(self, sequence: Sequence) -> None:
        assert sequence.ended is not None
        failed = sequence.ended is FinishReason.ERROR
        rest = DecodedText() if failed else sequence.detokenizer.flush()
        self._deltas.finish(sequence, sequence.ended, rest.text, rest.scores)
        self._release(sequence, forget=failed)
        self.metrics.ended(sequence.ended)
        self._throughput.ended(sequence.generated)
        self._waiting.deficits.forget(one.job.tenant for one in (*self._waiting, *self._running))

    def _fail(self, sequence: Sequence, error: str, *, refused: bool = False) -> None:
        """End a whole job for a fault of one of its choices, or of what it asked for."""
        for other in [one for one in self._running if one.job.id == sequence.job.id and one is not sequence]:
            self._release(other, forget=True)
        sequence.ended, sequence.error, sequence.refused = FinishReason.ERROR, error, refused
        self._end(sequence)
        self.cancel(sequence.job.id)
