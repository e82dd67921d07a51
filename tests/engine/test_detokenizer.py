"""From tokens to text: stop strings that arrive in pieces, characters that arrive in bytes, and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semcache.engine.detokenizer import Detokenizer
from semcache.engine.job import TokenScore
from semcache.engine.stop_strings import StopFilter

Folder = Callable[..., Path]
Few = st.text("abc", min_size=1, max_size=3)


def expected(text: str, stops: list[str]) -> str:
    """Letter by letter: the first stop that is complete ends the text where it began."""
    for end in range(1, len(text) + 1):
        starts = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if starts:
            return text[: min(starts)]
    return text


@given(st.lists(st.text("abc", max_size=4), max_size=8), st.lists(Few, max_size=3))
@example(["ab", "cab"], ["bcab", "ca"])
def test_a_text_is_cut_at_the_first_stop_however_it_arrives(pieces: list[str], stops: list[str]) -> None:
    cut, got = StopFilter(stops), ""
    for piece in pieces:
        got += cut.feed(piece)
        assert not any(stop in got for stop in stops)
    stopped = cut.stopped
    got += cut.flush()
    assert got == expected("".join(pieces), stops)
    assert stopped == (got != "".join(pieces) or any(stop in "".join(pieces) for stop in stops))


@pytest.fixture(scope="module")
def text(folder: Folder) -> Any:
    from semcache.engine.tokenizer import Tokenizer

    return Tokenizer(str(folder()))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30))
@example("naïve 🙂🙂 東京 \u0000 \ufffd end")
def test_an_answer_read_token_by_token_is_the_text(text: Any, said: str) -> None:
    reader = text.reader()
    pieces = [reader.feed(token) for token in text.encode(said, special=False)]
    assert "".join(pieces) + reader.flush() == said


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(6, 300), max_size=30))
def test_tokens_that_are_no_text_are_replaced_and_never_raise(text: Any, ids: list[int]) -> None:
    reader = text.reader()
    said = "".join(reader.feed(token) for token in ids) + reader.flush()
    assert said == text._inner.decode(ids)


class Letters:
    """A reader whose tokens are letters."""

    def feed(self, token: int) -> str:
        return chr(token)

    def flush(self) -> str:
        return ""


@given(st.text("abc", max_size=12), st.lists(Few, max_size=2))
def test_scores_come_with_the_text_of_their_tokens(said: str, stops: list[str]) -> None:
    detokenizer = Detokenizer(Letters(), tuple(stops), scored=True)  # type: ignore[arg-type]

    def speak() -> Iterator[Any]:
        for letter in said:
            yield detokenizer.feed(TokenScore(ord(letter), 0.0))
            if detokenizer.stopped:
                return
        yield detokenizer.flush()

    text, scored = "", ""
    for one in speak():
        text += one.text
        scored += "".join(chr(score.token) for score in one.scores)
        assert scored == text


def test_a_chat_follows_the_template_and_without_one_is_lines(text: Any, folder: Folder, tmp_path: Path) -> None:
    import json
    import shutil

    from semcache.engine.tokenizer import Tokenizer
    from semcache.errors import InvalidArgument

    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi <|end|>"}]
    templated = "<|system|>be brief<|end|><|user|>hi <|end|><|end|><|assistant|>"
    assert text._outer.decode(text.chat(messages)) == templated
    bare = tmp_path / "bare"
    shutil.copytree(folder(), bare)
    (bare / "chat_template.jinja").unlink(missing_ok=True)
    plain = Tokenizer(str(bare))
    assert plain._outer.decode(plain.chat(messages)) == "System: be brief\nUser: hi <|end|>\nAssistant:"
    assert plain.digest != text.digest
    (bare / "chat_template.jinja").write_text("{{ raise_exception('no system prompt') }}")
    with pytest.raises(InvalidArgument, match="no system prompt"):
        Tokenizer(str(bare)).chat(messages)
    assert json.loads((folder() / "tokenizer.json").read_text())


@pytest.mark.parametrize("chat", [True, False])
def test_a_document_is_found_with_the_same_tokens_wherever_it_stands(tmp_path: Path, chat: bool) -> None:
    from eval.engine_models import make
    from semcache.engine.tokenizer import Tokenizer
    from semcache.errors import InvalidArgument

    text = Tokenizer(str(make(tmp_path, layers=1, chat=chat)))
    one, other = "the cache is a prefix of the model", " question 7 was on the token "

    def placed(*parts: str) -> tuple[list[dict[str, str]], list[int], tuple[range, ...]]:
        messages = [{"role": "system", "content": "of it"}, {"role": "user", "content": "".join([*parts, "who"])}]
        ids, spans = text.located(messages, parts)
        return messages, ids, spans

    found: list[set[tuple[int, ...]]] = []
    for parts in ((one, other), (other, one), (f"{one}", f"\n{other}\n"), (one, other, one)):
        messages, ids, spans = placed(*parts)
        assert ids == text.chat(messages)
        assert all(span.stop <= after.start for span, after in pairwise(spans))
        found.append({tuple(ids[span.start : span.stop]) for span in spans})
        for part, span in zip(parts, spans, strict=True):
            inner = "".join(text.token(token) for token in ids[span.start : span.stop])
            assert inner in part
            assert len(inner) > len(part.strip()) - 20
    assert all(tokens == found[0] for tokens in found)
    with pytest.raises(InvalidArgument, match="a document is empty"):
        placed(one, "  ")


@pytest.fixture(scope="module")
def words(folder: Folder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokens carry the space before a word, and whose decoder drops it at the start, as Llama 2's do."""
    import shutil

    import transformers
    from tokenizers import Tokenizer, decoders, models, normalizers

    known = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁time", "▁time"]
    inner = Tokenizer(
        models.BPE(vocab={word: at for at, word in enumerate(known)}, merges=[], unk_token="<unk>", byte_fallback=True)
    )
    inner.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    inner.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    inner.add_special_tokens(["<unk>", "<s>", "</s>"])
    path = tmp_path_factory.mktemp("words") / "model"
    shutil.copytree(folder(), path)
    outer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>")
    outer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    outer.save_pretrained(path)
    return path


def test_a_completion_goes_on_with_the_text_of_its_prompt_and_a_chat_does_not(words: Path) -> None:
    import json

    from semcache.engine.openai_replies import ChoiceText, CompletionReply
    from semcache.engine.openai_requests import ServedModel, read_chat, read_completion
    from tests.engine.nursery import an_engine, work

    engine = an_engine(words)
    tokenizer, served = engine.tokenizer, ServedModel.of(engine, "m")
    (time,) = {token for token in range(512) if tokenizer._inner.id_to_token(token) == "▁time"}
    body = {"max_tokens": 2, "temperature": 0, "logit_bias": {str(time): 100}}
    for prompt in ("Once upon a", "Once upon a€", [5, 3 + 0xE2]):
        given = json.dumps({"prompt": prompt, "logprobs": 1, **body}).encode()
        (job,) = read_completion(given, tokenizer, served, id=f"{prompt}").jobs
        told = ChoiceText()
        for delta in work(engine, [job])[job.id].deltas:
            told.add(delta)
        reply = CompletionReply(tokenizer, id="i", created=0, model="m", scored=True)
        (choice,) = reply.whole([told], {})["choices"]
        within = isinstance(prompt, list)  # a character, of which the text before cannot be told
        assert choice["text"] == ("time time" if within else " time time")
        assert choice["logprobs"]["tokens"] == [" time", " time"]
        assert choice["logprobs"]["text_offset"] == [0, 5]
    chat = json.dumps({"messages": [{"role": "user", "content": "Once upon a"}], **body}).encode()
    (job,) = read_chat(chat, tokenizer, served, id="chat").jobs
    assert work(engine, [job])[job.id].text == "time time"
