"""The cost of a miss: the upstream asked directly and through the proxy, request by request in turns.

The upstream answers at once, every prompt is new, and the proxy stores every answer durably before it replies.
"""

from __future__ import annotations

import http.client
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from eval.bench import prompts, servers, stages
from eval.bench.machine import cores, pinned
from eval.bench.measure import Check, Row, Section, Series, percentile
from eval.bench.options import Options

CHAT = "/v1/chat/completions"
LIMIT_US = 5000
QUANTITIES = ("first byte p50", "first byte p99", "whole p50", "whole p99")


def measure(folder: Path, options: Options) -> Section:
    """Compare bodies and streams, one connection each."""
    section = Section("miss", "Added latency on a miss")
    count = 150 if options.quick else 400
    found: dict[tuple[str, bool], dict[str, list[float]]] = {}
    outcomes: Counter[str] = Counter()
    spent = 0.0
    with ExitStack() as stack:
        upstream = stack.enter_context(servers.upstream(folder))
        product = stack.enter_context(servers.product(folder, upstream.url))
        clients = {"direct": Client(upstream.url), "through semcache": Client(product.url)}
        stack.enter_context(pinned(cores()[1]))
        for turn in range(-1, options.rounds):
            for stream in (False, True):
                texts = prompts.fresh(count if turn >= 0 else 20, f"{options.seed}/{turn}/{stream}")
                before = product.cpu_seconds()
                told = _round(clients, [prompts.body(text, stream=stream) for text in texts])
                if turn < 0:
                    continue
                spent += product.cpu_seconds() - before
                for label, (times, statuses) in told.items():
                    kept = found.setdefault((label, stream), {name: [] for name in QUANTITIES})
                    for name, which in (("first byte", 0), ("whole", 1)):
                        took = [1e6 * pair[which] for pair in times]
                        kept[f"{name} p50"].append(percentile(took, 0.5))
                        kept[f"{name} p99"].append(percentile(took, 0.99))
                    outcomes.update(outcome(status) for status in statuses if label != "direct")
        for client in clients.values():
            client.close()
    for (label, stream), values in found.items():
        series = {name: Series(tuple(each), "us") for name, each in values.items()}
        section.rows.append(Row(f"{label}, {'stream' if stream else 'body'}", series))
    for stream in (False, True):
        direct, proxied = (found[label, stream] for label in clients)
        names = ("first byte p50", "whole p50", "whole p99") if stream else ("whole p50", "whole p99")
        for name in names:
            added = Series(tuple(proxied[name]), "us").less(Series(tuple(direct[name]), "us"))
            section.checks.append(Check(f"added to a {'stream' if stream else 'body'}, {name}", added, LIMIT_US))
    requests = sum(outcomes.values())
    section.about["outcomes"] = dict(outcomes)
    section.notes += [
        f"the proxy spent {1e6 * spent / max(1, requests):,.0f} us of processor time a request and answered "
        + ", ".join(f"{name}: {number / requests:.1%}" for name, number in outcomes.most_common()),
        "upstream and client share a processor, the proxy has the other; p99 of the difference is that of two p99s",
    ]
    with (folder / "product.log").open() as log:
        section.notes.append(stages.sentence(log, "miss"))
    return section


class Client:
    """One connection that is kept open."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(where.hostname), where.port or 80, timeout=30)

    def ask(self, body: bytes) -> tuple[float, float, str]:
        """Seconds until the first byte of the reply's body and until its end, and what `Cache-Status` said."""
        headers = {"content-type": "application/json", "authorization": "Bearer sk-bench"}
        started = time.perf_counter()
        self._connection.request("POST", CHAT, body, headers)
        reply = self._connection.getresponse()
        reply.read1(1)
        first = time.perf_counter()
        reply.read()
        done = time.perf_counter()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status} instead of an answer")
        return first - started, done - started, reply.headers.get("cache-status", "")

    def close(self) -> None:
        self._connection.close()


def _round(clients: dict[str, Client], bodies: list[bytes]) -> dict[str, tuple[list[tuple[float, float]], list[str]]]:
    told: dict[str, tuple[list[tuple[float, float]], list[str]]] = {label: ([], []) for label in clients}
    for number, body in enumerate(bodies):
        for label in clients if number % 2 else reversed(clients):
            first, whole, status = clients[label].ask(body)
            told[label][0].append((first, whole))
            told[label][1].append(status)
    return told


def outcome(status: str) -> str:
    """A `Cache-Status` without what differs from request to request."""
    parts = [part.strip() for part in status.split(";")[1:]]
    return "; ".join(part for part in parts if not part.startswith("ttl="))
