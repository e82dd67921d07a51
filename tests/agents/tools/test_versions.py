"""After a change no version is what it was, for anything the change could have touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from semcache.agents.tools.versions import Versions, overlap

NAMES = st.sampled_from(["a:1", "a:2", "a:*", "b:1", "b:*", "c", "*"])


@given(st.lists(NAMES, max_size=12), NAMES, st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_a_change_is_seen_by_what_it_may_touch_and_by_no_other_tenant(before, changed, read) -> None:
    versions = Versions()
    versions.change("acme", before)
    old, others = versions.of("acme", read), versions.of("other", read)
    versions.change("acme", [changed])
    assert versions.of("other", read) == others
    if overlap(read, [changed]):
        assert versions.of("acme", read) != old
    elif "*" not in (changed, *read):
        assert versions.of("acme", read) == old


def test_what_is_forgotten_counts_as_changed_and_no_version_comes_back() -> None:
    versions = Versions(remembered=10)
    seen = {versions.of("acme", ["a:1"])}
    for number in range(200):
        versions.change("acme", [f"b:{number}" if number % 20 else "a:1"])
        seen.add(versions.of("acme", ["a:1"]))
    assert len(seen) > 10
    assert len(versions._single) + len(versions._any) <= 11
