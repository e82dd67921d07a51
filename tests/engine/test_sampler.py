"""A sampler that is off by one in a truncation changes every answer, and no one sees it."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.engine import Sampling

torch = pytest.importorskip("torch", reason="needs the extra `engine`")
LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, -50.0])


def drawn(count: int, counts: Any = None, **sampling: Any) -> list[int]:
    from semcache.engine.sampler import choose

    generator = torch.Generator().manual_seed(1)
    given = Sampling(**{"temperature": 1.0, **sampling})
    return [choose(LOGITS, given, counts or {}, generator).token for _ in range(count)]


def test_frequencies_are_those_of_the_distribution() -> None:
    for temperature in (0.5, 1.0, 2.0):
        tokens = torch.tensor(drawn(1500, temperature=temperature))
        seen = torch.bincount(tokens, minlength=5) / 1500
        torch.testing.assert_close(seen, torch.softmax(LOGITS / temperature, 0), atol=0.05, rtol=0)


@pytest.mark.parametrize(
    ("sampling", "allowed"),
    [
        ({"top_k": 1}, {0}),
        ({"top_k": 2}, {0, 1}),
        ({"top_p": 0.6}, {0}),  # shares: 0.644, 0.237, 0.087, 0.032
        ({"top_p": 0.65}, {0, 1}),
        ({"top_p": 0.9}, {0, 1, 2}),
        ({"min_p": 0.3}, {0, 1}),
        ({"top_k": 3, "top_p": 0.999}, {0, 1, 2}),
        ({"temperature": 0.0}, {0}),
        ({"temperature": 0.0, "bias": {3: 10.0}}, {3}),
        ({"bias": {0: -100.0, 1: -100.0, 2: -100.0}}, {3}),
    ],
)
def test_truncation_keeps_exactly_what_it_names(sampling: Any, allowed: set[int]) -> None:
    assert set(drawn(150, **sampling)) == allowed


def test_penalties_are_openais() -> None:
    assert drawn(1, {0: 2}, temperature=0.0, frequency_penalty=0.49) == [0]
    assert drawn(1, {0: 2}, temperature=0.0, frequency_penalty=0.51) == [1]
    assert drawn(1, {0: 2}, temperature=0.0, presence_penalty=1.01) == [1]
    assert drawn(1, {0: 9}, temperature=0.0, presence_penalty=0.99) == [0]


def test_a_repetition_penalty_counts_the_prompt_and_divides_or_multiplies_by_sign() -> None:
    from semcache.engine.sampler import choose, plain

    def chosen(penalty: float, counts: Any, prompt: Any) -> int:
        given = Sampling(temperature=0.0, repetition_penalty=penalty)
        return choose(LOGITS, given, counts, torch.Generator(), prompt).token

    assert chosen(1.9, {0: 3}, ()) == 0  # 2.0 / 1.9 is more than 1.0
    assert chosen(2.1, {0: 1}, ()) == chosen(2.1, {}, {0}) == 1
    assert chosen(2.1, {}, {0, 1}) == 0  # 0.95 against 0.48 and 0.0
    assert (
        choose(-LOGITS.abs(), Sampling(temperature=0.0, repetition_penalty=3.0), {}, torch.Generator(), {2}).token == 2
    )
    assert not plain(Sampling(temperature=0.0, repetition_penalty=1.1))


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999, 0.9999999])
@pytest.mark.parametrize("top_k", [0, 7, 3000])
def test_a_large_vocabulary_is_truncated_as_if_it_were_sorted(top_p: float, top_k: int) -> None:
    """The nucleus is found from the likeliest on; here it is of 1 to 5,000 tokens."""
    from semcache.engine.sampler import choose

    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(5000, generator=generator) * 2
    order = logits.argsort(descending=True)[: top_k or 5000]
    shares = torch.softmax(logits[order], 0)
    allowed = set(order[(shares.cumsum(0) - shares < top_p)].tolist())
    given = Sampling(temperature=1.0, top_p=top_p, top_k=top_k)
    drawn = [choose(logits, given, {}, generator).token for _ in range(60)]
    assert set(drawn) <= allowed
    assert len(allowed) == 1 or len(set(drawn)) > 1
    expected = float(
        (shares * (torch.arange(len(order)) < len(allowed)) * logits[order]).sum() / shares[: len(allowed)].sum()
    )
    assert abs(sum(float(logits[one]) for one in drawn) / 60 - expected) < 0.8


def test_scores_are_the_models_own() -> None:
    from semcache.engine.sampler import choose

    given = Sampling(temperature=0.0, logprobs=2, bias={3: 100.0})
    score = choose(LOGITS, given, {}, torch.Generator())
    expected = torch.log_softmax(LOGITS, 0).tolist()
    assert score.token == 3
    assert score.logprob == pytest.approx(expected[3])
    assert score.top == ((0, pytest.approx(expected[0])), (1, pytest.approx(expected[1])))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_no_number_is_never_sampled(temperature: float) -> None:
    from semcache.engine.sampler import choose

    with pytest.raises(ValueError, match="no numbers"):
        choose(torch.full((5,), torch.nan), Sampling(temperature=temperature), {}, torch.Generator())


@pytest.mark.parametrize("temperature", [1e-8, 1e-37, 1e-40, 5e-324])
def test_next_to_no_temperature_is_greedy(temperature: float) -> None:
    from semcache.engine.sampler import choose

    logits = torch.tensor([-20.0, 30.0, 29.0, -30.0])
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        assert choose(logits, Sampling(temperature=temperature), {}, generator).token == 1


def test_seeds_and_choices_do_not_overlap() -> None:
    from semcache.engine.sampler import mixed

    assert len({mixed(seed, choice) for seed in range(-20, 20) for choice in range(20)}) == 800
