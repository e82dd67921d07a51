"""Texts of a tiny language with questions about them: lookup, needle, section, hop and copy.

A context is a list of sentences in chunks, `<bos>` before them:

    k7 v3 .                  a fact               ? k7    -> v3          (lookup; needle when all else is filler)
    topic k9 . a1 v5 .       a section            of k9 a1 -> v5         (some of it in a later chunk)
    n4 k7 .                  another name of k7   hop n4  -> v3          (two hops, in chunks of their own)
    quote m2 q8 q1 q5 q3 .   a quotation          copy m2 -> q8 q1 q5 q3
    w3 w9 w4 w1 .            filler

Knows tokens and a random generator, nothing of models. Invariant: every question has one answer, given by the context.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

BOS, EOS, STOP, ASK, HOP, OF, TOPIC, QUOTE, COPY = range(9)
_SPECIAL = ("<bos>", "<eos>", ".", "?", "hop", "of", "topic", "quote", "copy")
_CLASSES = {"k": 64, "v": 64, "a": 16, "n": 32, "m": 16, "q": 32, "w": 47}
WORDS = _SPECIAL + tuple(f"{name}{at}" for name, count in _CLASSES.items() for at in range(count))
TASKS = ("lookup", "needle", "section", "hop", "copy")
TAKEN = ("lookup", "needle", "section", "copy")  # what the model of `eval.toy_model` learns of them, see `begun`
_SPAN, _SECTION = 4, 5  # tokens of a quotation, sentences of a section


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a context, and the tokens that answer it."""

    task: str
    ids: tuple[int, ...]
    answer: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Chunks of whole sentences, without `<bos>`, and questions in random order."""

    chunks: tuple[tuple[int, ...], ...]
    questions: tuple[Question, ...]

    @property
    def ids(self) -> list[int]:
        """The whole context."""
        return [BOS, *(token for chunk in self.chunks for token in chunk)]


def text(rng: random.Random, tasks: tuple[str, ...], length: int, *, chunk: int = 64, dense: float = 0.8) -> Text:
    """A context of about `length` tokens, of which facts for `tasks` take at most the share `dense`."""
    deck = {name: rng.sample(range(count), count) for name, count in _CLASSES.items()}
    units: list[list[list[int]]] = []  # sentences that stay in order
    questions: list[Question] = []

    def draw(name: str) -> int:
        return WORDS.index(f"{name}{deck[name].pop()}")

    room = length * dense
    while room > 0:
        task = rng.choice(tasks)
        if not all(len(deck[name]) >= need for name, need in _NEEDS[task]):
            break
        value = rng.randrange(_FIRST["v"], _FIRST["v"] + _CLASSES["v"])
        if task in ("lookup", "needle"):
            key = draw("k")
            units.append([[key, value, STOP]])
            questions.append(Question(task, (ASK, key), (value,)))
        elif task == "hop":
            key, name = draw("k"), draw("n")
            units += [[[name, key, STOP]], [[key, value, STOP]]]
            questions.append(Question(task, (HOP, name), (value,)))
        elif task == "section":
            key, unit = draw("k"), []
            for kind in rng.sample(range(_CLASSES["a"]), _SECTION):
                value = rng.randrange(_FIRST["v"], _FIRST["v"] + _CLASSES["v"])
                unit.append([_FIRST["a"] + kind, value, STOP])
                questions.append(Question(task, (OF, key, _FIRST["a"] + kind), (value,)))
            units.append([[TOPIC, key, STOP], *unit])
        else:
            mark, span = draw("m"), [draw("q") for _ in range(_SPAN)]
            units.append([[QUOTE, mark, *span, STOP]])
            questions.append(Question(task, (COPY, mark), tuple(span)))
        room -= sum(len(sentence) for unit in units[-1 - (task == "hop") :] for sentence in unit)
        if task == "needle":
            break
    filled = sum(len(sentence) for unit in units for sentence in unit)
    while filled < length - 4:
        words = rng.choices(FILLER, k=rng.randint(3, 8))
        units.append([[*words, STOP]])
        filled += len(words) + 1
    rng.shuffle(units)
    rng.shuffle(questions)
    return Text(_cut([sentence for unit in units for sentence in unit], chunk), tuple(questions))


def begun(question: Question) -> Question:
    """The question as it is asked in evaluations: of a quotation the first token is given, as the model of
    `eval.toy_model` learned to go on, and not to find where."""
    if question.task != "copy":
        return question
    return Question(question.task, (*question.ids, question.answer[0]), question.answer[1:])


def _cut(sentences: list[list[int]], size: int) -> tuple[tuple[int, ...], ...]:
    """Chunks of whole sentences of at least `size` tokens, but for the last."""
    chunks: list[list[int]] = [[]]
    for sentence in sentences:
        if len(chunks[-1]) >= size:
            chunks.append([])
        chunks[-1] += sentence
    return tuple(map(tuple, chunks))


_FIRST = {name: WORDS.index(f"{name}0") for name in _CLASSES}
FILLER = tuple(range(_FIRST["w"], _FIRST["w"] + _CLASSES["w"]))
_NEEDS: dict[str, tuple[tuple[str, int], ...]] = {
    "lookup": (("k", 1),),
    "needle": (("k", 1),),
    "hop": (("k", 1), ("n", 1)),
    "section": (("k", 1),),
    "copy": (("m", 1), ("q", _SPAN)),
}
