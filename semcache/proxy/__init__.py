"""The HTTP server of the cache: routes, callers, background calls and the life of a proxy process."""
