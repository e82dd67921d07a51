"""Whose memos a request reads from: those of its own scope, or, where they are shared, those of all.

Knows the parts of a scope, nothing of what is remembered. Invariant: unless memos are shared, two scopes never read
from the same ones.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from semcache.runtime import scoped_memo
from semcache.types import Scope


@dataclass(frozen=True, slots=True)
class MemoScopes:
    """The memos by scope; all scopes have the same ones if they are `shared`."""

    shared: bool = False

    def enter(self, scope: Scope) -> None:
        """From here on in this task, read from the memos of this scope."""
        scoped_memo.enter(*self._names(scope))

    def within(self, scope: Scope) -> AbstractContextManager[None]:
        """Return a context in which this task reads from the memos of this scope."""
        return scoped_memo.within(*self._names(scope))

    def _names(self, scope: Scope) -> tuple[str | None, ...]:
        return () if self.shared else (scope.tenant, scope.user, scope.namespace)
