"""A server that is named by the path of a Unix socket."""

from __future__ import annotations

import pytest

from semcache.runtime.unix_address import http_root


@pytest.mark.parametrize(
    ("address", "root"),
    [
        ("http://localhost:8080/v1/", ("http://localhost:8080", None)),
        ("https://cache.example/team", ("https://cache.example/team", None)),
        ("unix:/run/proxy.sock", ("http://localhost", "/run/proxy.sock")),
        ("unix:/run/proxy.sock/v1", ("http://localhost", "/run/proxy.sock")),
    ],
)
def test_an_address_says_where_requests_go(address: str, root: tuple[str, str | None]) -> None:
    assert http_root(address) == root
