"""The statements of the SQL store that are always the same, and the conditions of a selector.

Knows the tables; runs nothing.
Invariant: a statement is made once, so that the database layer compiles it once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from semcache.storage.stores import rows
from semcache.storage.stores.feed import CHANNEL
from semcache.storage.stores.tables import (
    api_keys,
    changes,
    entries,
    meta,
    plans,
    rejections,
    tags,
    vectors,
    wordings,
)
from semcache.types import ALL_OTHERS, ChangeKind, Selector

_BUNDLE = sa.bindparam("bundle", type_=sa.Integer)
_AFTER = sa.bindparam("after", type_=sa.BigInteger)
_NOW = sa.bindparam("now", type_=sa.Double)

HEAD = sa.select(sa.func.coalesce(sa.func.max(changes.c.seq), 0))
CHANGES = (
    sa.select(changes.c.seq, changes.c.kind, changes.c.entry_id, changes.c.exact)
    .where(changes.c.seq > _AFTER)
    .order_by(changes.c.seq)
    .limit(_BUNDLE)
)
CARDS = (
    sa.select(*rows.CARD)
    .where(entries.c.id > _AFTER, entries.c.expires > _NOW)
    .where(~sa.exists().where(vectors.c.entry_id == entries.c.id, vectors.c.embedder_id == sa.bindparam("embedder")))
    .order_by(entries.c.id)
    .limit(_BUNDLE)
)
_EMBEDDED = (
    sa.select(*rows.CARD, vectors.c.dim, vectors.c.data)
    .join_from(vectors, entries, vectors.c.entry_id == entries.c.id)
    .where(vectors.c.embedder_id == sa.bindparam("embedder", type_=sa.String))
)
VECTORS = (
    _EMBEDDED.where(vectors.c.entry_id > _AFTER, entries.c.expires > _NOW).order_by(vectors.c.entry_id).limit(_BUNDLE)
)
COUNTS = sa.select(entries.c.category, sa.func.count()).group_by(entries.c.category)
EMBEDDERS = sa.select(vectors.c.embedder_id, sa.func.count()).group_by(vectors.c.embedder_id)
REJECTIONS = sa.select(rejections.c.entry_id, rejections.c.exact).order_by(rejections.c.at, rejections.c.entry_id)
REJECTIONS_OF = REJECTIONS.where(rejections.c.entry_id == sa.bindparam("entry", type_=sa.BigInteger))
KEYS = sa.select(api_keys).order_by(api_keys.c.created, api_keys.c.id)
SALT = sa.select(meta.c.value).where(meta.c.name == "salt")
_SAME_EXACT = sa.bindparam("same_exact", type_=sa.LargeBinary)
_SAME_ID = sa.bindparam("same_id", type_=sa.BigInteger)
_BEFORE = sa.bindparam("before", type_=sa.LargeBinary)
_TWINS = sa.or_(entries.c.exact == _SAME_EXACT, entries.c.id == _SAME_ID)
FORGET = sa.insert(changes).from_select(
    ["kind", "entry_id", "exact", "at"],
    sa.select(sa.literal(ChangeKind.DELETE.value), entries.c.id, sa.literal(b""), _NOW).where(_TWINS),
)
_ENTRY = sa.bindparam("entry", type_=sa.BigInteger)
_CLASS = sa.bindparam("shared", type_=sa.BigInteger)
_OTHER = (entries.c.id == _ENTRY, entries.c.answer != _CLASS)
TELL_ALIAS = sa.insert(changes).from_select(
    ["kind", "entry_id", "exact", "at"],
    sa.select(sa.literal(ChangeKind.ALIAS.value), entries.c.id, sa.literal(b""), _NOW).where(*_OTHER),
)
ALIAS = sa.update(entries).where(*_OTHER).values(answer=_CLASS)
# An entry that is replaced stays, under a digest that no request has, until its rejections are handed on.
MOVE_ASIDE = sa.update(entries).where(entries.c.exact == _SAME_EXACT, entries.c.id != _SAME_ID).values(exact=_BEFORE)
REPLACE = sa.delete(entries).where(entries.c.id == _SAME_ID)
INSERT = sa.insert(entries)
HAND_ON = sa.insert(rejections).from_select(
    ["entry_id", "exact", "at"],
    sa.select(_SAME_ID, rejections.c.exact, rejections.c.at)
    .join_from(rejections, entries, rejections.c.entry_id == entries.c.id)
    .where(entries.c.exact == _BEFORE, rejections.c.exact != _SAME_EXACT),
)
_EXACTLY_ONLY = sa.exists().where(rejections.c.entry_id == _SAME_ID, rejections.c.exact == ALL_OTHERS)
UNSHELVE = sa.update(entries).where(entries.c.id == _SAME_ID, _EXACTLY_ONLY).values(shelf=b"", embedder_id="")
DROP_VECTOR = sa.delete(vectors).where(vectors.c.entry_id == _SAME_ID, _EXACTLY_ONLY)
TELL_HANDED_ON = sa.insert(changes).from_select(
    ["kind", "entry_id", "exact", "at"],
    sa.select(sa.literal(ChangeKind.REJECT.value), rejections.c.entry_id, rejections.c.exact, _NOW).where(
        rejections.c.entry_id == _SAME_ID
    ),
)
DROP_BEFORE = sa.delete(entries).where(entries.c.exact == _BEFORE)
INSERT_VECTOR = sa.insert(vectors)
INSERT_WORDING = sa.insert(wordings)
INSERT_TAG = sa.insert(tags)
INSERT_CHANGE = sa.insert(changes)
NOTIFY = sa.select(sa.func.pg_notify(CHANNEL, sa.bindparam("payload", type_=sa.String)))
_FIRST = entries.alias()
_FIRST_CLASS = sa.case((_FIRST.c.answer == 0, _FIRST.c.id), else_=_FIRST.c.answer)
ALIKE = (
    sa.select(entries.c.id, entries.c.exact)
    .join(_FIRST, sa.and_(_FIRST.c.id == _ENTRY, _FIRST.c.tenant == entries.c.tenant))
    .where(sa.or_(entries.c.answer == _FIRST_CLASS, entries.c.id == _FIRST_CLASS), entries.c.id != _ENTRY)
)
SEALED = sa.select(
    sa.func.coalesce(*[sa.select(sa.func.max(one.c.seal_key)).scalar_subquery() for one in (entries, plans)])
)


@lru_cache(maxsize=64)
def by_ids(count: int) -> sa.Select[Any]:
    """Entries whose id is one of the parameters id0 … ."""
    return sa.select(*rows.ENTRY).where(entries.c.id.in_(_ids(count)))


@lru_cache(maxsize=64)
def vectors_by_ids(count: int) -> sa.Select[Any]:
    """Cards and vectors of one embedder whose entry id is one of the parameters id0 … ."""
    return _EMBEDDED.where(vectors.c.entry_id.in_(_ids(count)))


def _ids(count: int) -> list[sa.BindParameter[int]]:
    return [sa.bindparam(f"id{n}", type_=sa.BigInteger) for n in range(count)]


def among(ids: Sequence[int], *, sqlite: bool) -> sa.ColumnElement[bool]:
    """The entries with these ids, as one parameter however many they are."""
    if sqlite:
        return entries.c.id.in_(sa.select(sa.func.json_each(json.dumps(list(ids))).table_valued("value").c.value))
    return entries.c.id == sa.func.any(sa.cast(list(ids), ARRAY(sa.BigInteger)))


def matching(where: Selector, *, sqlite: bool) -> list[sa.ColumnElement[bool]]:
    """The conditions of a selector, to be joined by AND; none when it is empty or asks for everything."""
    conditions: list[sa.ColumnElement[bool]] = []
    if where.ids is not None:
        conditions.append(among(where.ids, sqlite=sqlite))
    named = {"tenant": where.tenant, "user_id": where.user, "namespace": where.namespace}
    named |= {"category": where.category, "model": where.model, "source": where.source}
    conditions += [entries.c[name] == rows.plain(value) for name, value in named.items() if value is not None]
    if where.tag is not None:
        conditions.append(entries.c.id.in_(sa.select(tags.c.entry_id).where(tags.c.tag == rows.plain(where.tag))))
    if where.older_than is not None:
        conditions.append(entries.c.created < where.older_than)
    return conditions
