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

_SAMPLE = 400


async def varying_prompts(store: Entries, ignored: Sequence[str]) -> list[VaryingPrompts]:
    """The parts in which alone some hundred system prompts differ; `ignored` is the pack's. Raises StoreError.

    Ids of entries are random, so the first of them are a fair sample.
    """
    entries = await store.select(Selector(everything=True), limit=_SAMPLE)
    prompts = [system_of(conversation.stored_identity(entry.key.canonical)) for entry in entries]
    return await asyncio.to_thread(varying, [prompt for prompt in prompts if prompt], ignored)
