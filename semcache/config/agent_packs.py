"""The schema of a policy pack's keys about tools, models, and answers by a cheaper model.

Knows no request and no price list. Invariant: a key that is left out changes nothing; only tools that a pack names are
cached, and only models that it names are asked.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from semcache.runtime.durations import Duration

Dollars = Annotated[float, msgspec.Meta(ge=0.0, description="US dollars per million tokens")]
Share = Annotated[float, msgspec.Meta(gt=0.0, lt=1.0)]


class ToolSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One tool, or those that match a shell-style pattern, in a pack's `tools`."""

    effect: Literal["reads", "state", "writes"]
    """What calling it does: nothing, move the run's own environment, or change what others see."""
    ttl: Duration = "60s"
    """How long a result may be reused."""
    resources: list[str] = []
    """What it reads or changes, with arguments in braces: "ticket:{id}"."""
    share: Literal["tenant", "user"] = "tenant"
    """Who shares results."""


class ModelSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The prices and the expected quality of a model, before anything was learned of it."""

    prompt: Dollars
    """US dollars per million prompt tokens."""
    completion: Dollars
    """US dollars per million completion tokens."""
    quality: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    """The share of its answers that are expected to be good; left out, nothing is assumed of it."""
    first: Annotated[float, msgspec.Meta(ge=0.0)] = 0.3
    """Seconds until its first token."""
    speed: Annotated[float, msgspec.Meta(gt=0.0)] = 50.0
    """Tokens a second after that."""


class NearSpec(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A cheaper model that answers with cached answers as examples, once that is certified to do."""

    model: str
    """The cheaper model."""
    instead_of: str
    """The model whose requests it answers; those for any other are left alone."""
    target: Share = 0.05
    """The accepted share of its answers that are worse than those of the model it stands in for."""
    rate: Share = 0.2
    """The highest share of requests of which both models are asked, to compare them."""
    examples: Annotated[int, msgspec.Meta(ge=0, le=20)] = 5
    """Examples in a prompt, at most."""
    tokens: Annotated[int, msgspec.Meta(ge=0)] = 2000
    """Tokens that examples may add to a prompt, about."""
    bytes: Annotated[int, msgspec.Meta(ge=1 << 16)] = 256 << 20
    """Memory that examples may take, per worker."""
    strategy: Literal["route", "cascade"] = "route"
    """`route` decides before it is asked, `cascade` asks it first and looks at what it says."""
    replays: Annotated[float, msgspec.Meta(ge=0.0)] = 12.0
    """Examples an hour that are answered anew in quiet times, at most; 0 for none."""
