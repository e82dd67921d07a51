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
# # Read a precision-versus-hit-ratio curve
#
# Every semantic cache makes one trade: the more requests it serves, the more of them it serves wrongly. This page
# draws that trade for the embedder that ships, on requests whose right answers are known, and reads it: where a
# fixed threshold stands, what "error" is a share of, why prompts that look alike matter more than their number, and
# what the certified decision does differently. It needs no training library and no network.

# %%
import math
import random
from dataclasses import dataclass

import matplotlib.pyplot as plt
import msgspec
import numpy as np

from plotting import BLUE, GREEN, GREY, ORANGE, RED, use_style
from semcache.config import packs
from semcache.matching import decide, guards
from semcache.matching.strategies import ByCategory
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.recipe.authored import groups
from semcache.train.repeats import repeat
from semcache.types import Candidate, Card, Controls, Serve

SEED = 7
SIZE = 280  # cached prompts; there are some hundred more. Raise it for smoother curves.
TOPICS = ("support", "everyday", "workplace", "business")
use_style()

# %% [markdown]
# ## Requests whose answers are known
#
# The package holds groups of prompts that were authored for it: a prompt, rewordings that share its answer, and
# prompts that look alike and need another one. The first prompt of each group goes into a cache. Then four kinds of
# requests come:
#
# - a **repeat**: the cached prompt with a typo, a greeting, another case;
# - a **rewording**: the same question in other words;
# - a **trap**: a question that differs in one word, number or name, and in its answer;
# - something **new**: a prompt of a group that is not in the cache.
#
# With your own traffic the labels come from feedback, audits, or logs in which equal answers mark equal questions.

# %%
rng = random.Random(SEED)
chosen = [group for group in groups() if group.topic in TOPICS]
rng.shuffle(chosen)
cached, absent = chosen[:SIZE], chosen[SIZE : SIZE + SIZE // 2]


@dataclass(frozen=True)
class Asked:
    text: str
    kind: str
    right: int  # place of the cached prompt that has the answer, -1: none has


requests = [Asked(group.prompt, "new", -1) for group in absent]
for place, group in enumerate(cached):
    requests.append(Asked(repeat(group.prompt, rng), "repeat", place))
    requests.append(Asked(rng.choice(group.same), "rewording", place))
    requests.append(Asked(rng.choice(group.different)[1], "trap", -1))
rng.shuffle(requests)

group = cached[0]
print("cached:    ", group.prompt)
for one in requests:
    if one.right == 0:
        print(f"{one.kind + ':':11}", one.text)
print("trap:      ", group.different[0][1])

# %% [markdown]
# How often each kind comes is a property of the traffic, not of the model. Here it is an assumption, stated once
# and varied further down. Each request gets the weight that makes its kind come up that often.

# %%
MIX = {"repeat": 0.35, "rewording": 0.15, "trap": 0.10, "new": 0.40}
kinds = np.array([one.kind for one in requests])


def weights(mix):
    """The share of traffic that each request stands for; sums to 1."""
    return sum(share / (kinds == kind).sum() * (kinds == kind) for kind, share in mix.items())


weight = weights(MIX)
rightful = weight[[one.right >= 0 for one in requests]].sum()
print(f"{len(requests)} requests to a cache of {len(cached)} prompts; {rightful:.0%} of the traffic could be served")

# %% [markdown]
# ## What the embedder sees
#
# A fixed threshold serves a request if its nearest neighbour scores high enough. So the whole story of a fixed
# threshold is in the score of the nearest neighbour.

# %%
embedder = OnnxEmbedder(DEFAULT_MODEL, threads=1)
rows = embedder.encode([group.prompt for group in cached] + [one.text for one in requests])
scores = np.clip(rows[len(cached) :] @ rows[: len(cached)].T, -1.0, 1.0)
nearest = scores.max(axis=1)
right = scores.argmax(axis=1) == np.array([one.right for one in requests])
pack = packs.load("support")
alone = {name: msgspec.structs.replace(one, verify="off") for name, one in pack.categories.items()}
pack = msgspec.structs.replace(pack, categories=alone)  # no verifier takes part on this page
fixed = pack.of("default").threshold

# %% alt="Nearest-neighbour scores by kind of request: repeats and traps overlap above the threshold"
bins = np.linspace(0.2, 1.0, 41)
figure, panels = plt.subplots(4, 1, sharex=True, figsize=(7.2, 6.2))
for panel, (kind, colour) in zip(panels, (("repeat", BLUE), ("rewording", GREEN), ("trap", RED), ("new", GREY))):
    of = kinds == kind
    panel.hist(nearest[of], bins, weights=np.full(of.sum(), 100 / of.sum()), color=colour)
    panel.axvline(fixed, color="black", linestyle="--", linewidth=1)
    panel.set_ylabel("share [%]")
    panel.set_title(f"{kind}: {(nearest[of] >= fixed).mean():.0%} at or above {fixed:g}", loc="left", fontsize=10)
panels[-1].set_xlabel("cosine similarity to the nearest cached prompt")
figure.suptitle("Traps score like rewordings, and some like repeats")
plt.show()

# %% [markdown]
# What is new scores low: telling topics apart is easy. Traps lie where repeats lie, because a sentence with one
# number exchanged *is* similar. The traps that score highest:

# %%
for place in [place for place in np.argsort(-nearest) if requests[place].kind == "trap"][:5]:
    print(f"{nearest[place]:.3f}  asked:  {requests[place].text}")
    print(f"       cached: {cached[int(scores[place].argmax())].prompt}\n")

# %% [markdown]
# ## The curve
#
# Go down from the highest score and serve one request more at each step. The **hit ratio** is the share of all
# requests that is served, the **precision** the share of what is served that is right. Every fixed threshold is one
# point of the curve. To the right lies more traffic served, up lies less harm, and nothing but a better ranking
# moves the curve itself.


# %%
def curve(confidence, correct, weight):
    """Hit ratio and precision for every place to stop; requests of equal confidence are served together."""
    order = np.argsort(-confidence, kind="stable")
    served, rightly = np.cumsum(weight[order]), np.cumsum((weight * correct)[order])
    last = np.append(np.diff(confidence[order]) != 0, True)
    return served[last], (rightly / served)[last]


def at_threshold(threshold, weight):
    """Hit ratio, and error per hit, of a fixed threshold."""
    hits = weight[nearest >= threshold].sum()
    return hits, weight[(nearest >= threshold) & ~right].sum() / hits


# %% alt="Precision against hit ratio for the cosine of the shipped embedder, with fixed thresholds as points"
hits, precision = curve(nearest, right, weight)
figure, axes = plt.subplots()
axes.plot(hits, precision, color=GREY, linewidth=2)
for threshold in (0.98, 0.95, fixed, 0.85, 0.75):
    ratio, error = at_threshold(threshold, weight)
    axes.plot(ratio, 1 - error, "o", color="black")
    axes.annotate(f"{threshold:g}", (ratio, 1 - error), textcoords="offset points", xytext=(6, 5))
axes.axvline(rightful, color=GREEN, linestyle=":")
axes.text(rightful - 0.005, 0.72, "all that could be served", rotation=90, ha="right", color=GREEN)
axes.axhline(0.99, color=RED, linestyle=":")
axes.text(0.005, 0.985, "1% error per hit", color=RED, va="top")
axes.set(xlim=(0, 0.65), ylim=(0.7, 1.01), xlabel="hit ratio", ylabel="precision of hits")
axes.set_title("One embedder, every fixed threshold")
plt.show()

# %% [markdown]
# Three things to read off:
#
# - **Where it starts.** A curve that does not begin at the top has traps among its very highest scores: then *no*
#   threshold, however strict, is safe.
# - **Where it crosses your target.** Left of that point is what a fixed threshold can serve within the target, if
#   somebody told it the right number. Nobody does: the crossing is known in hindsight, from labels.
# - **How far it is from the dotted line on the right.** That is what a better embedder, guards or a verifier can
#   win.

# %%
within = hits[precision >= 0.99]
print(f"within 1% error per hit: {within.max() if len(within) else 0:.1%} of requests, known in hindsight")
ratio, error = at_threshold(fixed, weight)
print(f"the threshold in the pack, {fixed:g}: {ratio:.1%} of requests, {error:.1%} of these hits are wrong")

# %% [markdown]
# ## Error per hit, error per request
#
# "Two percent error" may mean two percent of the *hits* or two percent of the *requests*. Of the same wrong answers
# the second makes a smaller number, the smaller the fewer are served: a cache that serves one request in ten, half
# of these wrongly, has an error of five percent per request. A user who gets an answer from the cache lives by the
# error per hit. The pack says which one a target is about (`contract`), and reports show both.

# %% alt="Error per hit and per request against the threshold on a logarithmic axis"
levels = np.linspace(0.6, 0.995, 80)
found = np.array([at_threshold(level, weight) for level in levels])
figure, axes = plt.subplots()
axes.plot(levels, 100 * found[:, 1], color=RED, linewidth=2, label="of 100 hits, wrong (error per hit)")
axes.plot(levels, 100 * found[:, 0] * found[:, 1], color=ORANGE, linewidth=2, label="of 100 requests, wrong")
axes.axhline(1, color="black", linestyle=":", label="a target of 1%")
axes.axvline(fixed, color="black", linestyle="--", linewidth=1)
axes.set(yscale="log", xlabel="fixed threshold (cosine)", ylabel="wrong answers [%]", xlim=(0.6, 1.0))
axes.set_title("The same wrong answers, counted twice")
axes.yaxis.set_major_formatter("{x:g}")
axes.legend()
plt.show()

# %% [markdown]
# ## Why traps matter
#
# Precision depends on what is asked. Below, neither the model nor any score changes; only the share of traffic that
# is traps does, at the cost of what is new. Figures measured on easy traffic (pairs that are paraphrases or have
# nothing to do with each other) say little about a help desk whose customers ask for the same thing in three
# countries.

# %% alt="The curve for three shares of traps in the traffic"
figure, axes = plt.subplots()
by_traps = {}
for share, colour in ((0.01, GREEN), (0.10, GREY), (0.30, RED)):
    mixed = weights(MIX | {"trap": share, "new": MIX["trap"] + MIX["new"] - share})
    ratios, precisions = curve(nearest, right, mixed)
    axes.plot(ratios, precisions, color=colour, linewidth=2, label=f"{share:.0%} of requests are traps")
    ratio, error = by_traps[share] = at_threshold(fixed, mixed)
    axes.plot(ratio, 1 - error, "o", color=colour)
axes.set(xlim=(0, 0.65), ylim=(0.4, 1.01), xlabel="hit ratio", ylabel="precision of hits")
axes.set_title(f"Same scores, other traffic; dots: threshold {fixed:g}")
axes.legend(loc="lower left")
plt.show()

# %%
for share, (ratio, error) in by_traps.items():
    print(f"{share:4.0%} traps: the threshold {fixed:g} serves {ratio:.1%} of requests, {error:.1%} of them wrongly")

# %% [markdown]
# ## What the certified decision does with the same neighbours
#
# `strategy: certified`, the default of every pack, ranks by P(correct) instead of the cosine: a calibrated
# probability from the score, the neighbourhood, the words that are missing or too many, and what the guards found.
# The functions below are those that decide in the server. Nothing is learned here: this is the decision of the
# first day, from the prior that ships.
#
# The second look of a verifier, which packs may ask for, is left out: the project trains its own on these very
# groups, so that it would look better here than on prompts that nobody has seen.

# %%
cards = [Card(place + 1, b"", b"", "default", group.prompt, 0.0, math.inf) for place, group in enumerate(cached)]
controls, names = Controls(), pack.of("default").guards


def decided(place, threshold):
    """What the cache decides about one request, with eight neighbours."""
    near = np.argsort(-scores[place])[:8]
    return decide.semantic(
        [Candidate(cards[one], float(scores[place, one])) for one in near],
        requests[place].text,
        decide.RequestTerms("default", controls, now=1.0, draw=1.0),
        threshold,
        lambda query, found: guards.conflicts(query, found, names),
    )


def replayed(target):
    """Hit ratio and error per hit when all requests come one after the other, and what was thought of each."""
    threshold = ByCategory(pack.with_target(target))
    served, wrong, confidence, correct = 0.0, 0.0, [], []
    for place, one in enumerate(requests):
        decision = decided(place, threshold)
        serves = isinstance(decision, Serve)
        threshold.note("default", decision.p_correct, served=serves, audited=False)
        card = decision.card if serves else decision.nearest and decision.nearest.card
        correct.append(card is not None and card.id - 1 == one.right)
        # What a guard vetoes is not served, whatever the rest says.
        vetoed = not serves and decision.why.value == "guard"
        confidence.append(0.0 if vetoed else decision.p_correct or 0.0)
        served += weight[place] * serves
        wrong += weight[place] * (serves and not correct[-1])
    return served, wrong / served if served else 0.0, np.array(confidence), np.array(correct)


targets = {target: replayed(target) for target in (0.005, 0.01, 0.02, 0.05)}
_, _, confidence, correct = targets[0.01]

# %% alt="The curve of P(correct) with guards above that of the cosine, with the certified decision at four targets"
ranked, better = curve(confidence, correct, weight)
figure, axes = plt.subplots()
axes.plot(hits, precision, color=GREY, linewidth=2, label="cosine alone, every threshold")
axes.plot(ranked, better, color=BLUE, linewidth=2, label="P(correct) and guards, every limit")
for (target, (ratio, error, *_)), marker in zip(targets.items(), "v^sD"):
    axes.plot(ratio, 1 - error, marker, color=BLUE, markersize=9, markeredgecolor="white", label=f"target {target:.1%}")
ratio, error = at_threshold(fixed, weight)
axes.plot(ratio, 1 - error, "o", color="black", markersize=8, label=f"threshold {fixed:g}")
axes.axvline(rightful, color=GREEN, linestyle=":")
axes.set(xlim=(0, 0.65), ylim=(0.7, 1.01), xlabel="hit ratio", ylabel="precision of hits")
axes.set_title("Ranking by P(correct), stopping where the target says")
axes.legend(loc="lower left", fontsize=9)
plt.show()


# %%
def precision_at(ratio, hits, precision):
    """The precision at the first place of a curve where this share of requests is served."""
    return float(precision[np.searchsorted(hits, ratio)])


for share in (0.2, 0.3, 0.4):
    one, two = precision_at(share, hits, precision), precision_at(share, ranked, better)
    print(f"serving {share:.0%} of requests: error per hit {1 - one:.1%} by cosine, {1 - two:.1%} by P(correct)")
for target, (ratio, error, *_) in targets.items():
    print(f"target {target:.1%}: serves {ratio:.1%}, error per hit {error:.2%}")

# %% [markdown]
# Over most of its length the blue curve lies above the grey one: for the same share of requests, fewer wrong
# answers. Where on the blue curve the cache stops is not a number that somebody has to guess for each embedder and
# each kind of traffic. It follows from the target, so that the average of 1 - P(correct) over what is served keeps
# it.
#
# At strict targets the cache serves far less of the blue curve than it could. A prior is no knowledge of *your*
# traffic, so the first day is cautious: few answers are sure enough, and what the sure ones leave of the budget is
# spent only once they have been served. Misses and audits turn this into knowledge: every miss shows whether a
# neighbour would have been right, and of its hits the server asks the backend about a share all the same. It then
# serves more, or closes a category in which it sees more errors than were promised.
# [Choose a target](choosing-a-target.ipynb) shows that over time;
# [the decision in detail](../docs/decision-reference.md#the-certified-strategy) describes it.
