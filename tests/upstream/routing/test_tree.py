"""What a replica is believed to hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.tree import PromptTree

# Chains over a small alphabet: a key names its whole beginning, as chained keys do.
chains = st.lists(st.integers(0, 2), max_size=6).map(lambda path: [bytes(path[: end + 1]) for end in range(len(path))])


@given(st.lists(chains, max_size=30), st.integers(1, 12))
def test_a_full_tree_keeps_whole_beginnings_and_its_capacity(sent: list[list[bytes]], capacity: int) -> None:
    tree = PromptTree(capacity)
    for chain in sent:
        tree.confirm(chain)
        assert len(tree) <= capacity
        assert tree.match(chain, 0.0)[0] == min(len(chain), capacity)
    for chain in sent:
        held = [tree.match([key], 0.0)[0] for key in chain]
        assert held == sorted(held, reverse=True), "a block outlived what precedes it"


@given(chains, chains)
def test_what_was_only_sent_is_believed_for_a_while(seen: list[bytes], sent: list[bytes]) -> None:
    tree = PromptTree()
    tree.confirm(seen)
    tree.expect(sent, until=10.0)
    common = sum(1 for key in sent if key in seen)
    assert tree.match(sent, 10.0)[0] == len(sent)
    assert tree.match(sent, 10.0, confirmed=True)[0] == common
    assert tree.match(sent, 10.1)[0] == common
    assert tree.match(seen, 99.0)[0] == len(seen)


def test_what_was_seen_is_there_though_who_sent_for_it_gave_up() -> None:
    tree = PromptTree()
    tree.expect([b"a", b"b"], until=10.0)
    tree.confirm([b"a"])
    tree.forget([b"a", b"b", b"never heard of"])
    assert tree.match([b"a", b"b"], 0.0)[0] == 1
    tree.remove([b"a"])
    assert tree.match([b"a"], 0.0)[0] == 0


def test_slower_memory_counts_less() -> None:
    tree = PromptTree()
    tree.confirm([b"a"])
    tree.confirm([b"b"], 0.25)
    assert tree.match([b"a", b"b", b"c"], 0.0) == (2, 1.25)


def test_half_is_forgotten_the_older_half() -> None:
    tree = PromptTree()
    for key in b"abcd":
        tree.confirm([bytes([key])])
    tree.halve()
    assert [tree.match([bytes([key])], 0.0)[0] for key in b"abcd"] == [0, 0, 1, 1]


@given(st.lists(st.tuples(chains, st.booleans()), max_size=20), chains, st.integers(1, 12))
def test_looking_again_finds_what_looking_anew_finds(
    sent: list[tuple[list[bytes], bool]], asked: list[bytes], capacity: int
) -> None:
    """However blocks came, were driven out or are no longer believed in."""
    tree = PromptTree(capacity)
    held = tree.match(asked, 0.0)
    for now, (chain, seen) in enumerate(sent, 1):
        if seen:
            tree.confirm(chain)
        else:
            tree.expect(chain, until=now + 2.0)
        held = tree.match_again(asked, held, float(now))
        assert held == tree.match(asked, float(now))
