"""The cache: lookup, writing, maintenance, opening, and the sync and async classes of the library."""
