"""The limits of a job that an engine can serve.

Knows sizes, nothing of the jobs at hand. Invariant: a job that passes fits into the engine when it is alone, so that it
can always be finished.
"""

from __future__ import annotations

from dataclasses import dataclass

from semcache.engine.job import Job
from semcache.errors import RequestRejected


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Tokens of the model's `context` and of the cache's `capacity`, tokens of the `vocabulary`, sequences at once."""

    context: int
    capacity: int
    vocabulary: int
    running: int

    @property
    def most(self) -> int:
        """Most tokens of a prompt and its answer."""
        return min(self.context, self.capacity)

    def check(self, job: Job) -> None:
        """Raise RequestRejected(400) for a job that could never be served."""
        asked, answer = len(job.ids), job.sampling.max_tokens
        if not asked:
            message = "the prompt is empty: send at least one token"
            raise RequestRejected(400, message, code="empty_prompt", param="prompt")
        bad = next((token for token in job.ids if not 0 <= token < self.vocabulary), None)
        if bad is not None:
            message = f"token {bad} is not in the model's vocabulary of {self.vocabulary}"
            raise RequestRejected(400, message, code="invalid_token", param="prompt")
        if asked + answer > self.most:
            limit = "context" if self.most == self.context else "key-value cache"
            message = (
                f"this model's {limit} is {self.most} tokens, and {asked + answer} were asked for ({asked} in the "
                f"prompt, {answer} in the answer): shorten one of them"
            )
            raise RequestRejected(400, message, code="context_length_exceeded", param="prompt")
        if job.sampling.n > self.running:
            message = f"n={job.sampling.n} is more than the {self.running} sequences that run at once: ask for fewer"
            raise RequestRejected(400, message, code="invalid_value", param="n")
