"""Savings are true only if calls are priced as the provider charges them, and a model without a price is named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from semcache.config.agent_packs import ModelSpec
from semcache.errors import ConfigError
from semcache.storage.prices import Prices, TokenRates, own_prices
from semcache.types import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5",
        "gpt-5-mini",
        "claude-sonnet-5",
        "claude-haiku-4-5",
        "gemini-2.5-pro",
        "o3",
        "deepseek-chat",
        "gpt-4o",
        "gpt-4o-mini-2024-07-18",
        "openai/gpt-4o",
        "anthropic/claude-sonnet-4-5",
        "openrouter/openai/gpt-5",
        "text-embedding-3-small",
    ],
)
def test_models_of_today_have_a_price_with_and_without_their_provider(model: str) -> None:
    prices = Prices()
    assert prices.cost(model, Usage(1000, 1000)) > 0.0
    assert prices.unpriced == []


def test_what_the_provider_had_cached_is_charged_at_its_rate() -> None:
    prices = Prices()
    whole = prices.cost("gpt-5", Usage(MILLION, 0))
    assert whole == pytest.approx(prices.of("gpt-5")[0])
    assert prices.cost("gpt-5", Usage(MILLION, 0, cached_tokens=MILLION)) == pytest.approx(whole / 10)


def test_tokens_are_charged_once_whatever_the_details_say() -> None:
    rates = TokenRates(1.0, 2.0, cached=0.1, written=1.25, reasoning=3.0)
    assert rates.cost(Usage(100, 100, 40, 20, 30)) == pytest.approx(
        (40 * 1.0 + 40 * 0.1 + 20 * 1.25 + 70 * 2.0 + 30 * 3.0) / 1e6
    )
    assert rates.cost(Usage(10, 10, 99, 99, 99)) == pytest.approx((10 * 0.1 + 10 * 3.0) / 1e6)


def test_a_long_prompt_has_the_rate_of_its_tier() -> None:
    prices = Prices()
    short, long = prices.cost("gemini-2.5-pro", Usage(200_000)), prices.cost("gemini-2.5-pro", Usage(200_001))
    assert long / 200_001 == pytest.approx(2 * short / 200_000)


def test_own_prices_come_first_then_the_packs_then_list_prices() -> None:
    own = own_prices({"gpt-4o*": [1, 2, 0.5], "free": [0, 0]}, "prices.yaml")
    prices = Prices(own, {"gpt-4o": ModelSpec(prompt=9.0, completion=9.0), "o3": ModelSpec(prompt=7.0, completion=7.0)})
    assert (prices.of("gpt-4o"), prices.of("o3")) == ((1.0, 2.0), (7.0, 7.0))
    assert prices.cost("gpt-4o", Usage(MILLION, 0, cached_tokens=MILLION)) == pytest.approx(0.5)
    assert prices.of("azure/o3") == (7.0, 7.0)
    assert prices.of("gpt-5")[0] > 0.0
    assert prices.knows("free")
    assert prices.cost("free", Usage(1, 1)) == 0.0
    assert prices.unpriced == []


def test_a_model_without_a_price_is_remembered_and_one_without_tokens_is_not() -> None:
    prices = Prices()
    assert prices.cost("our-own-model", Usage(5, 5)) == 0.0
    assert prices.cost("never-answered", Usage()) == 0.0
    assert prices.unpriced == ["our-own-model"]


def test_a_price_of_hours_of_the_day_is_not_kept_beyond_them() -> None:
    now = [0.0]
    prices = Prices(clock=lambda: now[0])
    found = set()
    for hour in range(24):
        now[0] = 1_760_000_000 // 86_400 * 86_400 + hour * 3600.0 + 60
        found.add(prices.of("deepseek-chat"))
    assert all(price > 0 for pair in found for price in pair)


@pytest.mark.parametrize(
    "table",
    [
        ["gpt"],
        {"m": 3},
        {"m": [1]},
        {"m": [1, "x"]},
        {"m": [1, -2]},
        {"m": {"input": 1, "outptu": 2}},
        {"m": {"input": 1}},
    ],
)
def test_a_file_of_prices_that_says_something_else_is_refused_by_name(table: object) -> None:
    with pytest.raises(ConfigError, match=r"prices\.yaml"):
        own_prices(table, "prices.yaml")


def test_list_prices_are_not_imported_before_they_are_needed() -> None:
    code = "import sys, semcache.storage.prices, semcache.cache.opening; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_prices_that_yaml_reads_as_text_are_numbers_and_switches_are_none() -> None:
    assert own_prices({"a": ["1e-2", "2"]}, "prices.yaml")["a"].cost(Usage(MILLION, 0)) == pytest.approx(0.01)
    with pytest.raises(ConfigError, match="a price is a number"):
        own_prices({"a": [True, False]}, "prices.yaml")
