"""What an operator would learn too late if the doctor said nothing of keys that end."""

from __future__ import annotations

from dataclasses import replace

from semcache.cli.doctor_keys import check_keys
from semcache.config.settings import Settings
from semcache.types import ApiKey

NOW, DAY = 1_800_000_000.0, 86400.0
KEY = ApiKey("key_1", b"d", "acme", "", NOW - DAY)


def ending(id: str, days: float, **changes: object) -> ApiKey:
    return replace(KEY, id=id, expires=NOW + days * DAY, **changes)  # type: ignore[arg-type]


def test_keys_that_end_within_two_weeks_are_named_the_next_first() -> None:
    keys = [
        ending("key_late", 13),
        ending("key_next", 1, admin=True),
        ending("key_far", 15),
        ending("key_over", -1),
        ending("key_revoked", 1, revoked=NOW - 1),
        KEY,
    ]
    [found] = check_keys(Settings(), keys, NOW)
    assert found.state == "warn"
    assert found.found.endswith(
        "soon refused: key_next of acme (admin) from 2027-01-16T08:00:00Z on, "
        "key_late of acme from 2027-01-28T08:00:00Z on"
    )
    assert "semcache keys expire" in found.remedy


def test_keys_that_go_on_are_nothing_to_warn_of() -> None:
    [found] = check_keys(Settings(), [KEY, ending("key_far", 15)], NOW)
    assert found.state == "ok"
    open_to_all = Settings(auth={"required": False})  # type: ignore[arg-type]
    assert check_keys(open_to_all, [ending("key_next", 1)], NOW)[0].state == "ok"


def test_many_keys_that_end_are_counted() -> None:
    [found] = check_keys(Settings(), [ending(f"key_{number}", 1 + number) for number in range(8)], NOW)
    assert found.found.endswith(" and 3 more")
