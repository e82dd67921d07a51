"""What is kept is nobody else's to read, and what was deleted under a running store is not written on."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache.errors import StoreError
from semcache.storage.stores import open_store
from semcache.types import ApiKey


async def test_a_new_data_folder_is_the_users_own(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = open_store(f"sqlite:///{folder / 'semcache.db'}")
    await store.open()
    await store.close()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "semcache.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_promised_to_be_kept_in_a_file_that_is_gone(tmp_path: Path, replaced: bool) -> None:
    file = tmp_path / "semcache.db"
    store = open_store(f"sqlite:///{file}")
    await store.open()
    try:
        await store.ping()
        for part in tmp_path.iterdir():
            part.unlink()
        if replaced:
            file.touch()
        with pytest.raises(StoreError, match="deleted or replaced"):
            await store.add_key(ApiKey("key_1", b"d" * 32, "acme", "", 1.0))
        with pytest.raises(StoreError, match="deleted or replaced"):
            await store.ping()
    finally:
        await store.close()


async def test_the_user_of_a_key_is_kept(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'semcache.db'}")
    await store.open()
    keys = [ApiKey("a", b"1" * 32, "acme", "", 1.0, user="ann"), ApiKey("b", b"2" * 32, "acme", "", 2.0)]
    for key in keys:
        await store.add_key(key)
    assert await store.keys() == keys
    await store.close()
