"""An upstream account that tenants share: which endpoints one of them may use without seeing what others keep there.

Where the server's own key goes to the upstream, all tenants are one account to it: its lists of files, batches, stored
completions and the like are those of all. Knows methods, paths, keys, and the fields of a request that name what is
kept there. Invariant: of such an account nobody but an administrator reaches an endpoint that keeps anything, nor one
that is not known to keep nothing, nor has a model read what is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from semcache.config.settings import Settings
from semcache.dialects.hop_headers import connection_own
from semcache.errors import RequestRejected
from semcache.proxy.asgi import Scope
from semcache.proxy.auth import Authenticator, Caller
from semcache.types import Endpoint, Request

_KEEP_NOTHING = re.compile(
    r"/v1/(?:(?:audio|images)/[\w-]+|moderations|rerank|score|pooling|classify|tokenize|detokenize"
    r"|messages/count_tokens|responses/input_tokens)/?"
)
_MODELS = re.compile(r"/v1/models(?:/[\w.:@-]+(?:/[\w.:@-]+)?)?/?")
_CREDENTIALS = frozenset((b"authorization", b"x-api-key", b"api-key"))
# Fields of a request that may name what is kept there.
_NAMING = {
    Endpoint.RESPONSES: ("previous_response_id", "conversation", "prompt"),
    Endpoint.MESSAGES: ("container", "thread"),
}
_DOTS = re.compile(r"/\.{1,2}(?:/|\Z)")


@dataclass(frozen=True, slots=True)
class SharedAccount:
    """The terms of `upstream.passthrough`. `own_key`: the server's own key is sent; `fallback`: to who shows none."""

    auth: Authenticator
    passthrough: Literal["auto", "all", "stateless"] = "auto"
    own_key: bool = False
    fallback: bool = False

    def check(self, scope: Scope, caller: Caller) -> None:
        """Raise RequestRejected(403) for what would show a tenant what others keep under the shared key."""
        if not self._confines(scope, caller):
            return
        method, path = scope.get("method", "WebSocket"), scope["path"]
        known = _KEEP_NOTHING if method == "POST" else _MODELS if method in ("GET", "HEAD") else None
        if known is not None and known.fullmatch(path) is not None and _DOTS.search(path) is None:
            return
        message = (
            f"{method} {path} is not passed on: with the key that all tenants share, it may show what others keep "
            "there. Use an admin key, leave upstream.api_key out, or set upstream.passthrough to all"
        )
        raise RequestRejected(403, message, code="shared_account")

    def check_request(self, scope: Scope, caller: Caller, request: Request) -> None:
        """Raise RequestRejected(403) for a request whose answer is made of what others may have kept there."""
        if request.endpoint not in _NAMING:
            return
        identity = request.identity
        named = next((one for one in _NAMING[request.endpoint] if _names_kept(one, identity.get(one))), None)
        if named is None and request.endpoint is Endpoint.RESPONSES:
            named = "input" if _has_reference(identity.get("input")) else None
            named = "tools" if named is None and _has_container(identity.get("tools")) else named
        if named is None or not self._confines(scope, caller):
            return
        message = (
            f"{named} is not passed on: with the key that all tenants share, it may name what others keep there. Send "
            "the conversation itself, use an admin key, leave upstream.api_key out, or set upstream.passthrough to all"
        )
        raise RequestRejected(403, message, code="shared_account", param=named)

    def _confines(self, scope: Scope, caller: Caller) -> bool:
        return self.passthrough != "all" and not caller.admin and self._shared(scope, caller)

    def _shared(self, scope: Scope, caller: Caller) -> bool:
        if self.passthrough == "stateless":
            return True
        if len(self.auth.tenants) < 2:
            return False
        return self.own_key or (self.fallback and not _shows_credentials(scope, caller))


def account_of(settings: Settings, auth: Authenticator) -> SharedAccount:
    """Return the upstream account of a server with these settings."""
    upstream = settings.upstream
    return SharedAccount(auth, upstream.passthrough, upstream.api_key is not None, settings.fallback_key is not None)


def _shows_credentials(scope: Scope, caller: Caller) -> bool:
    """Return True if a credential of the caller's own goes to the upstream: none does that `Connection` lists."""
    shown = {name for name, _ in scope["headers"] if name in _CREDENTIALS and name not in caller.consumed}
    if not shown:
        return False
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    return not connection_own(pairs).issuperset(name.decode("latin-1") for name in shown)


def _names_kept(field: str, value: object) -> bool:
    """Return True unless a field is absent, or asks for a container or a thread that is new."""
    match field, value:
        case "container", dict():
            return value.get("id") is not None
        case "thread", dict():
            return value.get("type") != "create"
    return value is not None


def _has_reference(turns: object) -> bool:
    """Return True if an item stands for one that is kept: an id is enough, whatever else it has beside it."""
    return isinstance(turns, list) and any(
        isinstance(turn, dict)
        and (turn.get("type") == "item_reference" or (turn.get("type") is None and turn.get("role") is None))
        for turn in turns
    )


def _has_container(tools: object) -> bool:
    """Return True if a tool is to run in a container that there is already."""
    return isinstance(tools, list) and any(
        isinstance(tool, dict)
        and (
            isinstance(tool.get("container"), str)
            or any(_has_id(tool.get(one)) for one in ("container", "environment"))
        )
        for tool in tools
    )


def _has_id(given: object) -> bool:
    return isinstance(given, dict) and any(given.get(name) is not None for name in ("id", "container_id"))
