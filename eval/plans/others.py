"""The alternatives to plan templates: plan caching by keyword, all history in the prompt, and a similarity cache.

Keyword plan caching (Agentic Plan Caching, arXiv 2506.14852) asks a small model for the core intent of a task, without
names and numbers, and serves the plan of exactly that keyword. No model is asked here: `keyword` takes the longest
phrase between stop words that holds no value (as RAKE does; Rose et al. 2010), which is consistent where wording is.
All history in the prompt leaves the choice to a model that sees every run so far; here it is the run of the nearest
task by embedding, always taken, and its cost in tokens is that of the whole history.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from eval.embedded import embedded
from eval.plans.sets import Task
from eval.plans.stream import CHARACTERS, Tally, compared
from semcache.agents.slots import STOP, find, words

_FILLERS = frozenset(
    [
        "tell",
        "show",
        "give",
        "list",
        "find",
        "get",
        "make",
        "all",
        "what",
        "which",
        "who",
        "how",
        "much",
        "many",
        "do",
        "i",
    ]
)
GPTCACHE = 0.8  # the similarity that GPTCache's default evaluation serves from


def keyword(text: str) -> str:
    """The longest phrase of a task that holds no value, in lower case."""
    values = find(text)
    marked = [
        ("" if word.stem in STOP | _FILLERS or any(one.start < word.end and word.start < one.end for one in values) else
         text[word.start : word.end].lower())
        for word in words(text)
    ]  # fmt: skip
    phrases = [list(group) for told, group in groupby(marked, key=bool) if told]
    return " ".join(max(phrases, key=len, default=[]))


async def by_keyword(tasks: Sequence[Task]) -> Tally:
    """Exact match of the keyword; the last run of a keyword stays."""
    kept: dict[str, str] = {}
    return await compared(
        tasks, lambda task: kept.get(keyword(task.text)), lambda task: kept.update({keyword(task.text): task.label})
    )


async def nearest(tasks: Sequence[Task], floor: float) -> Tally:
    """The run of the nearest task so far, if its similarity is at least `floor`."""
    matrix = embedded([task.text for task in tasks])
    place = {id(task): number for number, task in enumerate(tasks)}
    held: list[int] = []

    def answer(task: Task) -> str | None:
        if not held:
            return None
        scores = matrix[held] @ matrix[place[id(task)]]
        best = int(np.argmax(scores))
        return tasks[held[best]].label if scores[best] >= floor else None

    return await compared(tasks, answer, lambda task: held.append(place[id(task)]))


def history_tokens(tasks: Sequence[Task]) -> float:
    """Tokens that all history adds to a prompt, mean over the stream."""
    sizes = np.array([len(json.dumps(task.messages)) // CHARACTERS for task in tasks], dtype=np.float64)
    return float(np.mean(np.cumsum(sizes) - sizes))


METHODS: dict[str, Callable[[Sequence[Task]], object]] = {
    "keyword plan caching": by_keyword,
    "all history in the prompt": lambda tasks: nearest(tasks, -1.0),
    "similarity cache": lambda tasks: nearest(tasks, GPTCACHE),
}
