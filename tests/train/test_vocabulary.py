"""A smaller vocabulary reads pairs as the whole one does, whichever way its tokenizer marks where texts end."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, models, processors

from semcache.errors import InvalidArgument
from semcache.train.recipe.vocabulary import trimmed

MARKS = {"bert": ("[CLS]", "[SEP]"), "mpnet": ("<s>", "</s>")}


def whole(marks: tuple[str, str]) -> str:
    """The JSON of a tokenizer whose marks come behind words that are dropped."""
    words = ["[UNK]", "a", "b", "##a", "##b", "[unused0]", "aa", "ab", *marks, "ba"]
    made = Tokenizer(models.WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    made.add_special_tokens(list(marks))
    start, end = ((mark, words.index(mark)) for mark in marks)
    kind = processors.BertProcessing if marks[0] == "[CLS]" else processors.RobertaProcessing
    made.post_processor = kind(end, start)
    return str(made.to_str())


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
def test_a_pair_keeps_its_marks_and_its_letters(marks: tuple[str, str]) -> None:
    told, ids = trimmed(whole(marks), 8)
    big, small = Tokenizer.from_str(whole(marks)), Tokenizer.from_str(told)
    assert json.loads(told)["model"]["vocab"].keys() == {"[UNK]", "a", "b", "##a", "##b", "aa", *marks}
    spelled = [piece for word in big.encode("aa", "ba").tokens for piece in {"ba": ("b", "##a")}.get(word, (word,))]
    assert small.encode("aa", "ba").tokens == spelled
    assert [ids[token] for token in small.encode("aa", "b").ids] == big.encode("aa", "b").ids


def test_a_vocabulary_that_does_not_hold_the_letters_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="does not hold"):
        trimmed(whole(MARKS["bert"]), 3)
