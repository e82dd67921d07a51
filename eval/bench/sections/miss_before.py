"""The cost of a miss today beside that of an earlier commit: both proxies in turns, in one run.

Each runs from a checkout of its own under the same interpreter, and sleeps while the other is asked. Knows processes
and their processor time, nothing of what is decided. Invariant: both are asked the same prompts, and each starts with
an empty store.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from eval.bench import prompts, servers
from eval.bench.machine import cores, pinned
from eval.bench.measure import Row, Section, Series, percentile
from eval.bench.options import ROOT, Options
from eval.bench.sections.miss import Client, outcome
from eval.bench.servers import DidNotStart, Server
from eval.demo import free_port

_WARM = 100  # requests to each before the first turn
_SETTLING = 0.5  # seconds for what a proxy does after its last reply, which is its own processor time


@dataclass(frozen=True, slots=True)
class _Turn:
    """What one turn of one proxy took: microseconds added to the p50, microseconds of processor time a request."""

    added: float
    spent: float
    outcomes: Counter[str]


def measure(folder: Path, options: Options) -> Section:
    """Ask both in turns, the earlier one first in every second round. Raises DidNotStart without a checkout."""
    if options.before is None:
        raise DidNotStart("there is nothing to compare with: name a checkout of an earlier commit by --before FOLDER")
    section = Section("miss_before", "A miss, before and today")
    sides = {_commit(options.before): options.before.resolve(), _commit(ROOT): ROOT}
    if len(sides) < 2:
        raise DidNotStart(f"{options.before} is at the commit of this checkout: name one of an earlier commit")
    count = 60 if options.quick else 200
    found: dict[str, list[_Turn]] = {label: [] for label in sides}
    with ExitStack() as stack:
        upstream = stack.enter_context(servers.upstream(folder))
        proxies: dict[str, Server] = {}
        for number, (label, checkout) in enumerate(sides.items()):
            server = stack.enter_context(_proxy(checkout, folder / f"side{number}", upstream.url))
            proxies[label] = server
            server.sleep()
        stack.enter_context(pinned(cores()[1]))
        for turn in range(-1, options.rounds):
            texts = prompts.fresh(count if turn >= 0 else _WARM, f"{options.seed}/{turn}/before")
            bodies = [prompts.body(text, stream=False) for text in texts]
            for label in list(sides) if turn % 2 else reversed(sides):
                took = _turn(proxies[label], upstream.url, bodies)
                if turn >= 0:
                    found[label].append(took)
    for label, turns in found.items():
        values = {
            "added to the p50": Series(tuple(one.added for one in turns), "us"),
            "processor time a miss": Series(tuple(one.spent for one in turns), "us"),
        }
        section.rows.append(Row(label, values))
    before, today = (row.values for row in section.rows)
    ratios = {name: today[name].over(before[name]) for name in before}
    section.rows.append(Row("today / before", ratios))
    section.notes += [_answered(label, turns) for label, turns in found.items()]
    section.notes.append(
        f"{count} new prompts a turn, the same for both, one connection; one proxy sleeps while the other is asked; "
        "processor time is that of the whole proxy, what it does after its replies included; upstream and client share "
        "a processor, the proxies have the other"
    )
    return section


def _turn(proxy: Server, upstream: str, bodies: list[bytes]) -> _Turn:
    """Ask the upstream and the proxy in turns, request by request, over connections of this turn."""
    proxy.wake()
    clients = {"direct": Client(upstream), "proxied": Client(proxy.url)}
    spent, outcomes = proxy.cpu_seconds(), Counter[str]()
    took: dict[str, list[float]] = {label: [] for label in clients}
    for body in bodies:
        for label, client in clients.items():
            _, whole, status = client.ask(body)
            took[label].append(1e6 * whole)
        outcomes[outcome(status)] += 1
    time.sleep(_SETTLING)
    spent = proxy.cpu_seconds() - spent
    for client in clients.values():
        client.close()
    proxy.sleep()
    added = percentile(took["proxied"], 0.5) - percentile(took["direct"], 0.5)
    return _Turn(added, 1e6 * spent / len(bodies), outcomes)


def _answered(label: str, turns: list[_Turn]) -> str:
    told = sum((one.outcomes for one in turns), Counter[str]())
    each = ", ".join(f"{name}: {number / told.total():.1%}" for name, number in told.most_common())
    return f"{label} answered {each}"


def _proxy(checkout: Path, folder: Path, upstream: str) -> AbstractContextManager[Server]:
    """The proxy of a checkout, whatever is installed."""
    folder.mkdir()
    env = {"PYTHONPATH": str(checkout)}
    port = free_port()
    command = [sys.executable, "-P", "-m", "semcache.cli", "serve", "--upstream", upstream, "--port", str(port)]
    command += ["--data", str(folder / "data"), "--policies", "default"]
    return servers.serving(command, f"http://127.0.0.1:{port}/readyz", folder / "product.log", core=cores()[0], env=env)


def _commit(checkout: Path) -> str:
    """The commit of a checkout and its day, as the page names it. Raises DidNotStart where there is none."""
    command = ["git", "-C", str(checkout), "log", "-1", "--date=short", "--format=%h of %ad"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode:
        raise DidNotStart(f"{checkout} is no checkout of this repository: {told.stderr.strip()}")
    return told.stdout.strip()
