"""Near hits at work: choose who answers and with which examples, and learn from comparisons with the large model.

Keeps state and waits for nothing; the clock and all draws are arguments. Invariant: the small model's answer is served
only where the router prefers it and the category's certificate is open; the requests whose answers certify are drawn
without regard to what the answers are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.agents.multiplex.models import Model
from semcache.agents.nearhits import replay
from semcache.agents.nearhits.example import Example
from semcache.agents.nearhits.floor import Floor
from semcache.agents.nearhits.helpful import Helpfulness
from semcache.agents.nearhits.pick import pick
from semcache.agents.nearhits.pool import Pool
from semcache.agents.nearhits.router import Arm, Router, context
from semcache.agents.nearhits.watch import Watch
from semcache.secrets import has_secret

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.protocols import VectorIndex
    from semcache.types import Vector

_LOOKED_AT = 16
_LONGEST = 8000  # characters of a prompt or an answer that is kept as an example
SMALL_ARMS = (Arm.EXAMPLES, Arm.SMALL)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a pack's `near` says.

    `target` is the accepted share of served answers that are worse than the large model's, `rate` the highest share of
    requests that are compared, `tokens` what examples may add to a prompt, `bytes` what they may take in memory.
    """

    small: Model
    large: Model
    target: float = 0.05
    confidence: float = 0.95
    rate: float = 0.2
    examples: int = 5
    tokens: int = 2000
    bytes: int = 256 << 20


@dataclass(frozen=True, slots=True)
class Draws:
    """Random numbers of one request: three uniform in [0, 1), and one standard normal for each arm."""

    compare: float = 1.0
    floor: float = 1.0
    explore: float = 1.0
    normals: Mapping[Arm, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NearChoice:
    """Who answers, and what is to be compared. Hand it back to `compared`, or to `served` where nothing is.

    `arm` is whose answer is served. `compare`: ask the other side as well, without the client waiting; `tried` is the
    arm of the small model that is then compared. `certifies`: the comparison counts for the certificate.
    """

    arm: Arm
    why: str
    category: str
    text: str
    tried: Arm = Arm.EXAMPLES
    examples: tuple[Example, ...] = ()
    scores: tuple[float, ...] = ()
    compare: bool = False
    certifies: bool = False
    floor: float = 0.0
    context: NDArray[np.float64] | None = None
    expected: Mapping[Arm, float] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[Example, ...]:
        """The examples of the small model's prompt."""
        return self.examples if self.tried is Arm.EXAMPLES else ()


class NearHits:
    """The near hits of one process. `index` makes one index of vectors of a dimension, `alive` is that of `Pool`."""

    def __init__(
        self,
        settings: Settings,
        index: Callable[[int], VectorIndex],
        *,
        alive: Callable[[int], bool] = lambda _id: True,
    ) -> None:
        self.settings = settings
        self.pool = Pool(index, settings.bytes, alive=alive)
        self._earlier: dict[int, tuple[float, float, int, float]] = {}  # what came of examples, in a former life
        cheap = settings.small.completion / settings.large.completion if settings.large.completion > 0.0 else 1.0
        # Examples make a prompt longer: about twice a call without them.
        prices = {Arm.LARGE: 1.0, Arm.SMALL: cheap, Arm.EXAMPLES: 2.0 * cheap}
        self.router = Router(prices, priors={Arm.SMALL: settings.small.quality}, thrift=settings.target)
        self.helpful, self.floor = Helpfulness(), Floor()
        self.counts: Counter[str] = Counter()
        self._watches: dict[str, Watch] = {}

    def watch(self, category: str) -> Watch:
        """The certificate of a category."""
        if category not in self._watches:
            given = self.settings
            self._watches[category] = Watch(given.target, confidence=given.confidence, rate=given.rate)
        return self._watches[category]

    def consider(
        self,
        text: str,
        *,
        partition: bytes,
        category: str,
        vector: Vector | None,
        now: float,
        load: float = 0.0,
        draws: Draws = Draws(),
    ) -> NearChoice:
        """Who answers a request that the cache does not. `load` is the large model's, 1 where it is full."""
        self.router.see(load)
        floor = self.floor.choose(draws.floor)
        found = self.pool.search(partition, vector, _LOOKED_AT) if vector is not None else []
        rated = [(one, self.helpful.predict(text, one, score, now)) for one, score in found]
        examples = pick(rated, most=self.settings.examples, tokens=self.settings.tokens, floor=floor)
        near, gains = {one.id: score for one, score in found}, {one.id: gain for one, gain in rated}
        scores = tuple([near[one.id] for one in examples])
        around = context(text, scores, tuple([gains[one.id] for one in examples]))
        route = self.router.choose(around, draws.normals, examples=bool(examples))
        watch = self.watch(category)
        wanted = route.arm in SMALL_ARMS
        tried = route.arm if wanted else self._tried(bool(examples), draws.explore)
        sampled = watch.sampled(draws.compare)
        # What cannot be told apart is worth a comparison to the router; the certificate takes the plain sample alone.
        compare = sampled or (route.unclear and draws.explore < self.settings.rate)
        if wanted and watch.open:
            arm, why = route.arm, "near"
        else:
            arm, why = Arm.LARGE, watch.state.value if wanted else "large"
        self.counts[why] += 1
        return NearChoice(
            arm=arm,
            why=why,
            category=category,
            text=text,
            tried=tried,
            examples=examples,
            scores=scores,
            compare=compare,
            certifies=wanted and sampled,
            floor=floor,
            context=around,
            expected=route.expected,
        )

    def compared(self, choice: NearChoice, *, quality: float, now: float) -> None:
        """Learn from a comparison: `quality` in [0, 1] is the small model's answer's, 1 where it is as good.

        Raises ValueError for a choice that was not made here.
        """
        if choice.context is None:
            raise ValueError("this choice has no context: pass what `consider` gave")
        self.router.learn(choice.context, choice.tried, quality)
        self.router.learn(choice.context, Arm.LARGE, 1.0)
        if choice.certifies:
            self.watch(choice.category).take(wrong=quality < 0.5)
        self.floor.learn(choice.floor, quality, sum(one.tokens for one in choice.shown))
        without = choice.expected.get(Arm.SMALL, self.settings.small.quality)
        for example, score in zip(choice.shown, choice.scores[: len(choice.shown)], strict=True):
            self.helpful.learn(choice.text, example, score, now, quality - without)
        self._used(choice, quality, now)

    def served(self, choice: NearChoice, *, now: float) -> None:
        """Take notice of a small model's answer that was served and not compared: as good as was expected."""
        self._used(choice, min(1.0, max(0.0, choice.expected.get(choice.arm, 0.5))), now)

    def offer(self, example: Example, now: float) -> bool:
        """Keep a large model's answer as an example; False where it is too long or holds a credential."""
        texts = (example.prompt, example.answer)
        if not example.answer.strip() or any(len(text) > _LONGEST or has_secret(text) for text in texts):
            return False
        earlier = self._earlier.pop(example.id, None)
        if earlier is not None:
            offloads, used, uses, gain = earlier
            example = replace(example, offloads=offloads, used=used, uses=uses, gain=gain)
        return example.id not in self.pool.put(example, now)

    def due(self, now: float, *, least: float = 0.05, limit: int = 32) -> list[Example]:
        """Examples to have answered anew, off-peak; hand them to `replay.replayed`, and that to `offer`."""
        return replay.due(self.pool, now, least=least, limit=limit)

    def standing(self) -> dict[str, Any]:
        """Where it stands, for operators."""
        return {
            "examples": len(self.pool),
            "bytes": self.pool.bytes,
            "load_bias": self.router.bias,
            "counts": dict(self.counts),
            "categories": {name: one.standing() for name, one in sorted(self._watches.items())},
        }

    def state(self) -> dict[str, Any]:
        """What was learned, as JSON has it; of examples only what came of them, by id."""
        used = [[one.id, one.offloads, one.used, one.uses, one.gain] for one in self.pool if one.uses]
        return {
            "router": self.router.state(),
            "helpful": self.helpful.state(),
            "examples": used,
            "watches": {name: one.snapshot() for name, one in self._watches.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises KeyError or ValueError for other data."""
        self.router.restore(state["router"])
        self.helpful.restore(state["helpful"])
        for name, one in state["watches"].items():
            self.watch(name).restore(one)
        self._earlier = {number: (offloads, at, uses, gain) for number, offloads, at, uses, gain in state["examples"]}

    @staticmethod
    def _tried(examples: bool, draw: float) -> Arm:
        """The arm to learn about where the large model is preferred: mostly the one with examples."""
        return Arm.EXAMPLES if examples and draw >= 1 / 4 else Arm.SMALL

    def _used(self, choice: NearChoice, quality: float, now: float) -> None:
        for shown in choice.shown:
            held = self.pool.get(shown.id)
            if held is not None:
                self.pool.put(held.after(now, quality), now)
