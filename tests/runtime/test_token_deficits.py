"""Fair turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from semcache.runtime.token_deficits import TokenDeficits


@given(
    st.integers(2, 5),
    st.floats(1, 1000),
    st.lists(st.tuples(st.integers(0, 100), st.floats(0.01, 500)), min_size=1, max_size=200),
)
def test_no_two_that_always_want_a_turn_are_further_apart_than_promised(
    parties: int, quantum: float, draws: list[tuple[int, float]]
) -> None:
    deficits: TokenDeficits[int] = TokenDeficits(quantum)
    given_to = [0.0] * parties
    for pick, tokens in draws:
        allowed = sorted(deficits.allowed(range(parties)))
        chosen = allowed[pick % len(allowed)]
        deficits.charge(chosen, tokens)
        given_to[chosen] += tokens
        largest = max(tokens for _, tokens in draws)
        assert max(given_to) - min(given_to) <= (quantum + largest) * (1 + 1e-9)


def test_whoever_wants_alone_is_never_kept_waiting() -> None:
    deficits: TokenDeficits[str] = TokenDeficits(10)
    deficits.charge("a", 1e6)
    assert deficits.allowed(["a"]) == {"a"}
    assert deficits.allowed([]) == set()


def test_a_flood_of_tenants_is_forgotten() -> None:
    deficits: TokenDeficits[int] = TokenDeficits(10, most=5)
    for party in range(100):
        deficits.charge(party, 100)
    assert deficits.left(0) == 10
    assert deficits.left(99) == -90
