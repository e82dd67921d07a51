"""Texts of a tiny language with questions about them: lookup, needle, copy, hop and pronoun.

A context is a list of sentences in chunks, `<bos>` before them:

    k7 v3 .                  a fact               ? k7     -> v3           (lookup; needle when all else is filler)
    quote m2 q8 q1 q5 q3 .   a quotation          copy m2  -> q8 q1 q5 q3
    n4 k7 .                  another name of k7   hop n4   -> v3           (two steps, in either order)
    topic t9 .               a heading            of what follows, until the next
    k8 it .                  "it" is the heading  ? k8     -> t9           (pronoun)
    w3 w9 w4 w1 .            filler

A chunk under a heading that stands in an earlier chunk does not say by itself what its pronouns are about.
Knows tokens and a random generator, nothing of models. Invariant: every question has one answer, given by the context.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

BOS, EOS, STOP, ASK, HOP, TOPIC, QUOTE, COPY, IT = range(9)
_SPECIAL = ("<bos>", "<eos>", ".", "?", "hop", "topic", "quote", "copy", "it")
_CLASSES = {"k": 64, "v": 64, "n": 32, "m": 16, "q": 32, "t": 16, "w": 46}
WORDS = _SPECIAL + tuple(f"{name}{at}" for name, count in _CLASSES.items() for at in range(count))
TASKS = ("lookup", "needle", "copy", "hop", "pronoun")
ALONE = ("lookup", "needle", "copy")  # one sentence tells all
ACROSS = ("pronoun",)  # whose chunks mean something else alone than behind the others
_SPAN = 4  # tokens of a quotation
_SIZES = {"copy": _SPAN + 3, "hop": 6}  # tokens of what a question is about, else 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a context, and the tokens that answer it.

    `between` is what the first of two steps finds. `apart` where the answer takes sentences of more than one chunk.
    """

    task: str
    ids: tuple[int, ...]
    answer: tuple[int, ...]
    between: int | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Chunks of whole sentences, without `<bos>`, and questions in random order."""

    chunks: tuple[tuple[int, ...], ...]
    questions: tuple[Question, ...]

    @property
    def ids(self) -> list[int]:
        """The whole context."""
        return [BOS, *(token for chunk in self.chunks for token in chunk)]

    @property
    def meant(self) -> dict[int, int]:
        """The heading that each `it` stands for, by its position in `ids`."""
        found, heading, before = {}, EOS, EOS
        for at, token in enumerate(self.ids):
            if before == TOPIC:
                heading = token
            elif token == IT:
                found[at] = heading
            before = token
        return found


def text(rng: random.Random, tasks: tuple[str, ...], length: int, *, chunk: int = 64, dense: float = 0.8) -> Text:
    """A context of about `length` tokens, of which facts for `tasks` take at most the share `dense`."""
    kinds: list[str] = []
    room = length * dense
    while room > 0:
        task = rng.choice(tasks)
        if task == "needle" and kinds:
            break
        kinds += ("name", "named") if task == "hop" else (task,)
        room = 0 if task == "needle" else room - _SIZES.get(task, 3)
    apart = (max(6, length // 8), max(16, length // 3))  # headings, in tokens
    headed = rng.random() < (1.0 if set(ACROSS) & set(tasks) else 0.3)
    filled = sum(_SIZES.get(kind, 3) for kind in kinds) + headed * 6 * length // sum(apart)
    while filled < length - 4:
        kinds.append("filler")
        filled += 5
    rng.shuffle(kinds)
    writer = _Writer(rng)
    until, size = rng.randint(0, apart[0]) if headed else length * 2, 0
    for kind in kinds:
        if size >= until and writer.write("heading"):
            until = size + rng.randint(*apart)
        if not writer.write(kind):
            writer.write("filler")
        size = sum(map(len, writer.sentences))
    chunks, places = _cut(writer.sentences, chunk)
    questions = [
        Question(task, ids, answer, between, len({places[at] for at in needs}) > 1)
        for task, ids, answer, between, needs in writer.told
    ]
    rng.shuffle(questions)
    return Text(chunks, tuple(questions))


class _Writer:
    """Sentences, and what they tell: task, question, answer, step between, numbers of the sentences that it takes."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._deck = {name: rng.sample(range(_FIRST[name], _FIRST[name] + n), n) for name, n in _CLASSES.items()}
        self._heading: tuple[int, int] | None = None  # and the number of its sentence
        self._waiting: dict[str, list[tuple[int, int, int, int]]] = {"name": [], "named": []}  # for their other half
        self.sentences: list[list[int]] = []
        self.told: list[tuple[str, tuple[int, ...], tuple[int, ...], int | None, tuple[int, ...]]] = []

    def write(self, kind: str) -> bool:
        """Write a sentence, or do nothing where its words are used up or a heading is wanted."""
        deck, at = self._deck, len(self.sentences)
        value = self._rng.randrange(_FIRST["v"], _FIRST["v"] + _CLASSES["v"])
        if kind == "filler":
            self.sentences.append([*self._rng.choices(FILLER, k=self._rng.randint(3, 5)), STOP])
        elif kind == "heading" and deck["t"]:
            self._heading = deck["t"].pop(), at
            self.sentences.append([TOPIC, self._heading[0], STOP])
        elif kind in ("lookup", "needle") and deck["k"]:
            key = deck["k"].pop()
            self.sentences.append([key, value, STOP])
            self.told.append((kind, (ASK, key), (value,), None, (at,)))
        elif kind == "copy" and deck["m"] and len(deck["q"]) >= _SPAN:
            mark, span = deck["m"].pop(), tuple(deck["q"].pop() for _ in range(_SPAN))
            self.sentences.append([QUOTE, mark, *span, STOP])
            self.told.append((kind, (COPY, mark), span, None, (at,)))
        elif kind == "pronoun" and self._heading and deck["k"]:
            key, (heading, above) = deck["k"].pop(), self._heading
            self.sentences.append([key, IT, STOP])
            self.told.append((kind, (ASK, key), (heading,), None, (above, at)))
        elif kind in ("name", "named") and self._half(kind, value):
            pass
        else:
            return False
        return True

    def _half(self, kind: str, value: int) -> bool:
        at, deck = len(self.sentences), self._deck
        others = self._waiting["named" if kind == "name" else "name"]
        if others:
            name, key, value, other = others.pop(0)
            self.told.append(("hop", (HOP, name), (value,), key, (other, at)))
        elif deck["k"] and deck["n"]:
            name, key = deck["n"].pop(), deck["k"].pop()
            self._waiting[kind].append((name, key, value, at))
        else:
            return False
        self.sentences.append([name, key, STOP] if kind == "name" else [key, value, STOP])
        return True


def _cut(sentences: list[list[int]], size: int) -> tuple[tuple[tuple[int, ...], ...], list[int]]:
    """Chunks of whole sentences of at least `size` tokens, but for the last; and the chunk of every sentence."""
    chunks: list[list[int]] = [[]]
    places = []
    for sentence in sentences:
        if len(chunks[-1]) >= size:
            chunks.append([])
        chunks[-1] += sentence
        places.append(len(chunks) - 1)
    return tuple(map(tuple, chunks)), places


_FIRST = {name: WORDS.index(f"{name}0") for name in _CLASSES}
FILLER = tuple(range(_FIRST["w"], _FIRST["w"] + _CLASSES["w"]))
