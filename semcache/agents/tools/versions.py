"""Versions of the resources that tools read, counted up with every change that is told; part of a result's key.

A resource is a name such as "ticket:7"; "ticket:*" stands for all whose name begins with "ticket:", "*" for everything.
Pure, and safe to use from several threads.
Invariant: after a change, no version is ever again what it was for anything that the change could have touched; what is
remembered is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

_REMEMBERED = 100_000


class Versions:
    """The versions of one process. A version is the number of the last change that touched the resource."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._tick = self._floor = 0
        self._single: dict[tuple[str, str], int] = {}
        self._whole: dict[tuple[str, str], int] = {}
        self._any: dict[tuple[str, str], int] = {}
        self._all: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        self._lock = Lock()

    def of(self, tenant: str, resources: Iterable[str]) -> tuple[int, ...]:
        """The version of everything a tenant has, and those of these resources in their order."""
        with self._lock:
            return (self._all.get(tenant, self._floor), *[self._one(tenant, resource) for resource in resources])

    def change(self, tenant: str, resources: Iterable[str]) -> None:
        """These have changed, or may have."""
        with self._lock:
            self._change(tenant, resources)

    def _change(self, tenant: str, resources: Iterable[str]) -> None:
        for resource in resources:
            self._tick += 1
            self._latest[tenant] = self._tick
            if resource == "*":
                self._all[tenant] = self._tick
                continue
            kind = (tenant, family(resource))
            self._any[kind] = self._tick
            (self._whole if resource == kind[1] else self._single)[tenant, resource] = self._tick
        if len(self._single) + len(self._any) + len(self._latest) > self._remembered:
            # Nothing is older than what is forgotten: for once, everything counts as changed.
            self._floor = self._tick = self._tick + 1
            for table in (self._single, self._whole, self._any):
                table.clear()
            self._all.clear()
            self._latest.clear()

    def _one(self, tenant: str, resource: str) -> int:
        if resource == "*":
            return self._latest.get(tenant, self._floor)
        kind = (tenant, family(resource))
        if resource == kind[1]:
            return self._any.get(kind, self._floor)
        return max(self._single.get((tenant, resource), self._floor), self._whole.get(kind, self._floor))


def family(resource: str) -> str:
    """All of its kind: "ticket:*" for "ticket:7", the name itself for one without a kind."""
    kind, colon, _ = resource.partition(":")
    return f"{kind}:*" if colon else resource


def overlap(one: Iterable[str], others: Iterable[str]) -> bool:
    """Return True if two sets of resources may name the same thing; "*" is everything."""
    names, kinds = set(one), set(others)
    if "*" in names | kinds:
        return bool(names and kinds)
    return any(
        left == right or (family(left) == family(right) and family(left) in (left, right))
        for left in names
        for right in kinds
    )
