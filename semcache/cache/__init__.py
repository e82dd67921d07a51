"""The cache: lookup, writing, maintenance, opening, and what `SemanticCache` of `agents/library.py` builds on."""
