"""The engine's Prometheus metrics, in a registry of their own.

Knows names and meanings. Invariant: labels are bounded; no tenant, prompt or id is ever a label.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from semcache.engine.job import FinishReason

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class EngineMetrics:
    """The counters, gauges and histograms of one engine."""

    def __init__(self) -> None:
        r = self._registry = CollectorRegistry()
        self._prompt = Counter("semcache_engine_prompt_tokens", "Prompt tokens, by origin.", ["source"], registry=r)
        self.generated = Counter("semcache_engine_generated_tokens", "Tokens generated.", registry=r)
        self._drafted = Counter("semcache_engine_draft_tokens", "Drafted tokens, by fate.", ["result"], registry=r)
        self._requests = Counter("semcache_engine_choices", "Choices that ended.", ["finish"], registry=r)
        self.refused = Counter("semcache_engine_refused", "Requests refused under overload.", registry=r)
        self.preempted = Counter("semcache_engine_preempted", "Sequences that made way for others.", registry=r)
        self.approximated = Counter(
            "semcache_engine_shortcuts", "Texts that were read the short way, by way.", ["way"], registry=r
        )
        self.evicted = Counter("semcache_engine_evicted_blocks", "Blocks given up.", registry=r)
        self._tiers = Counter("semcache_engine_tier_blocks", "Blocks of the tiers.", ["tier", "event"], registry=r)
        self.first_token = Histogram(
            "semcache_engine_first_token_seconds", "Time to the first token.", registry=r, buckets=_SECONDS
        )
        self._steps = Histogram("semcache_engine_step_seconds", "Time of a forward pass.", registry=r, buckets=_SECONDS)
        self._computed = Counter("semcache_engine_computed_tokens", "Tokens put through the model.", registry=r)
        self._running = Gauge("semcache_engine_running", "Sequences at work.", registry=r)
        self._waiting = Gauge("semcache_engine_waiting", "Jobs that wait.", registry=r)
        self._usage = Gauge("semcache_engine_cache_usage", "Share of pages in use, kept prefixes included.", registry=r)
        self._blocks = Gauge("semcache_engine_cached_blocks", "Blocks in the prefix tree.", registry=r)

    def prompt(self, tokens: int, cached: int) -> None:
        """Count a prompt, of whose tokens so many came from the cache."""
        self._prompt.labels("cache").inc(cached)
        self._prompt.labels("compute").inc(tokens - cached)

    def drafted(self, tokens: int, accepted: int) -> None:
        """Count a verified draft."""
        self._drafted.labels("accepted").inc(accepted)
        self._drafted.labels("rejected").inc(tokens - accepted)

    def ended(self, finish: FinishReason) -> None:
        """Count a choice that ended."""
        self._requests.labels(finish.value).inc()

    def step(self, tokens: int, seconds: float) -> None:
        """Count a forward pass."""
        self._computed.inc(tokens)
        self._steps.observe(seconds)

    def tier(self, tier: str, event: str) -> None:
        """Count a block that a tier stored, gave back, lost or found damaged."""
        self._tiers.labels(tier, event).inc()

    def state(self, running: int, waiting: int, usage: float, blocks: int) -> None:
        """Show how full the engine is."""
        self._running.set(running)
        self._waiting.set(waiting)
        self._usage.set(usage)
        self._blocks.set(blocks)

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self._registry)
