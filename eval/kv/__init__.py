"""Presses and ways to reuse chunks that `eval.kv_quality` compares with those that the engine serves."""
