"""The HTTP skin of the cache."""
