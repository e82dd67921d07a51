"""The near-hit path: choose the model and the examples, and learn from comparisons with the large model.

Keeps state and waits for nothing; the clock and all draws are arguments. Invariant: the small model's answer is served
only where the bandit prefers it, or a cascade believes it, and the category's certificate is open; the requests whose
answers certify are drawn without regard to what the answers are, and each comparison counts once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from semcache.agents.multiplex.models import PricedModel
from semcache.agents.multiplex.signals import RoutingRequest
from semcache.agents.nearhits import example_replay
from semcache.agents.nearhits.check import CascadeCheck
from semcache.agents.nearhits.example import NearExample
from semcache.agents.nearhits.example_pool import ExamplePool
from semcache.agents.nearhits.floor import HelpfulnessFloor
from semcache.agents.nearhits.helpful import Helpfulness
from semcache.agents.nearhits.model_bandit import Arm, ModelBandit, context
from semcache.agents.nearhits.pick import pick
from semcache.agents.nearhits.quality_certificate import QualityWatch
from semcache.request.secrets import has_secret

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.protocols import VectorIndex
    from semcache.types import Vector

_LOOKED_AT = 16
_LESSONS = 10_000
_LONGEST = 8000  # characters of a prompt or an answer that is kept as an example
SMALL_ARMS = (Arm.EXAMPLES, Arm.SMALL)


@dataclass(frozen=True, slots=True)
class NearSettings:
    """The settings of near hits, from a pack's `near`.

    `target` is the accepted share of served answers that are worse than the large model's, `rate` the highest share of
    requests that are compared, `tokens` what examples may add to a prompt, `bytes` what they may take in memory.
    `route` chooses the model before one is asked; `cascade` asks the small model and checks its answer.
    """

    small: PricedModel
    large: PricedModel
    target: float = 0.05
    confidence: float = 0.95
    rate: float = 0.2
    examples: int = 5
    tokens: int = 2000
    bytes: int = 256 << 20
    strategy: Literal["route", "cascade"] = "route"


@dataclass(frozen=True, slots=True)
class Draws:
    """Random numbers of one request: three uniform in [0, 1), and one standard normal for each arm."""

    compare: float = 1.0
    floor: float = 1.0
    explore: float = 1.0
    normals: Mapping[Arm, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NearChoice:
    """The chosen arm, and what is to be compared. Hand it back to `compared`, or to `served` where nothing is.

    `arm` is whose answer is served. `compare`: ask the other side as well, without the client waiting; `tried` is the
    arm of the small model that is then compared. `certifies`: the comparison counts for the certificate, in a cascade
    if the answer is believed.
    """

    arm: Arm
    why: str
    category: str
    text: str
    tried: Arm = Arm.EXAMPLES
    examples: tuple[NearExample, ...] = ()
    scores: tuple[float, ...] = ()
    compare: bool = False
    certifies: bool = False
    floor: float = 0.0
    context: NDArray[np.float64] | None = None
    expected: Mapping[Arm, float] = field(default_factory=dict)
    vector: Vector | None = None

    @property
    def asked(self) -> RoutingRequest:
        """The request as a check sees it."""
        return RoutingRequest(self.text, self.category, self.vector)

    @property
    def shown(self) -> tuple[NearExample, ...]:
        """The examples of the small model's prompt."""
        return self.examples if self.tried is Arm.EXAMPLES else ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """A comparison: `quality` in [0, 1] is that of the small model's `answer`, `believed` what a cascade made of it."""

    choice: NearChoice
    quality: float
    at: float
    answer: str
    believed: bool


class NearHits:
    """The near hits of one process.

    `index` makes one index of vectors of a dimension, `alive` is that of `ExamplePool`.
    """

    def __init__(
        self,
        settings: NearSettings,
        index: Callable[[int], VectorIndex],
        *,
        alive: Callable[[int], bool] = lambda _id: True,
    ) -> None:
        self.settings = settings
        self.pool = ExamplePool(index, settings.bytes, alive=alive)
        self._earlier: dict[int, tuple[float, float, int, float]] = {}  # what came of examples, in a former life
        cheap = settings.small.completion / settings.large.completion if settings.large.completion > 0.0 else 1.0
        # Examples make a prompt longer: about twice a call without them.
        self._prices = {Arm.LARGE: 1.0, Arm.SMALL: cheap, Arm.EXAMPLES: 2.0 * cheap}
        self.router = ModelBandit(self._prices, priors={Arm.SMALL: settings.small.quality}, thrift=settings.target)
        self.helpful, self.floor = Helpfulness(), HelpfulnessFloor()
        lost = max(0.0, settings.large.quality - settings.small.quality)
        self.check = CascadeCheck(lost, settings.target) if settings.strategy == "cascade" else None
        self.lessons: deque[Lesson] = deque(maxlen=_LESSONS)  # learned since somebody last took them away
        self.counts: Counter[str] = Counter()
        self._watches: dict[str, QualityWatch] = {}

    def watch(self, category: str) -> QualityWatch:
        """The certificate of a category."""
        if category not in self._watches:
            given = self.settings
            self._watches[category] = QualityWatch(given.target, confidence=given.confidence, rate=given.rate)
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
        """Choose the arm for a request without a hit. `load` is the large model's, 1 where it is full."""
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
        sampled = watch.sampled(draws.compare)
        if self.check is not None:
            tried = max((one for one in SMALL_ARMS if one in route.expected), key=route.expected.__getitem__)
            wanted, compare = self.check.pays(self._prices[tried]), sampled
        else:
            wanted = route.arm in SMALL_ARMS
            tried = route.arm if wanted else self._tried(bool(examples), draws.explore)
            # What cannot be told apart is worth a comparison to the router; the certificate takes the plain sample.
            compare = sampled or (route.unclear and draws.explore < self.settings.rate)
        if wanted and watch.open:
            arm, why = tried, "near"
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
            vector=vector,
        )

    def believes(self, choice: NearChoice, answer: str) -> bool:
        """Return True if this answer of the small model will do; without a cascade that is not asked."""
        return self.check is None or self.check.believes(choice.asked, answer)

    def compared(
        self, choice: NearChoice, *, quality: float, now: float, answer: str = "", believed: bool = True
    ) -> None:
        """Learn from a comparison: `quality` in [0, 1] is the small model's answer's, 1 where it is as good.

        `believed` is what `believes` said of it. Raises ValueError for a choice that was not made here.
        """
        if choice.context is None:
            raise ValueError("this choice has no context: pass what `consider` gave")
        lesson = Lesson(choice, quality, now, answer, believed)
        self._take(lesson)
        self.lessons.append(lesson)
        self.floor.learn(choice.floor, quality, sum(one.tokens for one in choice.shown))
        self._used(choice, quality, now)

    def served(self, choice: NearChoice, *, now: float) -> None:
        """Note a small model's answer that was served and not compared: it counts as good as was expected."""
        self._used(choice, min(1.0, max(0.0, choice.expected.get(choice.arm, 0.5))), now)

    def offer(self, example: NearExample, now: float) -> bool:
        """Keep a large model's answer as an example; False where it is too long or holds a credential."""
        if not _fit(example):
            return False
        earlier = self._earlier.pop(example.id, None)
        if earlier is not None:
            offloads, used, uses, gain = earlier
            example = replace(example, offloads=offloads, used=used, uses=uses, gain=gain)
        return example.id not in self.pool.put(example, now)

    def due(self, now: float, *, least: float = 0.05, limit: int = 32) -> list[NearExample]:
        """Examples to have answered anew, off-peak; tell `replayed` what came of it."""
        return example_replay.due(self.pool, now, least=least, limit=limit)

    def replayed(
        self, example: NearExample, answers: Sequence[tuple[str, float]], now: float
    ) -> Literal["refined", "kept", "gone"]:
        """Take the best of an example's answer and these, with their qualities; "gone" if it is another one by now."""
        held = self.pool.get(example.id)
        if held is None or held.answer != example.answer:
            return "gone"
        better = example_replay.replayed(replace(held, quality=example.quality), answers)
        if not _fit(better):
            better = example_replay.replayed(held, [])
        self.pool.put(better, now)
        return "refined" if better.answer != held.answer else "kept"

    def standing(self) -> dict[str, Any]:
        """The standing as operators are shown it."""
        return {
            "examples": len(self.pool),
            "bytes": self.pool.bytes,
            "load_bias": self.router.bias,
            "counts": dict(self.counts),
            "categories": {name: one.standing() for name, one in sorted(self._watches.items())},
        }

    def state(self) -> dict[str, Any]:
        """The learned state, as JSON has it; of examples only their results, by id."""
        used = [[one.id, one.offloads, one.used, one.uses, one.gain] for one in self.pool if one.uses]
        return {
            "router": self.router.state(),
            "helpful": self.helpful.state(),
            "check": self.check.state() if self.check is not None else None,
            "examples": used,
            "watches": {name: one.snapshot() for name, one in self._watches.items()},
        }

    def restore(self, state: Mapping[str, Any], lessons: Iterable[Lesson] = ()) -> None:
        """Take up what `state` gave, and then these lessons, which are not in it; what was learned here goes.

        Raises KeyError or ValueError for other data.
        """
        self.router.restore(state["router"])
        self.helpful.restore(state["helpful"])
        if self.check is not None and state.get("check") is not None:
            self.check.restore(state["check"])
        given = self.settings
        watches = {
            name: QualityWatch(given.target, confidence=given.confidence, rate=given.rate) for name in state["watches"]
        }
        for name, one in watches.items():
            one.restore(state["watches"][name])
        self._watches = watches
        for number, offloads, used, uses, gain in state["examples"]:
            held = self.pool.get(number)
            if held is None:
                self._earlier[number] = offloads, used, uses, gain
            elif used > held.used:
                self.pool.put(replace(held, offloads=offloads, used=used, uses=uses, gain=gain), used)
        for lesson in lessons:
            self._take(lesson)

    @staticmethod
    def _tried(examples: bool, draw: float) -> Arm:
        """The arm to learn about where the large model is preferred: mostly the one with examples."""
        return Arm.EXAMPLES if examples and draw >= 1 / 4 else Arm.SMALL

    def _take(self, lesson: Lesson) -> None:
        choice, quality = lesson.choice, lesson.quality
        assert choice.context is not None
        self.router.learn(choice.context, choice.tried, quality)
        self.router.learn(choice.context, Arm.LARGE, 1.0)
        if choice.certifies and lesson.believed:
            self.watch(choice.category).take(wrong=quality < 0.5)
        if self.check is not None and lesson.answer:
            self.check.learn(choice.asked, lesson.answer, quality)
        without = choice.expected.get(Arm.SMALL, self.settings.small.quality)
        for example, score in zip(choice.shown, choice.scores[: len(choice.shown)], strict=True):
            self.helpful.learn(choice.text, example, score, lesson.at, quality - without)

    def _used(self, choice: NearChoice, quality: float, now: float) -> None:
        for shown in choice.shown:
            held = self.pool.get(shown.id)
            if held is not None:
                self.pool.put(held.after(now, quality), now)


def _fit(example: NearExample) -> bool:
    texts = (example.prompt, example.answer)
    return bool(example.answer.strip()) and not any(len(text) > _LONGEST or has_secret(text) for text in texts)
