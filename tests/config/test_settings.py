"""Where a setting comes from, what a mistake says, and what does not start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache.config.settings import KEYS, Settings, check_exposure, find_file, is_local, is_loopback
from semcache.errors import ConfigError


def load(env: dict[str, str] | None = None, text: str | None = None, tmp: Path | None = None, **cli: Any) -> Settings:
    file = None
    if text is not None:
        assert tmp is not None
        file = tmp / "semcache.yaml"
        file.write_text(text)
    return Settings.load({key.replace("__", "."): value for key, value in cli.items()}, env or {}, file)


def test_defaults_are_those_of_the_manual() -> None:
    settings = load({"HOME": "/home/ann"})
    assert settings.upstream.url == "https://api.openai.com/v1"
    assert (settings.server.host, settings.server.port, settings.server.max_body) == ("127.0.0.1", 8080, 20 << 20)
    assert settings.data == Path("/home/ann/.local/share/semcache")
    assert settings.store_url == "sqlite:////home/ann/.local/share/semcache/semcache.db"
    assert (settings.cache.judge, settings.cache.target, settings.auth.required) == ("verifier", None, None)
    assert load({"HOME": "/h", "XDG_DATA_HOME": "/d"}).data == Path("/d/semcache")
    assert load({"HOME": "/h", "XDG_DATA_HOME": "relative"}).data == Path("/h/.local/share/semcache")
    assert load({}).data == Path(".semcache")


def test_a_data_folder_may_lie_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert load({"SEMCACHE_DATA": "~/cache"}).data == Path("/home/ann/cache")
    with pytest.raises(ConfigError, match="write the whole path"):
        load({"SEMCACHE_DATA": "~nobody-of-that-name/cache"})


def test_command_line_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    text = "server:\n  port: 1\n  workers: 2\n  host: ::1\nlog: {level: debug}\n"
    settings = load({"SEMCACHE_SERVER__PORT": "3", "SEMCACHE_SERVER__WORKERS": "4"}, text, tmp_path, server__port=5)
    assert (settings.server.port, settings.server.workers, settings.server.host) == (5, 4, "::1")
    sources = {key: source for key, _, source in settings.explain()}
    assert sources["server.port"] == "command line"
    assert sources["server.workers"] == "SEMCACHE_SERVER__WORKERS"
    assert sources["server.host"] == f"{tmp_path / 'semcache.yaml'}:4"
    assert sources["log.level"] == f"{tmp_path / 'semcache.yaml'}:5"
    assert sources["policies"] == sources["data"] == "default"


def test_options_not_given_and_empty_variables_set_nothing() -> None:
    settings = load({"SEMCACHE_SERVER__PORT": " ", "SEMCACHE_CONFIG": "x", "OTHER": "y"}, server__port=None)
    assert settings.server.port == 8080


@pytest.mark.parametrize(
    ("value", "size"), [("20 MiB", 20 << 20), ("1.5GB", 1_500_000_000), ("4096", 4096), ("10 b", 10), ("2KiB", 2048)]
)
def test_sizes_are_written_as_people_write_them(value: str, size: int) -> None:
    assert load({"SEMCACHE_SERVER__MAX_HEADER": value}).server.max_header == size


@pytest.mark.parametrize("name", ["max_in_flight", "max_tenant_in_flight"])
def test_a_body_that_could_never_be_held_is_refused_at_the_start_and_both_settings_are_named(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"server\.max_body is 2048 bytes.*server\.{name}, 1024: raise that"):
        load({"SEMCACHE_SERVER__MAX_BODY": "2048", f"SEMCACHE_SERVER__{name.upper()}": "1024"})
    with pytest.raises(ConfigError, match=r"^SEMCACHE_SERVER__MAX_BODY: server\.max_body"):
        load({"SEMCACHE_SERVER__MAX_BODY": "1 GiB"})


KUBERNETES = {
    "SEMCACHE_SERVICE_HOST": "10.0.0.7",
    "SEMCACHE_SERVICE_PORT": "80",
    "SEMCACHE_SERVICE_PORT_HTTP": "80",
    "SEMCACHE_PORT": "tcp://10.0.0.7:80",
    "SEMCACHE_PORT_80_TCP": "tcp://10.0.0.7:80",
    "SEMCACHE_PORT_80_TCP_ADDR": "10.0.0.7",
    "SEMCACHE_PORT_80_TCP_PORT": "80",
    "SEMCACHE_PORT_80_TCP_PROTO": "tcp",
}


def test_variables_of_a_service_named_semcache_are_no_settings_and_a_mistaken_port_is_an_error() -> None:
    assert load(KUBERNETES).server.port == 8080
    with pytest.raises(ConfigError, match="SEMCACHE_PORT is no setting; did you mean SEMCACHE_SERVER__PORT"):
        load({"SEMCACHE_PORT": "9000"})


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("server:\n  prot: 1\n", 2, ["server.prot", "server.port"]),
        ("sever:\n  port: 1\n", 1, ["sever", "server"]),
        ("upstream:\n  url: x\n  timeout: soon\n", 3, ["upstream.timeout", "soon"]),
        ("log:\n  level: loud\n", 2, ["log.level", "loud", "warning"]),
        ("server: 8080\n", 1, ["server", "indented"]),
        ("- a\n", 1, ["mapping"]),
        ("server: {port: 70000}", 1, ["server.port", "65535"]),
        ("cache:\n  hot_bytes: much MiB\n", 2, ["cache.hot_bytes", "20 MiB"]),
        ("a: [1\n", 2, ["YAML"]),
        ("data:\n  - x\n", 1, ["data"]),
        ("log: {level: info}\npolicies: !env PACK\n", 2, ["policies", "!env", "quotes"]),
        ("policies: 2024-02-30\n", 1, ["policies", "day is out of range", "quotes"]),
        ("server: {port: 1}\nserver:\n  port: 2\n", 3, ["server.port", "twice"]),
    ],
)
def test_a_mistake_in_the_file_is_found_by_line_and_key(
    text: str, where: int, words: list[str], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as error:
        load({}, text, tmp_path)
    assert f"{tmp_path / 'semcache.yaml'}:{where}: " in str(error.value)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"SEMCACHE_STORE__ULR": "x"}, ["SEMCACHE_STORE__ULR", "SEMCACHE_STORE__URL"]),
        ({"SEMCACHE_STORE_URL": "x"}, ["SEMCACHE_STORE_URL", "SEMCACHE_STORE__URL"]),
        ({"SEMCACHE_SERVER__PORT": "x"}, ["SEMCACHE_SERVER__PORT", "server.port", "'x'"]),
        ({"SEMCACHE_AUTH__REQUIRED": "maybe"}, ["SEMCACHE_AUTH__REQUIRED", "maybe"]),
        ({"SEMCACHE_CACHE__TARGET": "1"}, ["SEMCACHE_CACHE__TARGET", "less than 1"]),
        ({"SEMCACHE_SERVER__MAX_BODY": "inf GB"}, ["SEMCACHE_SERVER__MAX_BODY", "20 MiB"]),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(env: dict[str, str], words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        load(env)
    for word in words:
        assert word in str(error.value)


def test_an_unknown_option_and_a_missing_file() -> None:
    with pytest.raises(ConfigError, match=r"server\.prot.*server\.port"):
        load(server__prot=1)
    with pytest.raises(ConfigError, match=r"gone\.yaml"):
        Settings.load({}, {}, Path("gone.yaml"))


def test_an_empty_file_or_section_is_no_mistake(tmp_path: Path) -> None:
    assert load({}, "", tmp_path).server.port == 8080
    assert load({}, "server:\nlog: {}\n", tmp_path).server.port == 8080


def test_secrets_are_never_printed(tmp_path: Path) -> None:
    env = {
        "SEMCACHE_UPSTREAM__API_KEY": "sk-hush",
        "SEMCACHE_SERVER__ADMIN_TOKEN": "sk-hush-sk-hush-sk-hush",
        "SEMCACHE_STORE__SEAL_KEYS": "sk-hush",
        "SEMCACHE_STORE__URL": "postgresql://ann:sk-hush@db:5432/cache?password=sk-hush&x=1",
        "SEMCACHE_UPSTREAM__PROXY": "http://u:sk-hush@proxy",
        "OPENAI_API_KEY": "sk-hush",
    }
    settings = load(env)
    shown = {key: value for key, value, _ in settings.explain()}
    assert "sk-hush" not in repr(settings) + repr(shown)
    assert shown["store.url"] == "postgresql://**********@db:5432/cache?password=**********&x=1"
    assert shown["upstream.api_key"] == "**********"
    assert settings.store_url.startswith("postgresql://ann:sk-hush@")
    assert list(shown) == list(KEYS)
    with pytest.raises(ConfigError) as error:
        load({}, "upstream:\n  api_key: [sk-hush]\n", tmp_path)
    assert "sk-hush" not in str(error.value)


@pytest.mark.parametrize(
    "key",
    ["STORE__URL", "UPSTREAM__PROXY", "UPSTREAM__URL", "UPSTREAM__ANTHROPIC_URL", "UPSTREAM__REPLICAS", "JUDGE__URL"],
)
def test_a_password_in_a_url_is_never_printed(key: str) -> None:
    password = "hu/sh@hush" if key in ("STORE__URL", "UPSTREAM__PROXY") else "hush"
    settings = load({f"SEMCACHE_{key}": f"https://ann:{password}@db.example/v1"})
    shown = [value for _, value, _ in settings.explain()]
    assert not [value for value in shown if "hush" in value or "ann" in value]
    assert [value for value in shown if "db.example/v1" in value]


def test_replicas_in_the_environment_are_those_of_the_file(tmp_path: Path) -> None:
    given = '["http://one/v1", {"url": "http://two/v1", "kind": "vllm"}]'
    here, there = load({"SEMCACHE_UPSTREAM__REPLICAS": given}), load({}, f"upstream: {{replicas: {given}}}\n", tmp_path)
    assert here.upstream.replicas == there.upstream.replicas
    assert [one.url for one in here.upstream.replicas] == ["http://one/v1", "http://two/v1"]


def test_an_admin_token_that_can_be_guessed_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"SEMCACHE_SERVER__ADMIN_TOKEN.*has 19 characters") as error:
        load({"SEMCACHE_SERVER__ADMIN_TOKEN": "correct horse batte"})
    assert "horse" not in str(error.value)
    assert load({"SEMCACHE_SERVER__ADMIN_TOKEN": "correct horse batter"}).server.admin_token
    assert not load({"SEMCACHE_SERVER__ADMIN_TOKEN": ""}).server.admin_token


def test_openai_key_fills_in_only_where_none_is_configured() -> None:
    found = load({"OPENAI_API_KEY": "sk-env"}).fallback_key
    assert found is not None
    assert found.get_secret_value() == "sk-env"
    assert load({"OPENAI_API_KEY": "sk-env", "SEMCACHE_UPSTREAM__API_KEY": "k"}).fallback_key is None
    assert load({"OPENAI_API_KEY": " "}).fallback_key is None


def test_the_file_is_found_by_variable_or_by_name(tmp_path: Path) -> None:
    assert find_file({}, tmp_path) is None
    (tmp_path / "semcache.yaml").touch()
    assert find_file({}, tmp_path) == tmp_path / "semcache.yaml"
    assert find_file({"SEMCACHE_CONFIG": "/x.yaml"}, tmp_path) == Path("/x.yaml")


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.evil.com", False),
        ("", False),
    ],
)
def test_what_counts_as_this_machine(host: str, near: bool) -> None:
    assert is_loopback(host) is near
    assert is_local(host) is near


def test_a_unix_socket_is_of_this_machine_and_no_name_in_a_request() -> None:
    assert is_local("unix:/run/semcache.sock")
    assert not is_loopback("unix:/run/semcache.sock")


def test_the_path_of_a_unix_socket_is_read_as_a_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert Settings.load({"server.host": "unix:~/s.sock"}, {}, None).server.host == "unix:/home/ann/s.sock"


@pytest.mark.parametrize("host", ["unix:", "unix:@abstract", "unix:a\0b"])
def test_a_unix_socket_needs_the_path_of_a_file(host: str) -> None:
    with pytest.raises(ConfigError, match="unix: needs the path of a file"):
        Settings.load({"server.host": host}, {}, None)


def test_a_host_that_is_empty_can_be_seen_in_the_refusal() -> None:
    settings = Settings.load({"server.host": ""}, {}, None)
    with pytest.raises(ConfigError, match=r"server\.host is '', which other"):
        check_exposure(settings, False)


@pytest.mark.parametrize(
    ("cli", "has_keys", "starts"),
    [
        ({}, False, True),
        ({"server.host": "0.0.0.0"}, False, False),
        ({"server.host": "0.0.0.0"}, True, True),
        ({"server.host": "0.0.0.0", "auth.required": True}, False, True),
        ({"server.host": "0.0.0.0", "auth.required": False}, True, False),
        ({"server.host": "0.0.0.0", "auth.required": False}, False, False),
        ({"server.host": "0.0.0.0", "server.insecure": True}, False, False),
        ({"server.host": "0.0.0.0", "auth.required": False, "server.insecure": True}, False, True),
    ],
)
def test_other_machines_are_let_in_only_with_keys_or_on_purpose(
    cli: dict[str, Any], has_keys: bool, starts: bool
) -> None:
    settings = Settings.load(cli, {}, None)
    if starts:
        check_exposure(settings, has_keys)
        return
    with pytest.raises(ConfigError, match="semcache keys create"):
        check_exposure(settings, has_keys)


def test_off_is_a_word_also_in_yaml(tmp_path: Path) -> None:
    assert load(text="verifier: {kind: off}\n", tmp=tmp_path).verifier.kind == "off"
    assert load({"SEMCACHE_VERIFIER__KIND": "llm"}, "verifier: {kind: off}\n", tmp_path).verifier.kind == "llm"
    with pytest.raises(ConfigError, match=r"verifier\.kind.*'llm'"):
        load(text="verifier: {kind: on}\n", tmp=tmp_path)


def test_the_key_of_the_verifier_is_not_shown() -> None:
    settings = load({"SEMCACHE_VERIFIER__API_KEY": "sk-secret"})
    assert "sk-secret" not in repr(settings.explain()) + repr(settings)


@pytest.mark.parametrize("name", ["SEMCACHE_UPSTREAM__API_KEY", "SEMCACHE_JUDGE__API_KEY", "OPENAI_API_KEY"])
@pytest.mark.parametrize("key", ["sk-first\nsecond", "sk two", "sk-\u00e9"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(name: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load({name: key})
    assert name in str(caught.value)
    assert "sk" not in str(caught.value).replace(name, "")


@pytest.mark.parametrize("url", ["postgresql://u:secret@db/cache", "memory://"])
def test_a_bound_on_the_disk_is_refused_where_it_cannot_be_kept(url: str) -> None:
    given = {"SEMCACHE_STORE__MAX_BYTES": "2 GiB", "SEMCACHE_STORE__URL": url}
    with pytest.raises(ConfigError, match=r"SEMCACHE_STORE__MAX_BYTES: store.max_bytes bounds SQLite alone") as refused:
        Settings.load({}, given, None)
    assert "secret" not in str(refused.value)
    for fitting in ("", "sqlite:///x.db", "x.db"):
        assert Settings.load({}, given | {"SEMCACHE_STORE__URL": fitting}, None).store.max_bytes == 2 << 30


@pytest.mark.parametrize("bound", ["1 MiB", "0", "lots"])
def test_a_bound_on_the_disk_that_holds_nothing_is_refused(bound: str) -> None:
    with pytest.raises(ConfigError, match=r"store.max_bytes"):
        Settings.load({}, {"SEMCACHE_STORE__MAX_BYTES": bound}, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "upstream: https://api.example/v1\n",
            "upstream holds settings, one a line and indented below it, such as `url:`",
        ),
        ("upstream:\n  timeout: 10m\n", "write the seconds alone: 600"),
        ("upstream:\n  timeout: 500 ms\n", "write the seconds alone: 0.5"),
        ("cache:\n  target: 1%\n", "write a share: 0.01"),
        ("store:\n  max_bytes: 2 gigs\n", "write it as 2 GiB"),
        ("store:\n  max_bytes: a lot\n", "write a size such as 20 MiB"),
        ("server:\n  host: on\n", "put the value in quotes"),
        ("upstream:\n  api_key: 12345\n", "put the value in quotes"),
        ("server:\n\tport: 1\n", "indent with spaces"),
        ("name: mine\ncategories: {}\n", "name belongs into a policy pack"),
    ],
    ids=["section", "span", "part of a second", "share", "size", "no size", "boolean", "number", "tab", "pack"],
)
def test_a_value_that_is_written_in_another_way_is_refused_with_what_to_write(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load({}, text, tmp_path)
    assert said in str(caught.value)
    assert "12345" not in str(caught.value), "a key is never shown"
