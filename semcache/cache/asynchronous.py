"""The library's cache for an event loop: open it, look prompts up, record answers.

Knows prompts and answers as a library user has them. Invariant: every lookup is one row of the event log, and its cost
is added to that row when the answer is recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self, Unpack

from semcache.cache.explaining import explain
from semcache.cache.found import Found, chat_completion, chat_request, check_report
from semcache.cache.response_cache import ResponseCache
from semcache.dialects import dialects
from semcache.errors import ConfigError, InvalidArgument, RequestRejected
from semcache.types import Admission, Forward, Request, Scope, Selector, Serve, Why, parse_id, public_id

if TYPE_CHECKING:
    from semcache.cache.opening_choices import CacheOptions

_CALLER = ("tenant", "user", "namespace", "category")
_FIELDS = frozenset({"user_id"})  # of vendors' chat requests, whose names are close to these


class AsyncCache(ResponseCache):
    """A cache for prompts in an event loop. Open it with `open`, close it with `close`."""

    @classmethod
    async def open(cls, data: str | os.PathLike[str], **options: Unpack[CacheOptions]) -> Self:
        """Open the cache in folder `data`, or in the store of that URL, with the options of `SemanticCache.open`.

        Raises ConfigError, or StoreError for a database that cannot be opened.
        """
        from semcache.cache.opening import open_components
        from semcache.cache.opening_choices import Opening

        return cls(await open_components(Opening(data=_checked(data, options), **options)))

    async def lookup(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
        model: str = "default",
        **params: Any,
    ) -> Found:
        """Look up a prompt, or a chat as a list of messages; `params` are further fields of a chat request.

        Ask the model yourself when `answer` is None, and give its answer to `record`. Raises InvalidArgument.
        """
        request = self._asked(prompt, model, params, Scope(tenant, user, namespace), category)
        try:
            return await self.find(request)
        except RequestRejected as error:
            raise InvalidArgument(error.message) from error

    async def explain(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        tenant: str = "default",
        user: str | None = None,
        namespace: str = "",
        category: str | None = None,
        model: str = "default",
        **params: Any,
    ) -> dict[str, Any]:
        """Say what would become of a prompt now, and why, as JSON has it; nothing is served, counted or learned.

        Raises InvalidArgument.
        """
        request = self._asked(prompt, model, params, Scope(tenant, user, namespace), category)
        try:
            return await explain(self, request)
        except RequestRejected as error:
            raise InvalidArgument(error.message) from error

    def _asked(
        self,
        prompt: str | Sequence[Mapping[str, Any]],
        model: str,
        params: Mapping[str, Any],
        caller: Scope,
        category: str | None,
    ) -> Request:
        """The request of a caller, whose user scopes it only where the pack shares by user. Raises InvalidArgument."""
        for name in params:
            if meant := _meant(name):
                raise InvalidArgument(f"{name!r} is no field of a chat request: did you mean {meant!r}?")
        request = chat_request(prompt, model, params, caller, category)
        scope = request.scope if self.pack.share == "user" else replace(request.scope, user=None)
        return replace(request, scope=scope, asker=caller.user)

    async def withdraw(self, entry_id: str | None, *, tenant: str | None = None) -> bool:
        """Take back the reports that an answer was wrong; False when there is none (of that tenant).

        The entry is served again where the reports had it refused, and what was learned is learned again without them;
        audits, budgets and certificates stay as they are. Raises StoreError and InvalidArgument.
        """
        check_report(entry_id, tenant)
        done = await self.operating.withdraw(parse_id(entry_id or ""), who="library", tenant=tenant)
        return done is not None

    async def find(self, request: Request) -> Found:
        """Look up a request of any dialect. Raises RequestRejected for a category that the pack does not have."""
        started = time.perf_counter()
        lookup = await self.consult(request, public_id(self.components.new_id()))
        lookup = await self.verified(lookup)
        entry = None
        if isinstance(lookup.decision, Serve):
            self.registry.touch(lookup.decision.card)
            entry = await self.entry(lookup.decision, lookup.key)
            if entry is None:
                lookup = replace(lookup, decision=Forward(Why.FAULT))
        found = Found(lookup, entry)
        # Who asks the model all the same, as an audit wants, saves nothing.
        saved = None if found.audit else entry
        self.note(lookup, self.outcome(lookup, 200, time.perf_counter() - started, entry=saved))
        return found

    async def invalidate(self, where: Selector, *, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them.

        Raises StoreError, and InvalidArgument for what is no Selector.
        """
        if not isinstance(where, Selector):
            raise InvalidArgument(f"{where!r} selects no entries: give a Selector, such as Selector(tag='prices')")
        return await super().invalidate(where, dry_run=dry_run)

    async def record(self, found: Found, answer: str | Mapping[str, Any]) -> Admission:
        """Give the cache the model's answer: its text, or the whole chat completion.

        It is stored if the policy admits it, and compared: after a miss with its neighbours' answers, after a served
        hit with the answer that was served.
        """
        if not isinstance(found, Found):
            raise InvalidArgument(f"record takes what `lookup` found and an answer, not {type(found).__name__} first")
        body = chat_completion(answer, found.lookup.request.model)
        lookup, decision = found.lookup, found.lookup.decision
        assembled = dialects()[lookup.request.endpoint].parse(body)
        if isinstance(decision, Serve) and found.entry is not None:
            admitted = await self.judge_served(lookup, decision, assembled, found.entry)
        else:
            admitted = await self.admit(lookup, assembled)
        # The request was counted when it was looked up; this row carries what it cost.
        self.note(lookup, replace(self.outcome(lookup, 200, 0.0, answer=assembled, stored=admitted.label), count=0))
        return admitted


@lru_cache(maxsize=256)
def _meant(name: str) -> str:
    """Return the argument that a caller meant with the name of a field of a chat request, "" for another field."""
    close = () if name in _FIELDS else get_close_matches(name.lower(), _CALLER, n=1, cutoff=0.7)
    return close[0] if close else ""


def _checked(data: str | os.PathLike[str], options: CacheOptions) -> str:
    """The folder or URL in `data`, if it is one and the options are such as there are. Raises ConfigError."""
    from semcache.cache.opening_choices import CacheOptions

    known = sorted(CacheOptions.__annotations__)
    for name in options:
        if name not in known:
            raise ConfigError(f"a cache has no option {name!r}: it has {', '.join(known)}")
    embedder = options.get("embedder", "")
    if not isinstance(embedder, str) and not hasattr(embedder, "embed"):
        raise ConfigError(f"embedder={embedder!r}: give a name, or an object with embed, id, dim and close")
    judge = options.get("judge", "exact")
    if not isinstance(judge, str) and not (hasattr(judge, "agree") and hasattr(judge, "instant")):
        raise ConfigError(f"judge={judge!r}: give a name, or an object with agree, name and instant")
    policies: object = options.get("policies", "default")
    if not isinstance(policies, (str, os.PathLike)):
        raise ConfigError(f"policies={policies!r}: name a pack, its YAML file or a folder of such files")
    if not isinstance(data, str | os.PathLike):
        raise ConfigError(f"data={data!r} is no folder and no URL of a store")
    where = os.fspath(data)
    if not where or "\0" in where:
        raise ConfigError(f"data={where!r} names no folder: give one, or `memory://` to keep nothing")
    return where
