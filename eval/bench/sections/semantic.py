"""A semantic hit over HTTP: another wording of a stored prompt each time, which neither exact tier nor memory knows.

Beside it the bare floor without batching, GPTCache with the same model, and on the same server an exact hit; the
embedding alone is measured in this process on the servers' processor, in the same rounds.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from eval.bench import filling, peers, prompts, servers, stages
from eval.bench.load import Contender, Load, take_turns
from eval.bench.machine import cores, pinned
from eval.bench.measure import Check, Row, Section, Series
from eval.bench.options import Options
from semcache.models.embedders import DEFAULT_MODEL

STORED = 4000
POOL = 12_000  # several times what the embedder remembers
ALLOWANCE_US = 500


def measure(folder: Path, options: Options) -> Section:
    """Compare at 1 and at 32 connections."""
    section = Section("semantic", "Semantic hit over HTTP")
    count = STORED // 8 if options.quick else STORED
    texts, wordings = prompts.stored(count), prompts.paraphrases(count)[:POOL]
    filling.import_prompts(folder, texts)
    others = asyncio.run(filling.servable(folder / "data", wordings))
    pool = _lines(folder / "paraphrases.jsonl", [prompts.body(text) for text in others])
    one = _lines(folder / "exact.jsonl", [prompts.body(texts[0])])
    known = _lines(folder / "prompts.jsonl", [prompts.body(text) for text in texts])
    replies = _lines(folder / "replies.jsonl", [json.dumps(prompts.completion(text)).encode() for text in texts])
    (folder / "answers.json").write_text(json.dumps([prompts.answer(text) for text in texts]))
    with ExitStack() as stack:
        # Nobody answers behind this cache: a miss would be an error, and would not be paid for here.
        product = stack.enter_context(servers.product(folder, "http://127.0.0.1:9", filling.static(folder)))
        arguments = ("--model", str(DEFAULT_MODEL), "--prompts", str(known), "--replies", str(replies))
        floor = stack.enter_context(servers.bare(folder, "floor", *arguments))
        hit = Contender("semcache, semantic", product, Load(pool, tell=True))
        exact = Contender("semcache, exact", product, Load(one, tell=True), connections=(1,))
        bare = Contender("floor, raw ASGI", floor, Load(pool))
        singles = _gptcache(stack, section, folder, (known, pool)) if options.peers else []
        embedding = Embedding(others, 60 if options.quick else 300)
        take_turns([bare, hit, exact, *singles], rounds=options.rounds, seconds=options.seconds, between=embedding.run)
    section.about |= {"stored": count, "pool": len(others), "share_semantic": round(hit.share("semantic"), 4)}
    section.notes.append(
        f"strategy `static`, guards and features as always; {count} stored prompts; the {len(others)} of "
        f"{len(wordings)} paraphrases that the policy serves, in turn: "
        f"{hit.share('semantic'):.1%} semantic hits, "
        f"{hit.share('exact'):.1%} exact, {hit.share('missed') + hit.share('failed'):.1%} neither"
    )
    with (folder / "product.log").open() as log:
        section.notes.append(stages.sentence(log, "semantic"))
    section.rows = [contender.row(1) for contender in (bare, hit, exact, *singles)]
    section.rows += [contender.row(32) for contender in (bare, hit)]
    section.rows.append(Row("embedding alone", {"p50": embedding.series}))
    section.checks = _checks(bare, hit, exact, embedding.series, singles)
    return section


class Embedding:
    """The shipped model alone, one text at a time, on the servers' processor."""

    def __init__(self, texts: list[str], count: int) -> None:
        from semcache.models.embedders.onnx import OnnxEmbedder

        self._model = OnnxEmbedder(DEFAULT_MODEL)
        self._texts, self._count, self._at = texts, count, 0
        self._values: list[float] = []

    def run(self) -> None:
        """Embed the next `count` texts."""
        took = []
        with pinned(cores()[0]):
            for _ in range(self._count):
                text = [self._texts[self._at % len(self._texts)]]
                self._at += 1
                started = time.perf_counter()
                self._model.encode(text)
                took.append((time.perf_counter() - started) * 1e6)
        self._values.append(median(took))

    @property
    def series(self) -> Series:
        return Series(tuple(self._values), "us")


def _gptcache(stack: ExitStack, section: Section, folder: Path, files: tuple[Path, Path]) -> list[Contender]:
    known, pool = files
    found = []
    models: tuple[tuple[str, Callable[[], Path]], ...] = (
        ("the same int8 model", lambda: DEFAULT_MODEL),
        ("float32", lambda: peers.float_model(folder)),
    )
    for label, model in models:
        try:
            server = stack.enter_context(peers.gptcache(folder, model(), known, folder / "answers.json"))
        except peers.Absent as error:
            section.notes.append(f"GPTCache with {label} was not measured: {error}")
            continue
        # Its handler blocks its event loop: more connections would show nothing of it.
        found.append(Contender(f"GPTCache server, {label}", server, Load(pool), connections=(1,)))
    section.notes.append(
        "GPTCache: its own server application and /v1/chat/completions, SQLite and faiss, one onnxruntime thread, "
        "under uvicorn with uvloop and httptools; a miss would be an error"
    )
    return found


def _checks(
    bare: Contender, hit: Contender, exact: Contender, embedding: Series, singles: list[Contender]
) -> list[Check]:
    alone = hit.series(1, "p50", "us").less(exact.series(1, "p50", "us")).less(embedding)
    share = Series((100 * hit.share("semantic"),), "%")
    checks = [
        Check("share of semantic hits", share, 95, at_most=False),
        Check("p50 at 1 connection beyond exact hit and embedding", alone, ALLOWANCE_US),
    ]
    rate = hit.series(32, "rate", "").over(bare.series(32, "rate", ""))
    checks.append(Check("req/s at 32 connections, semcache / floor", rate, 1, at_most=False))
    for other in singles:
        if other.errors():
            checks.append(Check(f"{other.label}: errors (misses)", Series((float(other.errors()),)), 0))
        for quantity, label in (("p50", "p50"), ("cpu_each", "processor time a request")):
            ratio = other.series(1, quantity, "us").over(hit.series(1, quantity, "us"))
            checks.append(Check(f"{label} at 1 connection, {other.label} / semcache", ratio, 5, at_most=False))
    return checks


def _lines(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path
