"""Masks: a sum that is exact, and terms that say nothing. If these fail, the server reads an update, or garbage."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.errors import InvalidArgument
from semcache.train.federate import masking

finite = st.floats(-1e6, 1e6, allow_nan=False)


def masked(
    updates: list[masking.Ring], context: bytes = b"1/1", secrets: list[bytes] | None = None
) -> list[masking.Ring]:
    names = [f"client {number}" for number in range(len(updates))]
    keys = [X25519PrivateKey.generate() for _ in names]
    roster = {name: masking.public(key) for name, key in zip(names, keys, strict=True)}
    given_ = secrets or [b""] * len(names)
    return [
        masking.masked(update, name, key, roster, context, secret)
        for update, name, key, secret in zip(updates, names, keys, given_, strict=True)
    ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=2, max_size=6))
def test_masks_cancel_to_the_bit(values: list[list[float]]) -> None:
    bare = [masking.encoded(np.array(row), len(values)) for row in values]
    sent = masked(bare)
    assert np.array_equal(masking.added(sent), masking.added(bare))
    assert masking.decoded(masking.added(sent)) == pytest.approx(np.sum(values, axis=0), abs=len(values) * masking.STEP)
    assert all(not np.array_equal(one, two) for one, two in zip(sent, bare, strict=True))


def test_a_sum_that_lacks_somebody_cannot_be_read() -> None:
    bare = [masking.encoded(np.zeros(4096), 4) for _ in range(4)]
    missing_one = masking.added(masked(bare)[:3])
    bits = np.unpackbits(missing_one.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 0.01, "what is left must look like chance, not like zeros"


@pytest.mark.parametrize(("secrets", "context"), [([b"x", b"x", b"y"], b"1/1"), (None, b"1/2")])
def test_another_secret_or_attempt_gives_other_masks(secrets: list[bytes] | None, context: bytes) -> None:
    bare = [masking.encoded(np.ones(8), 3) for _ in range(3)]
    if secrets is None:  # the same keys in another attempt
        keys = {name: X25519PrivateKey.generate() for name in "abc"}
        roster = {name: masking.public(key) for name, key in keys.items()}
        one, two = (masking.masked(bare[0], "a", keys["a"], roster, at) for at in (b"1/1", context))
        assert not np.array_equal(one, two)
    else:
        assert not np.array_equal(masking.added(masked(bare, context, secrets)), masking.added(bare))


def test_a_roster_with_another_key_for_the_client_is_refused() -> None:
    key, other = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    roster = {"a": masking.public(other), "b": masking.public(other)}
    with pytest.raises(InvalidArgument, match="is not sent"):
        masking.masked(np.zeros(2, np.uint64), "a", key, roster, b"")


@pytest.mark.parametrize("bad", [bytes(32), b"short"])
def test_a_key_that_is_none_is_refused(bad: bytes) -> None:
    key = X25519PrivateKey.generate()
    with pytest.raises(InvalidArgument, match="public key"):
        masking.masked(np.zeros(2, np.uint64), "a", key, {"a": masking.public(key), "b": bad}, b"")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_what_a_sum_cannot_hold_is_refused_before_it_is_sent(value: float) -> None:
    with pytest.raises(InvalidArgument, match="diverged"):
        masking.encoded(np.array([1.0, value]), 20)
