"""The life of an API key."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from semcache.protocols import KeyExpiryStore
from semcache.storage.stores import open_store

Run = Callable[..., "subprocess.CompletedProcess[str]"]


async def test_a_list_without_keys_says_how_to_make_one(run: Run, fill: Callable[..., Awaitable[list[str]]]) -> None:
    await fill({"What is a monad?": "A box."})
    listed = run("keys", "list")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "`semcache keys create --tenant NAME`" in listed.stderr


def test_a_key_is_shown_once_and_never_stored(run: Run, tmp_path: Path) -> None:
    made = run("keys", "create", "--tenant", "acme", "--name", "billing bot", "--trusted")
    assert made.returncode == 0
    plain = made.stdout.strip()
    assert plain.startswith("sk-sc-")
    assert plain not in made.stderr
    listed = run("keys", "list")
    assert "acme" in listed.stdout
    assert "billing bot" in listed.stdout
    assert plain not in listed.stdout
    for file in (tmp_path / "data").iterdir():
        assert plain.encode() not in file.read_bytes()


def test_create_list_revoke_as_json(run: Run) -> None:
    made = json.loads(run("keys", "create", "--tenant", "acme", "--admin", "--json").stdout)
    assert made["tenant"] == "acme"
    assert made["admin"] is True
    assert made["trusted"] is False
    assert run("keys", "revoke", made["id"]).returncode == 0
    [listed] = json.loads(run("keys", "list", "--json").stdout)
    assert listed["id"] == made["id"]
    assert listed["revoked"] is not None
    assert "key" not in listed
    assert "digest" not in listed
    again = run("keys", "revoke", made["id"])
    assert again.returncode == 1
    assert made["id"] in again.stderr


def test_a_key_is_given_limits_and_loses_them(run: Run) -> None:
    made = json.loads(
        run("keys", "create", "--tenant", "acme", "--requests", "60", "--dollars", "2.5", "--json").stdout
    )
    assert (made["requests_per_minute"], made["tokens_per_minute"], made["dollars_per_day"]) == (60, None, 2.5)
    assert "60 requests/min 2.5 $/day" in run("keys", "list").stdout
    assert run("keys", "limit", made["id"], "--tokens", "1000").returncode == 0
    [listed] = json.loads(run("keys", "list", "--json").stdout)
    assert (listed["requests_per_minute"], listed["tokens_per_minute"]) == (None, 1000)
    none = run("keys", "limit", "key_none")
    assert none.returncode == 1
    assert "key_none" in none.stderr


@pytest.mark.parametrize("limit", ["--requests=99999999999999999999", "--tokens=0", "--dollars=inf", "--dollars=nan"])
def test_a_limit_that_is_none_makes_no_key(run: Run, limit: str) -> None:
    done = run("keys", "create", "--tenant", "acme", limit)
    assert done.returncode == 2
    assert limit.partition("=")[0] in done.stderr
    assert "sk-sc-" not in done.stdout


def test_a_tenant_without_a_name_is_refused(run: Run) -> None:
    done = run("keys", "create", "--tenant", "")
    assert done.returncode == 2
    assert "tenant" in done.stderr


def test_a_key_of_one_user_sees_no_others(run: Run) -> None:
    done = run("keys", "create", "--tenant", "acme", "--user", "ann", "--trusted")
    assert done.returncode == 2
    assert "user 'ann' binds the key to one user" in done.stderr
    assert run("keys", "create", "--tenant", "acme", "--user", "ann").returncode == 0


def test_a_key_that_only_reads_says_so(run: Run) -> None:
    made = json.loads(run("keys", "create", "--tenant", "acme", "--admin", "--read-only", "--json").stdout)
    assert (made["admin"], made["read_only"]) == (True, True)
    assert "admin read-only" in run("keys", "list").stdout


def test_a_key_is_given_an_end_that_can_be_moved(run: Run) -> None:
    made = json.loads(run("keys", "create", "--tenant", "acme", "--expires", "2099-01-31", "--json").stdout)
    assert made["expires"] == datetime(2099, 1, 31, tzinfo=UTC).timestamp()
    assert "2099-01-31T00:00:00Z" in run("keys", "list").stdout
    before = time.time()
    assert run("keys", "expire", made["id"], "7d").returncode == 0
    [listed] = json.loads(run("keys", "list", "--json").stdout)
    assert before + 7 * 86400 <= listed["expires"] <= time.time() + 7 * 86400
    assert "has no end" in run("keys", "expire", made["id"], "never").stderr
    assert json.loads(run("keys", "list", "--json").stdout)[0]["expires"] is None
    assert run("keys", "expire", "key_none", "7d").returncode == 1
    log = run("actions").stdout
    assert "set end of key" in log
    assert "expires=never" in log
    assert "expires=2099-01-31T00:00:00Z" in log


@pytest.mark.parametrize(
    ("when", "said"), [("2001-01-31", "'2001-01-31' is over"), ("soon", "'soon' is no time"), ("", "'' is no time")]
)
def test_an_end_that_is_over_or_no_time_makes_no_key(run: Run, when: str, said: str) -> None:
    done = run("keys", "create", "--tenant", "acme", "--expires", when)
    assert done.returncode == 2
    assert said in done.stderr
    assert "sk-sc-" not in done.stdout


async def test_a_key_that_has_expired_is_listed_as_such(run: Run, tmp_path: Path) -> None:
    made = json.loads(run("keys", "create", "--tenant", "acme", "--json").stdout)
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    assert isinstance(store, KeyExpiryStore)
    await store.expire_key(made["id"], expires=1_700_000_000.0)
    await store.close()
    assert "2023-11-14T22:13:20Z (expired)" in run("keys", "list").stdout


def test_what_is_done_to_keys_is_in_the_administrators_log(run: Run) -> None:
    made = json.loads(run("keys", "create", "--tenant", "acme", "--user", "ann", "--json").stdout)
    run("keys", "limit", made["id"], "--requests", "5")
    run("keys", "revoke", made["id"])
    run("keys", "revoke", "key_unknown")
    log = json.loads(run("actions", "--json").stdout)
    assert [(one["action"], one["tenant"]) for one in log] == [
        ("revoke key", "acme"),
        ("limit key", "acme"),
        ("make key", "acme"),
    ]
    shown = json.dumps(log)
    assert made["id"] in shown
    assert "ann" in shown
    assert "5 requests/min" in shown
    assert made["key"] not in shown
