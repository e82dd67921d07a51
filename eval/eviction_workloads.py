"""Workloads for eviction: who asks for what, when, what an answer weighs and what it costs to make.

Reads data sets and traces outside the repository and makes streams of them; knows no policy. Invariant: a workload is a
function of its data, its half and its seed.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(os.environ.get("EVAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
ARRIVALS = 10_000
BLOCKS = 40_000
NEAR = 0.8
_PROMPT, _COMPLETION = 2.5e-6, 10e-6
_OVERHEAD = 2000


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests by number of what they ask for ("items": prompts, prefix blocks), in order.

    `servers[item]` are the items whose answers are right for it, nearest first, itself included; None where only the
    item itself is. `group[item]` is the answer that an item shares with others, and `span[item]` a set of items outside
    of which no server of it lies. `size` is in bytes, `cost` in US dollars.
    """

    name: str
    requests: np.ndarray
    size: np.ndarray
    cost: np.ndarray
    group: np.ndarray
    span: np.ndarray
    servers: Sequence[Sequence[int]] | None = None

    @property
    def footprint(self) -> float:
        """Bytes of everything that is ever asked for."""
        return float(self.size[np.unique(self.requests)].sum())


def rows(path: str) -> Iterator[dict[str, Any]]:
    """The objects of a gzip JSON-lines file of the data folder."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def by_intent(name: str) -> dict[str, list[str]]:
    """Prompts by intent, those outside of every intent each by itself."""
    classes: dict[str, list[str]] = defaultdict(list)
    for number, row in enumerate(rows(f"{name}/queries.jsonl.gz")):
        classes[row["intent"] if row["intent"] != "oos" else f"oos {number}"].append(row["text"])
    return classes


def duplicates() -> dict[str, list[str]]:
    """Questions of QQP by the connected sets of those that people marked as duplicates; the first 12,000 pairs."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    for number, row in enumerate(rows("qqp_pairs/pairs.jsonl.gz")):
        if number >= 12_000:
            break
        first, second = root(row["question1"]), root(row["question2"])
        if row["is_duplicate"]:
            parent[first] = second
    classes: dict[str, list[str]] = defaultdict(list)
    for text in parent:
        classes[root(text)].append(text)
    return classes


TEXTS: Mapping[str, Callable[[], dict[str, list[str]]]] = {
    "clinc150": lambda: by_intent("clinc150"),
    "banking77": lambda: by_intent("banking77"),
    "qqp": duplicates,
}


@dataclass(frozen=True, slots=True)
class Texts:
    """Prompts of one half of the classes of a set, their answers, and who can serve whom."""

    name: str
    group: np.ndarray
    span: np.ndarray
    servers: Sequence[Sequence[int]]


def texts(name: str, half: int) -> Texts:
    """Every second class of a set; the halves 0 and 1 have none in common. Prompts at `NEAR` or more can be served."""
    prompts = _half(name, half)
    group = np.repeat(np.arange(len(prompts)), [len(wordings) for wordings in prompts])
    vectors = vectors_of(name, half)
    servers: list[list[int]] = []
    for answer in range(len(prompts)):
        members = np.flatnonzero(group == answer)
        scores = vectors[members] @ vectors[members].T
        np.fill_diagonal(scores, 2.0)
        for row in scores:
            order = np.argsort(-row)[: int((row >= NEAR).sum())]
            servers.append([int(members[at]) for at in order])
    return Texts(name, group, _connected(servers), servers)


def vectors_of(name: str, half: int) -> np.ndarray:
    """The vectors of the prompts of `texts`, in their order."""
    from eval.embedded import embedded

    return embedded([text for wordings in _half(name, half) for text in wordings])


def _half(name: str, half: int) -> list[list[str]]:
    classes = TEXTS[name]()
    return [list(dict.fromkeys(classes[intent])) for intent in sorted(classes)[half::2]]


def zipf(source: Texts, seed: int, *, drift: bool, exponent: float = 0.9) -> Workload:
    """A stream over prompts: answers and their wordings by Zipf's law, sizes and prices log-normal by answer.

    One answer in five is made by a model ten times as dear. With `drift` a tenth of the answers change places in
    popularity after every twentieth of the stream.
    """
    rng = np.random.default_rng(seed)
    answers = int(source.group.max()) + 1
    completion = np.clip(rng.lognormal(5.3, 0.9, answers), 5, 4000)
    prompt = np.clip(rng.lognormal(5.5, 1.0, answers), 20, 8000)
    dear = np.where(rng.random(answers) < 0.2, 10.0, 1.0)
    cost = (prompt * _PROMPT + completion * _COMPLETION) * dear
    size = _OVERHEAD + 4 * completion
    weights = 1.0 / np.arange(1, answers + 1) ** exponent
    order = rng.permutation(answers)
    members = [rng.permutation(np.flatnonzero(source.group == answer)) for answer in range(answers)]
    requests = []
    steps = 20 if drift else 1
    for _ in range(steps):
        for answer in order[rng.choice(answers, ARRIVALS // steps, p=weights / weights.sum())]:
            wordings = members[answer]
            spread = 1.0 / np.arange(1, len(wordings) + 1)
            requests.append(rng.choice(wordings, p=spread / spread.sum()))
        moved = rng.choice(answers, max(2, answers // 10), replace=False)
        order[moved] = order[rng.permutation(moved)]
    return Workload(
        f"{source.name}{' drifting' if drift else ''}",
        np.array(requests),
        size[source.group],
        cost[source.group],
        source.group,
        source.span,
        source.servers,
    )


def mooncake(kind: str, half: int) -> Workload:
    """The first prefix blocks that one half of a Mooncake trace asks for; all weigh and cost the same."""
    traces = [row["hash_ids"] for row in rows(f"mooncake_traces/{kind}_trace.jsonl.gz")]
    middle = len(traces) // 2
    blocks = [block for row in (traces[:middle] if half == 0 else traces[middle:]) for block in row]
    return _plain(f"mooncake {kind}", blocks[:BLOCKS], lambda _: (1.0, 1.0))


def azure(kind: str, half: int) -> Workload:
    """Requests of one half of an Azure trace; those of equal lengths of prompt and answer count as the same."""
    with gzip.open(DATA / f"azure_llm_traces/{kind}.csv.gz", "rt", encoding="utf-8") as lines:
        pairs = [(int(row["ContextTokens"]), int(row["GeneratedTokens"])) for row in csv.DictReader(lines)]
    middle = len(pairs) // 2
    return _plain(
        f"azure {kind}",
        pairs[:middle] if half == 0 else pairs[middle:],
        lambda pair: (_OVERHEAD + 4.0 * pair[1], pair[0] * _PROMPT + pair[1] * _COMPLETION),
    )


def _plain(name: str, keys: Sequence[Any], worth: Callable[[Any], tuple[float, float]]) -> Workload:
    numbers: dict[Any, int] = {}
    requests = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    facts = np.array([worth(key) for key in numbers])
    own = np.arange(len(numbers))
    return Workload(name, requests, facts[:, 0], facts[:, 1], own, own)


def _connected(servers: Sequence[Sequence[int]]) -> np.ndarray:
    """A label for every item that all items share which are linked by a chain of servers."""
    label = np.full(len(servers), -1)
    for start in range(len(servers)):
        if label[start] >= 0:
            continue
        stack = [start]
        while stack:
            item = stack.pop()
            if label[item] < 0:
                label[item] = start
                stack += servers[item]
    return label
