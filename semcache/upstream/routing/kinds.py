"""The kinds of servers, and the fields that each is sent beyond what the client said.

`cache_salt` divides a server's prefix cache by tenant (vLLM, SGLang); `prompt_cache_key` steers a cloud's own routing.
Servers that know neither may refuse a field they do not know, so they are sent none.
Knows bodies as fields. Invariant: no field of the client's changes its bytes, except that a `cache_salt` of the
client's becomes part of the tenant's: it can divide the cache further, never join another tenant's.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import msgspec

from semcache.upstream.routing.block_ledger import SALT_MARK
from semcache.upstream.routing.prompts import Fields, RoutedPrompt

AUTO = "auto"
PROMPT_PATHS = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/responses"})
_TELLING = frozenset({"vllm", "sglang", "semcache", "llamacpp"})  # say who they are
_CLOUDS = ("api.openai.com", ".api.openai.com", ".openai.azure.com", ".services.ai.azure.com")


@dataclass(frozen=True, slots=True)
class ServerKind:
    """The fields and paths that a kind of server knows.

    `drafted` ones verify a guess at an answer free of charge; others bill for it, or know none.
    """

    salted: bool = False
    keyed: bool = False
    drafted: bool = False


KINDS: dict[str, ServerKind] = {
    "vllm": ServerKind(salted=True),
    "sglang": ServerKind(salted=True),
    "semcache": ServerKind(salted=True, drafted=True),
    "llamacpp": ServerKind(),
    "openai": ServerKind(keyed=True),
    "other": ServerKind(),
}


def of_host(name: str) -> ServerKind | None:
    """The kind of a host, with or without a path, that needs no asking."""
    host = name.partition("/")[0]
    return (
        KINDS["openai"]
        if any(host == cloud or (cloud[0] == "." and host.endswith(cloud)) for cloud in _CLOUDS)
        else None
    )


def of_models(body: bytes) -> str:
    """The kind of a server by its answer to `GET /v1/models`; "other" for one that does not say."""
    try:
        owners = {str(card.get("owned_by", "")).lower() for card in msgspec.json.decode(body)["data"]}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError, AttributeError):
        return "other"
    return next((kind for owner in owners if (kind := owner.replace(".", "")) in _TELLING), "other")


def salt_of(secret: bytes, tenant: str, own: str = "") -> str:
    """The salt that stands for a tenant: HMAC-SHA256 in hexadecimal digits, which every server accepts.

    `own` is the salt that a client asked for, to divide its tenant's cache further.
    """
    named = b"semcache cache_salt\0" + msgspec.json.encode([tenant, own])
    return SALT_MARK + hmac.new(secret, named, hashlib.sha256).hexdigest()[:48]


def wants_draft(kind: ServerKind, prompt: RoutedPrompt) -> bool:
    """Return True if a server of this kind is to be given a guess at the answer."""
    return kind.drafted and prompt.path in PROMPT_PATHS and prompt.known and "prediction" not in prompt.fields


def fields_for(kind: ServerKind, prompt: RoutedPrompt, draft: str = "") -> Fields:
    """The fields to send to a server of this kind; the prompt's own where there is nothing to add.

    `draft` is a guess at the answer, for one that wants it.
    """
    if prompt.path not in PROMPT_PATHS or not prompt.known:
        return prompt.fields
    more: dict[str, Any] = {}
    if kind.salted:
        more["cache_salt"] = prompt.salt
    if kind.keyed and "prompt_cache_key" not in prompt.fields:
        keys = prompt.chain(0).keys
        named = prompt.session.encode("utf-8", "surrogatepass") or (keys[0] if keys else b"")
        more["prompt_cache_key"] = hashlib.blake2b(prompt.salt.encode() + named, digest_size=16).hexdigest()
    if draft:
        more["prediction"] = {"type": "content", "content": draft}
    if not more:
        return prompt.fields
    return prompt.fields | {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in more.items()}
