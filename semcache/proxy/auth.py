"""API keys: the caller that each one stands for, its tenant, and the user within it.

Knows headers and key digests; nothing of stores, routes or the content of a request. Invariant: a key of ours is never
forwarded to the backend, and a plain key is never kept.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from semcache.errors import InvalidArgument, RequestRejected
from semcache.learning.key_reports import Reporter
from semcache.proxy.asgi import header_text
from semcache.runtime.moments import utc
from semcache.types import ApiKey

PREFIX = "sk-sc-"
OWN_HEADER = "x-semcache-key"
USER_HEADER = b"x-semcache-user"
_HEADERS = (b"x-semcache-key", b"authorization", b"x-api-key")
# Other headers of credentials: no key is looked for there, and none of ours goes on in them.
_ELSEWHERE = frozenset({b"api-key", b"x-goog-api-key", b"proxy-authorization", *_HEADERS})
_MARK = PREFIX.encode()

RawHeaders = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request. `consumed` are the headers that held one of our keys, `user` is whose it is."""

    tenant: str = "default"
    trusted: bool = False
    admin: bool = False
    key_id: str | None = None
    consumed: frozenset[bytes] = frozenset()
    user: str | None = None
    read_only: bool = False


def digest(plain: str, salt: bytes) -> bytes:
    """Return the digest by which a key is stored: BLAKE2b keyed with the store's salt, 32 bytes."""
    return hashlib.blake2b(plain.encode(), key=salt, digest_size=32, person=b"semcache api key").digest()


def new_key(
    rng_bytes: Callable[[int], bytes],
    now: float,
    tenant: str,
    name: str,
    salt: bytes,
    *,
    trusted: bool = False,
    admin: bool = False,
    user: str | None = None,
) -> tuple[str, ApiKey]:
    """Make a key; the plain one is shown once and kept nowhere.

    `rng_bytes(n)` gives n random bytes, such as `secrets.token_bytes`; `now` is Unix seconds. Raises InvalidArgument,
    also for a key of one `user` that is to see those of all.
    """
    if not tenant or not tenant.isprintable():
        raise InvalidArgument(f"tenant {tenant!r} must be a printable name")
    if user is not None and (not user or not user.isprintable()):
        raise InvalidArgument(f"user {user!r} must be a printable name")
    if user is not None and (trusted or admin):
        raise InvalidArgument(
            f"user {user!r} binds the key to one user, and trusted and admin keys see those of all: give one of the two"
        )
    plain = PREFIX + base64.urlsafe_b64encode(rng_bytes(32)).rstrip(b"=").decode()
    key_id = f"key_{rng_bytes(6).hex()}"
    return plain, ApiKey(key_id, digest(plain, salt), tenant, name, now, trusted, admin, user=user)


class Authenticator:
    """Identifies callers by their keys.

    `required` None asks for a key as soon as one exists, even a revoked or expired one: the end of the last key does
    not make the proxy public. `admin_token` is a key that needs no store. `loopback` says that only this machine can
    connect; then, and only while there is no key, everybody is an administrator: `trusts_anybody`. `required` says that
    a request without a key is refused; `keyless` that it is not, and that only this machine can send one. `clock` gives
    Unix seconds.
    """

    def __init__(
        self,
        keys: Iterable[ApiKey],
        salt: bytes,
        required: bool | None = None,
        *,
        admin_token: str | None = None,
        loopback: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._salt, self._required, self._loopback = salt, required, loopback
        self._admin = digest(admin_token, salt) if admin_token else None
        self._keys: dict[bytes, ApiKey] = {}
        # Held by who reads keys to replace these: nobody with an earlier reading comes after one with a later.
        self.reading = asyncio.Lock()
        self.replace(keys)

    def replace(self, keys: Iterable[ApiKey]) -> None:
        """Take the keys that the store holds now."""
        self._keys = {key.digest: key for key in keys}
        self.required = bool(self._keys) if self._required is None else self._required
        self.keyless = self._loopback and not self.required
        self.trusts_anybody = self.keyless and not self._keys
        self._anybody = Caller(trusted=self.trusts_anybody, admin=self.trusts_anybody)

    @property
    def tenants(self) -> frozenset[str]:
        """The tenants that have a key which is no administrator's."""
        now = self._clock()
        return frozenset(key.tenant for key in self._keys.values() if key.in_force(now) and not key.admin)

    @property
    def has_administrator(self) -> bool:
        """True if somebody can prove to be an administrator."""
        now = self._clock()
        return self._admin is not None or any(key.admin and key.in_force(now) for key in self._keys.values())

    def reporter(self, caller: Caller) -> Reporter:
        """Return a caller with a key as one of the keys of its tenant."""
        now = self._clock()
        keys = [key for key in self._keys.values() if key.tenant == caller.tenant and key.in_force(now)]
        return Reporter(caller.key_id or "", tuple([key.id for key in keys if key.id != caller.key_id]))

    def identify(self, headers: RawHeaders) -> Caller:
        """Return the caller behind ASGI headers (names in lower case). Raises RequestRejected(401).

        A key of ours is looked for in `x-semcache-key`, `Authorization: Bearer` and `x-api-key`, in this order, so that
        the backend's own key can stay where its SDK puts it.
        """
        shown = [(name, _key_in(value)) for name, value in headers if name in _HEADERS]
        ours = [(name, plain) for name, plain in shown if name == _HEADERS[0] or self._is_ours(plain)]
        consumed = frozenset([name for name, _ in ours] + [name for name, value in headers if self._holds(name, value)])
        if not ours:
            if self.required:
                raise _refusal(f"no API key: send one that starts with {PREFIX} as a bearer token or in {OWN_HEADER}")
            return replace(self._anybody, consumed=consumed) if consumed else self._anybody
        callers = [self._known(plain) for _, plain in sorted(ours, key=lambda one: _HEADERS.index(one[0]))]
        return replace(callers[0], consumed=consumed)

    def _holds(self, name: bytes, value: bytes) -> bool:
        """Return True if a key of ours stands in a header, in whatever form and place."""
        if _MARK in value:
            return True
        if name not in _ELSEWHERE:
            return False
        words = header_text(value).split()
        # An administrator's token may have spaces; before it stands a scheme, or two.
        said = {*words[:8], *(" ".join(words[at:]) for at in range(min(3, len(words))))}
        if len(words) == 2 and words[0].lower() == "basic":
            said |= _decoded(words[1])
        return any(self._is_ours(one) for one in said)

    def _is_ours(self, plain: str) -> bool:
        if plain.startswith(PREFIX):
            return True
        return self._admin is not None and hmac.compare_digest(digest(plain, self._salt), self._admin)

    def _known(self, plain: str) -> Caller:
        shown = digest(plain, self._salt)
        if self._admin is not None and hmac.compare_digest(shown, self._admin):
            return Caller(trusted=True, admin=True, key_id="admin-token")
        key = self._keys.get(shown)
        if key is None or not hmac.compare_digest(shown, key.digest):
            raise _refusal("this API key is not known here: `semcache keys list` shows those that are")
        if key.revoked is not None:
            raise _refusal(f"the API key {key.id} has been revoked")
        if key.has_expired(self._clock()):
            end = utc(key.expires or 0.0)
            raise _refusal(f"the API key {key.id} has expired (at {end:%Y-%m-%d %H:%M:%S} UTC): ask for another one")
        return Caller(key.tenant, key.trusted, key.admin, key.id, user=key.user, read_only=key.read_only)


def forwardable_headers(headers: RawHeaders, caller: Caller) -> list[tuple[str, str]]:
    """Return the headers that may go to the backend: none with a key of ours, none addressed to this cache.

    `content-encoding` is left out too: the body was decoded when it was read.
    """
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in headers
        if name not in caller.consumed and not name.startswith(b"x-semcache-") and name != b"content-encoding"
    ]


def user_of(
    named: str | None, headers: RawHeaders, caller: Caller, *, trust_header: bool = False, trust_body: bool = False
) -> str | None:
    """Return the user within the tenant, None for nobody in particular.

    That is whom the key is bound to; else, of a trusted caller, whom `x-semcache-user` or the body names.
    `trust_header` believes that header of every caller, for a gateway in front that sets it, and `trust_body` the body.
    """
    if caller.user is not None:
        return caller.user
    if caller.trusted or trust_header:
        for name, value in headers:
            if name == USER_HEADER and value:
                return header_text(value)
    return (named or None) if caller.trusted or trust_body else None


def asker_of(user: str | None, caller: Caller) -> str | None:
    """Return who asks, as a quorum counts: the user, else the key; None for whoever has neither."""
    if user is not None:
        return f"user {user}"
    return None if caller.key_id is None else f"key {caller.key_id}"


def _key_in(value: bytes) -> str:
    shown = header_text(value).strip()
    return shown[7:].strip() if shown[:7].lower() == "bearer " else shown


def _decoded(credentials: str) -> set[str]:
    """Return the user and the password of a Basic authorization, none where it cannot be read."""
    try:
        return set(base64.b64decode(credentials, validate=True).decode("latin-1").split(":", 1))
    except ValueError:
        return set()


def _refusal(message: str) -> RequestRejected:
    return RequestRejected(401, message, code="invalid_api_key")
