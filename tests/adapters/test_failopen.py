"""What all adapters share: a mistake in the program is an error at once, a fault of the cache later is a miss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache import SemanticCache
from semcache.errors import InvalidArgument
from semcache_failopen import FailOpen


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ({"tenant": 7}, "tenant=7 is no string"),
        ({"tenant": None}, "tenant=None is no string"),
        ({"user": 0}, "user=0 is no string"),
        ({"namespace": b"n"}, "namespace=b'n' is no string"),
        ({"tenant": "\ud800"}, "UTF-8"),
    ],
)
def test_a_scope_that_could_never_be_cached_in_is_an_error_and_no_silent_miss(
    tmp_path: Path, scope: dict[str, Any], says: str
) -> None:
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        with pytest.raises(InvalidArgument, match=says):
            FailOpen(cache, **scope)
        FailOpen(cache, tenant="acme", user=None, namespace="")
