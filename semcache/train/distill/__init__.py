"""Distillation of a smaller embedder: fewer dimensions, fewer layers, fewer words, or a table without any network."""
