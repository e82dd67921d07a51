"""An exact hit over HTTP, beside a constant under the same server and LiteLLM's local cache.

Every contender is asked the same request; before the load begins its upstream is gone, so that what answers is a cache.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import httpx2

from eval.bench import peers, prompts, servers
from eval.bench.load import Contender, Load, take_turns
from eval.bench.measure import Check, Section, Series
from eval.bench.options import Options

PROMPT = "How do I return a rain jacket that I ordered through the website?"
CHAT = "/v1/chat/completions"


def measure(folder: Path, options: Options) -> Section:
    """Compare at 1 and at 32 connections."""
    section = Section("http", "Exact hit over HTTP")
    request = prompts.body(PROMPT)
    bodies = folder / "exact.jsonl"
    bodies.write_bytes(request + b"\n")
    load = Load(bodies)
    with ExitStack() as stack:
        with servers.upstream(folder) as upstream:
            product = stack.enter_context(servers.product(folder, upstream.url))
            contenders = [Contender("semcache", product, load)]
            if options.peers:
                try:
                    peer = stack.enter_context(peers.litellm(folder, upstream.url))
                    _ask(peer.url, request)
                    contenders.append(Contender("LiteLLM, local cache", peer, load))
                    section.about["litellm"] = peers.installed(peers.LITELLM, "litellm")
                except (peers.Absent, httpx2.HTTPError) as error:
                    section.notes.append(f"LiteLLM was not measured: {error}")
            reply = folder / "constant.json"
            reply.write_bytes(_ask(product.url, request).content)
        constant = stack.enter_context(servers.bare(folder, "constant", "--reply", str(reply)))
        contenders.insert(0, Contender("constant, raw ASGI", constant, load))
        for contender in contenders[1:]:
            _ask(contender.server.url, request)
            _must_miss(contender)
        take_turns(contenders, rounds=options.rounds, seconds=options.seconds)
        told = _ask(product.url, request).headers["cache-status"]
        section.notes.append(f"reply {reply.stat().st_size} bytes; the product said {told!r} when the load had ended")
        section.notes += [f"{each.label}: {each.errors()} errors" for each in contenders if each.errors()]
    section.rows = [contender.row(count) for count in (1, 32) for contender in contenders]
    section.checks = _checks(contenders)
    return section


def _checks(contenders: list[Contender]) -> list[Check]:
    constant, product, *peer = contenders
    checks = []
    for count in (1, 32):
        p50 = product.series(count, "p50", "us").over(constant.series(count, "p50", "us"))
        rate = constant.series(count, "rate", "").over(product.series(count, "rate", ""))
        checks.append(Check(f"p50 at {count} connections, semcache / constant", p50, 2))
        checks.append(Check(f"req/s at {count} connections, constant / semcache", rate, 2))
    for other in peer:
        for count in (1, 32):
            mine, theirs = _per_core(product, count), _per_core(other, count)
            label = f"req/s per core at {count} connections, semcache / {other.label}"
            checks.append(Check(label, mine.over(theirs), 40, at_most=False))
    return checks


def _per_core(contender: Contender, connections: int) -> Series:
    spent = contender.series(connections, "cpu_each", "us")
    return Series(tuple(1e6 / value for value in spent.values))


def _ask(url: str, body: bytes) -> httpx2.Response:
    headers = {"content-type": "application/json", "authorization": "Bearer sk-bench"}
    reply = httpx2.post(url + CHAT, content=body, headers=headers, timeout=20)
    reply.raise_for_status()
    return reply


def _must_miss(contender: Contender) -> None:
    """Make sure that the upstream is gone: a request that was never made before must fail."""
    try:
        _ask(contender.server.url, prompts.body("Who walked on the moon first, and in which year was that?"))
    except httpx2.HTTPError:
        return
    raise RuntimeError(f"{contender.label} answered a new request without an upstream: its hits prove nothing")
