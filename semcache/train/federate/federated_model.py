"""The model folder of a finished federation, with its threshold and a statement on the privacy of the clients.

Knows the final map and the base it belongs to; no client. Invariant: the folder appears whole or not at all.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from semcache.errors import ConfigError
from semcache.models.embedders import DEFAULT_MODEL
from semcache.train import card
from semcache.train.atomic_folder import published
from semcache.train.distill import linear_map, projection
from semcache.train.federate import local_training, privacy
from semcache.train.federate.averaging import FederatedMap, ScoreHistogram
from semcache.train.federate.local_training import FederationPlan

DELTA = 1e-5


def base_folder(base: str) -> Path:
    """The model folder whose vectors are mapped; "default" is the one that ships."""
    return DEFAULT_MODEL if base == "default" else Path(base)


def publish(
    model: FederatedMap,
    plan: FederationPlan,
    out: Path,
    *,
    base: str,
    clients: int | None,
    seen: ScoreHistogram,
    force: bool,
) -> Any:
    """Make `out` the base behind the learned map, and return the report that is kept there. Raises SemcacheError."""
    who = "clients" if clients is None else f"{clients} clients"
    how = f"behind a map that {who} learned together in {plan.rounds} rounds (`semcache embedder federate`)"
    matrix = linear_map.matrix_of(local_training.part_of(plan), model.parameters)
    counted = int(seen.same.sum() + seen.other.sum())
    with published(out, replace=force) as folder:
        made = projection.project(base_folder(base), folder, matrix, name=out.name, how=how)
        embedder = card.checked_embedder(folder)
        report: dict[str, Any] = {
            "embedder": embedder.id,
            "dim": embedder.dim,
            "clients": clients,
            "plan": asdict(plan),
            "threshold": round(model.threshold, 4),
            "pairs_counted": counted,
            "f1": round(seen.f1(model.threshold), 4) if counted else None,
            "privacy": privacy_spent(plan),
        }
        card.write_json(folder / card.MEASURED, report)
        lines = [
            f"- Threshold: {model.threshold:.3f}, the mean of the clients' own best ones",
            f"- {privacy_statement(plan)}",
        ]
        if counted:
            lines[0] = f"- Threshold: {model.threshold:.3f}, the best for the pairs that all clients held back"
            whose = "the held-back pairs of this client" if clients is None else "these pairs"
            lines.append(f"- F1 there, on {whose} ({counted}), of which the map learned nothing: {report['f1']:.3f}")
        text = (folder / "README.md").read_text(encoding="utf-8")
        (folder / "README.md").write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
        assert made["id"] == embedder.id
    return report


def privacy_spent(plan: FederationPlan) -> dict[str, float] | None:
    """The (epsilon, delta) of one client over the whole federation, None where there is no bound."""
    found = privacy.epsilon(plan.noise, plan.rounds + 1, DELTA) if plan.clip else math.inf
    return {"epsilon": math.ceil(1000 * found) / 1000, "delta": DELTA} if math.isfinite(found) else None


def check_protection(plan: FederationPlan, asked: FederationPlan, *, least: int) -> None:
    """Raise ConfigError for a plan that says more of a client than the one it asked for, or sums of fewer."""
    if plan.least < least:
        raise ConfigError(f"the federation sums {plan.least} clients, and --least is {least}: nothing was sent")
    if not asked.clip:
        return
    wanted, found = (bound["epsilon"] if (bound := privacy_spent(one)) else math.inf for one in (asked, plan))
    if found > wanted or not plan.clip:
        raise ConfigError(
            f"--clip, --noise and --rounds ask for {_bound(asked, wanted)}, and the federation's plan has "
            f"{_bound(plan, found)}: nothing was sent; ask its operator for more noise, or ask for less yourself"
        )


def _bound(plan: FederationPlan, epsilon: float) -> str:
    what = f"epsilon {epsilon:g}" if math.isfinite(epsilon) else "no epsilon"
    return f"{what} (clip {plan.clip:g}, noise {plan.noise:g}, {plan.rounds} rounds)"


def privacy_statement(plan: FederationPlan) -> str:
    """The same in a sentence."""
    bound = privacy_spent(plan)
    if bound is None:
        return "Privacy: sums alone were read; no bound (epsilon) on what a sum says of one client"
    return (
        f"Privacy: ({bound['epsilon']:g}, {bound['delta']:g})-differential privacy of a client, over "
        f"{plan.rounds + 1} rounds with noise {plan.noise:g} and clip {plan.clip:g} (`semcache.train.federate.privacy`)"
    )
