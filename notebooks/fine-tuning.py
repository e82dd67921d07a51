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
# # Fine-tune on your domain
#
# A cache is as good as its embedder tells apart what your users ask. This page takes one domain from raw prompts to
# an embedder of its own: make pairs from prompts, add what is labelled, train for one short pass, look at what was
# won and what was not, and install the result. It needs `pip install 'semcache-llm[train]'` and no network, and
# runs for about a minute on one processor core, because it is small; `SIZE` makes it large.

# %%
import json
import random
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from plotting import BLUE, GREY, RED, use_style
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import card, metrics, pairs, splits
from semcache.train.recipe.authored import groups
from semcache.train.synthesize import Counts, synthesize
from shell import semcache

SEED = 7
SIZE = 140  # questions with labels, and as many without; raise it with your own data, a GPU, or patience
HELD = 60  # questions that are kept for measuring
use_style()

# %% [markdown]
# ## What you have
#
# Customer-support prompts that come with the package play the part of your traffic. They come in groups: a prompt,
# rewordings that share its answer, and prompts that look alike and need another. Whole groups are kept for
# measuring, so that no question of the test is trained on in any wording.
#
# - **Unlabelled prompts**: any log has them.
# - **A few labels**: pairs of prompts, and whether one answer fits both. A running cache collects them from
#   feedback, audits and its judge (`--labels`); here each labelled question has one rewording and one trap.
# - **A test**: written for this page, and hard on purpose. Half of its pairs are traps.

# %%
rng = random.Random(SEED)
support = [group for group in groups() if group.topic == "support"]
rng.shuffle(support)
held, seen = support[:HELD], support[HELD : HELD + 2 * SIZE]
labelled, unlabelled = seen[:SIZE], [group.prompt for group in seen[SIZE:]]

labels = []
for group in labelled:
    kind, trap = rng.choice(group.different)
    labels += [pairs.Pair(group.prompt, rng.choice(group.same), True), pairs.Pair(group.prompt, trap, False, kind)]
test = []
for group in held:
    test += [pairs.Pair(group.prompt, same, True) for same in group.same]
    test += [pairs.Pair(group.prompt, trap, False, kind) for kind, trap in group.different]
assert not splits.leaks(labels, test)

Path("prompts.txt").write_text("\n".join(unlabelled), encoding="utf-8")
pairs.write(labels, Path("labels.jsonl"))
pairs.write(test, Path("test.jsonl"))
print(f"{len(unlabelled)} prompts without labels, {len(labels)} labelled pairs, {len(test)} pairs to measure on")
for pair in test[2:4]:
    print(f"\n{'same answer' if pair.same else 'another answer: ' + pair.kind}\n  {pair.one}\n  {pair.two}")

# %% [markdown]
# ## Pairs from prompts alone
#
# `synthesize` edits prompts by rules: paraphrases that keep the meaning, and near misses with another number, name,
# date, direction or condition. It needs no model, and every pair says how it was made. Authored pairs near the
# prompts, which ship with semcache, would come by themselves; here the rules stay alone (`--written 0`). From a shell,
# and the same from Python:

# %%
semcache(f"embedder synthesize prompts.txt --out synthetic.jsonl --each 1 --written 0 --seed {SEED}")

# %%
counts = Counts()
made = list(synthesize(unlabelled, seed=SEED, each=1, counts=counts))
assert made == pairs.read(Path("synthetic.jsonl"))
for same in (True, False):
    for pair in [pair for pair in made if pair.same is same][:3]:
        print(f"{'same' if same else 'different'}, {pair.made}\n  {pair.one}\n  {pair.two}")

# %% [markdown]
# ## Train
#
# One pass over both files. Texts that stand in the training and in the test pairs would be refused. Afterwards the
# command exports the model, measures it and its base on the test, and calibrates the decision's prior where there
# are enough pairs to learn one from. The rate is higher than the default, for so few steps.

# %%
semcache(
    "embedder finetune synthetic.jsonl labels.jsonl --test test.jsonl --out support-embedder "
    f"--rate 2e-4 --batch 32 --max-tokens 32 --mined 0 --check-share 0.06 --seed {SEED} --device cpu"
)
measured = json.loads(Path("support-embedder/measured.json").read_text(encoding="utf-8"))
training = measured["training"]
print(f"{training['rows']} pairs, {training['steps']} steps; prior: {measured['prior']['chosen']}")

# %% [markdown]
# ## What was won
#
# Both models as the cache runs them, int8 on one thread, on questions that neither was trained on. First the
# scores: a cache can serve well where the two colours lie apart.

# %%
same = np.array([pair.same for pair in test])
scores = {
    "before": card.scores(test, OnnxEmbedder(DEFAULT_MODEL, threads=1).encode),
    "after": card.scores(test, OnnxEmbedder(Path("support-embedder"), threads=1).encode),
}
quality = {name: metrics.measure(found, same) for name, found in scores.items()}

# %% alt="Scores of pairs with the same and with another answer, before and after training"
figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True)
for panel, (name, found) in zip(panels, scores.items()):
    bins = np.linspace(min(found.min(), 0.3), 1.0, 31)
    panel.hist(found[same], bins, color=BLUE, alpha=0.45, label="same answer")
    panel.hist(found[~same], bins, color=RED, histtype="step", linewidth=2, label="another answer")
    panel.axvline(np.median(found[same]), color=BLUE, linestyle="--", linewidth=1.4)
    panel.axvline(np.median(found[~same]), color=RED, linestyle="--", linewidth=1.4)
    panel.set_title(f"{name}: average precision {quality[name].average_precision:.3f}")
    panel.set_xlabel("cosine similarity (dashed: medians)")
panels[0].set_ylabel("pairs")
panels[0].legend(loc="upper left")
plt.show()

# %% [markdown]
# Then precision against recall: go down from the highest score, and see how many of the rightful pairs were served
# and how many of those served are right.


# %%
def ranked(found):
    """Recall and precision after each pair, from the highest score down."""
    order = np.argsort(-found, kind="stable")
    right = np.cumsum(same[order])
    return right / same.sum(), right / np.arange(1, len(order) + 1)


# %% alt="Precision against recall before and after training"
figure, axes = plt.subplots()
for (name, found), colour in zip(scores.items(), (GREY, BLUE)):
    low, high = metrics.interval(found, same, seed=SEED)
    label = f"{name}: average precision {quality[name].average_precision:.3f} ({low:.2f} to {high:.2f})"
    axes.plot(*ranked(found), color=colour, linewidth=2, label=label)
axes.axhline(same.mean(), color="black", linestyle=":", label="serving everything")
axes.set(
    xlabel="recall: rightful pairs that are served", ylabel="precision of what is served", xlim=(0, 1), ylim=(0, 1.02)
)
axes.legend(loc="lower right")
plt.show()

# %%
print(f"{'':24}{'before':>8}{'after':>8}")
for figure_name in card.FIGURES:
    values = [getattr(quality[name], figure_name) for name in ("before", "after")]
    print(f"{card.TITLES[figure_name]:24}{values[0]:8.3f}{values[1]:8.3f}")

# %% [markdown]
# ## What was learned, and what was not
#
# An average hides kinds. For each kind of trap: how often does it score higher than a rewording of the same prompt,
# which is when no threshold can serve the one without the other? One half is chance. Kinds to the right of it look
# more alike to the model than a rewording does, because a trap shares more words with its prompt.

# %%
BEATS = {name: {} for name in scores}
for name, found in scores.items():
    of = {}
    for pair, score in zip(test, found):
        of.setdefault(pair.one, ([], []))[0 if pair.same else 1].append((pair.kind, score))
    for rewordings, traps in of.values():
        for kind, trap in traps:
            BEATS[name].setdefault(kind, []).extend(trap >= score for _, score in rewordings)
overall = {name: float(np.mean([beat for found in BEATS[name].values() for beat in found])) for name in scores}
kinds = [kind for kind, found in BEATS["before"].items() if len(found) >= 15]  # five traps, three rewordings each
kinds.sort(key=lambda kind: np.mean(BEATS["after"][kind]) - np.mean(BEATS["before"][kind]), reverse=True)

# %% alt="For each kind of trap, how often it outranks a rewording of the same prompt, before and after"
figure, axes = plt.subplots(figsize=(7.2, 0.8 + 0.36 * len(kinds)))
for row, kind in enumerate(kinds):
    one, two = (100 * np.mean(BEATS[name][kind]) for name in ("before", "after"))
    axes.plot([one, two], [row, row], color=BLUE if two <= one else RED, linewidth=2, zorder=1)
    axes.scatter([one], [row], color=GREY, s=46, zorder=2, label="before" if not row else None)
    axes.scatter([two], [row], color=BLUE if two <= one else RED, s=46, zorder=2)
axes.axvline(50, color="black", linestyle=":", linewidth=1)
axes.scatter([], [], color=BLUE, s=46, label="after, better")
axes.scatter([], [], color=RED, s=46, label="after, worse")
axes.set_yticks(range(len(kinds)), [f"{kind} ({len(BEATS['before'][kind]) // 3})" for kind in kinds])
axes.set(xlabel="comparisons in which the trap outranks the rewording [%]", xlim=(0, 100))
axes.legend(loc="lower left", fontsize=9)
plt.show()

# %%
print(f"over all kinds: {overall['before']:.0%} before, {overall['after']:.0%} after")

# %% [markdown]
# The number behind each kind says how many traps of it were measured: few, so single kinds are rough. What remains
# is a reminder that an embedder alone does not make a cache safe: guards, P(correct) and audits decide with it, see
# [read a curve](reading-a-curve.ipynb).
#
# ## Install
#
# A score of the new model means something else than the same score of the old one, so nothing may mix them.
# `install` embeds what a cache holds anew, beside the old vectors, and exchanges all at once. Here is a small
# cache, warmed up from a log, as the proxy would have filled it.

# %%
with Path("log.jsonl").open("w", encoding="utf-8") as log:
    for group in held[:20]:
        request = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": group.prompt}]}
        answer = {
            "choices": [
                {"message": {"role": "assistant", "content": f"About: {group.prompt}"}, "finish_reason": "stop"}
            ]
        }
        log.write(json.dumps({"request": request, "response": {"model": "gpt-4o-mini", **answer}}) + "\n")
semcache("import log.jsonl --data cache --policies support --json")
semcache("embedder install support-embedder --data cache --json")

# %% [markdown]
# Restart what serves the cache, and it uses the new model; `semcache embedder install default --data cache` goes
# back.
#
# With your own traffic, start from `semcache embedder finetune --labels --logs your.log`, keep a test of your own
# that no training sees, and raise `SIZE`: more questions help more than more pairs of the same ones. What it costs
# in hits and errors is the subject of [choosing a target](choosing-a-target.ipynb).
