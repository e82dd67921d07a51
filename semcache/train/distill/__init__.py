"""Smaller embedders from a larger one: fewer dimensions, fewer layers, fewer words, or a table without any network."""
