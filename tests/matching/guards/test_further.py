"""A prompt of several questions is taken apart once, however many neighbours it is compared with."""

from __future__ import annotations

from semcache.matching.guards import further


def test_the_sentences_of_a_prompt_are_read_once_for_all_neighbours() -> None:
    asked = "Where do I park? And where do I pay for it?"
    neighbours = [f"Where do I park my {thing}?" for thing in ("van", "boat", "bike", "truck")]
    before = further._sentences.cache_info().misses  # type: ignore[attr-defined]
    for neighbour in neighbours:
        further.compare(asked, neighbour)
    assert further._sentences.cache_info().misses - before == 1 + len(neighbours)  # type: ignore[attr-defined]
