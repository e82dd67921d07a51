"""Secure aggregation: masks that cancel in the sum, modulo 2**64.

Bonawitz et al. 2017, "Practical secure aggregation", section 4.1: each pair of clients agrees on a seed, one adds its
stream and the other subtracts it. Keys are made for one attempt (X25519), seeds derived by HKDF-SHA256, streams drawn
by ChaCha20, all by `cryptography`. Knows integers and names, nothing of models. Invariant: the sum of the masked
updates of a whole roster equals the sum of the bare ones, to the bit; any fewer of them are uniformly random to a
reader who holds none of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ring = NDArray[np.uint64]

STEP = 2.0**-24  # what one unit of an integer is worth
_ROOM = 2.0**62  # below the sign bit of a sum
_NONCE = bytes(16)  # a key is used for one stream only


def encoded(values: NDArray[np.float64], clients: int) -> Ring:
    """Numbers as integers of the ring, rounded to `STEP`.

    Raises InvalidArgument for what is not finite, or so great that a sum over `clients` could overflow.
    """
    units = np.rint(values / STEP)
    if not np.all(np.abs(units) * clients < _ROOM):  # also false for NaN
        raise InvalidArgument(f"an update holds {np.abs(values).max():g}: training diverged; choose a smaller rate")
    return units.astype(np.int64).view(np.uint64)


def decoded(total: Ring) -> NDArray[np.float64]:
    """The numbers whose integers were added up."""
    return total.view(np.int64).astype(np.float64) * STEP


def added(updates: Iterable[Ring]) -> Ring:
    """The sum in the ring. Raises InvalidArgument for none."""
    total: Ring | None = None
    for one in updates:
        total = one.copy() if total is None else total + one
    if total is None:
        raise InvalidArgument("there is no update to add up")
    return total


def masked(
    update: Ring, own: str, key: X25519PrivateKey, roster: Mapping[str, bytes], context: bytes, secret: bytes = b""
) -> Ring:
    """`update` under the masks that `own` shares with everybody else on the `roster` of public keys.

    `context` names round and attempt, `secret` is what the clients alone know. Raises InvalidArgument for a roster that
    lacks `own` or holds another key for it, or a key that is none.
    """
    if roster.get(own) != public(key):
        raise InvalidArgument(f"the roster does not hold {own!r} with the key it sent: the update is not sent")
    found = update.copy()
    for other, bytes_of in roster.items():
        if other != own:
            stream = _stream(_seed(key, bytes_of, sorted((own, other)), context, secret), len(update))
            found = found + stream if own < other else found - stream
    return found


def public(key: X25519PrivateKey) -> bytes:
    """The 32 bytes that others may know."""
    return key.public_key().public_bytes_raw()


def usable(key: bytes) -> bool:
    """Return True if others can agree on a seed with this public key: 32 bytes, and no point of low order."""
    probe = X25519PrivateKey.from_private_bytes(bytes(32))  # any will do: a point of low order gives nothing with all
    try:
        probe.exchange(X25519PublicKey.from_public_bytes(key))
    except ValueError:
        return False
    return True


def _seed(key: X25519PrivateKey, other: bytes, names: list[str], context: bytes, secret: bytes) -> bytes:
    try:
        shared = key.exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError as error:  # of another length, or of low order
        raise InvalidArgument(f"a public key of {' or '.join(names)} is none: {error}") from error
    parts = [b"semcache federation 1", context, *(name.encode() for name in names)]
    info = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return HKDF(algorithm=SHA256(), length=32, salt=secret or None, info=info).derive(shared)


def _stream(seed: bytes, size: int) -> Ring:
    cipher = Cipher(ChaCha20(seed, _NONCE), mode=None).encryptor()
    return np.frombuffer(cipher.update(bytes(8 * size)), "<u8").astype(np.uint64)
