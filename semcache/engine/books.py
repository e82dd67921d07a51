"""What jobs have cost so far, which of their choices are still open, and what is to be told of them.

Knows jobs, sequences and deltas. Invariant: every job that was begun and not dropped ends with exactly one delta that
carries what it cost, after the last of its choices has finished.
"""

from __future__ import annotations

from dataclasses import replace

from semcache.engine.job import Delta, Finish, Job, Spent, TokenScore
from semcache.engine.sequence import Sequence
from semcache.engine.voice import Said


class Books:
    """Accounts of the jobs at hand."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._spent: dict[str, Spent] = {}
        self._deltas: list[Delta] = []

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self._deltas

    def begin(self, job: Job) -> None:
        """Open an account."""
        self._open[job.id] = job.sampling.n
        self._spent[job.id] = Spent(prompt=len(job.ids))

    def cached(self, job: Job, tokens: int) -> None:
        """Note how many tokens of the prompt were cached."""
        self._spent[job.id] = replace(self._spent[job.id], cached=tokens)

    def said(self, sequence: Sequence, said: Said) -> None:
        """Tell what a choice said."""
        if said.text or said.scores:
            self._deltas.append(Delta(sequence.job.id, sequence.choice, said.text, said.scores))

    def ended(
        self, sequence: Sequence, finish: Finish, text: str, scores: tuple[TokenScore, ...], *, error: str = ""
    ) -> None:
        """Tell that a choice ended; an error ends the job."""
        name, spent = sequence.job.id, self._spent[sequence.job.id]
        spent = self._spent[name] = replace(
            spent,
            completion=spent.completion + sequence.generated,
            accepted=spent.accepted + sequence.accepted,
            rejected=spent.rejected + sequence.rejected,
        )
        self._open[name] -= 1
        last = finish is Finish.ERROR or not self._open[name]
        self._deltas.append(Delta(name, sequence.choice, text, scores, finish, spent if last else None, error))
        if last:
            self.drop(name)

    def drop(self, job_id: str) -> None:
        """Close an account."""
        self._open.pop(job_id, None)
        self._spent.pop(job_id, None)

    def tell(self) -> list[Delta]:
        """What has not been told yet."""
        deltas, self._deltas = self._deltas, []
        return deltas
