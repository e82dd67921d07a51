"""Prices of models: the operator's own, those of the pack, and the list prices that the package `genai-prices` keeps.

Knows names of models and tokens, no requests. Invariant: what is charged at another rate (prompt tokens that the
provider read from its own cache or wrote to it, reasoning) is never charged twice, nothing is fetched from the network,
and a model without a price costs nothing and is remembered as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from semcache.errors import ConfigError
from semcache.types import Usage

if TYPE_CHECKING:
    from semcache.config.agent_packs import ModelSpec

_HALF_HOUR = 1800.0  # list prices change at full or half hours
_SOME_DAY = 4102444800.0  # the prices that hold last
_MOST = 1000  # models that are remembered
_FIELDS = ("input", "output", "cached", "written", "reasoning")

# List prices in US dollars per million tokens (input, output) of models that `genai-prices` does not have.
OTHER_PRICES: Mapping[str, tuple[float, float]] = {
    "text-embedding-3-small*": (0.02, 0.0),
    "text-embedding-3-large*": (0.13, 0.0),
    "text-embedding-ada-002*": (0.10, 0.0),
}


@dataclass(frozen=True, slots=True)
class TokenRates:
    """US dollars per million tokens; None is the rate of `input` for what is read, of `output` for reasoning.

    `tiers` are the rates of longer prompts, each with the prompt tokens above which it holds, in ascending order.
    """

    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    reasoning: float | None = None
    tiers: tuple[tuple[int, TokenRates], ...] = ()

    def cost(self, usage: Usage) -> float:
        """US dollars for this usage."""
        for above, rates in reversed(self.tiers):
            if usage.prompt_tokens > above:
                return rates.cost(usage)
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        written = min(usage.written_tokens, usage.prompt_tokens - cached)
        thought = min(usage.reasoning_tokens, usage.completion_tokens)
        dollars = (usage.prompt_tokens - cached - written) * self.input
        dollars += cached * (self.input if self.cached is None else self.cached)
        dollars += written * (self.input if self.written is None else self.written)
        dollars += (usage.completion_tokens - thought) * self.output
        dollars += thought * (self.output if self.reasoning is None else self.reasoning)
        return dollars / 1e6


class Prices:
    """The prices of models by name, with or without the provider before a slash.

    `own` are the operator's, by shell-style pattern, of which the first that matches counts; `models` are those of a
    pack and come next, then list prices unless `listed` is False. `clock` says when, in Unix seconds: some list prices
    hold for hours of the day.
    """

    def __init__(
        self,
        own: Mapping[str, TokenRates | tuple[float, float]] | None = None,
        models: Mapping[str, ModelSpec] | None = None,
        *,
        listed: bool = True,
        clock: Callable[[], float] = lambda: _SOME_DAY,
    ) -> None:
        self._own = {key: _rates(value) for key, value in (own or {}).items()}
        self._models = {name: TokenRates(one.prompt, one.completion) for name, one in (models or {}).items()}
        self._listed = listed
        self._clock = clock
        self._known: dict[str, TokenRates | None] = {}
        self._until = 0.0
        self._unpriced: dict[str, None] = {}

    def naming(self, models: Mapping[str, ModelSpec]) -> Prices:
        """The same prices beside other models."""
        return Prices(self._own, models, listed=self._listed, clock=self._clock)

    def load(self) -> None:
        """Read the list prices, which takes a quarter of a second; otherwise the first model that needs them does."""
        if self._listed:
            _listed("gpt-4o", self._clock())

    @property
    def unpriced(self) -> list[str]:
        """The models that tokens were counted of and that have no price."""
        return sorted(self._unpriced)

    def knows(self, model: str) -> bool:
        """Return True if there is a price for this model."""
        return self.rates(model) is not None

    def of(self, model: str) -> tuple[float, float]:
        """Prices of a model's prompts and completions, (0, 0) where there are none."""
        rates = self.rates(model)
        return (0.0, 0.0) if rates is None else (rates.input, rates.output)

    def rates(self, model: str) -> TokenRates | None:
        """The rates of a model, None where there are none."""
        now = self._clock()
        if now >= self._until:
            self._known.clear()
            self._until = (now // _HALF_HOUR + 1) * _HALF_HOUR
        if model not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[model] = self._find(model, now)
        return self._known[model]

    def cost(self, model: str, usage: Usage) -> float:
        """US dollars for this usage, 0 for a model without a price."""
        if not (usage.prompt_tokens or usage.completion_tokens):
            return 0.0
        rates = self.rates(model)
        if rates is not None:
            return rates.cost(usage)
        if len(self._unpriced) < _MOST:
            self._unpriced[model] = None
        return 0.0

    def _find(self, model: str, now: float) -> TokenRates | None:
        names = (model, model.rpartition("/")[2])
        found = _first(self._own, names) or _first(self._models, names)
        if found is not None or not self._listed:
            return found
        return _listed(model, now) or _first({key: TokenRates(*pair) for key, pair in OTHER_PRICES.items()}, names)


def own_prices(table: object, where: object) -> dict[str, TokenRates]:
    """The operator's prices from what a YAML file holds.

    A model has `[input, output]`, with the rate of cached input and those of written input and of reasoning after it
    if need be, or the same by name. Raises ConfigError.
    """
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where}: write one `model-pattern: [input, output]` a line, in dollars per million")
    found = {}
    for model, given in table.items():
        pairs = given if isinstance(given, Mapping) else dict(zip(_FIELDS, _listing(given), strict=False))
        unknown = [str(name) for name in pairs if name not in _FIELDS]
        try:
            rates = _named(pairs)
        except (TypeError, ValueError) as error:
            named = f"{', '.join(unknown)}: there are {', '.join(_FIELDS)}" if unknown else f"{given!r}"
            raise ConfigError(
                f"{where}: {model}: {named}; write `model-pattern: [input, output]`, in dollars per million tokens, "
                "and after these, if they differ, the rates of cached input, written input and reasoning"
            ) from error
        if any(isinstance(value, bool) or not 0.0 <= float(value) < float("inf") for value in pairs.values()):
            raise ConfigError(f"{where}: {model}: {given!r}: a price is a number of dollars, 0 or more")
        found[str(model)] = rates
    return found


def _named(pairs: Mapping[Any, Any]) -> TokenRates:
    """Rates by name. Raises TypeError or ValueError."""
    found: dict[str, float | None] = {str(name): float(value) for name, value in pairs.items()}
    if not {"input", "output"} <= found.keys() <= set(_FIELDS):
        raise ValueError("input and output are needed")
    read, said = float(pairs["input"]), float(pairs["output"])
    return TokenRates(read, said, found.get("cached"), found.get("written"), found.get("reasoning"))


def _listing(given: object) -> Sequence[Any]:
    return given if isinstance(given, list) and 2 <= len(given) <= len(_FIELDS) else [given]


def _rates(value: TokenRates | tuple[float, float]) -> TokenRates:
    return value if isinstance(value, TokenRates) else TokenRates(*value)


def _first(table: Mapping[str, TokenRates], names: Sequence[str]) -> TokenRates | None:
    return next((rates for key, rates in table.items() if any(fnmatchcase(name, key) for name in names)), None)


def _listed(model: str, now: float) -> TokenRates | None:
    """The list price at a time: that of the provider before the slash, else that of the model by its name alone."""
    from datetime import UTC, datetime

    from genai_prices import Usage as Nothing
    from genai_prices import calc_price

    provider, slash, rest = model.partition("/")
    asked: list[tuple[str, str | None]] = [(model, None)]
    if slash:
        asked += [(rest, provider), (rest, None), (model.rpartition("/")[2], None)]
    for name, by in asked:
        try:
            found = calc_price(
                Nothing(input_tokens=0), name, provider_id=by, genai_request_timestamp=datetime.fromtimestamp(now, UTC)
            )
        except LookupError:
            continue
        return _rates_of(found.model_price)
    return None


def _rates_of(price: Any) -> TokenRates | None:
    """The rates of a price of `genai-prices`; None for what is not sold by tokens."""
    names = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "output_reasoning_mtok")
    values = [getattr(price, name) for name in names]
    if values[0] is None and values[1] is None:
        return None
    starts = sorted({tier.start for value in values for tier in getattr(value, "tiers", ())})
    return _at(values, 0, tuple((start, _at(values, start + 1, ())) for start in starts))


def _at(values: Sequence[Any], tokens: int, tiers: tuple[tuple[int, TokenRates], ...]) -> TokenRates:
    read, said, cached, written, reasoning = [_dollars(value, tokens) for value in values]
    return TokenRates(read or 0.0, said or 0.0, cached, written, reasoning, tiers)


def _dollars(value: Any, tokens: int) -> float | None:
    """One price for a prompt of so many tokens."""
    if value is None:
        return None
    if not hasattr(value, "tiers"):
        return float(value)
    return float(next((tier.price for tier in reversed(value.tiers) if tokens > tier.start), value.base))
