"""The operator's file of prices: YAML, a pattern of models a line.

Invariant: a file that cannot be read, or says what no price can be, is refused by name.
"""

from __future__ import annotations

import time
from pathlib import Path

from semcache.errors import ConfigError
from semcache.storage.prices import Prices, TokenRates, own_prices


def read_prices(path: Path | None) -> Prices:
    """Return list prices with those of a YAML file, if there is one, before them. Raises ConfigError."""
    return Prices(read_own_prices(path), clock=time.time)


def read_own_prices(path: Path | None) -> dict[str, TokenRates]:
    """Return the prices of a YAML file, none without one, as `own_prices` reads it. Raises ConfigError."""
    if path is None:
        return {}
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: the file of prices cannot be read: {error}") from error
    return own_prices(table, path)
