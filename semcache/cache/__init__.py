"""The cache: lookup, writing, maintenance, opening, and the faces of the library."""
