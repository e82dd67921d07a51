"""KV events: both wire forms read alike, nothing malformed gets further, and the tree holds what was announced."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.block_ledger import BatchResult, BlockLedger
from semcache.upstream.routing.kinds import salt_of
from semcache.upstream.routing.kv_events import (
    BlocksCleared,
    BlocksRemoved,
    BlocksStored,
    KvEventBatch,
    MalformedKvEvent,
    decode,
)
from semcache.upstream.routing.prompts import read
from semcache.upstream.routing.tree import PromptTree

GOLDEN = Path(__file__).parents[2] / "golden" / "kv_events"
SALT = salt_of(b"secret", "acme")
encode = msgspec.msgpack.encode
IDS = list(range(100, 112))


def stored(hashes: list[int], parent: int | None, ids: list[int], **more: Any) -> dict[str, Any]:
    return {
        "type": "BlockStored",
        "block_hashes": hashes,
        "parent_block_hash": parent,
        "token_ids": ids,
        "block_size": 4,
        "lora_id": None,
        "medium": "GPU",
        "lora_name": None,
        **more,
    }


def matched(tree: PromptTree, ids: list[int], *, salt: str = "", adapter: str = "") -> int:
    prompt = read("/v1/completions", [], b"{}", salt=salt)
    prompt.ids = ids
    return tree.match(prompt.chain(4, adapter).keys, 0.0)[0]


class Publisher:
    """Numbers batches as an engine does, into a ledger."""

    def __init__(self) -> None:
        self.tree = PromptTree()
        self.ledger = BlockLedger(self.tree)
        self.number = 0

    def say(self, *events: Any, at: float | None = None) -> BatchResult:
        taken = self.ledger.take(self.number, decode(encode([at or self.number + 1.0, list(events), 0])))
        self.number += 1
        return taken


@pytest.mark.parametrize("form", ["maps", "arrays"])
def test_frames_of_both_forms(form: str) -> None:
    batch = decode((GOLDEN / f"{form}.msgpack").read_bytes())
    assert batch == KvEventBatch(
        1763740800.25,
        (
            BlocksStored(
                (11, 12), None, ((1, 2, 3, 4), (5, 6, 7, 8)), "GPU", "", () if form == "arrays" else ([SALT], None)
            ),
            BlocksStored((13,), 12, ((9, 10, 11, 12),), "CPU", "support", ()),
            BlocksRemoved((11, 12), "GPU"),
            BlocksRemoved((13,), "CPU" if form == "maps" else None),
            BlocksCleared(),
        ),
    )


def test_hashes_of_bytes_events_of_tomorrow_and_other_cache_groups() -> None:
    raw = [
        1.0,
        [
            stored([b"\x01" * 32], None, [1, 2, 3, 4], session_id="s", new_field={"x": 1}),
            stored([5], None, [1, 2, 3, 4], group_idx=1),
            {"type": "BlockMoved", "block_hashes": [1]},
        ],
        None,
        "a fourth field",
    ]
    (event,) = decode(encode(raw)).events
    assert isinstance(event, BlocksStored)
    assert event.hashes == (b"\x01" * 32,)


@given(st.binary(max_size=300))
def test_bytes_are_a_batch_or_malformed(payload: bytes) -> None:
    with suppress(MalformedKvEvent):
        assert isinstance(decode(payload), KvEventBatch)


words = st.none() | st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=4) | st.text(max_size=4)
anything = st.recursive(words, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner))
events = st.fixed_dictionaries(
    {"type": st.sampled_from(["BlockStored", "BlockRemoved", "AllBlocksCleared"])},
    optional={
        "block_hashes": anything | st.lists(st.integers(0, 3), max_size=3),
        "parent_block_hash": anything,
        "token_ids": anything | st.lists(st.integers(0, 9), max_size=6),
        "block_size": anything | st.integers(0, 3),
        "medium": anything,
        "lora_name": anything,
        "extra_keys": anything,
        "group_idx": st.none() | st.just(0),
    },
)


@given(st.lists(events | anything, max_size=4), anything)
def test_events_of_any_content_are_applied_or_malformed(content: list[Any], at: Any) -> None:
    ledger = BlockLedger(PromptTree())
    for number, payload in enumerate([encode([1.0, content]), encode([at, content]), encode(content)]):
        with suppress(MalformedKvEvent):
            assert ledger.take(number, decode(payload)) in BatchResult


@pytest.mark.parametrize(
    "event",
    [
        stored([1], None, [1, 2, 3]),
        stored([1], None, [1, 2, 3, "4"]),
        stored([1], None, [1, 2, 3, 4], block_size=0),
        stored([1], None, [], block_size=1 << 40),
        stored([1.5], None, [1, 2, 3, 4]),  # type: ignore[list-item]
        {"type": "BlockRemoved"},
        ["BlockStored", [1]],
        7,
    ],
)
def test_what_does_not_fit_together_is_malformed(event: Any) -> None:
    with pytest.raises(MalformedKvEvent):
        decode(encode([1.0, [event]]))


def test_a_prompt_matches_the_blocks_that_were_announced_and_not_those_that_left() -> None:
    publisher = Publisher()
    publisher.say(stored([1, 2], None, IDS[:8]), stored([3], 2, IDS[8:]))
    assert matched(publisher.tree, IDS) == 3
    assert matched(publisher.tree, [*IDS[:4], 0, *IDS[5:]]) == 1
    publisher.say({"type": "BlockRemoved", "block_hashes": [2], "medium": "GPU"})
    assert matched(publisher.tree, IDS) == 1
    publisher.say({"type": "AllBlocksCleared"})
    assert matched(publisher.tree, IDS) == len(publisher.tree) == 0


def test_of_more_blocks_than_are_remembered_the_beginning_stays() -> None:
    tree = PromptTree(2)
    BlockLedger(tree).take(0, decode(encode([1.0, [stored([1, 2, 3], None, IDS)]])))
    assert matched(tree, IDS) == 2


def test_a_block_in_two_media_stays_until_it_has_left_both() -> None:
    publisher = Publisher()
    publisher.say(stored([1], None, IDS[:4]))
    publisher.say(stored([1], None, IDS[:4], medium="CPU"))
    publisher.say({"type": "BlockRemoved", "block_hashes": [1], "medium": "GPU"})
    assert matched(publisher.tree, IDS) == 1
    publisher.say({"type": "BlockRemoved", "block_hashes": [1], "medium": "CPU"})
    assert matched(publisher.tree, IDS) == 0


@pytest.mark.parametrize("extra", [[[SALT], None], [["img", SALT, 0], None], [SALT], [[[SALT]]]])
def test_salts_divide_what_matches_however_a_release_nests_them(extra: Any) -> None:
    publisher = Publisher()
    publisher.say(stored([1, 2], None, IDS[:8], extra_keys=extra))
    salted = matched(publisher.tree, IDS, salt=SALT)
    assert matched(publisher.tree, IDS) == 0
    assert matched(publisher.tree, IDS, salt=salt_of(b"secret", "other")) == 0
    # Behind an image, equal tokens are not an equal prompt.
    assert salted == (0 if "img" in str(extra) else 2)


def test_an_adapter_divides_what_matches() -> None:
    publisher = Publisher()
    publisher.say(stored([1], None, IDS[:4], lora_name="support"))
    assert matched(publisher.tree, IDS) == 0
    assert matched(publisher.tree, IDS, adapter="support") == 1


def test_a_chain_whose_beginning_was_not_announced_matches_nothing() -> None:
    publisher = Publisher()
    publisher.say(stored([9], 8, IDS[:4]))
    assert len(publisher.tree) == 0


def test_a_gap_is_noticed_replayed_and_repeats_are_harmless() -> None:
    publisher = Publisher()
    missing = decode(encode([2.0, [stored([2], 1, IDS[4:8])]]))
    publisher.say(stored([1], None, IDS[:4]))
    publisher.number = 2
    late = decode(encode([3.0, [stored([3], 2, IDS[8:])]]))
    assert publisher.ledger.take(2, late) is BatchResult.GAP
    assert matched(publisher.tree, IDS) == 1
    assert publisher.ledger.take(1, missing) is BatchResult.APPLIED
    assert publisher.ledger.take(2, late) is BatchResult.APPLIED
    assert publisher.ledger.take(1, missing) is BatchResult.OLD
    assert matched(publisher.tree, IDS) == 3


def test_a_publisher_that_counts_anew_is_believed_anew() -> None:
    publisher = Publisher()
    publisher.say(stored([1], None, IDS[:4]))
    publisher.say(stored([2], 1, IDS[4:8]))
    publisher.number = 0
    assert publisher.say(stored([7], None, [5, 5, 5, 5]), at=99.0) is BatchResult.APPLIED
    assert matched(publisher.tree, IDS) == 0
    assert matched(publisher.tree, [5, 5, 5, 5]) == 1


def test_a_publisher_gone_mad_does_not_fill_the_memory() -> None:
    tree = PromptTree()
    ledger = BlockLedger(tree, most=50)
    for number in range(100):
        ledger.take(number, decode(encode([float(number), [stored([number], None, [number, 0, 0, 0])]])))
        assert len(tree) <= 50


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(1, 3)), max_size=40))
def test_the_tree_holds_exactly_what_was_announced_and_not_removed(changes: list[tuple[bool, int, int]]) -> None:
    """Against a model: families of chains that grow by a block and lose their last one."""
    publisher, model = Publisher(), [0, 0, 0]
    for grow, family, times in changes:
        for _ in range(times):
            if grow:
                depth = model[family]
                parent = family * 100 + depth if depth else None
                publisher.say(stored([family * 100 + depth + 1], parent, [family, depth, 0, 0]))
                model[family] += 1
            elif model[family]:
                publisher.say(["BlockRemoved", [family * 100 + model[family]]])
                model[family] -= 1
    assert len(publisher.tree) == sum(model)
    for family, depth in enumerate(model):
        ids = [token for at in range(depth + 2) for token in (family, at, 0, 0)]
        assert matched(publisher.tree, ids) == depth
