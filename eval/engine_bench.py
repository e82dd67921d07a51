"""Savings of the local engine, as ratios in one run on a CPU.

Times are process CPU seconds with one thread, so that a busy machine disturbs them little; sides that are compared are
measured in turns, and each value is the median over rounds with the range in brackets. Models have random weights
(`eval.engine_models`), except where a tiny real one is at hand for the drafts.
Run: python -m eval.engine_bench [SECTION…] [--rounds 5]; writes eval/results/engine.json and engine.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.engine_asking import NEW, PREFIX, Json, ask, cpu, names, spread, tokens
from eval.engine_beside import throughput, ttft
from eval.engine_eviction import eviction
from eval.engine_models import make
from eval.engine_pauses import pauses
from semcache.engine import EngineConfig, Job, Sampling
from semcache.engine.engine import Engine
from semcache.engine.fairness import TenantDeficits, WaitingRequest
from semcache.engine.job import Approximation
from semcache.engine.startup import open_engine

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[1].parent / "shared" / "data" / "models"


def documents(folder: Path, rounds: int) -> Json:
    """Time to the first token: eight documents of 256 tokens that were read before, in another order."""
    engine, rng = open_engine(EngineConfig(str(folder))), random.Random(13)
    head, size = tokens(rng, 32), 256
    spans = tuple(range(at, at + size) for at in range(len(head), len(head) + 8 * size, size))
    ways: dict[str, Approximation | None] = {"all computed": None, "the same order, cached": None}
    ways |= {
        f"CacheBlend, {share:g}": Approximation(spans, chunks="blend", recompute=share) for share in (0.0, 0.15, 0.3)
    }
    ways["side by side (APE)"] = Approximation(spans, chunks="parallel")
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        texts = [tokens(rng, size) for _ in spans]
        other = rng.sample(texts, len(texts))
        for name, way in ways.items():
            first = other if "same" in name else texts
            ask(engine, [sum(first, head) + tokens(rng, NEW)], 1, name, approximation=way)
            prompt = sum(other, head) + tokens(rng, NEW)
            times[name].append(cpu(lambda: ask(engine, [prompt], 1, name, approximation=way)))  # noqa: B023
    cold = times["all computed"]
    return {
        "columns": ["to the first token", "CPU time", "all computed / this"],
        "rows": [
            [
                name,
                spread(values, " ms", 1e3),
                spread([slow / fast for slow, fast in zip(cold, values, strict=True)], " x", digits=2),
            ]
            for name, values in times.items()
        ],
        "notes": [
            "one of four layers is computed in full before tokens are chosen: deeper models spare more",
            "what the shares cost in quality: kv-quality.md",
        ],
    }


def drafts(folder: Path, rounds: int) -> Json:
    """A cached answer as a draft: accepted tokens and speed-up by how much of it is right."""
    rng = random.Random(9)
    plain, drafting = (open_engine(EngineConfig(str(folder), draft=size)) for size in (0, 16))
    rows = []
    for wrong in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        gains, taken = [], []
        for _ in range(rounds):
            prompt = tokens(rng, 512)
            (said,) = ask(plain, [prompt], 128)
            ask(drafting, [prompt], 1)
            draft = [rng.randrange(6, 8000) if rng.random() < wrong else token for token in said]
            slow = cpu(lambda: ask(plain, [prompt], 128))  # noqa: B023
            answer: list[list[int]] = []
            before = _accepted(drafting)
            fast = cpu(lambda: answer.extend(ask(drafting, [prompt], 128, draft=draft)))  # noqa: B023
            assert answer[0] == said, "a draft changed an answer"
            gains.append(slow / fast)
            taken.append((_accepted(drafting) - before) / 128)
        rows.append([f"{100 * (1 - wrong):.0f} %", spread(taken, " %", 100, 0), spread(gains, " x", digits=2)])
    result: Json = {
        "columns": ["draft tokens that are right", "said tokens that were accepted drafts", "speed-up"],
        "rows": rows,
    }
    result["notes"] = ["every answer with a draft was token for token that without one", _neighbours()]
    return result


def _accepted(engine: Engine) -> float:
    return engine.metrics._drafted.labels("accepted")._value.get()


def _neighbours() -> str:
    """Answers of real neighbours: a story begun with another name is the draft for this one."""
    path = DATA / "tinystories-656k"
    if not path.is_dir():
        return "no tiny real model at hand: neighbours' answers were not tried"
    plain, drafting = (open_engine(EngineConfig(str(path), draft=size)) for size in (0, 16))
    gains, taken = [], []
    for place, (one, other) in itertools.product(
        ("park", "lake", "zoo", "shop"), itertools.combinations(("Lily", "Tom", "Sue", "Ben"), 2)
    ):
        asked = [f"Once upon a time, {name} went to the {place} with a big red ball." for name in (one, other)]
        prompts = [plain.tokenizer.encode(text) for text in asked]
        draft, said = ask(plain, [prompts[0]], 96)[0], ask(plain, [prompts[1]], 96)[0]
        ask(drafting, [prompts[1]], 1)
        slow, before = cpu(lambda: ask(plain, [prompts[1]], 96)), _accepted(drafting)  # noqa: B023
        answer: list[list[int]] = []
        fast = cpu(lambda: answer.extend(ask(drafting, [prompts[1]], 96, draft=draft)))  # noqa: B023
        assert answer[0] == said
        gains.append(slow / fast)
        taken.append((_accepted(drafting) - before) / 96)
    return (
        f"tinystories-656k, {len(gains)} pairs of prompts that differ in a name, the neighbour's answer as the draft: "
        f"{spread(taken, ' %', 100, 0)} of the tokens were accepted drafts, {spread(gains, ' x', digits=2)} as fast"
    )


def restart(folder: Path, rounds: int) -> Json:
    """The prefix after a restart, from disk."""
    rng, rows = random.Random(10), []
    with tempfile.TemporaryDirectory() as disk:
        cold, loaded, warm = [], [], []
        for _ in range(rounds):
            prefix = tokens(rng, PREFIX)
            for times in (cold, loaded):
                engine = open_engine(EngineConfig(str(folder), disk=Path(disk)))
                ask(engine, [tokens(rng, 64)], 1)
                times.append(cpu(lambda: ask(engine, [prefix + tokens(rng, NEW)], 1)))  # noqa: B023
                if times is loaded:
                    warm.append(cpu(lambda: ask(engine, [prefix + tokens(rng, NEW)], 1)))  # noqa: B023
                engine.close()
        size = sum(path.stat().st_size for path in Path(disk).rglob("*.safetensors"))
    for name, values in {"cold, being written": cold, "from disk": loaded, "in memory": warm}.items():
        rows.append([name, spread(values, " ms", 1e3)])
    return {
        "columns": ["to the first token", "CPU time"],
        "rows": rows,
        "notes": [f"{size / rounds / (PREFIX + NEW) / 1024:.1f} KiB on disk per token, checksums verified on loading"],
    }


def isolation(folder: Path, rounds: int) -> Json:
    """Isolation of tenants: the time to a first token tells a tenant of its own prompts, never of those of others."""
    from scipy.stats import mannwhitneyu

    del rounds
    engine, rng = open_engine(EngineConfig(str(folder), cache_bytes=256 << 20)), random.Random(11)
    samples: dict[tuple[str, bool], list[float]] = {}
    plan = [(who, known) for who in ("same tenant", "another tenant") for known in (True, False)] * 250
    rng.shuffle(plan)
    for who, known in plan:
        prompt, other = tokens(rng, 129), tokens(rng, 129)
        ask(engine, [prompt if known else other], 1, tenant="a")
        taken = cpu(lambda: ask(engine, [prompt], 1, tenant="a" if who == "same tenant" else "b"))  # noqa: B023
        samples.setdefault((who, known), []).append(taken)
    rows, p = [], {}
    for who in ("same tenant", "another tenant"):
        known, fresh = samples[who, True], samples[who, False]
        p[who] = float(mannwhitneyu(known, fresh).pvalue)
        rows.append([who, spread(known, " ms", 1e3), spread(fresh, " ms", 1e3), f"{p[who]:.2g}"])
    return {
        "targets": [
            ["p, another tenant", f"{p['another tenant']:.2g}", ">= 0.001", p["another tenant"] >= 0.001],
            ["p, same tenant (the test can see)", f"{p['same tenant']:.2g}", "< 0.001", p["same tenant"] < 0.001],
        ],
        "columns": ["who asked before", "prompt known", "prompt new", "p (Mann-Whitney)"],
        "rows": rows,
        "notes": ["250 samples each, in random order, 129 tokens"],
    }


class _Fcfs(TenantDeficits):
    def rank(self, waiting: Sequence[WaitingRequest]) -> list[WaitingRequest]:
        return sorted(waiting, key=lambda one: one.order)


class _Lpm(TenantDeficits):
    def rank(self, waiting: Sequence[WaitingRequest]) -> list[WaitingRequest]:
        return sorted(waiting, key=lambda one: (-one.cached, one.order))


def fairness(folder: Path, rounds: int) -> Json:
    """A tenant that floods the queue with long prompts of its own, beside two with short ones that share a prefix."""
    del rounds
    rows = []
    for name, kind in {"DLPM": TenantDeficits, "LPM": _Lpm, "FCFS": _Fcfs}.items():
        rng = random.Random(12)
        config = EngineConfig(str(folder), draft=0, max_running=4, quantum=1024, max_wait=1e9)
        engine = open_engine(config)
        engine._waiting.deficits = kind(config.quantum)
        served = dict.fromkeys(("flood", "b", "c"), 0.0)
        pay = engine._waiting.deficits.pay

        def paid(tenant: str, *, prompt: int = 0, generated: int = 0, to: Any = served, then: Any = pay) -> None:
            to[tenant] += prompt + 2 * generated
            then(tenant, prompt=prompt, generated=generated)

        engine._waiting.deficits.pay = paid  # type: ignore[method-assign]
        jobs = [("flood", tokens(rng, 768)) for _ in range(16)]
        for tenant in ("b", "c"):
            prefix = tokens(rng, 256)
            jobs += [(tenant, prefix + tokens(rng, 32)) for _ in range(16)]
        left = {"flood": 16, "b": 16, "c": 16}
        owner: dict[str, str] = {}
        for tenant, prompt in jobs:
            owner[job := str(next(names))] = tenant
            engine.submit(Job(job, prompt, Sampling(max_tokens=16, ignore_eos=True), tenant))
        gap, began, ends = 0.0, time.process_time(), {"flood": 0.0, "b": 0.0, "c": 0.0}
        while not engine.idle:
            for delta in engine.step():
                if delta.spent is not None:
                    left[owner[delta.job]] -= 1
                    ends[owner[delta.job]] = time.process_time() - began
            if all(left.values()):
                gap = max(gap, max(served.values()) - min(served.values()))
        took = time.process_time() - began
        polite = max(ends["b"], ends["c"])
        rows.append([name, f"{gap:,.0f}", f"{polite:.2f} s", f"{ends['flood']:.2f} s", f"{48 / took:.1f}/s"])
    # A tenant may be ahead by its quantum and what it was let in with while not yet in debt.
    bound = 2 * (1024 + 4 * (768 + 2 * 16))
    met = float(rows[0][1].replace(",", "")) <= bound
    return {
        "targets": [["greatest gap in service, DLPM", f"{rows[0][1]} tokens", f"<= {bound:,} tokens", met]],
        "columns": ["policy", "greatest gap while all wait", "polite tenants done", "flood done", "requests"],
        "rows": rows,
        "notes": [
            "16 prompts of 768 tokens against 2 x 16 of 288 that share 256, four at a time",
            "service is prompt tokens computed and twice the tokens said; wanted: two quanta and eight requests",
        ],
    }


SECTIONS = {
    "ttft": ttft, "documents": documents, "throughput": throughput, "drafts": drafts, "restart": restart,
    "pauses": pauses, "eviction": eviction, "isolation": isolation, "fairness": fairness,
}  # fmt: skip


def write(results: Json) -> str:
    """The results as a page."""
    lines = ["# The local engine", "", *(__doc__ or "").splitlines()[2:5], ""]
    for name, result in results.items():
        lines += [f"## {result['title']}", ""]
        if result.get("targets"):
            lines += ["| target | measured | wanted |  |", "| --- | --- | --- | --- |"]
            lines += [f"| {a} | {b} | {c} | {'met' if met else '**missed**'} |" for a, b, c, met in result["targets"]]
            lines += [""]
        lines += [f"| {' | '.join(result['columns'])} |", "|" + " --- |" * len(result["columns"])]
        lines += [f"| {' | '.join(row)} |" for row in result["rows"]]
        lines += ["", *(f"- {note}" for note in result.get("notes", []))]
        lines += [f"- `python -m eval.engine_bench {name} --rounds {result['rounds']}`, {result['machine']}", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    kept = RESULTS / "engine.json"
    results: Json = json.loads(kept.read_text()) if kept.is_file() else {}
    machine = (
        f"seed 7 to 13, 1 thread of {os.cpu_count()} on {platform.machine()}, Python {platform.python_version()}, "
        f"torch {torch.__version__}, transformers {transformers.__version__}; llama of 4 layers, hidden 256, "
        "vocabulary 8,192, random weights"
    )
    with tempfile.TemporaryDirectory() as folder:
        model = make(Path(folder) / "llama", vocabulary=8192, hidden=256, layers=4, context=8192, half=True)
        for name in options.sections or SECTIONS:
            began = time.monotonic()
            result = SECTIONS[name](model, options.rounds)
            title = (SECTIONS[name].__doc__ or name).rstrip(".")
            results[name] = {"title": title, **result, "rounds": options.rounds, "machine": machine}
            print(write({name: results[name]}), f"({time.monotonic() - began:.0f} s)\n", flush=True)
            kept.write_text(json.dumps({name: results[name] for name in SECTIONS if name in results}, indent=2) + "\n")
    (RESULTS / "engine.md").write_text(write(json.loads(kept.read_text())))
    missed = [row for result in results.values() for row in result.get("targets", []) if not row[3]]
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
