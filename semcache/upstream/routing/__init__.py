"""Prefix-affine routing over several replicas of one model.

Blocks of prompts, the blocks that each replica is believed to hold, and the choice of a replica are pure: time is an
argument, and so are the secrets that keys are made with. `router`, `replica`, `attempt`, `tokens` and `event_stream` do
the I/O.
"""
