"""Sessions of the page: their sealed cookies, the CSRF tokens of their forms, and the limit on logins.

A cookie holds the visitor's API key, encrypted with the store's salt: whoever reads the database cannot make one, and
whoever steals one does not learn the key. Knows cookies and keys, nothing of pages. Invariant: a session ends after
`LIFE`, when nothing was asked for `IDLE` seconds, with its key, and when it logs out: here at once, and in the other
workers when they next `meet`, restarts included; a change needs the CSRF token of its own session.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from semcache.errors import RequestRejected
from semcache.protocols import SavedStates
from semcache.proxy.auth import OWN_HEADER, Authenticator, Caller
from semcache.runtime.token_bucket import TokenBucket

SESSION, NOTICE = "semcache_session", "semcache_notice"
LIFE = 8 * 3600.0
IDLE = 3600.0
_NOTED = 60.0  # seconds after which a cookie says anew when something was last asked
_LEFT = 10_000  # sessions that logged out and are remembered
_SAVED = "page-sessions-left"
_ADDRESSES = 4096
_BURST, _EVERY = 10, 12.0  # logins of one address at once, and seconds for one more
_ALL_BURST, _ALL_EVERY = 30, 2.0


@dataclass(frozen=True, slots=True)
class Visitor:
    """A logged-in visitor. `csrf_token` belongs to every form that changes something; `ends` is a Unix time.

    `cookie` is a new one that says when something was last asked, None while the visitor's own says so.
    """

    caller: Caller
    session: str
    csrf_token: str
    ends: float
    cookie: str | None = None

    @property
    def tenant(self) -> str | None:
        """The tenant that is all this visitor sees; None, of an administrator, is all of them."""
        return None if self.caller.admin else self.caller.tenant

    @property
    def reads(self) -> bool:
        """True if prompts may be shown."""
        return self.caller.admin or self.caller.trusted

    @property
    def changes(self) -> bool:
        """True if entries and reports may be changed."""
        return self.reads and not self.caller.read_only


class Sealer:
    """Encrypts small values into cookies and back."""

    def __init__(self, salt: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._box = AESGCM(hashlib.blake2b(key=salt, digest_size=32, person=b"semcache page").digest())

    def seal(self, value: Any, purpose: str) -> str:
        """Return a text for a cookie."""
        nonce = secrets.token_bytes(12)
        sealed = nonce + self._box.encrypt(nonce, msgspec.json.encode(value), purpose.encode())
        return urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def open(self, text: str, purpose: str) -> Any:
        """Return what was sealed for this purpose; None for anything else."""
        from cryptography.exceptions import InvalidTag

        try:
            raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
            return msgspec.json.decode(self._box.decrypt(raw[:12], raw[12:], purpose.encode()))
        except (InvalidTag, ValueError, msgspec.MsgspecError):
            return None


class Visitors:
    """The sessions of one process. Those that logged out are in the store, where the others find them."""

    def __init__(self, auth: Authenticator, salt: bytes, clock: Callable[[], float], store: SavedStates) -> None:
        self._auth, self._salt, self._clock, self._store = auth, salt, clock, store
        self._left: dict[str, float] = {}  # when they would have ended
        self._all = TokenBucket(1.0 / _ALL_EVERY, _ALL_BURST, clock())
        self._addresses: OrderedDict[str, TokenBucket] = OrderedDict()

    @cached_property
    def sealer(self) -> Sealer:
        """Makes and opens cookies; made when the first one is."""
        return Sealer(self._salt)

    def log_in(self, key: str, address: str) -> tuple[str, Visitor]:
        """Return the cookie of a new session and its visitor.

        Raises RequestRejected: 401 for a key that is not known, 429 for one more of these than allowed. A key that is
        known is let in however many others were tried from there: behind a proxy all visitors have one address.
        """
        try:
            caller = self._caller(key)
        except ValueError:
            caller = None
        if caller is None and not self._may_try(address):
            raise RequestRejected(429, "too many logins: try again in a minute", code="rate_limit_exceeded")
        if caller is None:
            raise RequestRejected(
                401, "this key is not known here, has been revoked or has expired", code="invalid_api_key"
            )
        return self._begin(key, caller)

    def guest(self) -> tuple[str, Visitor] | None:
        """A session without a key, where anybody on this machine is trusted; None elsewhere."""
        return self._begin("", self._auth.identify([])) if self._auth.trusts_anybody else None

    def find(self, cookie: str | None) -> Visitor | None:
        """The visitor behind a cookie; None when there is no such session (any more)."""
        kept = self.sealer.open(cookie, SESSION) if cookie else None
        if not isinstance(kept, dict):
            return None
        now = self._clock()
        session, ends, idle = str(kept["session"]), float(kept["ends"]), now - float(kept.get("seen", 0.0))
        if ends <= now or idle >= IDLE or self._mark(session) in self._left:
            return None
        caller = self._caller(kept["key"])
        if caller is None:
            return None
        renewed = self.sealer.seal(kept | {"seen": now}, SESSION) if idle >= _NOTED else None
        return Visitor(caller, session, self._csrf_token(session), ends, renewed)

    async def log_out(self, visitor: Visitor) -> None:
        """End a session, whoever has a copy of its cookie. Raises StoreError; then this process alone knows yet."""
        self._left[self._mark(visitor.session)] = visitor.ends
        await self.meet()

    async def meet(self) -> None:
        """Tell the other workers who has logged out here, and learn who has there. Raises StoreError."""
        saved = await self._store.learned(_SAVED)
        known = msgspec.json.decode(saved[1], type=dict[str, float]) if saved is not None else {}
        now = self._clock()
        left = sorted((known | self._left).items(), key=lambda one: one[1])
        self._left = {mark: ends for mark, ends in left[-_LEFT:] if ends > now}
        # Of two that write at once one is overwritten, and writes again when it next looks.
        if self._left.keys() - known.keys():
            await self._store.learn(_SAVED, 0, msgspec.json.encode(self._left))

    def is_from_form(self, visitor: Visitor, token: str) -> bool:
        """Return True if a request carries this visitor's CSRF token."""
        return hmac.compare_digest(token.encode(), visitor.csrf_token.encode())

    def _begin(self, key: str, caller: Caller) -> tuple[str, Visitor]:
        session, now = secrets.token_hex(16), self._clock()
        ends = now + LIFE
        cookie = self.sealer.seal({"key": key, "session": session, "ends": ends, "seen": now}, SESSION)
        return cookie, Visitor(caller, session, self._csrf_token(session), ends)

    def _caller(self, key: str) -> Caller | None:
        """The caller that a key stands for; the empty one stands for anybody on this machine."""
        if not key and not self._auth.trusts_anybody:
            return None
        try:
            return self._auth.identify([(OWN_HEADER.encode(), key.encode("latin-1"))] if key else [])
        except RequestRejected:
            return None

    def _csrf_token(self, session: str) -> str:
        return hashlib.blake2b(session.encode(), key=self._salt, digest_size=16, person=b"semcache form").hexdigest()

    def _mark(self, session: str) -> str:
        return hashlib.blake2b(session.encode(), key=self._salt, digest_size=16, person=b"semcache left").hexdigest()

    def _may_try(self, address: str) -> bool:
        now = self._clock()
        own = self._addresses.pop(address, None) or TokenBucket(1.0 / _EVERY, _BURST, now)
        self._addresses[address] = own
        if len(self._addresses) > _ADDRESSES:
            self._addresses.popitem(last=False)
        return own.take(now) and self._all.take(now)
