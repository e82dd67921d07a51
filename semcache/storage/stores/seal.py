"""Encryption of prompts and answers: AES-GCM with a ring of keys, so that keys can be rotated.

Knows nothing of tables. Sealed bytes are a 12-byte random nonce followed by ciphertext and tag.
Invariant: sealed bytes open only under the same key id, for the same entry, scope and field they were sealed for; a
row or a field that was swapped for another does not open.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from semcache.errors import ConfigError, IntegrityError
from semcache.types import Scope, public_id

SETTING = "SEMCACHE_STORE__SEAL_KEYS"
_KEY_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NONCE = 12


class Seal:
    """A ring of 32-byte keys with ids. The first seals; all of them open.

    `random(n)` gives n unpredictable bytes. Raises ConfigError for a ring that cannot be used.
    """

    def __init__(self, keys: Sequence[tuple[str, bytes]], *, random: Callable[[int], bytes] = os.urandom) -> None:
        if not keys:
            raise ConfigError(f"{SETTING} holds no key: write id:base64, such as the line `{example(random)}`")
        self._ring: dict[str, AESGCM] = {}
        for name, key in keys:
            if not _KEY_ID.fullmatch(name):
                raise ConfigError(f"{SETTING}: {name!r} is no key id: use 1 to 64 letters, digits, `.`, `_` or `-`")
            if len(key) != 32:
                raise ConfigError(f"{SETTING}: key {name!r} has {len(key)} bytes; AES-256 needs 32")
            if name in self._ring:
                raise ConfigError(f"{SETTING}: key id {name!r} appears twice; every key needs its own id")
            self._ring[name] = AESGCM(key)
        self.current = keys[0][0]
        self.ids = frozenset(self._ring)
        self._random = random

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Read "k2:base64,k1:base64"; the first key is the current one. Raises ConfigError, never naming a key."""
        keys = []
        for position, part in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
            name, colon, encoded = part.partition(":")
            if not colon:
                raise ConfigError(f"{SETTING}: key {position} lacks its id: write id:base64 of 32 random bytes")
            try:
                key = base64.b64decode(encoded.strip().replace("-", "+").replace("_", "/"), validate=True)
            except (binascii.Error, ValueError) as error:
                raise ConfigError(f"{SETTING}: key {name.strip()!r} is not base64; 32 bytes give 44 letters") from error
            keys.append((name.strip(), key))
        return cls(keys)

    def __contains__(self, key_id: str) -> bool:
        """Return True if a key is in the ring."""
        return key_id in self._ring

    def seal(self, plain: bytes, *, entry_id: int, scope: Scope, field: str, key_id: str | None = None) -> bytes:
        """Encrypt with a key of the ring, the current one unless another is named."""
        nonce = self._random(_NONCE)
        return nonce + self._ring[key_id or self.current].encrypt(nonce, plain, _bound(entry_id, scope, field))

    def open(self, sealed: bytes, *, key_id: str, entry_id: int, scope: Scope, field: str) -> bytes:
        """Decrypt. Raises IntegrityError when the key is not in the ring or the bytes were not sealed here."""
        key = self._ring.get(key_id)
        if key is None:
            raise IntegrityError(
                f"entry {public_id(entry_id)} is sealed with key {key_id!r}, which is not in {SETTING}; add it back"
            )
        try:
            return key.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound(entry_id, scope, field))
        except (InvalidTag, ValueError) as error:
            raise IntegrityError(
                f"{field} of entry {public_id(entry_id)} does not open with key {key_id!r}: the key has changed or the "
                "row was tampered with; purge the entry or restore the key"
            ) from error


def example(random: Callable[[int], bytes] = os.urandom) -> str:
    """A fresh key in the notation of `Seal.parse`."""
    return f"k1:{base64.b64encode(random(32)).decode()}"


def _bound(entry_id: int, scope: Scope, field: str) -> bytes:
    """Associated data: unambiguous, so that no two places share it."""
    parts = [field, scope.tenant, scope.namespace, *([] if scope.user is None else [scope.user])]
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return entry_id.to_bytes(8, "big") + b"".join(len(part).to_bytes(4, "big") + part for part in encoded)
