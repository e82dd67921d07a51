"""The tokenizer of a model: plain prompts and chats to tokens, and answers to text, token by token.

Knows transformers' tokenizers and chat templates. Invariant: the pieces of an answer, joined, are the same text however
the tokens were fed, and never end within a character.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from semcache.engine.chat_template import ChatTemplate
from semcache.engine.constraint import Grammars
from semcache.errors import ConfigError, InvalidArgument, RequestRejected

_BEFORE = 8  # tokens of a prompt that its continuation is decoded behind: more than a character has
_LETTERS = 8  # of a token, more than most texts have
_UNEVEN = 64  # tokens by which the beginning of a text may have more than it has within the whole
_ENDING = 16  # tokens in which a template may open or close the thoughts of an answer


class Tokenizer:
    """The tokenizer of a model. `digest` changes with anything that could change ids. Raises ConfigError."""

    def __init__(self, model: str, revision: str | None = None) -> None:
        from transformers import AutoTokenizer

        try:
            self._outer = AutoTokenizer.from_pretrained(model, revision=revision)
            self._inner = self._outer.backend_tokenizer
            state = self._inner.to_str()
        except Exception as error:  # tokenizers raise bare Exception for a damaged file
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ConfigError(
                f"the tokenizer of model {model!r} cannot be used (is tokenizer.json there?): {reason}"
            ) from error
        template = getattr(self._outer, "chat_template", None)
        named = template.values() if isinstance(template, dict) else [template or ""]
        self.template = ChatTemplate("\n".join(named), self._rendered)
        facts = f"{type(self._outer).__name__} {self._outer.all_special_tokens} {template!r} {state}"
        self.digest = hashlib.blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    @property
    def size(self) -> int:
        """One more than the largest token id."""
        return int(max(self._outer.get_vocab().values(), default=-1)) + 1

    @property
    def end(self) -> int | None:
        """The token that the tokenizer itself calls the end."""
        found = self._outer.eos_token_id
        return None if found is None else int(found)

    def encode(self, text: str, *, special: bool = True, most: int | None = None) -> list[int]:
        """Ids of a text, with the tokens that begin every prompt of this model when `special`.

        Raises RequestRejected for a text that certainly has more than `most`; it is not read to its end.
        """
        self._check_length(text, most)
        return list(self._outer.encode(text, add_special_tokens=special))

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        most: int | None = None,
    ) -> list[int]:
        """Ids of a conversation up to where the assistant speaks, by the model's template or, without one, as lines.

        `settings` are variables of the template. Raises InvalidArgument when the template refuses the messages, and
        RequestRejected as `encode` does.
        """
        return self.encode(self.template.text(messages, settings), special=not self.template.source, most=most)

    def located(
        self,
        messages: Sequence[Mapping[str, Any]],
        documents: Sequence[str],
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        most: int | None = None,
    ) -> tuple[list[int], tuple[range, ...]]:
        """Ids of a conversation, and the spans of tokens of these parts in it, in their order.

        Tokens at the very ends of a part are not of its span, as they may be merged with the text beside it. Raises
        InvalidArgument like `chat`, and when a part is not there.
        """
        text, at = self.template.text(messages, settings), 0
        self._check_length(text, most)
        found: list[tuple[int, int]] = []
        for document in documents:
            part = document.strip()
            at = text.find(part, at) if part else -1
            if at < 0:
                raise InvalidArgument("a document is empty, or the model's chat template changes its text")
            found.append((at, at + len(part)))
            at += len(part)
        made = self._outer(text, add_special_tokens=not self.template.source, return_offsets_mapping=True)
        seen = [(first, last, n) for n, (first, last) in enumerate(made["offset_mapping"]) if first < last]
        spans = []
        for start, stop in found:
            low = bisect_right(seen, start, key=lambda one: one[0])
            high = bisect_left(seen, stop, lo=low, key=lambda one: one[1])
            if low < high:
                spans.append(range(seen[low][2], seen[high - 1][2] + 1))
        return list(made["input_ids"]), tuple(spans)

    def _check_length(self, text: str, most: int | None) -> None:
        """Raise RequestRejected where a beginning of a text shows that the whole has more than `most` tokens."""
        read = _LETTERS * ((most or 0) + _UNEVEN)
        while most is not None and read < len(text):
            count = len(self._outer.encode(text[:read], add_special_tokens=False))
            if count > most + _UNEVEN:
                message = (
                    f"this model reads {most} tokens at most, and the first {read:,} of {len(text):,} characters of "
                    f"the prompt are {count:,} already: shorten it"
                )
                raise RequestRejected(400, message, code="context_length_exceeded", param="prompt")
            read *= 4

    def _rendered(self, messages: Sequence[Mapping[str, Any]], **variables: Any) -> str:
        turns: Any = list(messages)
        return str(self._outer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **variables))

    def ending(self, ids: Sequence[int]) -> str:
        """The text of the last tokens of a prompt."""
        return str(self._outer.decode(list(ids[-_ENDING:])))

    def grammars(self, vocabulary: int, ends: frozenset[int]) -> Grammars:
        """The grammars that answers in these tokens can be held to; `ends` are the tokens that end an answer."""
        return Grammars(self._outer, vocabulary, ends)

    def token(self, id: int) -> str:
        """The text of a single token within a text: decoders drop the space before a first word."""
        first, text = self._anchor
        behind = str(self._inner.decode([*first, id], skip_special_tokens=False))
        return behind.removeprefix(text) if behind.startswith(text) else str(self._outer.decode([id]))

    @cached_property
    def _anchor(self) -> tuple[list[int], str]:
        """A text that a token may stand behind."""
        first = self.encode("a", special=False)
        return first, str(self._inner.decode(first, skip_special_tokens=False))

    def reader(self, before: Sequence[int] = ()) -> StreamDecoder:
        """A fresh decoder of an answer, which goes on with the text of the tokens `before` where there are some."""
        return StreamDecoder(self._inner, before)


class StreamDecoder:
    """A decoder of an answer, token by token; special tokens are left out."""

    def __init__(self, inner: Any, before: Sequence[int] = ()) -> None:
        from tokenizers.decoders import DecodeStream

        self._inner = inner
        seen = list(before[-_BEFORE:])
        if str(inner.decode(seen, skip_special_tokens=True)).endswith("\ufffd"):
            seen = []  # within a character, which would be told as a whole
        self._stream = DecodeStream(ids=seen, skip_special_tokens=True)
        self._waiting: list[int] = []

    def feed(self, token: int) -> str:
        """The text that this token completes, which may be none."""
        self._waiting.append(token)
        try:
            piece = self._stream.step(self._inner, token)
        except Exception:  # bytes that are no text: the stream refuses to go on, so it begins anew behind them
            return self._restart()
        if piece is None:
            return ""
        self._waiting.clear()
        return str(piece)

    def flush(self) -> str:
        """The rest when the answer ends within a character: a replacement character."""
        rest = str(self._inner.decode(self._waiting, skip_special_tokens=True)) if self._waiting else ""
        self._waiting.clear()
        return rest

    def _restart(self) -> str:
        from tokenizers.decoders import DecodeStream

        self._stream = DecodeStream(skip_special_tokens=True)
        return self.flush()
