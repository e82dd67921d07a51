"""Rows to values and back: what an `Entry`, a `Card` and an event look like in the database.

Knows the column order and the seal, not connections. Strings are escaped so that every Python string survives in
every database: PostgreSQL refuses NUL, and UTF-8 has no lone surrogates.
Invariant: `entry(values(e)) == e` for every entry, sealed or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec
import sqlalchemy as sa

from semcache.errors import ConfigError, IntegrityError
from semcache.storage.stores import tables
from semcache.storage.stores.database_faults import SkippedRows
from semcache.types import CacheKey, Card, Change, ChangeKind, Endpoint, Entry, Recorded, Scope, Usage, public_id

if TYPE_CHECKING:
    from semcache.storage.stores.seal import Seal

_UNSAFE = re.compile("[\x00\x1b\ud800-\udfff]")
_ESCAPED = re.compile("\x1b([0-9a-f]{4})")
SEALED = ("text", "canonical", "body")
WORDING = "wording"  # the field that a digest in `wordings` is sealed for
_ASKER = 8  # bytes

_DIGEST = sa.select(tables.wordings.c.digest).where(tables.wordings.c.entry_id == tables.entries.c.id)
DIGEST = _DIGEST.correlate(tables.entries).scalar_subquery().label(WORDING)
_FRONT = (
    "id", "exact", "shelf", "category", "created", "expires", "tenant", "user_id", "namespace", "seal_key", "answer",
    "askers",
)  # fmt: skip
CARD = (*[tables.entries.c[name] for name in _FRONT], DIGEST, tables.entries.c.text)
ENTRY = (*CARD, *[column for column in tables.entries.c if column.name not in (*_FRONT, "text")])


def plain(value: str) -> str:
    """Escape what a database cannot hold; reversible and equality-preserving."""
    if value.isascii() and value.isprintable():
        return value
    return _UNSAFE.sub(lambda found: f"\x1b{ord(found[0]):04x}", value)


def unplain(value: str) -> str:
    """Undo `plain`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value) if "\x1b" in value else value


def values(entry: Entry, seal: Seal | None) -> dict[str, Any]:
    """The row of an entry."""
    scope = entry.key.scope
    secret = {"text": entry.key.text.encode("utf-8", "surrogatepass"), "canonical": entry.key.canonical}
    secret["body"] = entry.body
    if seal is not None:
        secret = {name: seal.seal(secret[name], entry_id=entry.id, scope=scope, field=name) for name in SEALED}
    return {
        "id": entry.id,
        "exact": entry.key.exact,
        "shelf": entry.partition,
        "category": plain(entry.category),
        "created": entry.created,
        "expires": entry.expires,
        "tenant": plain(scope.tenant),
        "user_id": None if scope.user is None else plain(scope.user),
        "namespace": plain(scope.namespace),
        "seal_key": seal.current if seal else None,
        "answer": entry.answer,
        "askers": b"".join([one.to_bytes(_ASKER) for one in entry.askers]) or None,
        "signature": entry.key.signature,
        "endpoint": entry.endpoint.value,
        "model": plain(entry.model),
        "embedder_id": plain(entry.embedder_id),
        "prompt_tokens": entry.usage.prompt_tokens,
        "completion_tokens": entry.usage.completion_tokens,
        "cost": entry.cost,
        "latency": entry.latency,
        "tags": json.dumps(entry.tags),
        "source": plain(entry.source),
        **secret,
    }


def entry(row: Sequence[Any], seal: Seal | None) -> Entry:
    """The entry of a row of `ENTRY`. Raises IntegrityError when it cannot be opened."""
    front, back = row[: len(CARD)], row[len(CARD) :]
    entry_id, exact, partition, category, created, expires, *scoped, seal_key, answer, askers, wording, text = front
    signature, endpoint, model, embedder_id, prompt_tokens, completion_tokens, cost, latency, tags, *rest = back
    canonical, body = rest[1:]
    scope = _scope(*scoped)
    if seal_key is not None:
        text = opened(text, seal, seal_key, entry_id=entry_id, scope=scope, field="text")
        canonical = opened(canonical, seal, seal_key, entry_id=entry_id, scope=scope, field="canonical")
        body = opened(body, seal, seal_key, entry_id=entry_id, scope=scope, field="body")
    with _sound(entry_id):
        return Entry(
            id=entry_id,
            key=CacheKey(scope, signature, exact, str(text, "utf-8", "surrogatepass"), canonical),
            endpoint=Endpoint(endpoint),
            model=unplain(model),
            category=unplain(category),
            partition=partition,
            embedder_id=unplain(embedder_id),
            body=body,
            created=created,
            expires=expires,
            usage=Usage(prompt_tokens, completion_tokens),
            cost=cost,
            latency=latency,
            tags=tuple(json.loads(tags)),
            source=unplain(rest[0]),
            answer=answer,
            askers=_askers(askers),
            wording=_digest(wording, seal, seal_key, entry_id, scope),
        )


def card(row: Sequence[Any], seal: Seal | None) -> Card:
    """The card of a row that starts with `CARD`. Raises IntegrityError when its text cannot be opened."""
    front = row[: len(CARD)]
    entry_id, exact, partition, category, created, expires, *scoped, seal_key, answer, askers, wording, text = front
    if seal_key is not None:
        scope = _scope(*scoped)
        text = opened(text, seal, seal_key, entry_id=entry_id, scope=scope, field="text")
        wording = _digest(wording, seal, seal_key, entry_id, scope)
    with _sound(entry_id):
        words, asked = str(text, "utf-8", "surrogatepass"), _askers(askers)
        return Card(
            entry_id, exact, partition, unplain(category), words, created, expires, answer, asked, wording or b""
        )


def change(row: Sequence[Any], skipped: SkippedRows) -> Change:
    """The change of a row of the feed: an UNKNOWN one, which is counted, if it cannot be read."""
    seq, kind, entry_id, exact = row
    number = entry_id if isinstance(entry_id, int) else 0
    try:
        if number != entry_id or not isinstance(exact, bytes):
            raise TypeError("it has no id, or no digest")
        return Change(seq, ChangeKind(kind), number, exact)
    except (ValueError, TypeError) as error:
        skipped.note(tables.changes.name, seq, error)
        return Change(seq, ChangeKind.UNKNOWN, number)


def opened(data: bytes, seal: Seal | None, key_id: str, *, entry_id: int, scope: Scope, field: str) -> bytes:
    """Decrypt one field. Raises IntegrityError, also when there is no ring at all."""
    if seal is None:
        raise IntegrityError(f"entry {public_id(entry_id)} is sealed with key {key_id!r} and no seal keys are set")
    return seal.open(data, key_id=key_id, entry_id=entry_id, scope=scope, field=field)


def own_digest(entry: Entry, seal: Seal | None) -> dict[str, Any]:
    """The row of the digest of a new entry's wording."""
    wording, scope = entry.wording, entry.key.scope
    if seal is not None:
        wording = seal.seal(wording, entry_id=entry.id, scope=scope, field=WORDING)
    return {"entry_id": entry.id, "digest": wording}


def later_digest(wording: bytes, row: Any, seal: Seal | None) -> dict[str, Any] | None:
    """The row of a wording's digest, for an entry's row with id, scope and seal_key; None where its key is lost."""
    if row.seal_key is not None:
        if seal is None or row.seal_key not in seal:
            return None
        scope = _scope(row.tenant, row.user_id, row.namespace)
        wording = seal.seal(wording, entry_id=row.id, scope=scope, field=WORDING, key_id=row.seal_key)
    return {"entry_id": row.id, "digest": wording}


def resealed(row: Any, seal: Seal) -> dict[str, Any]:
    """Sealed fields under the current key, from a row with id, scope, seal_key and the sealed fields by name.

    Among them is the digest of the wording, where there is one that opens.
    """
    scope = _scope(row.tenant, row.user_id, row.namespace)
    fresh: dict[str, Any] = {"entry": row.id, "seal_key": seal.current}
    for name in SEALED:
        data: bytes = getattr(row, name)
        if row.seal_key is not None:
            data = opened(data, seal, row.seal_key, entry_id=row.id, scope=scope, field=name)
        fresh[name] = seal.seal(data, entry_id=row.id, scope=scope, field=name)
    if wording := _digest(row.wording, seal, row.seal_key, row.id, scope):
        fresh[WORDING] = seal.seal(wording, entry_id=row.id, scope=scope, field=WORDING)
    return fresh


def event(recorded: Recorded) -> dict[str, Any]:
    """The row of an event."""
    scope = recorded.scope
    return {
        "request_id": plain(recorded.request_id),
        "at": recorded.at,
        "endpoint": plain(recorded.endpoint),
        "tenant": plain(scope.tenant),
        "user_id": None if scope.user is None else plain(scope.user),
        "namespace": plain(scope.namespace),
        "model": plain(recorded.model),
        "category": plain(recorded.category),
        "outcome": recorded.outcome.value,
        "why": recorded.why.value,
        "status": recorded.status,
        "entry_id": recorded.entry_id,
        "exact": recorded.exact,
        "score": recorded.score,
        "p_correct": recorded.p_correct,
        "stored": None if recorded.stored is None else plain(recorded.stored),
        "stream": recorded.stream,
        "collapsed": recorded.collapsed,
        "requests": recorded.count,
        "saved_prompt_tokens": recorded.saved.prompt_tokens,
        "saved_completion_tokens": recorded.saved.completion_tokens,
        "saved_cost": recorded.saved_cost,
        "spent_prompt_tokens": recorded.spent.prompt_tokens,
        "spent_completion_tokens": recorded.spent.completion_tokens,
        "spent_cost": recorded.spent_cost,
        "seconds": recorded.seconds,
        "timings": msgspec.json.encode(recorded.timings).decode(),
        "overhead_cost": recorded.overhead,
    }


def require_ring(seal: Seal | None, sealed_key: str | None, where: str) -> None:
    """Raise ConfigError when a store holds a sealed row and there is no ring to open it with."""
    if sealed_key is not None and seal is None:
        raise ConfigError(
            f"{where} holds rows sealed with key {sealed_key!r}: set SEMCACHE_STORE__SEAL_KEYS to the ring they "
            "were sealed with (id:base64,…), or point SEMCACHE_STORE__URL at another store"
        )


@contextmanager
def _sound(entry_id: int) -> Iterator[None]:
    """Turn what is raised by bytes that no store wrote into IntegrityError."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise IntegrityError(f"entry {public_id(entry_id)} is damaged; purge it: {error}") from error


def _digest(data: bytes | None, seal: Seal | None, key_id: str | None, entry_id: int, scope: Scope) -> bytes:
    """The digest of a wording, b"" where there is none or it does not open: it can be made again."""
    if data is not None and key_id is not None:
        with suppress(IntegrityError):
            return opened(data, seal, key_id, entry_id=entry_id, scope=scope, field=WORDING)
        return b""
    return data or b""


def _askers(data: bytes | None) -> tuple[int, ...]:
    return tuple([int.from_bytes(data[at : at + _ASKER]) for at in range(0, len(data), _ASKER)]) if data else ()


def _scope(tenant: str, user: str | None, namespace: str) -> Scope:
    return Scope(unplain(tenant), None if user is None else unplain(user), unplain(namespace))
