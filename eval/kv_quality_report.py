"""The page and the figure of `eval.kv_quality`.

Knows its rows, by key, and nothing of models.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.markdown import table
from eval.toy_tasks import ACROSS, ALONE, TASKS
from semcache.engine.approximate_prefill import STORED

Rows = dict[str, dict[str, Any]]
Curves = dict[str, list[tuple[float, float]]]
_SHARES = ("0", "0.05", "0.1", "0.15", "0.2", "0.3", "0.5")


def mean(rows: Rows, prefix: str, of: str = "accuracy", tasks: Iterable[str] = TASKS) -> float:
    """The mean over tasks of what was measured."""
    found = [rows[f"{prefix}/{task}"][of] for task in tasks]
    return float(sum(found) / len(found))


def groups(rows: Rows, part: str) -> list[str]:
    """Keys of a part without their tasks, that were measured for every task: method by method."""
    names = dict.fromkeys(key.rpartition("/")[0] for key in rows if key.startswith(part + "/"))
    whole = [name for name in names if all(f"{name}/{task}" in rows for task in TASKS)]
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
            cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TASKS]
            spent = f"{mean(rows, group, 'ms'):.0f}"
            lines.append([name, keep, f"{held:.2f}", *cells, f"{100 * mean(rows, group):.1f}", spent])
    return table(["press", "keep", "memory", *TASKS, "mean", "ms"], lines)


def chunk_table(rows: Rows) -> str:
    """Accuracy of ways to reuse chunks by task."""
    lines = []
    for group in groups(rows, "chunks"):
        _, way, setting = group.split("/")
        cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TASKS]
        means = [f"{100 * mean(rows, group, tasks=tasks):.1f}" for tasks in (ALONE, ACROSS)]
        computed = f"{100 * mean(rows, group, 'computed'):.0f}"
        spent = f"{mean(rows, group, 'ms'):.0f}"
        asks = str(rows[f"{group}/{TASKS[0]}"]["asks"])
        lines.append([way, setting, computed, *cells, *means, asks, spent])
    return table(["way", "setting", "computed %", *TASKS, "alone", "across", "n", "ms"], lines)


def lost(rows: Rows, way: str, tasks: Iterable[str]) -> float:
    """Accuracy lost against computing all, on the same questions."""
    return mean(rows, "chunks/cacheblend/1", tasks=tasks) - mean(rows, f"chunks/{way}", tasks=tasks)


def verdict(rows: Rows) -> str:
    """The loss of CacheBlend against computing all, by the needs of the tasks."""
    measured = set(groups(rows, "chunks"))
    shares = [share for share in _SHARES if f"chunks/cacheblend/{share}" in measured]
    if "chunks/cacheblend/1" not in measured or not shares:
        return ""
    lines = []
    for first, way in (("1", "cacheblend"), ("2", "cacheblend first 2")):
        for share in shares:
            if f"chunks/{way}/{share}" in measured:
                cells = [f"{100 * lost(rows, f'{way}/{share}', tasks):+.1f}" for tasks in (ALONE, ("hop",), ACROSS)]
                lines.append([first, share, *cells])
    return table(["first layers", "share", "points lost alone", "hop", "across"], lines)


def default_table(rows: Rows) -> str:
    """The cost of the presses that may be stored, at half the memory."""
    models = dict.fromkeys(key.split("/")[1] for key in rows if key.startswith("perplexity/"))
    lines = []
    for name in STORED:
        found = [(rows[f"perplexity/{model}/{name}/0.5"], rows[f"perplexity/{model}/full/1"]) for model in models]
        worse = [f"{100 * (row['perplexity'] / full['perplexity'] - 1):+.1f}" for row, full in found]
        cells = [f"{100 * mean(rows, f'presses/{name}/{keep}/stored'):.1f}" for keep in ("0.5", "0.25")]
        lines.append([name, *cells, *worse, f"{mean(rows, f'presses/{name}/0.5/stored', 'ms'):.0f}"])
    heads = [f"{model} +%" for model in models]
    return table(["press", "tasks at 0.5", "tasks at 0.25", *heads, "ms"], lines)


def codec_table(rows: Rows) -> str:
    """Accuracy of codecs by task."""
    lines = []
    for group in groups(rows, "codecs"):
        cells = [f"{100 * rows[f'{group}/{task}']['accuracy']:.0f}" for task in TASKS]
        size, spent = f"{mean(rows, group, 'bytes'):.3f}", f"{mean(rows, group, 'ms'):.2f}"
        lines.append([group.split("/")[1], size, *cells, f"{100 * mean(rows, group):.1f}", spent])
    return table(["codec", "bytes", *TASKS, "mean", "ms"], lines)


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
    if groups(rows, "presses") and any(key.startswith("perplexity/") for key in rows):
        parts += ["## The press that is the default", _DEFAULT, default_table(rows)]
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

    figure, axes = plt.subplots(2, 3, figsize=(18, 11))
    for axis, mode in zip(axes[0], ("stored", "asked"), strict=False):
        curves: Curves = {}
        for group in groups(rows, "presses"):
            _, name, _, asked = group.split("/")
            if asked == mode and name != "full":
                held = mean(rows, group, "bytes") / mean(rows, "presses/full/1/stored", "bytes")
                curves.setdefault(name, []).append((held, 100 * mean(rows, group)))
        _lines(axis, curves)
        axis.set(title=f"presses, {'questions unknown' if mode == 'stored' else 'question in sight'}")
        axis.set(xlabel="memory, share of full", ylabel="accuracy, mean of tasks, %", ylim=(0, 101))
    for axis, tasks, title in (
        (axes[1, 0], ACROSS, "chunks that need what stands before: pronoun"),
        (axes[1, 1], (*ALONE, "hop"), "chunks that do not: lookup, needle, copy, hop"),
    ):
        curves = {}
        for group in groups(rows, "chunks"):
            at = mean(rows, group, "computed", tasks), 100 * mean(rows, group, tasks=tasks)
            curves.setdefault(group.split("/")[1], []).append(at)
        _lines(axis, curves)
        axis.set(title=title, xlabel="computed, share of (token, layer)", ylabel="accuracy, %", ylim=(0, 101))
    for axis, model, of in ((axes[0, 2], "tinystories-656k", "bytes"), (axes[1, 2], "stories260K", "computed")):
        curves = {}
        for key, row in rows.items():
            _, _, way, *_ = (*key.split("/"), "", "")
            if key.startswith(f"perplexity/{model}/") and of in row and way not in ("full", "disk", "ape"):
                full = rows[f"perplexity/{model}/full/1"]["bytes"] if of == "bytes" else 1
                curves.setdefault(way, []).append((row[of] / full, row["perplexity"]))
        _lines(axis, curves)
        axis.set(title=f"{model}, {'presses' if of == 'bytes' else 'chunks'}", ylabel="perplexity")
        axis.set(xlabel="memory, share of full" if of == "bytes" else "computed, share of (token, layer)")
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _lines(axis: Any, curves: Curves) -> None:
    for at, (name, points) in enumerate(curves.items()):
        axis.plot(*zip(*sorted(points), strict=True), marker="osv^Dx*"[at % 7], label=name, linewidth=1)
    if curves:
        axis.legend(fontsize=8)


_COMPARED = ("cacheblend/0.15", "cacheblend/0.2", "first tokens/0.15", "first tokens/0.3", "random tokens/0.3")
_HEAD = """# Quality of KV presses and chunk reuse

`python -m eval.kv_quality --seed {seed}` on the model of `python -m eval.toy_model`: Llama-shaped, 5 layers of 128, 4
heads, 2 KV heads, 0.65 M weights (2.6 MB), float32. Answers count when every token is right. Tasks, in contexts of 256
tokens, chunks of about 64:

- told by one sentence: `lookup` (a key among many), `needle` (one fact in filler), `copy` (four tokens of a quotation);
- `hop`: the key stands in one chunk, its fact in another, but each chunk says by itself what it has to say;
- `pronoun` ("it" is what the heading says), where the heading stands in an earlier chunk than the pronoun: a chunk
  computed by itself cannot know.

With n questions a share p has a standard error of sqrt(p(1-p)/n); n is in `kv-quality.json` ({asks} per task). `ms` is
processor time per question on one shared core, for orientation."""
_STORED = """The context is pressed once, as it would be to be stored and shared; two questions follow, each on its own
copy. `memory` includes scales and sentence vectors. KVzip was made for this, KeyDiff asks no query; SnapKV, PyramidKV
and TOVA judge by the context's last queries, which are no question's here."""
_ASKED = """Context and question are pressed together, for this question alone: not to be shared. The first token of an
answer comes from the whole prefill, so that `copy` alone, which has four, tells presses apart."""
_CHUNKS = """Each chunk was computed behind `<bos>` alone; the first is where it was computed. `computed` counts (token,
layer) pairs; `alone` is the mean of lookup, needle and copy, `across` is pronoun. CacheBlend
computes the first layer (or first 2) in full, then the share given; at 0 nothing but the question. Cache-Craft's chunks
come from an earlier prompt with the same chunks in another order; its setting is alpha, which scales the share that it
finds to be needed. The engine takes alpha 1 unless told otherwise, and where more than half would be computed anew it
computes all and keeps a new variant: an alpha of 0.25 never comes to that, and is always served from variants. APE's
setting is temperature and scale. KVShare's neighbour is the same prompt with six places changed; its setting is the
share computed of what it has in common. `first tokens` and `random tokens` are what choosing must beat: the first of
every chunk, or any, in all layers."""
_DEFAULT = """Of the presses that the engine may store, at half of the memory: accuracy without a question in sight, and
how much worse the perplexity of stories gets."""
_CODECS = """Blocks of 32 tokens written and read as `--disk-codec` does, bytes against float32; of bfloat16 twice that
share. `ms` is for a block, both ways."""
_PERPLEXITY = """Stories that each model says itself (16 of 386 tokens, drawn at temperature 1): the first 257 tokens
are pressed, or put together from chunks of 64, and perplexity is that of the 128 behind. Of two layers, as
tinystories-656k has, CacheBlend computes one and compares all of the other, after which nothing old is left: only
stories260K, of five, tells shares apart. APE loses most here: parts of one story are no documents to be read side by
side."""
