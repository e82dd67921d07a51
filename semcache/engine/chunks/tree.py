"""Documents in the order in which they were read, in two tiers (RAGCache: Jin et al. 2024, sections 4 and 5).

A node is a document behind those on the path to it, so that reuse is exact. Priority is clock + frequency x mean cost
of computing it per token (prefix-aware GDSF, eq. 1); only leaves of a tier are evicted; a node that leaves the fast
tier is copied to the slow one once and then only freed (swap out once).
Knows document names, sizes and costs, neither tensors nor time. Invariant: a node's parent is in its tier or a faster
one; no tier holds more than its room; pinned nodes stay.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from semcache.errors import InvalidArgument


@dataclass(slots=True, eq=False)
class Node:
    """A document of `size` tokens behind `parent`; `payload` is whatever holds its keys and values."""

    name: Hashable
    parent: Node | None
    size: int
    payload: Any = None
    fast: bool = True
    copied: bool = False  # whether the slow tier holds it
    uses: int = 0
    costs: float = 0.0  # sum over the times it was computed, per token
    computed: int = 0
    clock: float = 0.0
    pins: int = 0
    children: dict[Hashable, Node] = field(default_factory=dict)

    @property
    def priority(self) -> float:
        """What it is worth to keep."""
        return self.clock + self.uses * (self.costs / max(1, self.computed))


class KnowledgeTree:
    """Rooms in tokens. `moved` is told when a node goes to another tier ("slow", "fast") or away ("gone")."""

    def __init__(self, *, fast: int, slow: int, moved: Callable[[Node, str], None] = lambda _node, _to: None) -> None:
        self._room = {True: fast, False: slow}
        self._used = {True: 0, False: 0}
        self._clock = {True: 0.0, False: 0.0}
        self._root = Node("", None, 0)
        self._moved = moved

    def used(self, *, fast: bool) -> int:
        """Tokens in a tier."""
        return self._used[fast]

    def find(self, names: Sequence[Hashable]) -> list[Node]:
        """The nodes of the longest known beginning of a list of documents."""
        path: list[Node] = []
        at = self._root
        for name in names:
            child = at.children.get(name)
            if child is None:
                break
            path.append(child)
            at = child
        return path

    def use(self, names: Sequence[Hashable], sizes: Sequence[int], costs: Sequence[float]) -> list[Node]:
        """Count a request for documents in this order, and have as many of the first of them in the fast tier as fit.

        `costs` are seconds per token of those that had to be computed, 0 for those that did not. Returns the nodes in
        the fast tier. Raises InvalidArgument when lengths differ.
        """
        if not len(names) == len(sizes) == len(costs):
            raise InvalidArgument(f"{len(names)} documents, {len(sizes)} sizes and {len(costs)} costs do not match")
        path: list[Node] = []
        at = self._root
        try:
            for name, size, cost in zip(names, sizes, costs, strict=True):
                node = at.children.get(name)
                if node is None or not node.fast:
                    if not self._fit(size, fast=True):
                        break
                    node = self._enter(at, name, size, node)
                node.uses += 1
                node.clock = self._clock[True]
                if cost > 0:
                    node.costs, node.computed = node.costs + cost, node.computed + 1
                node.pins += 1
                path.append(node)
                at = node
        finally:
            for node in path:
                node.pins -= 1
        return path

    def _enter(self, parent: Node, name: Hashable, size: int, node: Node | None) -> Node:
        known = parent.children.get(name)
        if node is None or known is None:  # making room may have dropped it
            node = parent.children[name] = Node(name, parent, size)
        else:
            self._moved(node, "fast")
        node.fast = True
        self._used[True] += node.size
        return node

    def _fit(self, size: int, *, fast: bool) -> bool:
        """Make room for a node of so many tokens; False when it cannot be made."""
        if size > self._room[fast]:
            return False
        while self._used[fast] + size > self._room[fast]:
            leaves = [node for node in self._walk() if self._is_leaf(node, fast=fast)]
            if not leaves:
                return False
            victim = min(leaves, key=lambda node: node.priority)
            self._clock[fast] = max(self._clock[fast], victim.priority)
            self._leave(victim, fast=fast)
        return True

    def _is_leaf(self, node: Node, *, fast: bool) -> bool:
        held = node.fast if fast else node.copied and not node.fast
        below = (child.fast if fast else True for child in node.children.values())
        return held and not node.pins and not any(below)

    def _leave(self, node: Node, *, fast: bool) -> None:
        if fast:
            self._used[True] -= node.size
            node.fast = False
            if not node.copied and self._fit(node.size, fast=False):
                node.copied = True
                self._used[False] += node.size
                node.clock = self._clock[False]
                self._moved(node, "slow")
            if node.copied:
                return
        else:
            self._used[False] -= node.size
            node.copied = False
        self._forget(node)

    def _forget(self, node: Node) -> None:
        """A node that is nowhere is gone, and with it everything behind it."""
        for child in list(node.children.values()):
            if child.copied:
                self._used[False] -= child.size
            self._forget(child)
        assert node.parent is not None
        node.parent.children.pop(node.name, None)
        self._moved(node, "gone")

    def _walk(self) -> list[Node]:
        found, stack = [], list(self._root.children.values())
        while stack:
            node = stack.pop()
            found.append(node)
            stack.extend(node.children.values())
        return found
