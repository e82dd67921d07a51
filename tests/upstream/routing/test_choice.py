"""Where a prompt goes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.choice import ReplicaView, RoutingWeights, choose, rank

WEIGHTS = RoutingWeights()
amounts = st.floats(0, 1e6)
views = st.lists(
    st.builds(ReplicaView, st.sampled_from("abcdef"), amounts, amounts, amounts, owing=st.booleans()),
    min_size=1,
    unique_by=lambda view: view.name,
)


def view(name: str, matched: float = 0, load: float = 0, placed: float = 0, **flags: bool) -> ReplicaView:
    return ReplicaView(name, matched, load, placed, **flags)


@given(views, st.floats(1, 1e6))
def test_the_order_of_the_replicas_does_not_matter(seen: list[ReplicaView], tokens: float) -> None:
    assert choose(seen, tokens, WEIGHTS, b"p")[0] == choose(seen[::-1], tokens, WEIGHTS, b"p")[0]


@given(views, st.floats(1, 1e6))
def test_a_replica_that_is_worse_in_everything_is_not_chosen(seen: list[ReplicaView], tokens: float) -> None:
    better = ReplicaView("best", max(v.matched for v in seen) + 1e6, min(v.load for v in seen) / 2, 0.0)
    assert choose([*seen, better], tokens, WEIGHTS, b"p")[0] is better


def test_a_warm_replica_is_worth_waiting_for_but_not_for_ever() -> None:
    cold = view("cold")
    assert choose([cold, view("warm", 2000, load=4000)], 4000, WEIGHTS, b"p") == (
        view("warm", 2000, load=4000),
        "prefix",
    )
    assert choose([cold, view("warm", 2000, load=2000 * WEIGHTS.overlap + 1)], 4000, WEIGHTS, b"p")[0] == cold


def test_a_system_prompt_that_one_replica_saw_first_does_not_draw_everything_there() -> None:
    first, second = view("first", matched=300, placed=50_000), view("second", placed=10_000)
    assert choose([first, second], 20_000, WEIGHTS, b"p") == (second, "spread")


def test_a_session_stays_where_replicas_are_equal() -> None:
    home = view("home", placed=5000, home=True)
    assert choose([view("other"), home], 1000, WEIGHTS, b"p") == (home, "session")
    warm = view("warm", matched=900)
    assert choose([warm, home], 1000, WEIGHTS, b"p") == (warm, "prefix")


def test_a_tenant_that_had_its_turn_makes_room() -> None:
    warm, other = view("warm", matched=4000, owing=True), view("other")
    assert choose([warm, other], 4000, WEIGHTS, b"p")[0] == other
    assert choose([warm, view("other", owing=True)], 4000, WEIGHTS, b"p")[0] == warm


def test_unseen_prompts_are_spread_over_idle_replicas() -> None:
    idle = [view(name) for name in "abcd"]
    counts = Counter(choose(idle, 1000, WEIGHTS, b"%d" % number)[0].name for number in range(400))
    assert set(counts) == set("abcd")
    assert min(counts.values()) > 50


def test_when_a_replica_leaves_only_its_prompts_move() -> None:
    names = [f"replica-{number}" for number in range(5)]
    for prompt in (b"%d" % number for number in range(200)):
        before = max(names, key=lambda name: rank(prompt, name))
        after = max(names[1:], key=lambda name: rank(prompt, name))
        assert after == before or before == names[0]
