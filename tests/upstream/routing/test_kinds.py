"""What each kind of server is told."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from semcache.upstream.routing.kinds import KINDS, fields_for, of_host, of_models, salt_of, wants_draft
from semcache.upstream.routing.prompts import RoutedPrompt, read

BODY = b'{"model": "m", "temperature": 1.50, "messages": [{"role": "user",  "content": "hi"}]}'


def prompt(body: bytes = BODY, path: str = "/v1/chat/completions") -> RoutedPrompt:
    return read(path, [], body, tenant="acme", salt=salt_of(b"secret", "acme"))


def test_salts_are_accepted_by_every_server_and_name_no_tenant() -> None:
    salt = salt_of(b"secret", "acme/@evil\\\0")
    assert re.fullmatch(r"[A-Za-z0-9-]{1,128}", salt)
    tenants = {
        salt_of(secret, tenant, own) for secret in (b"a", b"b") for tenant in ("", "x", "y") for own in ("", "x")
    }
    assert len(tenants) == 12
    assert salt == salt_of(b"secret", "acme/@evil\\\0")


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_salt_is_set_and_the_rest_keeps_its_bytes(kind: str) -> None:
    sent = msgspec.json.encode(fields_for(KINDS[kind], prompt()))
    assert json.loads(sent) == json.loads(BODY) | {"cache_salt": salt_of(b"secret", "acme")}
    assert b'[{"role": "user",  "content": "hi"}]' in sent
    assert b"1.50" in sent


def test_a_client_cannot_choose_the_salt_of_another_tenant() -> None:
    other = salt_of(b"secret", "other")
    asked = prompt(BODY[:-1] + b', "cache_salt": "' + other.encode() + b'"}')
    assert json.loads(msgspec.json.encode(fields_for(KINDS["vllm"], asked)))["cache_salt"] != other


def test_clouds_get_a_key_of_the_tenant_and_its_session_unless_the_client_sent_one() -> None:
    def key(body: bytes) -> str:
        return str(json.loads(msgspec.json.encode(fields_for(KINDS["openai"], prompt(body))))["prompt_cache_key"])

    first, second = (BODY[:-1] + b', "session_id": "%d"}' % number for number in (1, 2))
    assert key(first) == key(first) != key(second)
    assert len(key(BODY)) <= 64
    assert key(BODY[:-1] + b', "prompt_cache_key": "mine"}') == "mine"


@pytest.mark.parametrize("kind", ["llamacpp", "other"])
def test_servers_that_know_no_such_field_are_sent_none(kind: str) -> None:
    asked = prompt()
    assert fields_for(KINDS[kind], asked) is asked.fields


def test_a_guess_goes_only_to_who_verifies_it_for_nothing() -> None:
    """Clouds bill for the tokens of a prediction that were wrong, and an unknown server may refuse the field."""
    own = prompt(BODY[:-1] + b', "prediction": {"type": "content", "content": "mine"}}')
    assert [name for name, kind in KINDS.items() if wants_draft(kind, prompt())] == ["semcache"]
    assert not wants_draft(KINDS["semcache"], own)
    assert not wants_draft(KINDS["semcache"], prompt(path="/v1/embeddings"))
    sent = json.loads(msgspec.json.encode(fields_for(KINDS["semcache"], prompt(), 'say "hi"')))
    assert sent["prediction"] == {"type": "content", "content": 'say "hi"'}
    assert "prediction" not in fields_for(KINDS["semcache"], prompt(), "")


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/files", "/v1/messages"])
def test_other_endpoints_are_left_alone(path: str) -> None:
    asked = prompt(path=path)
    assert fields_for(KINDS["vllm"], asked) is asked.fields


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"data":[{"id":"m","owned_by":"vllm"}]}', "vllm"),
        (b'{"data":[{"id":"m","owned_by":"sglang"}]}', "sglang"),
        (b'{"data":[{"id":"m","owned_by":"llama.cpp"}]}'.replace(b"llama.cpp", b"llamacpp"), "llamacpp"),
        (b'{"data":[{"id":"m","owned_by":"somebody"}]}', "other"),
        (b'{"data":[1]}', "other"),
        (b'{"data":null}', "other"),
        (b"<html>", "other"),
        (b"\xff", "other"),
    ],
)
def test_a_server_is_known_by_its_models(body: bytes, kind: str) -> None:
    assert of_models(body) == kind


def test_a_cloud_is_known_by_its_host() -> None:
    assert of_host("api.openai.com/v1") is KINDS["openai"]
    assert of_host("acme.openai.azure.com") is KINDS["openai"]
    assert of_host("openai.azure.com.evil.example") is None
    assert of_host("127.0.0.1:8000") is None
