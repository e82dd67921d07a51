"""The prefix tree: the page of each cached block of tokens.

A block is found by a key chained over all tokens before it (vLLM's automatic prefix caching; ChunkAttention, section
3.1) and its tokens are compared before it is used, so that a collision costs a miss and never a wrong answer. Eviction
takes the least valuable leaf that no sequence uses, of several the least recently used: where all are worth the same,
that is leaf-LRU (SGLang's RadixAttention, section 3); with `cost_aware`, RAGCache's replacement. Knows page numbers and
token ids, nothing of tensors or clocks. Invariant: the tree holds each of its pages once; a block's parent is in the
tree as long as the block is; a page that a sequence holds is never evicted.
"""

from __future__ import annotations

import hashlib
import heapq
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from semcache.engine.page_pool import PagePool

_KEY_BYTES = 16
_REMEMBERED = 4  # blocks whose hits are remembered after they have gone, for each page of the pool


def root_key(*parts: str) -> bytes:
    """The key of the empty prefix, of everything that must be equal for keys and values to be shared. Injective."""
    digest = hashlib.blake2b(digest_size=_KEY_BYTES)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()


def chain_keys(root: bytes, ids: Sequence[int], block: int, *, known: Sequence[bytes] = ()) -> list[bytes]:
    """Keys of the full blocks of `ids`, each over all tokens up to its end; `known` are the first of them."""
    keys = list(known)
    parent = keys[-1] if keys else root
    for start in range(len(keys) * block, len(ids) - block + 1, block):
        parent = hashlib.blake2b(parent + array("q", ids[start : start + block]).tobytes(), digest_size=16).digest()
        keys.append(parent)
    return keys


class Block:
    """A block in the tree, behind `depth` others.

    `above` is the key of its parent, or the root key; `hits` counts the requests that wanted it; `used` is the tree's
    count of uses when it was last used, and `rank` its rank for eviction then; a disk may keep a `lossy` one in fewer
    bits; `tenant` is whose requests share it.
    """

    __slots__ = (
        "above",
        "children",
        "depth",
        "hits",
        "ids",
        "key",
        "lossy",
        "page",
        "parent",
        "rank",
        "tenant",
        "used",
    )

    def __init__(self, key: bytes, above: bytes, parent: Block | None, ids: tuple[int, ...], page: int) -> None:
        self.key, self.above, self.parent, self.ids, self.page = key, above, parent, ids, page
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.children = 0
        self.used = 0
        self.hits = 1
        self.rank = 0.0
        self.lossy = False
        self.tenant = ""


Worth = Callable[[Block], float]


def uniform(_: Block) -> float:
    """Rank all blocks alike."""
    return 0.0


def cost_aware(slope: float) -> Worth:
    """Rank a block by the cost of computing it times the requests that wanted it (prefix-aware GDSF).

    RAGCache, Jin et al. 2024, section 5.1; blocks are of one size. `slope` is the cost that a block adds for each block
    before it, in units of the first one's cost: 0 or more.
    """
    return lambda block: block.hits * (1 + slope * block.depth)


class PrefixTree:
    """Blocks of `pool`'s pages by chained key. `worth` ranks them for eviction."""

    def __init__(self, pool: PagePool, worth: Worth = uniform) -> None:
        self._pool, self._worth = pool, worth
        self._blocks: dict[bytes, Block] = {}
        self._leaves: list[tuple[float, int, int, Block]] = []  # a heap; entries may be out of date
        self._clock = 0.0  # the highest rank given up so far: what is not used any more falls behind it
        self._past: OrderedDict[bytes, int] = OrderedDict()  # hits of blocks that have gone
        self._uses = 0
        self._pushed = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __contains__(self, key: object) -> bool:
        return key in self._blocks

    def match(self, keys: Sequence[bytes], ids: Sequence[int]) -> list[Block]:
        """The longest chain from the root whose keys and tokens are those given. Changes nothing."""
        chain: list[Block] = []
        start = 0
        for key in keys:
            block = self._blocks.get(key)
            if block is None or tuple(ids[start : start + len(block.ids)]) != block.ids:
                break
            if block.parent is not (chain[-1] if chain else None):
                break
            chain.append(block)
            start += len(block.ids)
        return chain

    def depth(self, keys: Sequence[bytes]) -> int:
        """The number of keys of a chain that are in the tree.

        Tokens are not compared: an estimate, in logarithmic time.
        """
        return bisect_left(range(len(keys)), True, key=lambda at: keys[at] not in self._blocks)

    def add(self, key: bytes, above: bytes, parent: Block | None, ids: Sequence[int], page: int) -> Block | None:
        """Put a block into the tree, which from now on holds `page` as well.

        Returns the block that is there already if it is the same one, and None for a collision, or when the parent has
        left the tree.
        """
        found = self._blocks.get(key)
        if found is not None:
            if found.ids != tuple(ids) or found.parent is not parent:
                return None
            found.hits += 1
            return found
        if parent is not None and self._blocks.get(parent.key) is not parent:
            return None
        self._pool.share(page)
        block = self._blocks[key] = Block(key, above, parent, tuple(ids), page)
        block.hits += self._past.pop(key, 0)
        if parent is not None:
            parent.children += 1
        self.release([block])
        return block

    def hit(self, chain: Iterable[Block]) -> None:
        """Note that a request wanted these blocks, which it holds."""
        for block in chain:
            block.hits += 1

    def release(self, blocks: Iterable[Block]) -> None:
        """Note that blocks were used. To be called after a sequence has dropped their pages."""
        self._uses += 1
        for block in blocks:
            block.used = self._uses
            block.rank = self._clock + self._worth(block)
            self._offer(block)

    def victim(self) -> Block | None:
        """The next block to evict: of the leaves that only the tree holds the one worth least.

        None when there is none.
        """
        while self._leaves:
            rank, used, _, block = self._leaves[0]
            stale = block.used != used or block.children or self._blocks.get(block.key) is not block
            if not stale and self._pool.holders(block.page) == 1:
                self._clock = max(self._clock, rank)
                return block
            heapq.heappop(self._leaves)  # one that is in use comes back by `release`
        return None

    def remove(self, block: Block) -> None:
        """Take a leaf out of the tree and let go of its page."""
        assert not block.children, "a block with children cannot go"
        del self._blocks[block.key]
        self._past[block.key] = block.hits
        if len(self._past) > _REMEMBERED * self._pool.size:
            self._past.popitem(last=False)
        self._pool.drop(block.page)
        if block.parent is not None:
            block.parent.children -= 1
            self._offer(block.parent)

    def evictable(self) -> int:
        """The number of pages that could be freed one after the other: those of blocks that no sequence holds."""
        return sum(self._pool.holders(block.page) == 1 for block in self._blocks.values())

    def blocks(self) -> list[Block]:
        """All blocks, parents before children, the least recently used chains last."""
        return sorted(self._blocks.values(), key=lambda block: (block.depth, -block.used))

    def _offer(self, block: Block) -> None:
        if block.children:
            return
        if len(self._leaves) > 4 * len(self._blocks) + 64:
            alive = [block for block in self._blocks.values() if not block.children]
            self._leaves = [
                (block.rank, block.used, number, block) for number, block in enumerate(alive, self._pushed + 1)
            ]
            heapq.heapify(self._leaves)
            self._pushed += len(alive)
        self._pushed += 1
        heapq.heappush(self._leaves, (block.rank, block.used, self._pushed, block))
