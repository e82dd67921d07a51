"""The tree must give exactly the blocks of the same tokens of the same tenant, and never one that is gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.engine.page_pool import PagePool
from semcache.engine.prefix_tree import Block, PrefixTree, Worth, chain_keys, cost_aware, root_key, uniform

BLOCK = 2
Tokens = st.lists(st.integers(0, 2), max_size=10)
Worths = st.sampled_from([uniform, cost_aware(0.0), cost_aware(0.5)])


class Holder:
    """Computes prompts the way a sequence does: takes over what is there, adds the rest, lets go."""

    def __init__(self, pages: int, worth: Worth = uniform) -> None:
        self.pool = PagePool(pages)
        self.tree = PrefixTree(self.pool, worth)
        self.content: dict[int, tuple[bytes, tuple[int, ...]]] = {}

    def page(self) -> int | None:
        while (page := self.pool.take()) is None:
            victim = self.tree.victim()
            free = [block for block in self.tree.blocks() if not block.children and self.pool.holders(block.page) == 1]
            assert victim is min(free, key=lambda block: (block.rank, block.used), default=None)
            if victim is None:
                return None
            self.tree.remove(victim)
        return page

    def enter(self, root: bytes, ids: list[int]) -> list[Block]:
        keys = chain_keys(root, ids, BLOCK)
        chain = self.tree.match(keys, ids)
        for block in chain:
            self.pool.share(block.page)
        self.tree.hit(chain)
        for at in range(len(chain), len(keys)):
            page = self.page()
            if page is None:
                break
            above = keys[at - 1] if at else root
            added = self.tree.add(
                keys[at], above, chain[-1] if chain else None, ids[at * BLOCK : (at + 1) * BLOCK], page
            )
            assert added is not None
            assert added.page == page
            self.content[page] = (root, tuple(ids[: (at + 1) * BLOCK]))
            chain.append(added)
        return chain

    def leave(self, chain: list[Block]) -> None:
        for block in chain:
            self.pool.drop(block.page)
        self.tree.release(chain)

    def ask(self, *prompts: list[int]) -> list[int]:
        """How many blocks of each prompt were there."""
        found = []
        for ids in prompts:
            found.append(self.tree.depth(chain_keys(b"root", ids, BLOCK)))
            self.leave(self.enter(b"root", ids))
        return found


@given(st.integers(1, 8), Worths, st.lists(st.tuples(st.booleans(), Tokens, st.booleans()), max_size=30))
def test_what_is_found_is_what_was_computed(
    pages: int, worth: Worth, prompts: list[tuple[bool, list[int], bool]]
) -> None:
    holder, roots, held = Holder(pages, worth), [root_key("a"), root_key("b")], []
    for tenant, ids, keep in prompts:
        chain = holder.enter(roots[tenant], ids)
        for at, block in enumerate(chain):
            assert holder.content[block.page] == (roots[tenant], tuple(ids[: (at + 1) * BLOCK]))
        held.append(chain)
        if not keep:
            holder.leave(held.pop(0))
        for chain in held:
            assert all(block.key in holder.tree for block in chain)
        assert len(holder.tree) + holder.pool.free == pages
        assert holder.tree.depth(chain_keys(roots[tenant], ids, BLOCK)) == len(
            holder.tree.match(chain_keys(roots[tenant], ids, BLOCK), ids)
        )
    for chain in held:
        holder.leave(chain)
    assert holder.tree.evictable() == len(holder.tree)
    while (victim := holder.tree.victim()) is not None:
        holder.tree.remove(victim)
    assert holder.pool.free == pages


def test_the_least_recently_used_leaf_goes_first() -> None:
    holder, root = Holder(4), root_key("m")
    for ids in ([1, 1, 2, 2], [1, 1, 3, 3], [4, 4]):
        holder.leave(holder.enter(root, ids))
    holder.leave(holder.enter(root, [1, 1, 2, 2]))
    victim = holder.tree.victim()
    assert victim is not None
    assert victim.ids == (3, 3)


NOTE, MANUAL = [1, 1], [2, 2, 3, 3]


@pytest.mark.parametrize(("worth", "kept"), [(uniform, 0), (cost_aware(0.0), 2)])
def test_documents_that_were_wanted_often_outlive_a_scan(worth: Worth, kept: int) -> None:
    holder = Holder(4, worth)
    holder.ask(MANUAL, MANUAL, MANUAL, *([at, at] for at in range(10, 16)))
    assert holder.ask(MANUAL) == [kept]


@pytest.mark.parametrize(("slope", "kept"), [(0.0, 1), (1.0, 2)])
def test_documents_that_are_dear_to_compute_outlive_cheap_ones(slope: float, kept: int) -> None:
    holder = Holder(3, cost_aware(slope))
    assert holder.ask(MANUAL, NOTE, [4, 4], MANUAL) == [0, 0, 0, kept]


def test_what_was_wanted_often_once_goes_in_the_end() -> None:
    holder = Holder(2, cost_aware(0.0))
    holder.ask(NOTE, NOTE, NOTE, *([at, at] for at in range(10, 15)))
    assert holder.ask(NOTE) == [0]


@pytest.mark.parametrize(("scanned", "kept"), [(5, 1), (20, 0)])
def test_what_was_wanted_often_is_known_again_for_a_while_after_it_has_gone(scanned: int, kept: int) -> None:
    holder = Holder(2, cost_aware(0.0))
    holder.ask(NOTE, NOTE, NOTE, *([at, at] for at in range(10, 10 + scanned)), NOTE)
    assert holder.ask([50, 50], [51, 51], NOTE) == [0, 0, kept]


def test_equal_keys_of_different_tokens_share_nothing() -> None:
    pool = PagePool(4)
    tree = PrefixTree(pool)
    page = pool.take()
    assert page is not None
    assert tree.add(b"key", b"root", None, [1, 2], page)
    assert tree.match([b"key"], [1, 3]) == []
    assert tree.add(b"key", b"root", None, [1, 3], page) is None
    assert [block.page for block in tree.match([b"key"], [1, 2])] == [page]


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_roots_tell_all_their_parts_apart(one: list[str], other: list[str]) -> None:
    assert (root_key(*one) == root_key(*other)) == (one == other)


@given(Tokens, st.integers(0, 5))
def test_keys_may_be_continued(ids: list[int], known: int) -> None:
    keys = chain_keys(b"root", ids, BLOCK)
    assert chain_keys(b"root", ids, BLOCK, known=keys[:known]) == keys


@given(st.lists(st.integers(0, 2**40), max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_keys_of_a_text_that_grows_are_those_of_the_whole(ids: list[int], stops: list[int]) -> None:
    known: list[bytes] = []
    for stop in [*sorted(stops), len(ids)]:
        known = chain_keys(b"root", ids[:stop], 7, known=known)
        assert len(known) == len(ids[:stop]) // 7, "a block that is not full has no key yet"
    assert known == chain_keys(b"root", ids, 7)
