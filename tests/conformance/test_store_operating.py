"""Conformance of `OperatorStore`: what operators look back on, undo and erase."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest

from semcache.protocols import OperatorStore
from semcache.types import ALL_OTHERS, AdminAction, ChangeKind, DecisionRecord, Outcome, Rejection, Scope, Selector
from tests.conformance.stores import every, lasting
from tests.storage.stores.values import ACME, NOW, digest, entry, event, label, vector

OTHER = Scope("other")


def decision(number: int, *, scope: Scope = ACME, at: float = NOW, mentions: tuple[int, ...] = ()) -> DecisionRecord:
    return DecisionRecord(
        f"req_{number}",
        at,
        at + 100.0,
        scope,
        "default",
        "gpt-x",
        "miss",
        "guard",
        None,
        {"prompt": f"ask {number}"},
        mentions,
        f"up_{number}",
    )


async def requests(store: OperatorStore, **given: object) -> list[str]:
    return [one.request_id for one in await store.decisions(**given)]


@every
async def test_a_store_that_is_built_in_keeps_what_operators_ask_for(store):
    assert isinstance(store, OperatorStore)


@every
async def test_decisions_come_back_newest_first_and_no_more_than_allowed(store):
    await store.keep_decisions([decision(n, at=NOW + n, scope=ACME if n % 2 else OTHER) for n in range(5)], most=4)
    assert await requests(store) == ["req_4", "req_3", "req_2", "req_1"]
    assert await requests(store, tenant="acme") == ["req_3", "req_1"]
    assert await requests(store, before=NOW + 3, limit=1) == ["req_2"]
    assert await requests(store, outcome="exact") == []
    assert await requests(store, category="nowhere") == []
    rare = replace(decision(9, at=NOW - 9), category="rare")
    await store.keep_decisions([rare], most=9)
    assert await requests(store, category="rare", limit=1) == ["req_9"], "whatever came since in other categories"
    assert await store.decision("req_3") == decision(3, at=NOW + 3)
    assert await store.decision("up_3") == decision(3, at=NOW + 3)
    assert await store.decision("req_0") is None


@every
async def test_a_decision_goes_with_any_entry_that_it_mentions_with_its_tenant_and_in_time(store):
    await store.put(entry(7), vector(7))
    kept = [decision(1, mentions=(7, 8)), decision(2, mentions=(9,)), decision(3, scope=OTHER), decision(4)]
    await store.keep_decisions(kept, most=10)
    await store.delete(Selector(ids=(7,)), now=NOW)
    assert set(await requests(store)) == {"req_2", "req_3", "req_4"}
    await store.erase(Selector(ids=(9,)), now=NOW)
    assert set(await requests(store)) == {"req_3", "req_4"}
    await store.erase(Selector(tenant="other"), now=NOW)
    assert await requests(store) == ["req_4"]
    await store.sweep_operating(NOW + 100.0)
    assert await requests(store) == []


@every
@pytest.mark.parametrize(
    ("where", "left"),
    [
        (Selector(), {"req_1", "req_2", "req_3"}),
        (Selector(model="dear"), {"req_1", "req_3"}),
        (Selector(category="rare"), {"req_1", "req_2"}),
        (Selector(tenant="acme", model="dear", category="rare"), {"req_1", "req_2", "req_3"}),
        (Selector(older_than=NOW + 2), {"req_2", "req_3"}),
        (Selector(tenant="acme", older_than=NOW + 3), {"req_3"}),
        (Selector(tag="t"), {"req_1", "req_2", "req_3"}),
        (Selector(everything=True), set()),
    ],
    ids=["nothing", "model", "category", "both", "age", "age-of-a-tenant", "tag", "everything"],
)
async def test_decisions_go_only_with_what_is_erased_of_their_model_category_and_age(store, where, left):
    kept = [
        decision(1, at=NOW + 1),
        replace(decision(2, at=NOW + 2), model="dear"),
        replace(decision(3, at=NOW + 3), category="rare"),
    ]
    await store.keep_decisions(kept, most=10)
    await store.erase(where, now=NOW + 9)
    assert set(await requests(store)) == left


@every
async def test_what_was_deleted_comes_back_as_it_was(store):
    await store.put_all([(entry(1, tags=("t",)), vector(1)), (entry(2), None), (entry(3, scope=OTHER), vector(3))])
    await store.reject([Rejection(1, digest("wrong"))], now=NOW)
    assert await store.set_aside(Selector(everything=True), batch="b", now=NOW + 1, until=NOW + 50) == [1, 2, 3]
    assert await store.get([1, 2, 3]) == [None, None, None]
    [told] = await store.set_aside_since(NOW + 2)
    assert (told.batch, told.count, told.tenants, told.until) == ("b", 3, ("acme", "other"), NOW + 50)
    assert await store.bring_back("b", now=NOW + 2, tenant="acme") == [1, 2]
    assert await store.get([1, 2, 3]) == [entry(1, tags=("t",)), entry(2), None]
    assert [one.id for one in await store.select(Selector(tag="t"))] == [1]
    assert [card.id for card in (await store.vectors_of([1, 2], "mini")).cards] == [1]
    assert await store.rejections() == [Rejection(1, digest("wrong"))]
    assert await store.bring_back("b", now=NOW + 50) == []


@every
async def test_what_comes_back_never_takes_the_place_of_a_newer_answer(store):
    await store.put(entry(1, "same"), vector(1))
    await store.set_aside(Selector(ids=(1,)), batch="b", now=NOW, until=NOW + 50)
    await store.put(entry(2, "same"), vector(2))
    assert await store.bring_back("b", now=NOW) == []
    assert [one.id for one in await store.select(Selector(everything=True))] == [2]


@every
async def test_what_is_erased_cannot_be_brought_back(store):
    await store.put_all([(entry(1), vector(1)), (entry(2, scope=OTHER), vector(2))])
    await store.set_aside(Selector(everything=True), batch="b", now=NOW, until=NOW + 50)
    await store.erase(Selector(tenant="acme"), now=NOW)
    assert await store.bring_back("b", now=NOW) == [2]


@every
async def test_nothing_is_left_of_a_tenant_that_is_erased_but_its_share_of_the_totals(store):
    hour = 3600.0
    await store.record([event(1, at=hour), event(1, at=hour, scope=OTHER)])
    await store.label([label(1), label(2, tenant="other")])
    await store.act(AdminAction(NOW, "cli", "purge", "acme"))
    before = await store.tally()
    await store.erase(Selector(tenant="acme"), now=NOW)
    assert await store.tally() == before
    left = await store.usage(since=0.0, until=3 * hour, by=["tenant"])
    assert [group["tenant"] for group in left] == ["other"]
    assert [one.tenant for one in await store.labels(0)] == ["other"]
    assert await store.actions() == []


@every
async def test_no_event_or_action_says_whose_it_was_once_a_user_is_erased(store):
    hour = 3600.0
    ann, bob = Scope("acme", "ann"), Scope("acme", "bob")
    await store.record([event(1, at=hour, scope=who, exact=digest("q")) for who in (ann, bob)])
    await store.act(AdminAction(NOW, "cli", "purge", "acme", {"where": {"user": "ann"}, "count": 1}))
    await store.act(AdminAction(NOW, "cli", "purge", "acme", {"where": {"user": "bob"}, "count": 1}))
    before = await store.usage(since=0.0, until=3 * hour, by=["tenant"])
    served = await store.served_keys(1)
    await store.erase(Selector(tenant="acme", user="ann"), now=NOW)
    assert await store.usage(since=0.0, until=3 * hour, by=["tenant"]) == before
    assert [one.detail["where"]["user"] for one in await store.actions()] == ["bob", "(erased)"]
    assert len(served) == len(await store.served_keys(1)) == 1, "both asked the same, and one is still known to have"
    await store.erase(Selector(user="bob"), now=NOW)
    assert await store.served_keys(1) == []


@every
async def test_usage_is_by_whole_hours_and_survives_trimming(store):
    hour = 3600.0
    events = [
        event(1, at=0.5 * hour),
        event(1, at=1.0 * hour, count=2, overhead=0.125),
        event(None, Outcome.MISS, at=1.99 * hour, model="m\x00", scope=OTHER),
        event(1, at=3.0 * hour),
    ]
    await store.record(events)

    async def by(*names: str, **given: object) -> list[tuple[object, ...]]:
        found = await store.usage(since=hour, until=3 * hour, by=names, **given)
        return sorted(
            (*(group[name] for name in (*names, "outcome")), group["requests"], group["overhead_cost"])
            for group in found
        )

    expected = [("acme", "semantic", 2, 0.125), ("other", "miss", 1, 0.0)]
    assert await by("tenant") == expected
    assert await by("hour", "model") == [(1, "gpt-x", "semantic", 2, 0.125), (1, "m\x00", "miss", 1, 0.0)]
    assert await by("tenant", tenant="other") == expected[1:]
    if not type(store).__name__.startswith("Memory"):
        await store.trim_events(before=1.5 * hour)
        assert await by("tenant") == expected
        await store.trim_events(keep_rows=0)
        assert await by("tenant") == expected


@every
async def test_a_model_that_was_called_for_nothing_is_named(store):
    await store.record(
        [
            event(1, model="free", spent_cost=0.0),
            event(1, model="paid"),
            event(1, model="old", spent_cost=0.0, at=NOW - 9),
        ]
    )
    assert await store.unpriced(since=NOW) == ["free"]


@every
async def test_the_outcome_of_a_request_is_found_without_a_decision(store):
    await store.record([event(1, request_id="req_a")])
    found = await store.outcome_of("req_a")
    assert found is not None
    assert (found["tenant"], found["outcome"], found["model"], found["entry_id"]) == ("acme", "semantic", "gpt-x", 1)
    assert await store.outcome_of("req_b") is None


@every
async def test_a_rejection_is_taken_back_and_announced(store):
    await store.put(entry(1), vector(1))
    wrong, other = Rejection(1, digest("wrong")), Rejection(1, digest("other"))
    await store.reject([wrong, other], now=NOW)
    seen = await store.head()
    await store.unreject(1, [wrong.exact], now=NOW)
    assert await store.rejections() == [other]
    assert [(one.kind.value, one.exact) for one in await store.changes(seen)] == [("allow", wrong.exact)]


@every
async def test_actions_are_the_newest_first_and_go_after_a_year(store):
    await store.act(AdminAction(NOW, "cli", "purge", None, {"count": 2}))
    await store.act(AdminAction(NOW + 1, "key k1 (ann)", "withdraw", "acme"))
    assert await store.actions() == [
        AdminAction(NOW + 1, "key k1 (ann)", "withdraw", "acme"),
        AdminAction(NOW, "cli", "purge", None, {"count": 2}),
    ]
    assert [one.who for one in await store.actions(tenant="acme", limit=5)] == ["key k1 (ann)"]
    await store.sweep_operating(NOW + 367 * 86400.0)
    assert await store.actions() == []


@every
async def test_an_action_with_a_mark_is_taken_once_and_stays_in_the_log(store):
    await store.act(AdminAction(NOW - 1, "cli", "report", "acme", {"id": "1", "new": "support"}))
    await store.act(AdminAction(NOW, "cli", "report", "acme", {"id": "2", "new": "code"}))
    await store.act(AdminAction(NOW, "cli", "report", "acme", {"id": "3", "said": 'no "new": mark', "newer": 1}))
    await store.act(AdminAction(NOW + 1, "cli", "report", None, {"new": "chat\x00", "id": "4"}))
    found = await asyncio.gather(*(store.take_marked("new", since=NOW) for _ in range(4)))
    taken = [action for one in found for action in one]
    assert sorted(action.detail["id"] for action in taken) == ["2", "4"], "each goes to one of those who ask at once"
    assert {action.detail["new"] for action in taken} == {"code", "chat\x00"}
    assert await store.take_marked("new", since=NOW) == []
    assert [one.detail for one in await store.actions()] == [
        {"id": "4"},
        {"id": "3", "said": 'no "new": mark', "newer": 1},
        {"id": "2"},
        {"id": "1", "new": "support"},
    ]


async def test_a_decision_is_sealed_as_entries_are(tmp_path):
    from semcache.errors import IntegrityError
    from semcache.storage.stores import open_store
    from semcache.storage.stores.seal import Seal, example

    path = str(tmp_path / "semcache.db")
    store = open_store(path, seal=Seal.parse(example()))
    await store.open()
    await store.keep_decisions([decision(1)], most=5)
    assert (await store.decision("req_1")).body == {"prompt": "ask 1"}
    await store.close()
    assert b"ask 1" not in (tmp_path / "semcache.db").read_bytes() + b"".join(
        found.read_bytes() for found in tmp_path.glob("semcache.db-*")
    )
    other = open_store(path, seal=Seal.parse(example()))
    await other.open()
    with pytest.raises(IntegrityError):
        await other.decision("req_1")
    assert await other.decisions() == []
    await other.close()


@every
async def test_outcomes_are_followed_from_the_last_one_that_was_seen(store):
    await store.record([event(at=NOW + n, scope=ACME if n % 2 else OTHER, request_id=f"r{n}") for n in range(6)])
    newest = await store.outcomes_after(None, limit=2)
    assert [one["request_id"] for one in newest] == ["r4", "r5"]
    assert newest[-1]["tenant"] == "acme"
    seen = (await store.outcomes_after(None, limit=4))[0]["id"]
    assert [one["request_id"] for one in await store.outcomes_after(seen)] == ["r3", "r4", "r5"]
    assert [one["request_id"] for one in await store.outcomes_after(seen, tenant="acme", limit=1)] == ["r3"]
    assert await store.outcomes_after(newest[-1]["id"]) == []
    await store.trim_events(keep_rows=1)
    assert [one["request_id"] for one in await store.outcomes_after(seen)] == ["r5"]


@every
async def test_labels_are_found_by_their_entries_newest_first(store):
    await store.label(
        [replace(label(n, at=NOW + n), entry_id=n % 3, tenant="acme" if n < 4 else "b") for n in range(6)]
    )
    found = await store.labels_about([0, 2])
    assert [one.at - NOW for one in found] == [5, 3, 2, 0]
    assert [one.at - NOW for one in await store.labels_about([0, 2], tenant="acme", limit=2)] == [3, 2]
    assert await store.labels_about([9]) == []


@every
async def test_an_entry_loses_its_vector_and_gets_it_back(store):
    await store.put_all([(entry(1), vector(1)), (entry(2, partition=b""), None)])
    await store.reject([Rejection(1, digest("wrong"))], now=NOW)
    seen = await store.head()
    assert await store.unshelve(1, batch="exact-1", now=NOW + 1, until=NOW + 50)
    assert not await store.unshelve(1, batch="exact-2", now=NOW + 1, until=NOW + 50)
    assert not await store.unshelve(2, batch="exact-3", now=NOW + 1, until=NOW + 50)
    assert not await store.unshelve(3, batch="exact-4", now=NOW + 1, until=NOW + 50)
    [plain] = await store.get([1])
    assert plain == replace(entry(1), partition=b"", embedder_id="")
    assert list((await store.vectors_of([1], "mini")).cards) == []
    told = [(one.kind, one.entry_id) for one in await store.changes(seen)]
    assert told == [(ChangeKind.DELETE, 1), (ChangeKind.PUT, 1), (ChangeKind.REJECT, 1), (ChangeKind.REJECT, 1)]
    assert set(await store.rejections()) == {Rejection(1, digest("wrong")), Rejection(1, ALL_OTHERS)}
    assert [one.batch for one in await store.set_aside_since(NOW + 2)] == ["exact-1"]
    assert await store.bring_back("exact-1", now=NOW + 2) == [1]
    assert await store.get([1]) == [entry(1)]
    assert [card.id for card in (await store.vectors_of([1], "mini")).cards] == [1]
    assert await store.rejections() == [Rejection(1, digest("wrong"))]


@every
async def test_what_replaces_an_entry_without_a_vector_gets_none_until_it_is_given_back(store):
    await store.put(entry(1, "same"), vector(1))
    await store.unshelve(1, batch="exact-1", now=NOW + 1, until=NOW + 50)
    await store.put(entry(2, "same"), vector(2))
    assert await store.get([1, 2]) == [None, replace(entry(2, "same"), partition=b"", embedder_id="")]
    assert list((await store.vectors_of([2], "mini")).cards) == []
    assert await store.rejections() == [Rejection(2, ALL_OTHERS)]
    await store.reject([Rejection(2, digest("wrong"))], now=NOW + 2)
    seen = await store.head()
    assert await store.bring_back("exact-1", now=NOW + 3) == [2]
    assert [(one.kind, one.exact) for one in await store.changes(seen)] == [
        (ChangeKind.DELETE, b""),
        (ChangeKind.PUT, b""),
        (ChangeKind.REJECT, digest("wrong")),
    ]
    assert await store.get([2]) == [entry(2, "same")]
    assert [card.id for card in (await store.vectors_of([2], "mini")).cards] == [2]
    await store.put(entry(3, "same"), vector(3))
    assert await store.get([3]) == [entry(3, "same")]


@every
async def test_giving_back_a_vector_brings_back_no_entry_that_was_deleted(store):
    await store.put(entry(1), vector(1))
    await store.unshelve(1, batch="exact-1", now=NOW + 1, until=NOW + 50)
    await store.delete(Selector(ids=(1,)), now=NOW + 2)
    assert await store.bring_back("exact-1", now=NOW + 3) == []
    assert await store.get([1]) == [None]


@every
@pytest.mark.parametrize(
    "where",
    [Selector(ids=(1,), tenant="acme"), Selector(tenant="acme", tag="t"), Selector(tenant="acme", category="code")],
)
async def test_to_erase_some_of_a_tenant_leaves_what_else_it_may_bring_back(store, where):
    here = replace(entry(1, tags=("t",)), category="code")
    await store.put_all([(here, vector(1)), (entry(2), vector(2)), (entry(3, scope=OTHER), vector(3))])
    await store.set_aside(Selector(everything=True), batch="b", now=NOW, until=NOW + 50)
    await store.keep_decisions([decision(1, mentions=(1,)), decision(2, mentions=(2,))], most=10)
    await store.erase(where, now=NOW)
    assert await requests(store) == ["req_2"]
    assert await store.bring_back("b", now=NOW) == [2, 3]


@every
async def test_a_tenant_erases_nothing_of_another_by_naming_its_ids(store):
    await store.put(entry(3, scope=OTHER), vector(3))
    await store.set_aside(Selector(everything=True), batch="b", now=NOW, until=NOW + 50)
    await store.keep_decisions([decision(1, scope=OTHER, mentions=(3,))], most=10)
    await store.erase(Selector(tenant="acme", ids=(3,)), now=NOW)
    assert await requests(store) == ["req_1"]
    assert await store.bring_back("b", now=NOW) == [3]


@lasting
async def test_the_size_of_a_store_grows_and_copies_for_an_undo_can_be_forgotten(store):
    before = await store.bytes_used()
    assert before > 0
    for number in range(1, 31):
        # PostgreSQL would compress what repeats itself.
        await store.put(entry(number, body=random.Random(number).randbytes(20_000)), vector(number))
    assert await store.bytes_used() > before + 30 * 20_000
    await store.set_aside(Selector(everything=True), batch="b", now=NOW, until=NOW + 50)
    assert await store.forget_deleted() == 30
    assert await store.bring_back("b", now=NOW + 1) == []
