"""A sample of the stored system prompts: the parts that alone differ, and those that the serving pack ignores.

Knows the store's entries, and the saved state that tells which pack a proxy serves by. Invariant: the result holds no
text of a prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from semcache.request import conversation
from semcache.request.ignored import system_of
from semcache.request.varying_prompts import VaryingPrompts, varying
from semcache.types import Selector

if TYPE_CHECKING:
    from semcache.config.packs import Pack
    from semcache.protocols import Entries, SavedStates
    from semcache.types import Entry

_SAMPLE = 400
_SERVING = "serving pack"
_PAGE = 50  # entries with their answers that are in memory at once


async def varying_prompts(store: Entries, ignored: Sequence[str], *, tenant: str | None = None) -> list[VaryingPrompts]:
    """The parts in which alone some hundred system prompts differ; `ignored` is the pack's. Raises StoreError.

    Ids of entries are random, so the first of them are a fair sample. With `tenant` they are its own alone.
    """
    of = Selector(tenant=tenant) if tenant is not None else Selector(everything=True)
    prompts: list[str] = []
    after, more = 0, True
    while more and len(prompts) < _SAMPLE:
        entries = await store.select(of, limit=_PAGE, after=after)
        prompts += await asyncio.to_thread(_system_prompts, entries)
        after, more = (entries[-1].id, len(entries) == _PAGE) if entries else (after, False)
    return await asyncio.to_thread(varying, [prompt for prompt in prompts if prompt], ignored)


async def note_serving(store: SavedStates, pack: Pack, *, now: float) -> None:
    """Save which parts of system prompts the pack that serves from now on leaves out. Raises StoreError."""
    await store.learn(_SERVING, int(1000 * now), msgspec.json.encode(pack.ignore_in_system))


async def ignored_in_service(store: SavedStates) -> tuple[str, ...] | None:
    """The parts that the pack which serves, or served last, leaves out; None where none did. Raises StoreError."""
    saved = await store.learned(_SERVING)
    try:
        return None if saved is None else msgspec.json.decode(saved[1], type=tuple[str, ...])
    except msgspec.MsgspecError:
        return None


def _system_prompts(entries: Sequence[Entry]) -> list[str]:
    return [system_of(conversation.stored_identity(entry.key.canonical)) for entry in entries]
