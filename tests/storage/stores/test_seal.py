"""Sealed stores: what is on disk cannot be read, swapped or lost by rotating keys."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from semcache.errors import ConfigError, IntegrityError
from semcache.storage.stores import open_store
from semcache.storage.stores.seal import SETTING, Seal, example
from semcache.storage.stores.tables import decisions, wordings
from semcache.storage.stores.tool_rows import ToolResultRow, tool_results_of
from semcache.types import Scope, Selector
from semcache.types.operator_record import DecisionRecord
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.old_schemas import engine_of
from tests.storage.stores.values import NOW, entry, vector

OLD, NEW, OTHER = ("k1", b"1" * 32), ("k2", b"2" * 32), ("k1", b"3" * 32)
SECRETS = [b"my secret question", b"the secret canonical", b"the secret answer"]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "semcache.db")


@asynccontextmanager
async def opened(url: str, *keys: tuple[str, bytes]):
    store = open_store(url, seal=Seal(keys) if keys else None)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def secret(n: int, **changes):
    made = entry(n, SECRETS[0].decode() + str(n), body=SECRETS[2] + str(n).encode(), **changes)
    key = type(made.key)(made.key.scope, made.key.signature, made.key.exact, made.key.text, SECRETS[1])
    return type(made)(**{name: getattr(made, name) for name in made.__slots__} | {"key": key})


async def living(store) -> list[int]:
    return [card.id async for batch in store.vectors("mini", now=NOW) for card in batch.cards]


async def test_a_sealed_file_holds_no_word_of_prompt_request_or_answer(path: str):
    async with opened(path, OLD) as store:
        await store.put(secret(1), vector(1))
        assert await store.get([1]) == [secret(1)]
        written = b"".join(file.read_bytes() for file in Path(path).parent.iterdir())
        assert not [word for word in SECRETS if word in written]
    async with opened(path + "2") as store:
        await store.put(secret(1), vector(1))
    assert all(word in Path(path + "2").read_bytes() for word in SECRETS)


async def test_the_same_text_is_sealed_to_different_bytes(path: str):
    async with opened(path, OLD) as store:
        await store.put(secret(1), None)
        await store.put(secret(1), None)
    seal = Seal([OLD])
    sealed = {seal.seal(b"x", entry_id=1, scope=Scope(), field="body") for _ in range(20)}
    assert len(sealed) == 20


@pytest.mark.parametrize("field", ["text", "canonical", "body"])
async def test_a_field_swapped_with_another_rows_does_not_open(path: str, field: str):
    async with opened(path, OLD) as store:
        await store.put(secret(1), vector(1))
        await store.put(secret(2), vector(2))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE entries SET {field} = (SELECT {field} FROM entries WHERE id = 2) WHERE id = 1")
    async with opened(path, OLD) as store:
        with pytest.raises(IntegrityError, match="0000000000000001"):
            await store.get([1])
        assert await store.get([2]) == [secret(2)]


@pytest.mark.parametrize("change", ["tenant = 'other'", "user_id = 'eve'", "namespace = 'x'", "body = text"])
async def test_a_row_moved_to_another_scope_or_field_does_not_open(path: str, change: str):
    async with opened(path, OLD) as store:
        await store.put(secret(1), vector(1))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE entries SET {change}")
    async with opened(path, OLD) as store:
        with pytest.raises(IntegrityError):
            await store.get([1])


@pytest.mark.parametrize("ring", [OTHER, NEW], ids=["wrong key", "missing key"])
async def test_entries_that_do_not_open_are_dropped_and_counted_and_the_rest_goes_on(path: str, ring):
    async with opened(path, OLD) as store:
        await store.put(secret(1), vector(1))
        await store.put(secret(2), None)
    async with opened(path, ring) as store:
        await store.put(secret(3), vector(3))
        assert await living(store) == [3]
        assert store.unreadable == 1
        assert [page async for page in store.cards("mini", now=NOW)] == []
        assert store.unreadable == 2
        assert [found.id for found in await store.select(Selector(everything=True))] == [3]
        with pytest.raises(IntegrityError, match="k1"):
            await store.get([1])
        assert await store.delete(Selector(everything=True), now=NOW) == [1, 2, 3]


async def test_a_sealed_store_does_not_open_without_a_ring(path: str):
    async with opened(path, OLD) as store:
        await store.put(secret(1), None)
    with pytest.raises(ConfigError, match=SETTING):
        async with opened(path):
            pass
    async with opened(path, OLD) as store:
        await store.delete(Selector(everything=True), now=NOW)
    async with opened(path):
        pass


@pytest.mark.parametrize("place", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_rotation_moves_every_row_to_the_new_key(place: str, path: str, request):
    url = path if place == "sqlite" else request.getfixturevalue("postgres_url")
    async with opened(url) as store:
        for n in range(1, 4):
            await store.put(secret(n), vector(n))
        assert await store.reseal() == 0
    async with opened(url, OLD) as store:
        await store.put(secret(4, scope=Scope("acme", "ann", "n")), vector(4))
        assert await store.reseal(2) == 3
        head = await store.head()
    async with opened(url, NEW, OLD) as store:
        await store.put(secret(5), vector(5))
        assert await store.reseal(2) == 4
        assert await store.reseal(2) == 0
        assert await store.head() == head + 1
    async with opened(url, NEW) as store:
        expected = [secret(n) for n in (1, 2, 3)] + [secret(4, scope=Scope("acme", "ann", "n")), secret(5)]
        assert await store.get(range(1, 6)) == expected
        assert await living(store) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("place", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_rotation_takes_records_along_and_lets_results_of_tools_go(place: str, path: str, request):
    url = path if place == "sqlite" else request.getfixturevalue("postgres_url")
    made = [
        DecisionRecord(f"{n:016x}", NOW, NOW + 99, Scope("acme", user, ""), "c", "m", "miss", "cold", None, {"p": n})
        for n, user in ((1, None), (2, "ann"))
    ]
    result = ToolResultRow(b"k" * 32, "acme", "weather", b"sunny", NOW, NOW + 99)
    async with opened(url) as store:
        await store.keep_decisions(made[:1], most=9)
    async with opened(url, OLD) as store:
        await store.keep_decisions(made[1:], most=9)
        await tool_results_of(store).put(result)
    async with opened(url, NEW, OLD) as store:
        assert await tool_results_of(store).get(result.key, NOW) == result
        await store.reseal(1)
    async with opened(url, NEW) as store:
        assert [await store.decision(one.request_id) for one in made] == made
        assert await tool_results_of(store).get(result.key, NOW) is None
    engine = engine_of(url)
    with engine.connect() as raw:
        assert set(raw.execute(sa.select(decisions.c.seal_key)).scalars()) == {NEW[0]}
    engine.dispose()


@pytest.mark.parametrize("place", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_the_digest_of_a_wording_is_sealed_and_renewed_as_its_entry_is(place: str, path: str, request):
    url = path if place == "sqlite" else request.getfixturevalue("postgres_url")
    digests = {n: b"digest of wording %d" % n for n in range(1, 6)}

    async def kept(store) -> dict[int, bytes]:
        cards = [card async for batch in store.vectors("mini", now=NOW) for card in batch.cards]
        return {card.id: card.wording for card in cards}

    def on_disk() -> list[int]:
        engine = engine_of(url)
        with engine.connect() as connection:
            found = connection.execute(sa.select(wordings).order_by(wordings.c.entry_id)).all()
        engine.dispose()
        return [number for number, digest in found if bytes(digest) == digests[number]]

    async with opened(url) as store:
        await store.put(secret(1, wording=digests[1]), vector(1))
    async with opened(url, OLD) as store:
        await store.put(secret(2, wording=digests[2], scope=Scope("acme", "ann", "n")), vector(2))
        await store.put(secret(3), vector(3))
        await store.put(secret(4), vector(4))
        await store.reword({1: digests[1], 3: digests[3]})
        assert await kept(store) == {**{n: digests[n] for n in (1, 2, 3)}, 4: b""}
        assert on_disk() == [1]
    async with opened(url, NEW, OLD) as store:
        await store.put(secret(5, wording=digests[5]), vector(5))
        await store.reword({4: digests[4]})
        assert await kept(store) == digests
        assert await store.reseal(2) == 4
    async with opened(url, NEW) as store:
        assert await kept(store) == digests
        assert on_disk() == []


async def test_an_entry_is_read_whose_digest_does_not_open_and_one_of_a_lost_key_gets_none(path: str):
    async with opened(path, OLD) as store:
        for n in (1, 2):
            await store.put(secret(n, wording=b"digest"), vector(n))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE wordings SET digest = (SELECT digest FROM wordings WHERE entry_id = 2)")
    async with opened(path, OLD) as store:
        assert await store.get([1, 2]) == [secret(1), secret(2, wording=b"digest")]
    async with opened(path, NEW) as store:
        await store.put(secret(3), vector(3))
        await store.reword({1: b"lost", 3: b"kept"})
        assert await store.get([3]) == [secret(3, wording=b"kept")]
    with closing(sqlite3.connect(path)) as raw:
        assert [row[0] for row in raw.execute("SELECT entry_id FROM wordings ORDER BY 1")] == [2, 3]


async def test_rotation_goes_on_after_a_break_and_past_rows_that_do_not_open(path: str):
    async with opened(path, OTHER) as store:
        await store.put(secret(1), None)
    async with opened(path, OLD) as store:
        for n in range(2, 7):
            await store.put(secret(n), None)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "CREATE TRIGGER broken BEFORE UPDATE ON entries WHEN new.id = 5 BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
    async with opened(path, NEW, OLD) as store:
        with pytest.raises(Exception, match="constraint"):
            await store.reseal(2)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP TRIGGER broken")
        done = [row[0] for row in raw.execute("SELECT id FROM entries WHERE seal_key = 'k2' ORDER BY id")]
    assert done == [2, 3, 4]
    async with opened(path, NEW, OLD) as store:
        assert await store.reseal(2) == 2
        assert store.unreadable == 1
        assert await store.get([2, 6]) == [secret(2), secret(6)]


def test_a_ring_is_read_from_its_setting():
    first, second = (base64.b64encode(bytes([n]) * 32).decode() for n in (251, 2))
    seal = Seal.parse(f" k2:{first} , k1:{second},")
    assert seal.current == "k2"
    place = {"entry_id": 1, "scope": Scope(), "field": "body"}
    assert seal.open(Seal([("k1", b"\x02" * 32)]).seal(b"x", **place), key_id="k1", **place) == b"x"
    urlsafe = Seal.parse("k2:" + base64.urlsafe_b64encode(bytes([251]) * 32).decode())
    assert seal.open(urlsafe.seal(b"y", **place), key_id="k2", **place) == b"y"
    assert Seal.parse(example()).current == "k1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no key"),
        (" , ", "no key"),
        (base64.b64encode(b"1" * 32).decode(), "lacks its id"),
        ("k1:", "0 bytes"),
        ("k1:%%%", "base64"),
        ("k1:" + base64.b64encode(b"1" * 16).decode(), "16 bytes"),
        ("k 1:" + base64.b64encode(b"1" * 32).decode(), "'k 1'"),
        (",".join(["k1:" + base64.b64encode(b"1" * 32).decode()] * 2), "twice"),
    ],
)
def test_a_bad_ring_names_the_setting_and_the_fault_but_not_the_key(text: str, says: str):
    with pytest.raises(ConfigError, match=SETTING) as caught:
        Seal.parse(text)
    assert says in str(caught.value)
    assert base64.b64encode(b"1" * 32).decode() not in str(caught.value)


def test_places_that_read_alike_when_joined_are_different_places():
    seal = Seal([OLD])
    places = [Scope("ab", "c"), Scope("a", "bc"), Scope("abc", None), Scope("ab", None, "c"), Scope("abc", "")]
    for here in places:
        sealed = seal.seal(b"x", entry_id=1, scope=here, field="body")
        for there in places:
            if there == here:
                assert seal.open(sealed, key_id="k1", entry_id=1, scope=there, field="body") == b"x"
            else:
                with pytest.raises(IntegrityError):
                    seal.open(sealed, key_id="k1", entry_id=1, scope=there, field="body")
