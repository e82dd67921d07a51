"""The keeping of answers: admission, freshness and eviction."""
