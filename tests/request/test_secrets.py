"""Credentials are recognised wherever they stand, and a text made to be slow to read is read like any other."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from re._parser import parse  # type: ignore[import-not-found]
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.request import secrets
from semcache.request.eligibility import is_live, unkept
from semcache.request.secret_formats import FORMATS, SPACED, SecretFormat
from semcache.request.secrets import fold, has_secret
from semcache.types import Controls, Endpoint, Request, Why

WORST = (
    *(
        "4 ",
        "4",
        "4-",
        "4a",
        "4 4 4 4 4 4 4 4 4 4 4 4  ",
        "A",
        "AB12 ",
        "GB12AAAA",
        ".eyJ",
        "://a:",
        "password ",
        "pass",
    ),
    *(
        "password for x ",
        "bearer ",
        "-----BEGIN A ",
        "\u017f",
        ",",
        "key=a1b",
        "Q~",
        "-us",
        ":AA",
        "Basic ",
        "pin is not ",
    ),
)

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4"


@pytest.mark.parametrize("before", ["", "Bearer ", "token=", "x-", "eyJ", "eyJaaaaaaaa-", "see (", "a.b."])
def test_a_signed_token_is_one_wherever_it_stands(before: str) -> None:
    assert has_secret(f"{before}{TOKEN} what is in it?")


@pytest.mark.parametrize("text", ["obj.eyJ", "a .eyJaaaaaaaa.bbbbbbbb", "eyJaaaaaaaa.eyJaaaa.bbbbbbbb"])
def test_what_lacks_a_part_of_a_token_is_none(text: str) -> None:
    assert not has_secret(text)


def test_beginnings_of_tokens_without_an_end_are_not_read_again_from_each_of_them() -> None:
    """Read anew from each beginning, these would keep the event loop for minutes."""
    assert not has_secret("-eyJaaaaaaaa" * 50_000)


@given(st.one_of(st.from_regex(secrets._URL), st.from_regex(secrets._STATED)))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_cheap_look_for_secrets_misses_none(text: str) -> None:
    stated = any(secrets._is_stated(match) for match in secrets._STATED.finditer(text))
    login = any(not secrets._is_example_login(match) for match in secrets._URL.finditer(text))
    if login or stated:
        assert has_secret(text)


@pytest.mark.parametrize("one", [*FORMATS, *SPACED], ids=lambda one: one.mark)
def test_every_format_is_found_by_its_mark(one: SecretFormat) -> None:
    drawn = Random(one.mark)
    example = exrex_like(one.pattern.pattern, drawn)
    assert one.pattern.search(example), example
    assert has_secret(f"why does this fail: {example} it says invalid"), example
    assert has_secret("word " * 20_000 + example + " word" * 20_000)


def exrex_like(pattern: str, drawn: Random) -> str:
    """One text that a pattern of this table matches, without its looks around."""
    made: list[str] = []
    for op, value in parse(pattern):
        made.append(_made(op, value, drawn))
    return "".join(made)


def _made(op: Any, value: Any, drawn: Random) -> str:
    name = str(op)
    if name == "LITERAL":
        return chr(value)
    if name == "IN":
        kind, choice = drawn.choice([one for one in value if str(one[0]) != "NEGATE"])
        if str(kind) == "RANGE":
            return chr(drawn.randint(*choice))
        return chr(choice) if str(kind) == "LITERAL" else {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "k"}[str(choice)]
    if name in ("MAX_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, inner = value
        return "".join(_made(*part, drawn) for _ in range(least) for part in inner)
    if name == "SUBPATTERN":
        return "".join(_made(*part, drawn) for part in value[3])
    if name == "BRANCH":
        return "".join(_made(*part, drawn) for part in value[1][0])
    return (
        "Z"
        if name == "ASSERT" and value[0] < 0 and str(value[1]).count("MAX_REPEAT") == 0 and "." not in str(value)
        else ""
    )


@pytest.mark.parametrize("pattern", WORST, ids=repr)
def test_no_text_takes_more_than_in_proportion_to_its_length(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts what is tried, not seconds: twice the text must not mean much more than twice the tries."""

    def tries(size: int) -> int:
        counted = Counter[str]()
        places = secrets._places

        def counting(text: str, mark: str, end: int) -> Iterator[int]:
            counted["texts"] += len(text) // 100
            for at in places(text, mark, end):
                counted["places"] += 1
                yield at

        with monkeypatch.context() as patch:
            patch.setattr(secrets, "_places", counting)
            has_secret((pattern * size)[:size] + "?")
        return counted.total()

    assert tries(200_000) <= 3 * tries(100_000) + 100


@pytest.mark.parametrize(
    "text",
    [
        "the checksum is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit c4242424242424242 is not one: a4242424242424242b",
        "git checkout 4111111111111111abc",
        "d41d8cd98f00b204e9800998ecf8427e is the MD5 of nothing",
        "order 1700000000000 was placed at 1700000000123456",
        "ISBN 978-3-16-148410-0",
        "550e8400-e29b-41d4-a716-446655440000",
        "pi is 3.1415926535897932384626433832795",
        "call 030 1234 5678 9012 345",
        "key: user_account_identifier_in_2024",
        "the primary key = customer_id and the token: end_of_sequence_marker",
        "cache_key = namespace/collection/document",
        "10000000000000000000000000000000",
    ],
)
def test_ordinary_numbers_and_names_are_no_secrets(text: str) -> None:
    assert not has_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "DATADOG_API_KEY=0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        'heroku["api_token"]: "1f3d9c7a-2b4e-4c6d-8e0f-9a1b2c3d4e5f"',
        "client-secret => Zx81Qw7mN3vB5kL9pR2tY6uH",
        "my card is 4111 1111 1111 1111",
        "5500-0000-0000-0004",
        "3782 822463 10005",
        "IBAN DE89 3704 0044 0532 0130 00",
        "ssn 078-05-1120",
    ],
)
def test_what_is_assigned_to_the_name_of_a_key_is_one(text: str) -> None:
    assert has_secret(text)
    assert has_secret("word " * 20_000 + text + " word" * 20_000)


@pytest.mark.parametrize(
    "text",
    [
        "://" * 100_000,
        "://a:" * 60_000,
        "a://b:ccc" * 30_000,
        "4 1-" * 80_000,
        "AA11 " * 60_000,
        "pin is not " * 40_000,
    ],
)
def test_marks_without_a_secret_are_read_once(text: str) -> None:
    assert not has_secret(text + "?")


def lines(table: str) -> list[str]:
    return [text for text in table.replace("\n", "|").split("|") if text]


NAMES = """
password|passphrase|passcode|pwd|pin|PIN code|api key|secret_key|access-token|authtoken|client secret|bearer
social security number|SSN|cvv|cvc|otp
"""


@pytest.mark.parametrize("name", lines(NAMES))
def test_every_name_of_a_secret_is_looked_for(name: str) -> None:
    assert has_secret(f"the {name} is hunter2xyz")


def test_folding_finds_every_letter_that_ignoring_case_finds() -> None:
    letters = "".join(map(chr, range(sys.maxunicode + 1)))
    for found in re.findall("[a-z]", letters, re.IGNORECASE):
        assert re.fullmatch("[a-z]", fold(found))
    assert has_secret("pa\u017f\u017fword: hunter2xyz")
    assert is_live("TODAY\u2019S News")
    assert is_live("L\u0130VE score")


def test_folding_keeps_every_character_in_its_place() -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert all(len(fold(letter)) == 1 for letter in letters)
    assert len(fold("\u039f\u0394\u039f\u03a3 \u0130\u212a")) == 7


@pytest.mark.parametrize(
    "text",
    [
        "the wifi password's Kx7mQ2vLp, is that long enough?",
        "DB_PASSWORD=Kx7mQ2vLp why is it not read?",
        "{'password': 'Kx7mQ2vLp'} is that valid?",
        'my password is: "Kx7mQ2vLp"',
        "mein Passwort ist Kx7mQ2vLp",
        "mein Passwort ist sommer2024",
        'mein Passwort ist "sommer", ist das sicher?',
        "mein Passwort ist: sommer",
        "Das Passwort lautet Sommer",
        "my default password is Kx7mQ2vLp",
        "my password hunter2 is rejected",
        "log in with user admin password hunter2",
        "username: bob, password hunter2 gives 401",
        "connect to the share with password hunter2",
        "set the wifi password to BlueDog42",
        'the password "hunter2" is rejected',
        "the password is Password123!",
        '{"user": "bob", "pass": "hunter2"}',
        "redis://:hunter2@localhost:6379",
        "postgres://bob:fishing@db/x",
        "Authorization: Basic Ym9iOmh1bnRlcjI=",
        "https://ghp_16C7e42F292c6912E7710c838347Ae178B4a/your-repository",
        "the two-factor code is 482913",
        "mot de passe : Kx7mQ2vLp",
        "Contrase\u00f1a: Kx7mQ2vLp",
        "my api key k3J9x2Qw8Zr5Tn7Lb4Vm is rejected",
        "token k3J9x2Qw8Zr5Tn7Lb4Vm returns 401",
        "curl -u bob:Kx7mQ2vLp https://example.com fails",
        "mysql -uroot -pKx7mQ2vLp shop: access denied",
        "PIN 4821 is not accepted",
        "cvv 123 is declined",
        "the verification code is 482913, may I share it?",
        "SSN 078051120",
        "my account number 123456789012 is wrong",
        "gb82 west 1234 5698 7654 32 is that a valid iban?",
        "my seed phrase is abandon ability able about above absent absorb abstract absurd abuse access accident",
    ],
)
def test_a_secret_is_found_however_it_is_stated(text: str) -> None:
    assert has_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "POSTGRES_PASSWORD=example",
        "open a zip file with password aes256 encryption",
        "a user forgot a password on windows10",
        "sync the password to iphone15 and ipad",
        "change the password to something stronger",
        "give an access token to PostmanV2",
        'password: "changeme" is in the manual, what does it do?',
        'api_key: "sk-..."',
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-proj-YOUR_KEY_HERE_PLEASE_REPLACE",
        "xoxb-not-a-real-token-this-will-not-work",
        "why is sk-toggleable__content-arrow in my notebook?",
        "task-sk-estimator-preprocessing-pipeline",
        "postgres://user:password@localhost:5432/db",
        "postgresql://${USER}:${PASSWORD}@${HOST}/db",
        "mysql://root:root@127.0.0.1/test what does this mean?",
        "jdbc:postgresql://localhost/test?user=fred&password=secret&ssl=true",
        "curl -u admin:admin http://localhost:9200",
        "docker run -u node:node image",
        "Authorization: Bearer your_access_token_here",
        "Mein Passwort ist falsch, was soll ich tun?",
        "Das Passwort ist abgelaufen. Wie \u00e4ndere ich es?",
        "La contrase\u00f1a es incorrecta, \u00bfqu\u00e9 hago?",
        "Le mot de passe est trop court",
        "Mijn wachtwoord is verlopen",
        "How do I store a password: bcrypt or argon2?",
        "the api key is rate limited",
        "the auth token is base64 encoded",
        "my password is longer than 72 characters, is it cut off?",
        "access_token: data.access_token",
        "apiKey: import.meta.env.VITE_API_KEY",
        'client_secret: "CLIENT_SECRET"',
        "password: [REDACTED]",
        "Access denied for user 'root'@'localhost' (using password: YES)",
        "pwd: command not found",
        "PWD=/root",
        "cat /etc/passwd: root:x:0:0:root:/root:/bin/bash",
        "the default password is raspberry, how do I change it?",
        "What area has pin code 110001?",
        "pin is bent on my connector",
        "What pin: red or black?",
        "password = input('Password: ')",
        "def login(password: str): pass",
        "PASSWORD=os.environ['PASSWORD']",
        "api_key=os.getenv('OPENAI_API_KEY')",
        "access token is returned as json",
        "your password is about to expire: a scam?",
        "my password was hacked, what now?",
        "docker run -u 1000:1000 alpine",
        "curl -u user:password example.com",
        "sort -u names.txt",
        "what is the difference between a token and a key?",
        "GPIO pin 18 is high",
    ],
)
def test_words_about_secrets_state_none(text: str) -> None:
    assert not has_secret(text)


def test_a_number_that_is_spoken_of_without_being_told_is_no_secret() -> None:
    assert not has_secret("The account number is definitely correct, as I've checked.")
    assert has_secret("My account number is 12345678.")
    assert has_secret("my password is banana")


KEY = "sk-proj-Zq4Lx8Wm2Vb7Nc5Td9Rf"


@pytest.mark.parametrize(
    "value",
    [
        "data: {}\n" * 200 + f"OPENAI_API_KEY={KEY}",
        "A" * 1100 + "\n" + KEY,
        "data:text/plain," + "a" * 1100 + " " + KEY,
        {KEY: {"a": 1}},
        {"card": 4111111111111111},
    ],
)
def test_what_only_begins_like_a_file_is_read_to_its_end(value: Any) -> None:
    assert has_secret(secrets.strings_of(value))


@pytest.mark.parametrize("head", ["", "data:image/png;base64,", "data:audio/wav;codecs=1;base64,"])
def test_a_file_is_not_read(head: str) -> None:
    assert secrets.strings_of([head + "sk-ABCDEFGH1234567890" * 100]) == ""


@pytest.mark.parametrize("mark", ["sk-", "sqp_", "xoxr-", "vcp_"])
def test_beginnings_that_are_examples_are_told_without_reading_on_from_each(mark: str) -> None:
    """Each was read on for 256 characters, one by one: seconds a megabyte."""
    text, read = mark * 4000, Counter[int]()
    table = secrets.is_example_token

    def counted(token: str, of: str) -> bool:
        read[len(token)] += 1
        return table(token, of)

    secrets.is_example_token = counted  # type: ignore[assignment]
    try:
        assert not has_secret(text)
    finally:
        secrets.is_example_token = table
    assert sum(read.values()) < 200
    assert has_secret(text + "x " + KEY)


def test_tags_and_namespaces_that_hold_a_secret_keep_a_request_from_being_kept() -> None:
    for controls in (Controls(tags=("a", KEY)), Controls(namespace=KEY)):
        asked = Request(Endpoint.CHAT, "m", {}, "hello", b"", controls=controls)
        assert unkept(asked) is Why.SECRET
    assert unkept(Request(Endpoint.CHAT, "m", {}, "hello", b"", controls=Controls(tags=("a",)))) is None


def test_a_key_that_ends_in_its_mark_is_told_before_much_plain_text() -> None:
    key = "aB3dE6_" + "x7Y" * 9 + "zz" + "_mmk"
    assert has_secret(key)
    assert has_secret(key + " " + "understanding " * 40), "what stands before the mark counts"
