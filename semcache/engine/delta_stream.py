"""The stream of deltas that an engine gives, and the token usage of the jobs that it works on.

Knows jobs, sequences and deltas. Invariant: every job that was opened and not closed ends with exactly one delta that
carries its usage, after the last of its choices has finished.
"""

from __future__ import annotations

from dataclasses import replace

from semcache.engine.detokenizer import DecodedText
from semcache.engine.job import Delta, FinishReason, Job, TokenScore, TokenUsage
from semcache.engine.sequence import Sequence


class DeltaStream:
    """Deltas that were not drained yet, and the usage of open jobs."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._spent: dict[str, TokenUsage] = {}
        self._deltas: list[Delta] = []

    @property
    def empty(self) -> bool:
        """True if no delta waits."""
        return not self._deltas

    def open(self, job: Job) -> None:
        """Begin to count for a job."""
        self._open[job.id] = job.sampling.n
        self._spent[job.id] = TokenUsage(prompt=len(job.ids))

    def count_cached(self, job: Job, tokens: int) -> None:
        """Note how many tokens of the prompt were cached."""
        self._spent[job.id] = replace(self._spent[job.id], cached=tokens)

    def append(self, sequence: Sequence, piece: DecodedText) -> None:
        """Add the text of a choice."""
        if piece.text or piece.scores:
            self._deltas.append(Delta(sequence.job.id, sequence.choice, piece.text, piece.scores))

    def finish(self, sequence: Sequence, finish: FinishReason, text: str, scores: tuple[TokenScore, ...]) -> None:
        """Add the end of a choice; an error ends the job."""
        name, spent = sequence.job.id, self._spent[sequence.job.id]
        spent = self._spent[name] = replace(
            spent,
            completion=spent.completion + sequence.generated,
            accepted=spent.accepted + sequence.accepted,
            rejected=spent.rejected + sequence.rejected,
        )
        self._open[name] -= 1
        last = finish is FinishReason.ERROR or not self._open[name]
        end = Delta(name, sequence.choice, text, scores, finish, spent if last else None)
        self._deltas.append(replace(end, error=sequence.error, refused=sequence.refused))
        if last:
            self.close(name)

    def close(self, job_id: str) -> None:
        """Stop counting for a job."""
        self._open.pop(job_id, None)
        self._spent.pop(job_id, None)

    def drain(self) -> list[Delta]:
        """The deltas since the last call."""
        deltas, self._deltas = self._deltas, []
        return deltas
