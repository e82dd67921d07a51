"""The OpenAPI document is true: schemathesis asks for what it describes, and gets what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from semcache.dialects import dialects
from tests.contract.services import Service, serving

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving("echo", tmp_path_factory.mktemp("openapi"), "--embedder", "hashing") as made:
        chat = {"model": "m", "messages": [{"role": "user", "content": "What is a fjord?"}]}
        made.post("/v1/chat/completions", chat, headers={"x-semcache-tags": "0"}).raise_for_status()
        yield made


def test_the_document_is_true(service: Service) -> None:
    document = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    described = document.include(path_regex="^/(semcache|livez|readyz|metrics)")
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) >= 7
    for operation in operations:

        @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=HealthCheck)
        @given(case=operation.as_strategy())
        def answered_as_described(case: Any) -> None:
            # A call that would delete everything by an empty body is refused, which no schema of ours says.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        answered_as_described()


def test_the_document_names_what_is_served_outside_it(service: Service) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    assert {dialect.path for dialect in dialects().values()} | {"/v1/embeddings"} <= paths.keys()
    assert {
        "/semcache/feedback",
        "/semcache/invalidate",
        "/semcache/entries",
        "/semcache/stats",
    } <= paths.keys()
    headers = {parameter["name"] for parameter in paths["/v1/chat/completions"]["post"]["parameters"]}
    assert {"cache-control", "x-semcache-category", "x-semcache-min-score"} <= headers
