"""Clients with vectors of their own: pairs of the same answer are near in some directions and far in noise."""

from __future__ import annotations

import numpy as np

from semcache.train.distill.linear_map import PairVectors
from semcache.train.federate.local_training import ClientPairs, FederationPlan

DIM = 8


def plan(**changes: object) -> FederationPlan:
    return FederationPlan("toy", DIM, **{"rounds": 4, "batch": 16, "rate": 2e-2, "patience": 30.0} | changes)  # type: ignore[arg-type]


def pairs(count: int, seed: int) -> PairVectors:
    """Half of the dimensions tell what is meant; the rest are noise that only training can learn to disregard."""
    rng = np.random.default_rng(seed)
    meaning, other = rng.normal(size=(count, DIM // 2)), rng.normal(size=(count, DIM // 2))
    same = rng.random(count) < 0.5
    sides = [np.where(same[:, None], meaning, other), meaning]
    one, two = (np.concatenate([side, rng.normal(size=(count, DIM // 2))], axis=1) for side in sides)
    one, two = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, two))
    return PairVectors(one.astype(np.float32), two.astype(np.float32), same)


def owner(seed: int, count: int = 60) -> ClientPairs:
    return ClientPairs(pairs(count, seed), pairs(count, seed + 1000))
