"""The upstream: backends, replicas and their routing, and request coalescing."""
