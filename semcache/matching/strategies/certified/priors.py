"""The shipped prior of P(correct), learned from labelled pairs of many kinds.

Knows where the file lies. Invariant: the file is read at the first use, never at import.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from semcache.errors import ConfigError
from semcache.matching.strategies.certified.belief_prior import BeliefPrior

PATH = Path(__file__).with_name("prior.json")


@cache
def shipped(profile: str) -> BeliefPrior:
    """The prior of the default embedder for one kind of traffic. Raises ConfigError for a damaged installation."""
    try:
        return BeliefPrior.read(json.loads(PATH.read_text(encoding="utf-8"))["profiles"][profile])
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise ConfigError(f"{PATH} cannot be read as a prior ({error}): install the package again") from error


def read_priors(path: Path | None) -> Mapping[str, BeliefPrior]:
    """The priors that came with an embedder, by profile; {} without a file. Raises ConfigError for a damaged one."""
    if path is None or not path.is_file():
        return {}
    try:
        profiles = json.loads(path.read_text(encoding="utf-8"))["profiles"]
        return {name: BeliefPrior.read(data) for name, data in profiles.items()}
    except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be read as a prior ({error}): install the model again") from error
