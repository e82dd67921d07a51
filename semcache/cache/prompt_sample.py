"""A sample of the kept system prompts, and what differs in them alone.

Knows the store's entries; keeps nothing. Invariant: what is returned holds no text of a prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from semcache.request import conversation
from semcache.request.ignored import system_of
from semcache.request.varying_prompts import VaryingPrompts, varying
from semcache.types import Selector

if TYPE_CHECKING:
    from semcache.protocols import Entries
    from semcache.types import Entry

_SAMPLE = 400
_PAGE = 50  # entries with their answers that are in memory at once


async def varying_prompts(store: Entries, ignored: Sequence[str]) -> list[VaryingPrompts]:
    """The parts in which alone some hundred system prompts differ; `ignored` is the pack's. Raises StoreError.

    Ids of entries are random, so the first of them are a fair sample.
    """
    prompts: list[str] = []
    after, more = 0, True
    while more and len(prompts) < _SAMPLE:
        entries = await store.select(Selector(everything=True), limit=_PAGE, after=after)
        prompts += await asyncio.to_thread(_system_prompts, entries)
        after, more = (entries[-1].id, len(entries) == _PAGE) if entries else (after, False)
    return await asyncio.to_thread(varying, [prompt for prompt in prompts if prompt], ignored)


def _system_prompts(entries: Sequence[Entry]) -> list[str]:
    return [system_of(conversation.stored_identity(entry.key.canonical)) for entry in entries]
