"""The paged KV cache: the pages that each sequence has, shares, takes over and releases.

Knows pages, the prefix tree, the tensor and the tiers behind it; nothing of what is computed next or emitted.
Invariant: a sequence's pages hold its first `done` tokens; a page that several sequences hold is never written, but
copied first; blocks that no sequence uses are evicted for those that are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from semcache.engine.block_changes import AllBlocksLeft, BlockAdded, BlockChange, BlockLeft, Medium
from semcache.engine.disk_tier import StoredBlock
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.kv_tensor import KVTensor
from semcache.engine.offload import OffloadTiers
from semcache.engine.page_pool import PagePool
from semcache.engine.prefix_tree import Block, PrefixTree, Worth
from semcache.engine.sequence import Sequence

if TYPE_CHECKING:
    import torch


class KVCache:
    """All pages of `store`, with `tiers` behind them; `worth` ranks blocks for eviction.

    `note` is called with each change of the blocks that hold exact keys and values, in the cache and in host memory.
    """

    def __init__(
        self,
        store: KVTensor,
        tiers: OffloadTiers,
        metrics: EngineMetrics,
        worth: Worth,
        note: Callable[[BlockChange], object] = lambda _: None,
    ) -> None:
        self.store, self._tiers, self._metrics, self._worth, self._note = store, tiers, metrics, worth, note
        self._block = store.block
        self._pool = PagePool(store.pages)
        self._tree = PrefixTree(self._pool, worth)

    @property
    def capacity(self) -> int:
        """The most tokens held at once."""
        return self._pool.size * self._block

    @property
    def usage(self) -> float:
        """The share of pages that hold something."""
        return 1 - self._pool.free / self._pool.size

    @property
    def blocks(self) -> int:
        """Blocks that can be shared."""
        return len(self._tree)

    def cached(self, sequence: Sequence) -> int:
        """How many tokens of a sequence are in the tree, as far as their keys tell."""
        return self._tree.depth(sequence.reusable()) * self._block

    def admit(self, sequence: Sequence, *, compute: float, alone: bool) -> bool:
        """Take over the cached blocks of a sequence.

        Returns False when there are too few pages for the rest, unless the sequence is `alone`. `compute` is how many
        seconds a block takes to compute, against which loading it is weighed.
        """
        chain = self._tree.match(sequence.reusable(), sequence.tokens)
        for block in chain:
            self._pool.share(block.page)
        need = len(sequence.tokens) // self._block + 1 - len(chain)
        if self._pool.free + self._tree.evictable() < need and not alone:
            for block in chain:
                self._pool.drop(block.page)
            self._tree.release(chain)
            return False
        if not sequence.charged:  # one that comes back wants what it wanted before
            self._tree.hit(chain)
        sequence.chain, sequence.pages = chain, [block.page for block in chain]
        sequence.linked = True
        self._load(sequence, compute)
        sequence.done = len(sequence.chain) * self._block
        return True

    def reserve(self, sequence: Sequence, tokens: int) -> bool:
        """Give a sequence pages of its own for the next tokens; returns False when sequences hold all pages."""
        last = (sequence.done + tokens - 1) // self._block
        for at in range(sequence.done // self._block, last + 1):
            shared = at < len(sequence.pages) and self._pool.holders(sequence.pages[at]) > 1
            if at < len(sequence.pages) and not shared:
                continue
            page = self._page(after=sequence.pages[at - 1] if at else None)
            if page is None:
                return False
            if shared:
                self.store.copy(sequence.pages[at], page)
                self._pool.drop(sequence.pages[at])
                sequence.pages[at] = page
            else:
                sequence.pages.append(page)
        return True

    def fill(self, sequence: Sequence, data: torch.Tensor) -> None:
        """Write keys and values, whole blocks, behind those that a sequence has, into pages reserved for it.

        `data` is (layers, 2, heads, places, dim). Raises ValueError for another shape.
        """
        self.store.put_at(sequence.pages, sequence.done, data)
        sequence.done = data.shape[3]
        self.publish(sequence)

    def publish(self, sequence: Sequence) -> None:
        """Put the full blocks of a sequence into the tree, and take over those that others put there first."""
        keys = sequence.block_keys()
        while sequence.linked and (len(sequence.chain) + 1) * self._block <= sequence.done:
            at = len(sequence.chain)
            page = sequence.pages[at]
            found = self._add(sequence, keys, at, page)
            if found is None:
                sequence.linked = False
                return
            if found.page != page:
                self._pool.share(found.page)
                self._pool.drop(page)
                sequence.pages[at] = found.page
            sequence.chain.append(found)
            if self._tiers.wants(found.key):
                self._tiers.keep(self._stored(found))

    def fork(self, sequence: Sequence, fork: Sequence) -> None:
        """Let a fresh sequence hold the same pages."""
        fork.done, fork.linked = sequence.done, sequence.linked
        fork.pages, fork.chain = list(sequence.pages), list(sequence.chain)
        for page in fork.pages:
            self._pool.share(page)

    def release(self, sequence: Sequence, *, forget: bool = False) -> None:
        """Let go of the pages of a sequence.

        Blocks in the tree stay until the room is needed, or go at once with `forget`.
        """
        for page in sequence.pages:
            self._pool.drop(page)
        self._tree.release(sequence.chain)
        for block in reversed(sequence.chain if forget else []):
            if not block.children and self._pool.holders(block.page) == 1:
                self._remove(block)
        sequence.pages, sequence.chain, sequence.done = [], [], 0

    def reset(self) -> None:
        """Forget everything."""
        self._pool = PagePool(self._pool.size)
        self._tree = PrefixTree(self._pool, self._worth)
        self._note(AllBlocksLeft())

    def close(self) -> None:
        """Write the cached blocks to disk, where there is one."""
        for block in self._tree.blocks():
            if self._tiers.wants(block.key):
                self._tiers.keep(self._stored(block), wait=True)
        self._tiers.close()

    def _load(self, sequence: Sequence, compute: float) -> None:
        """Load the blocks that follow those in the tree from a tier."""
        keys = sequence.reusable()
        self._tiers.touch(
            keys[len(sequence.chain) :]
        )  # else what leaves the cache for the first could displace the last
        for at in range(len(sequence.chain), len(keys)):
            above = keys[at - 1] if at else sequence.root
            ids = sequence.tokens[at * self._block : (at + 1) * self._block]
            stored = self._tiers.fetch(keys[at], above, ids, compute=compute, lossy=sequence.lossy)
            page = None if stored is None else self._page(after=sequence.pages[-1] if at else None)
            if stored is None or page is None:
                return
            try:
                self.store.put_in(page, stored.data)
                found = self._add(sequence, keys, at, page)
            except ValueError:  # another shape: not of this model
                found = None
            if found is None:
                self._pool.drop(page)
                return
            sequence.pages.append(page)
            sequence.chain.append(found)

    def _add(self, sequence: Sequence, keys: list[bytes], at: int, page: int) -> Block | None:
        above = keys[at - 1] if at else sequence.root
        ids = sequence.tokens[at * self._block : (at + 1) * self._block]
        known = keys[at] in self._tree
        found = self._tree.add(keys[at], above, sequence.chain[-1] if at else None, ids, page)
        if found is not None and not known:
            found.lossy, found.tenant = sequence.lossy, sequence.job.tenant
            if not found.lossy:
                self._note(_added(found, "GPU"))
        return found

    def _page(self, *, after: int | None) -> int | None:
        """Return a free page, after evicting a block if need be; None when sequences hold all of them."""
        while (page := self._pool.take(after)) is None:
            victim = self._tree.victim()
            if victim is None:
                return None
            if self._tiers.hosts:
                self._host(victim)
            self._remove(victim)
            self._metrics.evicted.inc()
        return page

    def _host(self, block: Block) -> None:
        given_up = self._tiers.host(self._stored(block), self._worth(block))
        if not block.lossy and block.key not in given_up:
            self._note(_added(block, "CPU"))
        for key in given_up:
            self._note(BlockLeft(key, "CPU"))

    def _remove(self, block: Block) -> None:
        self._tree.remove(block)
        if not block.lossy:
            self._note(BlockLeft(block.key))

    def _stored(self, block: Block) -> StoredBlock:
        return StoredBlock(block.key, block.above, block.ids, self.store.take_out(block.page), block.lossy)


def _added(block: Block, medium: Medium) -> BlockAdded:
    parent = block.parent.key if block.parent is not None else None
    return BlockAdded(block.key, parent, block.ids, block.tenant, medium)
