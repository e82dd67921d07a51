"""What sets each policy apart from the others, on sequences short enough to follow by hand."""

from __future__ import annotations

from semcache.retention.eviction import POLICIES, Quota, Worth


def gone(name: str, capacity: int, script: str, **worths: Worth) -> str:
    """Ask for letters one after another and return those given up, in order."""
    quota = Quota(capacity, POLICIES[name]())
    victims = ""
    for letter in script:
        if ord(letter) in quota:
            quota.touch(ord(letter))
            continue
        worth = worths.get(letter, Worth(key=ord(letter)))
        victims += "".join([chr(victim) for victim in quota.admit(ord(letter), 1.0, worth)])
    return victims


def test_lru_gives_up_what_was_used_longest_ago() -> None:
    assert gone("lru", 3, "abcad") == "b"


def test_lfu_gives_up_what_was_used_least_and_of_those_the_oldest() -> None:
    assert gone("lfu", 3, "aabbbcd") == "c"
    assert gone("lfu", 3, "abcd") == "a"


def test_sieve_spares_what_was_used_once_and_keeps_its_place() -> None:
    assert gone("sieve", 3, "abcabd") == "c"
    # The hand spares a and goes on from where it is; recency would have given a up in place of e.
    assert gone("sieve", 4, "abcdaefgh") == "bcde"
    assert gone("lru", 4, "abcdaefgh") == "bcda"


def test_s3_fifo_lets_what_left_too_early_straight_into_the_main_queue() -> None:
    script = "abcdefghij" + "k" + "a" + "lmnopqrstu"
    victims = gone("s3-fifo", 10, script)
    assert victims[0] == "a"
    assert "a" not in victims[1:]


def test_s3_fifo_keeps_a_scan_out_of_the_main_queue() -> None:
    hot = "".join(letter * 4 for letter in "ABCDEFGH")
    victims = gone("s3-fifo", 10, hot + "abcdefghijklmnopqrstuvwxyz")
    assert not set(victims) & set("ABCDEFGH")


def test_w_tinylfu_gives_a_newcomer_no_place_of_something_asked_more_often() -> None:
    victims = gone("w-tinylfu", 5, "AAABBBCCCDDDEEE" + "abcdefgh" * 2)
    assert not set(victims) & set("ABC")


def test_w_tinylfu_counts_the_cluster_not_the_wording() -> None:
    """Paraphrases of one answer speak for each other, so that the third wording of a hot answer is let in."""
    quota = Quota(3, POLICIES["w-tinylfu"]())
    for id in (1, 2, 3):
        quota.admit(id, 1.0, Worth(cluster=id))
    for id in range(10, 16):
        quota.admit(id, 1.0, Worth(cluster=99))
    assert sum(id in quota for id in range(10, 16)) == 3


def test_gdsf_gives_up_what_is_cheap_to_ask_again() -> None:
    cheap, dear = Worth(cost=1.0), Worth(cost=10.0)
    assert gone("gdsf", 3, "abcd", a=dear, b=cheap, c=dear, d=dear) == "b"


def test_gdsf_lets_old_worth_fade() -> None:
    dear = {letter: Worth(cost=3.0) for letter in "a"}
    victims = gone("gdsf", 2, "abcdefgh", **dear)
    assert "a" in victims


def test_lec_remembers_how_often_a_cluster_was_asked_before_it_left() -> None:
    quota = Quota(2, POLICIES["lec"]())
    for id in (1, 2, 3):
        quota.admit(id, 1.0, Worth(cluster=7))
    quota.forget(1)
    quota.forget(2)
    quota.forget(3)
    quota.admit(4, 1.0, Worth(cluster=7))
    quota.admit(5, 1.0, Worth(cluster=8))
    assert quota.admit(6, 1.0, Worth(cluster=9)) == [5]


def test_lec_trusts_a_cost_less_the_more_it_varies_and_the_less_it_was_seen() -> None:
    quota = Quota(3, POLICIES["lec"]())
    for step in range(40):
        quota.admit(100 + step, 1.0, Worth(cluster=1, cost=1.0 if step % 2 else 3.0))
        quota.forget(100 + step)
    for _ in range(10):
        quota.admit(1, 1.0, Worth(cluster=2, cost=2.0))
    quota.admit(2, 1.0, Worth(cluster=3, cost=2.0))
    for _ in range(9):
        quota.touch(2)
    quota.admit(3, 1.0, Worth(cluster=1, cost=2.0))
    assert quota.admit(4, 1.0, Worth(cluster=4, cost=9.0)) == [2]
