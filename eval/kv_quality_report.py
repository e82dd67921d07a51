"""The page and the figure of `eval.kv_quality`.

Knows its rows, by key, and nothing of models.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.markdown import table
from eval.toy_tasks import TAKEN

Rows = dict[str, dict[str, Any]]


def mean(rows: Rows, prefix: str, of: str = "accuracy", tasks: Iterable[str] = TAKEN) -> float:
    """The mean over tasks of what was measured."""
    found = [rows[f"{prefix}/{task}"][of] for task in tasks]
    return float(sum(found) / len(found))


def groups(rows: Rows, part: str) -> list[str]:
    """Keys of a part without their tasks, that were measured for every task: method by method."""
    names = dict.fromkeys(key.rpartition("/")[0] for key in rows if key.startswith(part + "/"))
    whole = [name for name in names if all(f"{name}/{task}" in rows for task in TAKEN)]
    methods = list(dict.fromkeys(name.split("/")[1] for name in whole))
    return sorted(whole, key=lambda name: ("/full/" not in name, methods.index(name.split("/")[1]), name))


def press_table(rows: Rows, mode: str) -> str:
    """Accuracy of presses by task."""
    full = mean(rows, "presses/full/1/stored", "bytes")
    lines = []
    for group in groups(rows, "presses"):
        _, name, keep, asked = group.split("/")
        if asked == mode or name == "full":
            held = mean(rows, group, "bytes") / full
            cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TAKEN]
            spent = f"{mean(rows, group, 'ms'):.0f}"
            lines.append([name, keep, f"{held:.2f}", *cells, f"{100 * mean(rows, group):.1f}", spent])
    return table(["press", "keep", "memory", *TAKEN, "mean", "ms"], lines)


def chunk_table(rows: Rows) -> str:
    """Accuracy of ways to reuse chunks by task."""
    lines = []
    for group in groups(rows, "chunks"):
        _, way, setting = group.split("/")
        cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TAKEN]
        computed = f"{100 * mean(rows, group, 'computed'):.0f}"
        spent = f"{mean(rows, group, 'ms'):.0f}"
        asks = str(rows[f"{group}/{TAKEN[0]}"]["asks"])
        lines.append([way, setting, computed, *cells, f"{100 * mean(rows, group):.1f}", asks, spent])
    return table(["way", "setting", "computed %", *TAKEN, "mean", "n", "ms"], lines)


def verdict(rows: Rows) -> str:
    """How far CacheBlend is from computing all, on the same questions."""
    full, part = "chunks/cacheblend/1", []
    for share in ("0", "0.15", "0.2"):
        group = f"chunks/cacheblend/{share}"
        if {full, group} <= set(groups(rows, "chunks")):
            part.append(f"{100 * (mean(rows, group) - mean(rows, full)):+.1f} points at {share}")
    return (
        f"CacheBlend against computing all: {', '.join(part)}. That computing nothing anew is as good says that these "
        "tasks hardly need what stands before a chunk, not that a small share suffices where it is needed."
    )


def codec_table(rows: Rows) -> str:
    """Accuracy of codecs by task."""
    lines = []
    for group in groups(rows, "codecs"):
        cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TAKEN]
        size, spent = f"{mean(rows, group, 'bytes'):.3f}", f"{mean(rows, group, 'ms'):.2f}"
        lines.append([group.split("/")[1], size, *cells, f"{100 * mean(rows, group):.1f}", spent])
    return table(["codec", "bytes", *TAKEN, "mean", "ms"], lines)


def perplexity_table(rows: Rows) -> str:
    """Perplexity of the real models."""
    models = list(dict.fromkeys(key.split("/")[1] for key in rows if key.startswith("perplexity/")))
    ways = list(dict.fromkeys(key.split("/", 2)[2] for key in rows if key.startswith("perplexity/")))
    lines = []
    for way in ways:
        found = [rows.get(f"perplexity/{model}/{way}") for model in models]
        lines.append([*way.split("/"), *("" if row is None else f"{row['perplexity']:.2f}" for row in found)])
    return table(["way", "keep or computed", *models], lines)


def closed(rows: Rows) -> str:
    """How much of what reuse costs in perplexity is won back by computing a few tokens, where layers are enough."""
    ways = {way: f"perplexity/stories260K/{way}" for way in _COMPARED}
    if not {"perplexity/stories260K/cacheblend/0", "perplexity/stories260K/full/1", *ways.values()} <= rows.keys():
        return ""
    worst = rows["perplexity/stories260K/cacheblend/0"]["perplexity"]
    lost = worst - rows["perplexity/stories260K/full/1"]["perplexity"]
    won = [
        f"{way.replace('/', ' ')} {100 * (worst - rows[key]['perplexity']) / lost:.0f} %" for way, key in ways.items()
    ]
    return f"Of what stories260K loses when nothing is computed anew, these win back: {', '.join(won)}."


def write(rows: Rows, folder: Path, *, seed: int) -> None:
    """Write `kv-quality.md` and `kv-quality.png`."""
    asks = " or ".join(map(str, sorted({row["asks"] for row in rows.values() if "asks" in row})))
    parts = [_HEAD.format(seed=seed, asks=asks)]
    if groups(rows, "presses"):
        parts += ["## Presses, questions unknown", _STORED, press_table(rows, "stored")]
        parts += ["## Presses, question in sight", _ASKED, press_table(rows, "asked")]
    if groups(rows, "chunks"):
        parts += ["## Chunks", _CHUNKS, chunk_table(rows), verdict(rows)]
    if groups(rows, "codecs"):
        parts += ["## A disk's codecs", _CODECS, codec_table(rows)]
    if any(key.startswith("perplexity/") for key in rows):
        parts += ["## Perplexity of tiny real models", _PERPLEXITY, perplexity_table(rows), closed(rows)]
    (folder / "kv-quality.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    _plot(rows, folder / "kv-quality.png")


def _plot(rows: Rows, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(23, 5.5))
    for axis, mode in zip(axes, ("stored", "asked"), strict=False):
        curves: dict[str, list[tuple[float, float]]] = {}
        for group in groups(rows, "presses"):
            _, name, _, asked = group.split("/")
            if asked == mode and name != "full":
                held = mean(rows, group, "bytes") / mean(rows, "presses/full/1/stored", "bytes")
                curves.setdefault(name, []).append((held, 100 * mean(rows, group)))
        _lines(axis, curves)
        axis.set(title=f"presses, {'questions unknown' if mode == 'stored' else 'question in sight'}")
        axis.set(xlabel="memory, share of full", ylabel="accuracy, mean of tasks, %", ylim=(0, 101))
    curves = {}
    for group in groups(rows, "chunks"):
        _, way, _ = group.split("/")
        curves.setdefault(way, []).append((mean(rows, group, "computed"), 100 * mean(rows, group)))
    _lines(axes[2], curves)
    axes[2].set(title="chunks", xlabel="computed, share of (token, layer)", ylabel="accuracy, %", ylim=(80, 101))
    curves = {}
    for key, row in rows.items():
        if key.startswith("perplexity/stories260K/") and "computed" in row and "/ape/" not in key:
            curves.setdefault(key.split("/")[2], []).append((row["computed"], row["perplexity"]))
    _lines(axes[3], curves)
    axes[3].set(title="chunks, stories260K", xlabel="computed, share of (token, layer)", ylabel="perplexity")
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _lines(axis: Any, curves: dict[str, list[tuple[float, float]]]) -> None:
    for at, (name, points) in enumerate(curves.items()):
        axis.plot(*zip(*sorted(points), strict=True), marker="osv^Dx*"[at % 7], label=name, linewidth=1)
    if curves:
        axis.legend(fontsize=8)


_COMPARED = ("cacheblend/0.15", "cacheblend/0.2", "first tokens/0.15", "first tokens/0.3", "random tokens/0.3")
_HEAD = """# Quality of KV presses and chunk reuse

`python -m eval.kv_quality --seed {seed}` on the model of `python -m eval.toy_model`: Llama-shaped, 4 layers of 128, 4
heads, 2 KV heads, 0.6 M weights, float32, trained on texts of up to 440 tokens. Answers count when every token is
right. Tasks, in contexts of 256 tokens: `lookup` (a key among many), `needle` (one fact in filler), `copy` (three
tokens behind a given one); of 64 tokens: `section` (a fact under a heading that may stand in an earlier chunk). The
model learned neither longer sections nor two hops, which are left out. With n questions a share p has a standard
error of sqrt(p(1-p)/n); n is in `kv-quality.json` ({asks} per task). `ms` is processor time per question on one
shared core, for orientation."""
_STORED = """The context is pressed once, as it would be to be stored and shared; two questions follow, each on its own
copy. `memory` includes scales and sentence vectors. KVzip, made for this, KeyDiff, which asks no query, and SentenceKV
lead, as published; SnapKV, PyramidKV and TOVA judge by the context's last queries, which are no question's here."""
_ASKED = """Context and question are pressed together, for this question alone: not to be shared. The first token of an
answer comes from the whole prefill, so that `copy` alone, which has three, tells presses apart. PyramidKV, SnapKV, H2O
and StreamingLLM come in their published order; TOVA does not, as the one query that it judges by asks for the first
token of a quotation and not yet for those behind."""
_CHUNKS = """Four to five chunks of about 64 tokens (`section`: of 16), each computed behind `<bos>` alone; the first
is where it was computed. `computed` counts (token, layer) pairs. CacheBlend computes the first layer (or first 2) in
full, then the share given. Cache-Craft's chunks come from an earlier prompt with the same chunks in another order; its
setting is alpha. APE's is temperature and scale. KVShare's neighbour is the same prompt with six places changed; its
setting is the share computed of what it has in common, and here it matters, as sentences themselves were changed.
`first tokens` and `random tokens` are what choosing must beat: the first of every chunk, or any, in all layers. Both
baselines and two first layers were measured at a few shares alone (`--texts 96`)."""
_CODECS = """Blocks of 32 tokens written and read as `--disk-codec` does, bytes against float32; of bfloat16 twice that
share. `ms` is for a block, both ways."""
_PERPLEXITY = """Stories that each model says itself (16 of 386 tokens, drawn at temperature 1): the first 257 tokens
are pressed, or put together from chunks of 64, and perplexity is that of the 128 behind. Unlike the tasks above,
stories need what stands before a chunk. Of two layers, as tinystories-656k has, CacheBlend computes one and compares
all of the other, after which nothing old is left: only stories260K, of five, tells shares apart. APE loses most here:
parts of one story are no documents to be read side by side. KeyDiff, which keeps what is unlike the rest, leads on the
tasks' distinct keys and is last on tinystories-656k."""
