"""The protocol over HTTP: tokens, sizes, a client that vanishes, and a whole federation of real processes."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import numpy as np
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from semcache.errors import ConfigError, InvalidArgument, UpstreamError
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.federate import averaging, local_training, masking
from semcache.train.federate.client import Client, ClientEnvironment
from semcache.train.federate.coordinator import create
from semcache.train.federate.in_process import simulate
from semcache.train.federate.rounds import Federation, Phase
from semcache.train.pairs import write
from tests.train.bases import traffic
from tests.train.federate import owners
from tests.waiting import PATIENCE, eventually

TOKENS = {name: f"token of {name}, long enough" for name in ("ann", "bob", "cem")}


@contextmanager
def served(
    federation: Federation, tokens: dict[str, str] = TOKENS, clock: Callable[[], float] = time.monotonic
) -> Iterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = create(federation, tokens, clock)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none", loop="asyncio"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def world() -> ClientEnvironment:
    return ClientEnvironment(time.monotonic, lambda _: time.sleep(0.01), lambda: 7)


@pytest.fixture
def federation() -> Federation:
    plan = owners.plan(rounds=2, patience=PATIENCE)
    return Federation(plan, local_training.start(plan), TOKENS)


@pytest.mark.parametrize("token", ["", "token of somebody else", "token of ann, long enougH"])
def test_a_wrong_token_is_refused_and_says_so(federation: Federation, token: str) -> None:
    with served(federation) as url:
        client = Client(url, token or "-", world())
        with pytest.raises(ConfigError, match="refuses the token"):
            client.plan()
        client.close()
        for method, path in (
            ("GET", "/v1/federation"),
            ("POST", "/v1/federation/join"),
            ("GET", "/v1/federation/weights/1"),
            ("PUT", "/v1/federation/updates/1/1"),
        ):
            headers = {"authorization": f"Bearer {token}"} if token else {}
            reply = httpx2.request(method, url + path, headers=headers, content=b"")
            assert reply.status_code == 401, path
            assert reply.headers["www-authenticate"] == "Bearer"


def test_a_body_that_is_too_large_or_no_join_is_refused(federation: Federation) -> None:
    headers = {"authorization": f"Bearer {TOKENS['ann']}"}
    with served(federation) as url:
        large = httpx2.put(f"{url}/v1/federation/updates/1/1", headers=headers, content=bytes(100_000))
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        for body in (b"", b"{}", b'{"round": 1, "attempt": 1, "key": "no hex"}', b'{"round":1,"attempt":1,"key":"00"}'):
            assert httpx2.post(f"{url}/v1/federation/join", headers=headers, content=body).status_code == 400
        assert httpx2.get(f"{url}/v1/federation/weights/2", headers=headers).status_code == 409


@pytest.mark.parametrize("tokens", [dict.fromkeys(TOKENS, "the same token for all"), dict.fromkeys(TOKENS, "short")])
def test_tokens_that_tell_nobody_apart_are_refused(federation: Federation, tokens: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument, match="token of its own"):
        create(federation, tokens, time.monotonic)


def test_clients_learn_over_http_what_the_simulator_learns_and_one_may_vanish() -> None:
    plan, now = owners.plan(rounds=2, patience=60.0), [0.0]
    names = [*TOKENS, "dan"]
    tokens = {name: TOKENS.get(name, f"token of {name}, long enough") for name in names}
    federation = Federation(plan, local_training.start(plan), names)
    held = {name: owners.owner(number) for number, name in enumerate(TOKENS)}
    found: dict[str, bytes] = {}
    with served(federation, tokens, lambda: now[0]) as url:
        # Dan joins the first round, and is never heard of again.
        headers = {"authorization": f"Bearer {tokens['dan']}"}
        key = "09" + 31 * "00"
        said = {"round": 1, "attempt": 1, "key": key}
        assert httpx2.post(f"{url}/v1/federation/join", headers=headers, json=said).status_code == 204

        def take_part(name: str) -> None:
            client = Client(url, tokens[name], world(), secret=b"known to clients")
            found[name] = client.take_part(held[name], client.plan()).parameters.tobytes()
            client.close()

        threads = [threading.Thread(target=take_part, args=(name,), daemon=True) for name in held]
        for thread in threads:
            thread.start()
        eventually(lambda: len(federation.state()["delivered"]) == 3)
        now[0] += 61.0  # patience with Dan is over
        for thread in threads:
            thread.join(PATIENCE)
    assert federation.phase is Phase.OVER
    expected, _ = simulate(list(held.values()), plan)
    assert set(found.values()) == {expected.parameters.tobytes()}, "everybody has the model of those who stayed"


def test_a_secret_that_differs_ends_the_federation_instead_of_the_model() -> None:
    plan = owners.plan(rounds=2, patience=PATIENCE)
    federation = Federation(plan, local_training.start(plan), TOKENS)
    before = federation.model.parameters.copy()
    found: list[str] = []
    with served(federation) as url:

        def take_part(number: int, name: str) -> None:
            client = Client(url, TOKENS[name], world(), secret=b"wrong" if name == "cem" else b"right")
            with pytest.raises(UpstreamError, match="same secret") as error:
                client.take_part(owners.owner(number), client.plan())
            found.append(str(error.value))
            client.close()

        threads = [threading.Thread(target=take_part, args=one, daemon=True) for one in enumerate(TOKENS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert len(found) == 3
    assert np.array_equal(federation.model.parameters, before), "what cannot be read is not applied"


def answering(body: bytes) -> Client:
    reply = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body))
    return Client("http://elsewhere", "token", world(), transport=reply)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"protocol": 2}', json.dumps({"protocol": 1, "plan": {"rounds": "x"}}).encode()]
)
def test_an_address_that_is_no_federation_is_explained(body: bytes) -> None:
    with pytest.raises((UpstreamError, ConfigError), match=r"http://elsewhere (is no federation|speaks another)"):
        answering(body).plan()


def test_a_plan_of_other_types_is_another_protocol(federation: Federation) -> None:
    state = federation.state()
    assert answering(json.dumps(state).encode()).plan() == federation.plan
    with pytest.raises(ConfigError, match="speaks another protocol"):
        answering(json.dumps({**state, "plan": {**state["plan"], "rounds": "4"}}).encode()).plan()


@pytest.mark.parametrize("said", [b"", b"abc", "nan"])
def test_a_model_that_does_not_fit_is_refused(federation: Federation, said: bytes | str) -> None:
    body = said if isinstance(said, bytes) else averaging.encode_model(replace(federation.model, threshold=float(said)))
    with pytest.raises(UpstreamError, match="sent a model"):
        answering(body)._received(1, federation.plan)


class Restarted:
    """A server seen by ann: another federation stands in the first one's place from a moment on."""

    def __init__(self, first: Federation, second: Federation, *, when: Callable[[httpx2.Request], bool]) -> None:
        self.apps = [create(one, TOKENS, lambda: 0.0) for one in (first, second)]
        self.when, self.put, self.calls = when, [], 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        assert self.calls < 200, "the client waits without end"
        if self.when(request):
            self.apps = self.apps[1:] or self.apps
            self.when = lambda _: False
        if request.method == "PUT":
            self.put.append(request.url.path)
        return asyncio.run(self.asked(request))

    async def asked(self, request: httpx2.Request) -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self.apps[0])) as http:
            headers = {"authorization": request.headers["authorization"]}
            reply = await http.request(request.method, str(request.url), headers=headers, content=request.content)
        return httpx2.Response(reply.status_code, content=reply.content, headers=dict(reply.headers))


def after_put(request: httpx2.Request) -> bool:
    return request.method == "PUT"


def joined_by_others(federation: Federation, attempt: int = 1) -> Federation:
    for name in ("bob", "cem"):
        key = masking.public(X25519PrivateKey.generate())
        federation.join(name, federation.round, attempt, key, 0.0)
    return federation


def fresh(**changes: object) -> Federation:
    plan = owners.plan(**{"rounds": 2, "patience": PATIENCE} | changes)
    return Federation(plan, local_training.start(plan), TOKENS)


def test_a_client_sends_nothing_twice_to_a_server_that_was_restarted() -> None:
    server = Restarted(joined_by_others(fresh()), joined_by_others(fresh()), when=after_put)
    client = Client("http://it", TOKENS["ann"], world(), transport=httpx2.MockTransport(server))
    with pytest.raises(UpstreamError, match=r"has begun anew.*round 1, attempt 1.*counts for privacy"):
        client.take_part(owners.owner(1), client.plan())
    assert server.put == ["/v1/federation/updates/1/1"]


def test_a_client_that_has_joined_joins_again_where_the_server_has_forgotten_it() -> None:
    seen: list[str] = []

    def after_join(request: httpx2.Request) -> bool:
        seen.append(request.url.path)
        return seen[-2:] == ["/v1/federation/join", "/v1/federation"]

    first = fresh()
    server = Restarted(first, joined_by_others(fresh()), when=after_join)
    client = Client("http://it", TOKENS["ann"], world(), transport=httpx2.MockTransport(server))
    server.apps[-1] = create(second := joined_by_others(fresh()), TOKENS, lambda: 0.0)
    with pytest.raises(AssertionError, match="waits without end"):  # of bob and cem nothing more is heard
        client.take_part(owners.owner(1), client.plan())
    assert second.state()["delivered"] == ["ann"]


def test_a_client_takes_part_in_no_other_plan_than_it_agreed_to() -> None:
    server = Restarted(fresh(clip=1.0, noise=2.0), fresh(), when=lambda request: "weights" in request.url.path)
    client = Client("http://it", TOKENS["ann"], world(), transport=httpx2.MockTransport(server))
    with pytest.raises(UpstreamError, match="another plan"):
        client.take_part(owners.owner(1), client.plan())
    assert server.put == []


def test_a_client_takes_part_in_no_more_rounds_than_agreed(federation: Federation) -> None:
    state = {**federation.state(), "you": "ann", "round": federation.plan.rounds + 2}
    client = answering(json.dumps(state).encode())
    with pytest.raises(UpstreamError, match="asks for round 4, and the plan has 3"):
        client.take_part(owners.owner(1), client.plan())


def test_a_server_that_is_away_behind_its_proxy_is_asked_again(federation: Federation) -> None:
    replies = [httpx2.Response(503, headers={"retry-after": "3"}), httpx2.Response(502),
               httpx2.Response(200, content=json.dumps(federation.state()).encode())]  # fmt: skip
    waited: list[float] = []
    here = ClientEnvironment(time.monotonic, waited.append, lambda: 7)
    client = Client("http://it", "token", here, transport=httpx2.MockTransport(lambda _: replies.pop(0)))
    assert client.plan() == federation.plan
    assert waited == [3.0, 0.5]


@pytest.mark.parametrize("token", ["secret of ann\nx", "secret \u00e9"])
def test_a_token_that_no_header_carries_is_refused_unshown(federation: Federation, token: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Client("http://it", token, world())
    assert "secret" not in str(refused.value)
    with pytest.raises(InvalidArgument, match="token of 'ann'") as at_server:
        create(federation, {**TOKENS, "ann": f"{token}, long enough"}, time.monotonic)
    assert "secret" not in str(at_server.value)


def test_the_newline_behind_a_token_from_a_file_does_not_matter(federation: Federation) -> None:
    with served(federation) as url:
        client = Client(url, f"{TOKENS['ann']}\n", world())
        assert client.plan() == federation.plan
        client.close()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("kind", ["port", "socket"])
def test_a_federation_of_real_processes_makes_a_model_that_loads(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    command = [sys.executable, "-m", "semcache", "embedder", "federate"]
    pairs = traffic(12)
    env = {**os.environ, "NO_COLOR": "1", "SEMCACHE_FEDERATION_SECRET": "between clients"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url, place = f"http://127.0.0.1:{port}", ["--port", port]
    if kind == "socket":
        folder = TemporaryDirectory(prefix="uds")
        request.addfinalizer(folder.cleanup)
        url = f"unix:{folder.name}/f.sock"
        place = ["--host", url]
    tokens = tmp_path / "tokens.json"
    server = subprocess.Popen(
        [*command, "server", "--tokens", tokens, "--names", "ann,bob,cem", *place, "--rounds", "2",
         "--out", tmp_path / "served", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip
    clients = []
    try:
        assert server.stderr is not None
        assert "waiting for ann, bob, cem" in server.stderr.readline()
        assert tokens.stat().st_mode & 0o077 == 0, "tokens are nobody else's business"
        for number, (name, token) in enumerate(json.loads(tokens.read_text()).items()):
            write(pairs[number::3], tmp_path / f"{name}.jsonl")
            clients.append(
                subprocess.Popen(
                    [
                        *command,
                        "client",
                        tmp_path / f"{name}.jsonl",
                        "--url",
                        url,
                        "--out",
                        tmp_path / name,
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env={**env, "SEMCACHE_FEDERATION_TOKEN": token},
                )
            )
        for process in clients:
            output = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, output
        out, err = server.communicate(timeout=PATIENCE)
        assert server.returncode == 0, err
    finally:
        for process in [server, *clients]:
            process.kill()
            process.wait()
    report = json.loads(out)
    assert report["clients"] == 3
    assert "round 3 of 3 is over" in err
    texts = ["where is my parcel 3", "I cannot find my parcel, number 3"]
    vectors = [OnnxEmbedder(tmp_path / name).encode(texts) for name in ("served", "ann", "bob", "cem")]
    assert all(np.allclose(one, vectors[0], atol=1e-5) for one in vectors), "all went home with the same model"
    everything = "".join(path.read_text() for path in (tmp_path / "served").glob("*.[jm]*") if path.suffix != ".onnx"
                         and path.name != "tokenizer.json")  # fmt: skip
    assert not any(pair.one in everything for pair in pairs)
