"""The cross-encoder: P(same answer) of two prompts, by a folder of model.onnx, tokenizer.json and model.json.

Its output is calibrated; it runs on onnxruntime and one thread, and reads texts with their slips mended. Knows no
guards, vectors or answers, and never reaches the network. Invariant: a probability is symmetric in the two texts, lies
within what the calibration supports, and does not depend on the pairs beside it by more than float rounding; a pair
that is not read whole gets `UNREAD`.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, EmbedError
from semcache.models.loaded_model import load
from semcache.models.model_card import read_card, readable, verify_files
from semcache.request.requesting import asks
from semcache.request.wording.foreign import unread
from semcache.request.wording.mended_together import mended_together
from semcache.request.wording.mending import mended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DEFAULT_VERIFIER = Path(__file__).parent / "verifier"
UNREAD = 0.0  # nobody vouches for what lies behind the last token
_RUN_TOKENS = 256  # padded tokens of one run
_FIELDS = ("id", "max_tokens", "calibration")


class CrossEncoder:
    """`protocols.Verifier` on a local model; `logits` and `probabilities` may be called from several threads."""

    def __init__(self, folder: Path | str = DEFAULT_VERIFIER) -> None:
        """Load the model. Raises ConfigError when `folder` does not hold one."""
        folder = Path(folder)
        card = read_card(folder, _FIELDS, "train one with `semcache embedder verifier`")
        verify_files(folder, card)
        try:
            self._id, self._max_tokens = str(card["id"]), int(card["max_tokens"])
            scale = card["calibration"]
            self._slope, self._intercept = float(scale["slope"]), float(scale["intercept"])
            self._least, self._most = float(scale["least"]), float(scale["most"])
            self._english = card.get("language") == "en"
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"{folder / 'model.json'} does not describe a verifier ({error!r}): train it anew"
            ) from error
        try:
            self._model = load(folder)
        except Exception as error:  # both libraries raise bare Exception subclasses of their own
            raise ConfigError(f"the verifier in {folder} cannot be loaded: {error}") from error

    @property
    def id(self) -> str:
        """Names the weights and their calibration's file."""
        return self._id

    @property
    def best(self) -> float:
        """The highest P(same) that it ever gives."""
        return self._most

    @property
    def max_tokens(self) -> int:
        """Tokens it reads of a pair."""
        return self._max_tokens

    def reads(self, *texts: str) -> bool:
        """Return True if all are such texts as it was trained on, as far as that can be told: prompts in English.

        One that was trained on a cache's own labels reads all.
        """
        if not self._english:
            return True
        read = [mended(text) for text in texts]
        return all(map(asks, read)) and not any(unread(one, two) for one, two in pairwise((*read, read[-1])))

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        """P(same answer), from a thread; the answer itself is not read. Raises EmbedError."""
        del cached_answer
        # In the context of the request: what is read in its texts is remembered for its scope.
        said = await asyncio.get_running_loop().run_in_executor(
            _readers(os.getpid()), copy_context().run, self.probabilities, [(query, cached_query)]
        )
        return float(said[0])

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """P(same answer) of each pair, shape (len(pairs),). Raises EmbedError."""
        return self.calibrated(self.logits(pairs))

    def calibrated(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(same answer) of what `logits` gave."""
        odds = np.clip(self._slope * logits.astype(np.float64) + self._intercept, -30.0, 30.0)
        known = np.clip(1.0 / (1.0 + np.exp(-odds)), self._least, self._most)
        return np.where(np.isnan(logits), UNREAD, known)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The logits of the network before calibration, NaN for a pair that it cannot read whole. Raises EmbedError."""
        found = np.full(len(pairs), np.nan, np.float32)
        try:
            # One order of the two texts, whoever was cached first: the same pair always gets the same answer.
            read = [mended_together(one, two) for one, two in pairs]
            ordered = [(readable(min(pair)), readable(max(pair))) for pair in read]
            lines = self._model.tokenizer.encode_batch_fast(ordered)
            for rows in _runs([len(line.ids) for line in lines], self._max_tokens):
                found[rows] = self._run([lines[row] for row in rows])
                if not np.all(np.isfinite(found[rows])):
                    raise EmbedError(f"the verifier {self._id} returned a logit that is not finite")
        except EmbedError:
            raise
        except Exception as error:  # whatever the native libraries raise, a caller can only forward
            raise EmbedError(f"the verifier {self._id} failed: {error}") from error
        return found

    async def close(self) -> None:
        """Do nothing: the model is freed with the last that uses it."""

    def _run(self, lines: Sequence[Any]) -> NDArray[np.float32]:
        ids = np.zeros((len(lines), max(len(line.ids) for line in lines)), np.int64)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, line in enumerate(lines):
            size = len(line.ids)
            ids[row, :size], kinds[row, :size], mask[row, :size] = line.ids, line.type_ids, 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        logits: NDArray[np.float32] = self._model.session.run(None, feed)[0]
        if logits.shape != (len(lines),):
            raise EmbedError(f"expected {len(lines)} logits, got an array of shape {logits.shape}")
        return logits


@cache
def _readers(process: int) -> ThreadPoolExecutor:
    """The threads in which pairs are read: one core is left to requests, and the loop's own threads to short work.

    `process` is the id of this one: threads do not outlive a fork.
    """
    del process
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "semcache-verify")


def _runs(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Pairs of similar length together, no more than fit; those that are too long in none."""
    runs: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if lengths[row] > max_tokens:
            break
        if runs and lengths[row] * (len(runs[-1]) + 1) <= _RUN_TOKENS:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs
