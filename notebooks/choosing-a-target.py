# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Choose a target
#
# A category's `target` is the share of wrong answers that you accept among what is served by meaning. This page
# runs one trace through the cache at four targets and shows what each costs: in hits that are not made, in wrong
# answers that are, and in money. It then looks at how the promise is kept over time. All of it is the simulator
# behind `semcache replay`, which decides with the code that decides in the server and asks no backend.

# %%
import json
import random
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import msgspec
import numpy as np

from plotting import BLUE, GREEN, GREY, ORANGE, RED, use_style
from semcache.config import packs
from semcache.matching.break_even import CORE_SECOND, LookupCosts, break_even
from semcache.matching.strategies import ByCategory
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.simulate import Arrival, Simulator, bounds
from semcache.storage.accounting import Prices
from semcache.train.recipe.authored import groups
from semcache.train.repeats import repeat
from semcache.types.evidence import State, wilson
from shell import semcache

SEED = 7
SIZE = 6000  # requests of the trace; certificates need many: raise it, and EACH with it
EACH = 40  # further wordings of a question, by small changes
TARGETS = (0.005, 0.01, 0.02, 0.05)
use_style()

# %% [markdown]
# ## A trace
#
# With your own traffic, a log is a trace: every format that `semcache import` reads will do, see
# [replay](../docs/replay.md). Here one is made from the customer-support prompts that come with the package. Questions
# are asked as often as a Zipf law says: a few very often, most hardly ever. Each comes in a wording of its own,
# some with small changes, and now and then a trap is asked instead: a prompt that looks alike and needs another
# answer.

# %%
POPULARITY, TRAPS = 0.8, 0.03  # exponent of the Zipf law; share of requests that are traps
MODEL, TOKENS = "gpt-4o", (150, 300)  # tokens of a prompt and of an answer

rng = random.Random(SEED)
questions = [group for group in groups() if group.topic == "support"]
rng.shuffle(questions)
questions = questions[:200]
wordings = []
for group in questions:
    written = (group.prompt, *group.same)
    wordings.append([*written, *(repeat(rng.choice(written), rng) for _ in range(EACH))])
popularity = [1 / rank**POPULARITY for rank in range(1, len(questions) + 1)]
price = sum(count * per_million for count, per_million in zip(TOKENS, Prices().of(MODEL))) / 1e6

arrivals = []
for second, question in enumerate(rng.choices(range(len(questions)), popularity, k=SIZE)):
    text, answer = rng.choice(wordings[question]), f"answer {question}"
    if rng.random() < TRAPS:
        trap = rng.randrange(len(questions[question].different))
        text, answer = questions[question].different[trap][1], f"answer {question}, trap {trap}"
    arrivals.append(Arrival(1_790_000_000.0 + 30 * second, text, answer, cost=price))

texts = list(dict.fromkeys(one.text for one in arrivals))
rows = dict(zip(texts, OnnxEmbedder(DEFAULT_MODEL, threads=1).encode(texts)))
vectors = np.stack([rows[one.text] for one in arrivals])
oracle = bounds.belady(bounds.answer_keys(arrivals), SIZE) / SIZE
print(f"{SIZE:,} requests, {len(texts):,} of them distinct; {oracle:.1%} ask for an answer that was given before")

# %% [markdown]
# ## From the command line
#
# The same trace as a file, the way `semcache replay` takes it. `answer` names a class of answers that are all as
# good: raw texts would do as well, but a language model rarely says the same thing twice in the same words. The
# pack has one category and asks no verifier, so that what is seen below is the certified decision alone.

# %%
with Path("trace.jsonl").open("w", encoding="utf-8") as trace:
    for one in arrivals:
        line = {"prompt": one.text, "answer": one.answer, "at": one.at, "cost": one.cost, "category": "default"}
        trace.write(json.dumps(line) + "\n")
Path("helpdesk.yaml").write_text(
    """\
name: helpdesk
target: 0.02
defaults: {prior: service, verify: off}
categories: {default: {description: Everything.}}
""",
    encoding="utf-8",
)
semcache("replay trace.jsonl --policies helpdesk.yaml --sizes pack --limit 1500 --no-baselines")

# %% [markdown]
# ## Four targets
#
# The same from Python, with the whole trace, every target, and a few fixed thresholds to compare with. `target`
# changes nothing but the strategy's limit; requests, answers and draws for audits are equal.


# %%
def simulated(pack):
    """One run from an empty cache, with where the strategy stood after every block of requests."""
    threshold, stood = ByCategory(pack), []
    simulator = Simulator(pack, threshold, rng=random.Random(SEED))
    result = simulator.run(arrivals, vectors, lambda done: stood.append((done, threshold.standing("default"))))
    return result, stood


def with_fixed(pack, level):
    """The pack with one fixed threshold for all categories."""
    fixed = {
        name: msgspec.structs.replace(one, strategy="static", threshold=level) for name, one in pack.categories.items()
    }
    return msgspec.structs.replace(pack, categories=fixed)


helpdesk = packs.load("helpdesk.yaml")
runs = {target: simulated(helpdesk.with_target(target)) for target in TARGETS}
fixed = {level: simulated(with_fixed(helpdesk, level))[0].summary() for level in (0.98, 0.95, 0.92, 0.85)}
exact_only = simulated(with_fixed(helpdesk, 2.0))[0].summary()  # no score reaches that
found = {target: result.summary() for target, (result, _) in runs.items()}
for target, one in found.items():
    error, low, high = one["error_per_hit"]
    print(
        f"target {target:4.1%}: {one['hit_rate']:.1%} served, {one['semantic']:5,} by meaning, {one['wrong']:3} wrong, "
        f"error per hit {error:.2%} ({low:.2%} to {high:.2%}{', MISSED' if low > target else ''})"
    )

# %% alt="Requests served at four targets, and the error per hit with its interval beside each target"
figure, (left, panel) = plt.subplots(1, 2, figsize=(9.0, 4.4))
names = [f"{target:.1%}" for target in TARGETS]
exact = np.array([found[target]["exact"] for target in TARGETS]) / SIZE
audits = np.array([found[target]["audits"] for target in TARGETS]) / SIZE
meaning = np.array([found[target]["semantic"] for target in TARGETS]) / SIZE - audits
for share, bottom, colour, label in (
    (exact, 0, GREY, "the very same request"),
    (meaning, exact, BLUE, "by meaning"),
    (audits, exact + meaning, ORANGE, "by meaning, audited: no call saved"),
):
    left.bar(names, 100 * share, bottom=100 * (bottom + np.zeros(len(names))), color=colour, label=label, width=0.6)
left.axhline(100 * oracle, color="black", linestyle=":")
left.text(-0.35, 100 * oracle - 5, "the answer was given before", fontsize=9)
left.set(xlabel="target", ylabel="requests served [%]", ylim=(0, 100))
left.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0))
left.grid(axis="x", visible=False)
errors = np.array([found[target]["error_per_hit"] for target in TARGETS])
panel.errorbar(
    names,
    100 * errors[:, 0],
    100 * np.abs(errors[:, 1:] - errors[:, :1]).T,
    fmt="o",
    color=BLUE,
    capsize=4,
    label="error per hit, 95%",
)
panel.plot(names, 100 * np.array(TARGETS), "_", color=RED, markersize=34, markeredgewidth=2, label="target")
panel.set(xlabel="target", ylabel="hits by meaning that are wrong [%]", ylim=(0, None))
panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), markerscale=0.5)
plt.show()

# %% [markdown]
# A looser target serves more. The interval tells how well the error of this run is known: few hits mean a wide one,
# whatever the target. A target whose interval lies above it was missed. That can happen to a strict one, for a
# single trap that is popular makes several errors before anybody has told the cache, and few right answers come
# after them; what the cache does about it is the subject of the last figure.
#
# A fixed threshold can be drawn into the same plane. Some threshold always does well *on this trace*. Which one
# that is, nobody knew before the trace was over, and another embedder or other traffic moves it. Where grey lies
# above blue, hindsight would have done better: `semcache replay` reports that difference as regret, and it is
# largest on short traces, for the cache has most to learn at first.

# %% alt="Hit rate against error per hit: the four targets and four fixed thresholds"
figure, axes = plt.subplots()
points = [(100 * one["error_per_hit"][0], 100 * one["net_hit_rate"]) for one in fixed.values()]
axes.plot(*zip(*points), "o-", color=GREY, label="fixed thresholds, guards and all")
for (x, y), level in zip(points, fixed):
    axes.annotate(f"{level:g}", (x, y), textcoords="offset points", xytext=(6, -12), color="#5F6368")
points = [(100 * one["error_per_hit"][0], 100 * one["net_hit_rate"]) for one in found.values()]
axes.plot(*zip(*points), "o", color=BLUE, markersize=8, label="certified, net of audits")
for place, ((x, y), name) in enumerate(zip(points, names)):
    offset, side = ((8, -12), "left") if place % 2 else ((-8, 6), "right")
    axes.annotate(name, (x, y), textcoords="offset points", xytext=offset, ha=side, color=BLUE)
axes.axhline(100 * exact_only["hit_rate"], color="black", linestyle=":", label="only the very same request")
axes.set(xlabel="hits by meaning that are wrong [%]", ylabel="requests served [%]", xlim=(-0.3, None))
axes.legend(loc="upper left")
plt.show()

# %% [markdown]
# ## What it comes to in money
#
# A hit saves a call; a wrong hit costs whatever a wrong answer costs you: a call to support, a return, trust. Only
# you can put a figure on that, so it is the axis below. Lookups cost processor time, and audits cost calls.

# %%
LOOKUP = 0.005 * CORE_SECOND  # US dollars: five milliseconds of one core


def saved(one, wrong_cost, wrong):
    """US dollars per 1,000 requests, net of lookups, audits and wrong answers."""
    lookups = one["requests"] - one["exact"]
    net = (one["requests"] - one["backend_calls"]) * price - lookups * LOOKUP - wrong * wrong_cost
    return 1000 * net / one["requests"]


worth = np.geomspace(price / 10, price * 2000, 200)
lines = {target: saved(one, worth, one["wrong"]) for target, one in found.items()}
lines[0.0] = saved(exact_only, worth, 0)
best = np.array(list(lines))[np.argmax(list(lines.values()), axis=0)]

# %% alt="Dollars saved per thousand requests against the cost of a wrong answer, for each target"
figure, axes = plt.subplots()
for target, colour in zip(TARGETS, (GREEN, BLUE, ORANGE, RED)):
    one = found[target]
    _, low, high = one["error_per_hit"]
    axes.plot(worth, lines[target], color=colour, linewidth=2, label=f"target {target:.1%}")
    axes.fill_between(
        worth,
        saved(one, worth, low * one["semantic"]),
        saved(one, worth, high * one["semantic"]),
        color=colour,
        alpha=0.12,
    )
axes.plot(worth, lines[0.0], color="black", linestyle=":", label="only the very same request")
axes.set(
    xscale="log",
    xlabel="cost of one wrong answer [US dollars]",
    ylabel="saved per 1,000 requests [US dollars]",
    xlim=(worth[0], worth[-1]),
    ylim=(0, 1.15 * max(line.max() for line in lines.values())),
)
axes.set_title(f"A call costs {price:.4f} dollars; bands: 95% interval of the error")
axes.legend(loc="lower left")
plt.show()

# %%
print(f"one call: {price:.5f} dollars")
changes = [0, *(place for place in range(1, len(worth)) if best[place] != best[place - 1]), len(worth)]
for start, end in pairwise(changes):
    name = f"a target of {best[start]:.1%}" if best[start] else "no hit by meaning"
    print(f"a wrong answer costs {worth[start] / price:7.1f} to {worth[end - 1] / price:7.1f} calls: best is {name}")

# %% [markdown]
# The bands matter as much as the lines: where they overlap, this trace cannot tell two targets apart, and the
# stricter one is the safer choice.
#
# The same question from the other side: how many requests have to hit for looking paraphrases up to pay at all?
# That is the **break-even** hit rate, from the costs of a lookup, of audits and of errors. The server keeps it for
# every category (`wrong_cost` in the pack) and stops looking up where hits stay below it.

# %% alt="The break-even hit rate against the cost of a wrong answer, and the hit rate that each target reaches"
figure, axes = plt.subplots()
pays_until = {}
for target, colour in zip(TARGETS, (GREEN, BLUE, ORANGE, RED)):
    one = found[target]
    lookups = one["requests"] - one["exact"]
    needed = np.array(
        [
            break_even(
                LookupCosts(LOOKUP, price, wrong=cost), audit=one["audits"] / lookups, error=one["error_per_hit"][0]
            )
            for cost in worth
        ]
    )
    rate = one["semantic"] / lookups
    pays_until[target] = float(worth[needed <= rate].max(initial=0.0))
    axes.plot(
        worth,
        np.where(needed <= 1, 100 * needed, np.nan),
        color=colour,
        linewidth=2,
        label=f"target {target:.1%}: needed",
    )
    axes.axhline(100 * rate, color=colour, linestyle="--", linewidth=1)
axes.set(
    xscale="log",
    xlabel="cost of one wrong answer [US dollars]",
    ylabel="lookups that hit [%]",
    xlim=(worth[0], worth[-1]),
    ylim=(0, 135),
    yticks=range(0, 101, 20),
)
axes.set_title("Break-even (solid) and what was reached (dashed)")
axes.legend(loc="upper left", ncols=2)
plt.show()

# %% [markdown]
# Left of the place where a solid line crosses the dashed one of its colour, that target pays.
#
# ## How the promise is kept
#
# A target is kept by a model of the error, and a model can be wrong. So a share of the hits is audited: the backend
# is asked all the same. Each audit is a bet against the claim that the error is at least the target. The category
# is **provisional** until enough bets are won, **certified** after, and **closed** when labels show more errors
# than were promised: then nothing is served by meaning until the answers that would have been served prove right
# again.

# %% alt="Error per hit so far over the trace for each target, and when the category was closed or certified"
figure, panels = plt.subplots(len(TARGETS), 1, sharex=True, figsize=(7.6, 8.4))
shades = {State.CLOSED: "#FBE3DA", State.CERTIFIED: "#DDF3EA", State.PROVISIONAL: "white", State.INFEASIBLE: "#EEEEEE"}
for axes, (target, (result, stood)) in zip(panels, runs.items()):
    semantic, wrong = np.cumsum(result.semantic), np.cumsum(result.semantic & result.wrong)
    places = np.arange(0, SIZE, 20)
    band = [wilson(int(wrong[place]), int(semantic[place])) for place in places]
    axes.fill_between(
        places, [100 * one.low for one in band], [100 * one.high for one in band], color=BLUE, alpha=0.18, linewidth=0
    )
    axes.plot(places, [100 * one.estimate for one in band], color=BLUE, label="error per hit so far, 95%")
    axes.axhline(100 * target, color=RED, linestyle=":", label="target")
    levels = [np.nan if standing.certified is None else 100 * standing.certified for _, standing in stood]
    axes.step([done for done, _ in stood], levels, where="post", color="black", linewidth=1.2, label="certified level")
    begin = 0
    for done, standing in stood:
        axes.axvspan(begin, done, color=shades[standing.state], zorder=0, linewidth=0)
        begin = done
    axes.set(ylim=(0, 12), xlim=(0, SIZE), ylabel="wrong [%]")
    final = stood[-1][1]
    axes.set_title(
        f"target {target:.1%}: {final.state.value} at the end, {final.audits} audits since it last closed",
        fontsize=10,
        loc="left",
    )
panels[0].legend(fontsize=8, loc="upper right", ncols=3)
panels[-1].set_xlabel("requests (red background: closed; green: certified)")
plt.show()

# %% [markdown]
# The first hits are the riskiest: the prior knows questions in general and none of these. After early errors a
# strict target closes, learns from the misses meanwhile (each one is a label for free), and opens again with a
# better idea of this traffic. That is why a strict target costs most hits at first, and why an error that was made
# early weighs on its average for long.
#
# The black line is the strictest error per hit that audits have certified so far. A trace of this length brings too
# few audits for a strict target. How long a certificate takes follows from the target alone: without any error
# among them, so many audits are needed before the claim "the error is below the target" is safe.

# %%
for target, (_, stood) in runs.items():
    closed = np.mean([standing.state is State.CLOSED for _, standing in stood])
    evidence = ByCategory(helpdesk.with_target(target)).evidence("default")
    needed = evidence.needed if evidence is not None else 0
    print(f"target {target:4.1%}: closed {closed:4.0%} of the time; certified after {needed} audits without an error")

# %% [markdown]
# ## Choosing
#
# - Name the cost of a wrong answer in calls. If you cannot, take the strictest target whose hits you would miss.
# - Replay your own log at that target, and read the interval, not the estimate.
# - Give categories targets of their own: greetings and opening hours may be loose, dosages and deadlines not.
# - If a strict target serves too little, a better embedder moves the whole trade: [fine-tune](fine-tuning.ipynb) one.
