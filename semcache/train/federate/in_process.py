"""A federation in one process, which shows in seconds what a number of clients would learn together.

Knows the clients' vectors and runs their work in turn; no network. With `masked` it does all the arithmetic of the
protocol; without, the sums are the same to the bit, since masks cancel. Invariant: equal pairs and plan give an equal
model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from semcache.errors import InvalidArgument
from semcache.train.federate import averaging, local_training, masking
from semcache.train.federate.averaging import FederatedMap, ScoreHistogram
from semcache.train.federate.local_training import ClientPairs, FederationPlan

Told = Callable[[int, FederatedMap, ScoreHistogram], None]  # round, the model before it, and what clients saw of it


def simulate(
    clients: Sequence[ClientPairs], plan: FederationPlan, *, masked: bool = False, told: Told = lambda *_: None
) -> tuple[FederatedMap, ScoreHistogram]:
    """The final model, and what clients saw of it on pairs that they did not learn from.

    Raises InvalidArgument for fewer clients than the plan needs.
    """
    if len(clients) < plan.least:
        raise InvalidArgument(f"{len(clients)} clients are fewer than the {plan.least} that make a sum")
    model, seen = local_training.start(plan), averaging.empty_histogram()
    for round_ in range(1, plan.rounds + 2):
        updates = []
        for number, held in enumerate(clients):
            rng = np.random.default_rng([plan.seed, round_, number])
            made = local_training.contribution(model, held, plan, round_=round_)
            sent = local_training.add_noise(made, plan, clients=len(clients), round_=round_, rng=rng)
            updates.append(masking.encoded(sent, len(clients)))
        if masked:
            updates = _masked(updates, round_)
        before = model
        model, seen = averaging.applied(before, masking.decoded(masking.added(updates)))
        told(round_, before, seen)
    return averaging.with_best_threshold(model, seen), seen


def _masked(updates: Sequence[masking.Ring], round_: int) -> list[masking.Ring]:
    keys = {f"client-{number:04}": X25519PrivateKey.generate() for number in range(len(updates))}
    roster = {name: masking.public(key) for name, key in keys.items()}
    return [
        masking.masked(update, name, key, roster, str(round_).encode())
        for update, (name, key) in zip(updates, keys.items(), strict=True)
    ]
