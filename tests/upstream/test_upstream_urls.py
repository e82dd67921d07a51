"""An address that cannot work is refused at the start, with the one that does."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from semcache.errors import ConfigError
from semcache.upstream.backends import litellm, open_backend


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/chat/completions/", "/v1/messages", "/api/v1/embeddings"]
)
def test_the_address_of_one_endpoint_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match="leave /"):
        open_backend(f"https://api.example.com{path}")


def test_a_model_of_no_provider_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def provider(model: str) -> tuple[str, str]:
        if "/" not in model:
            raise ValueError("LLM Provider NOT provided")
        return tuple(model.split("/", 1))  # type: ignore[return-value]

    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(get_llm_provider=provider))
    litellm.check_model("openai/gpt-5")
    with pytest.raises(ConfigError, match="no provider of 'foo'"):
        litellm.check_model("foo")
