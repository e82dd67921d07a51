"""Constrained decoding: the tokens that an answer may go on with, by a grammar or a JSON schema.

Knows the package `llguidance` and the bytes of tokens, nothing of requests. Invariant: an answer that ended by itself
is a sentence of its grammar; a grammar that cannot be kept is refused before anything is generated.
"""

from __future__ import annotations

import importlib.util
import json
import re
import string
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    import torch

EXTRA = "pip install 'semcache-llm[engine]'"
# As chat templates write JSON; free whitespace is where small models lose themselves.
_SPACES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_SIGNS = '{}[]":,\\-.<>/_' + string.ascii_letters + string.digits  # of JSON, and of the marks of calls
_WHERE = re.compile(r"^at \d+\(\d+\): (failed to compile JSON schema: )?")  # a place in the grammar, not in the schema


def json_rule(schema: Mapping[str, Any]) -> str:
    """The grammar's rule for JSON of a schema."""
    return "%json " + json.dumps({**schema, "x-guidance": _SPACES})


class GrammarFailed(ValueError):
    """A grammar that an answer cannot go on with, as where its next token would take too long to find."""


class Grammars:
    """The grammars of a tokenizer; `inner` is one of transformers', `vocabulary` the model's, `ends` end an answer."""

    def __init__(self, inner: Any, vocabulary: int, ends: frozenset[int]) -> None:
        self._inner, self._vocabulary, self._ends = inner, vocabulary, ends

    @cached_property
    def _tokenizer(self) -> Any:
        from llguidance.hf import from_tokenizer

        ends = sorted(self._ends) or [self._inner.eos_token_id]
        return from_tokenizer(self._inner, n_vocab=self._vocabulary, eos_token=ends if ends[0] is not None else None)

    @cached_property
    def _unwritable(self) -> str:
        """The first sign that no tokens of the model give, as of one that was trained on stories alone; "" for none."""
        made = ((sign, self._tokenizer.tokenize_str(sign)) for sign in _SIGNS)
        return next((sign for sign, ids in made if sign.encode() not in self._tokenizer.decode_bytes(ids)), "")

    def check(self, grammar: str) -> None:
        """Raise InvalidArgument for a grammar that cannot be kept."""
        if importlib.util.find_spec("llguidance") is None:
            raise InvalidArgument(f"this engine needs the package llguidance for that: {EXTRA}")
        from llguidance import LLMatcher

        if self._unwritable:
            raise InvalidArgument(f"the tokens of this model cannot write {self._unwritable!r}: it can give no JSON")
        error = LLMatcher.validate_grammar(grammar, self._tokenizer)
        if error:
            reason = _WHERE.sub("", error.strip().splitlines()[0])
            raise InvalidArgument(f"this engine cannot keep to this schema: {reason}")

    def begin(self, grammar: str) -> Constraint:
        """The constraint of one answer."""
        from llguidance import LLMatcher

        return Constraint(LLMatcher(self._tokenizer, grammar), self._vocabulary)


class Constraint:
    """One answer so far."""

    def __init__(self, matcher: Any, vocabulary: int) -> None:
        self._matcher, self._vocabulary = matcher, vocabulary

    def allowed(self) -> torch.Tensor:
        """(vocabulary,) True for the tokens that may come next. Raises GrammarFailed."""
        import numpy as np
        import torch

        self._check()
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        return torch.from_numpy(np.unpackbits(bits, bitorder="little")[: self._vocabulary].astype(bool))

    def take(self, token: int) -> bool:
        """Go on with a token; returns False when the answer is whole, so that nothing but its end can follow.

        Raises GrammarFailed for a token with which it can be whole no more.
        """
        self._matcher.consume_token(token)
        self._check()
        return not self._matcher.is_stopped()

    def _check(self) -> None:
        if self._matcher.is_error():
            reason = self._matcher.get_error().partition("\n")[0]
            raise GrammarFailed(f"the grammar of this answer failed, a smaller schema may pass: {reason}")
