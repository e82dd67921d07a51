"""The main job, for real: a proxy and an upstream as processes, some sixty prompts through the `openai` client.

Prints what became of each prompt, and a summary. No key and no network are needed: the upstream is the scripted one
that the tests use, made as slow as a fast model. Run it with `make demo`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
from rich.console import Console
from rich.table import Table

from eval.prompts import ANSWERS, ASKS, SYSTEM, Ask

MODEL = "gpt-4o-mini"
STYLES = {"exact": "green", "wording": "green", "semantic": "cyan", "miss": "yellow", "bypass": "magenta"}


@dataclass(frozen=True, slots=True)
class Told:
    """The reply to one prompt."""

    ask: Ask
    outcome: str
    why: str
    score: float | None
    p_correct: float | None
    seconds: float
    tokens: int
    text: str

    @property
    def served(self) -> bool:
        return self.outcome in ("exact", "wording", "semantic")

    @property
    def right(self) -> bool:
        return self.text == ANSWERS[self.ask.key]


def main() -> int:
    """Run the demo; exit status 1 when a wrong answer was served."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--latency", type=float, default=0.4, help="seconds until the upstream's first token")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="semcache-demo-")))
        upstream = stack.enter_context(echo(folder, options.latency))
        proxy = stack.enter_context(semcache(folder, upstream))
        console.print(f"upstream {upstream}, first token after {options.latency:.1f} s; proxy {proxy}\n")
        client = stack.enter_context(openai.OpenAI(base_url=f"{proxy}/v1", api_key="not-needed", max_retries=0))
        told = [tell(client, ask) for ask in ASKS]
        stats = httpx2.get(f"{proxy}/semcache/stats", timeout=10).json()
        calls = httpx2.get(f"{upstream}/echo/stats", timeout=10).json()
    console.print(rows(told))
    summary(console, told, stats["total"], calls)
    return 1 if any(reply.served and not reply.right for reply in told) else 0


def tell(client: openai.OpenAI, ask: Ask) -> Told:
    """Send one prompt as any program would, and read what the proxy says of it."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    messages += [{"role": role, "content": text} for role, text in ask.earlier]
    messages.append({"role": "user", "content": ask.prompt})
    started = time.perf_counter()
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL,
        messages=messages,
        stream=ask.stream,
        **({"stream_options": {"include_usage": True}} if ask.stream else {}),
    )
    reply: Any = raw.parse()
    if ask.stream:
        chunks = list(reply)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        usage = chunks[-1].usage
    else:
        text, usage = reply.choices[0].message.content, reply.usage
    seconds = time.perf_counter() - started
    status = raw.headers["cache-status"]
    detail = status.rpartition("detail=")[2]
    hit = "; hit" in status
    outcome = detail if hit else "bypass" if "fwd=bypass" in status else "miss"
    score, p_correct = (raw.headers.get(f"x-semcache-{name}") for name in ("score", "p-correct"))
    tokens = usage.total_tokens if usage else 0
    return Told(
        ask,
        outcome,
        "" if hit else detail,
        float(score) if score else None,
        float(p_correct) if p_correct else None,
        seconds,
        tokens if hit else 0,
        text,
    )


def rows(told: list[Told]) -> Table:
    """The table of all prompts."""
    table = Table(box=None, pad_edge=False)
    table.add_column("prompt", no_wrap=True, overflow="ellipsis")
    for heading, width in (("is a", 18), ("outcome", 8), ("why", 15)):
        table.add_column(heading, no_wrap=True, min_width=width)
    for heading, width in (("score", 5), ("P(correct)", 10), ("ms", 6), ("tokens saved", 12)):
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    table.add_column("answer", no_wrap=True, min_width=6)
    for reply in told:
        ask = reply.ask
        prompt = ("… " if ask.earlier else "") + ask.prompt
        table.add_row(
            prompt,
            ask.kind + (", stream" if ask.stream else ""),
            f"[{STYLES[reply.outcome]}]{reply.outcome}[/]",
            reply.why,
            "" if reply.score is None else f"{reply.score:.3f}",
            "" if reply.p_correct is None else f"{reply.p_correct:.3f}",
            f"{reply.seconds * 1e3:.1f}",
            str(reply.tokens or ""),
            "[green]right[/]" if reply.right else "[bold red]WRONG[/]",
        )
    return table


def summary(console: Console, told: list[Told], total: dict[str, Any], calls: dict[str, Any]) -> None:
    """The work of the cache for these prompts."""
    served = [reply for reply in told if reply.served]
    wrong = [reply for reply in served if not reply.right]
    chances = [reply for reply in told if reply.ask.kind in ("repeat", "paraphrase")]
    used = [reply for reply in chances if reply.served]
    traps = [reply for reply in told if reply.ask.kind == "trap"]
    hit_ms = sorted(reply.seconds * 1e3 for reply in served)
    miss_ms = sorted(reply.seconds * 1e3 for reply in told if not reply.served)
    spent, saved = total["spent_usd"], total["saved_usd"]
    console.print(
        f"\n{len(told)} prompts, {len(served)} answered from the cache: "
        f"{sum(reply.outcome == 'exact' for reply in served)} exact, "
        f"{sum(reply.outcome == 'wording' for reply in served)} by equal wording, "
        f"{sum(reply.outcome == 'semantic' for reply in served)} by meaning; "
        f"{sum(calls.get('paths', {}).values()) or 'the rest'} upstream calls\n"
        f"repeats and paraphrases served: {len(used)} of {len(chances)}; "
        f"wrong answers served: {len(wrong)} of {len(served)} hits "
        f"({sum(reply.served for reply in traps)} of {len(traps)} traps taken)\n"
        f"median latency: hit {hit_ms[len(hit_ms) // 2]:.1f} ms, forwarded {miss_ms[len(miss_ms) // 2]:.1f} ms\n"
        f"tokens saved: {total['saved_tokens']:,}; at list price of {MODEL}: "
        f"${saved:.6f} saved, ${spent:.6f} spent ({saved / (saved + spent):.0%} less)"
    )


@contextmanager
def echo(folder: Path, latency: float) -> Iterator[str]:
    """The scripted upstream as a process; yields its URL."""
    answers = folder / "answers.json"
    lines: dict[str, str] = {}
    for ask in ASKS:
        said = [text for role, text in ask.earlier if role == "user"]
        lines["\n".join([*said, ask.prompt])] = ANSWERS[ask.key]
    answers.write_text(json.dumps(lines), encoding="utf-8")
    port = free_port()
    command = ["-m", "semcache.upstream.backends.echo", "--port", str(port), "--latency", str(latency)]
    with process([sys.executable, *command, "--answers", str(answers)], f"http://127.0.0.1:{port}/echo/stats"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def semcache(folder: Path, upstream: str, *extra: str) -> Iterator[str]:
    """The proxy as a process, as a user starts it; yields its URL."""
    port = free_port()
    program = shutil.which("semcache", path=str(Path(sys.executable).parent)) or "semcache"
    command = [program, "serve", "--upstream", upstream, "--port", str(port), "--data", str(folder / "data"), *extra]
    with process(command, f"http://127.0.0.1:{port}/readyz"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def process(command: list[str], ready: str) -> Iterator[None]:
    """Run a server until the block ends; wait until `ready` answers."""
    log = tempfile.TemporaryFile()  # noqa: SIM115
    running = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        for _ in range(300):
            if running.poll() is not None:
                break
            try:
                if httpx2.get(ready, timeout=1).status_code == 200:
                    yield
                    return
            except httpx2.TransportError:
                time.sleep(0.1)
        log.seek(0)
        raise SystemExit(f"{' '.join(command)} did not start:\n{log.read().decode(errors='replace')}")
    finally:
        running.terminate()
        running.wait(timeout=10)
        log.close()


def free_port() -> int:
    """A port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
