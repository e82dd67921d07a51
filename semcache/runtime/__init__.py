"""The machinery that every room uses: circuit breaker, guarded calls, bounded queue, durations, telemetry."""
