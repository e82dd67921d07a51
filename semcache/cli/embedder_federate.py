"""`semcache embedder federate`: train together with others, without showing them a prompt.

Knows files, terminals and processes; the protocol is `semcache.train.federate`'s. Invariant: tokens and secrets come
from files and the environment, never from the command line, where other users of the machine would see them.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semcache.cli import options, output
from semcache.cli.embedder_inputs import Folder, ReplaceFolder, need_training, read_pairs
from semcache.cli.listener import listening, refuse_port
from semcache.errors import ConfigError, InvalidArgument, StoreError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from semcache.train.federate.averaging import FederatedMap, ScoreHistogram
    from semcache.train.federate.local_training import FederationPlan
    from semcache.train.federate.rounds import Federation
    from semcache.train.pairs import Pair

TOKEN, SECRET = "SEMCACHE_FEDERATION_TOKEN", "SEMCACHE_FEDERATION_SECRET"
_PORT = 8090
_LINGER = 30.0  # seconds that the server waits for clients to fetch the final model
_SERVER, _CLIENT, _SIMULATION, _TRAINING, _PRIVACY = "Server", "Client", "Simulation", "Training", "Privacy"


class Role(StrEnum):
    """The role of this process in a federation."""

    SERVER = "server"
    CLIENT = "client"
    SIMULATE = "simulate"


def federate(
    ctx: typer.Context,
    role: Annotated[
        Role, typer.Argument(help="`server` adds up, `client` learns, `simulate` does all in one process.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PAIRS...]", help="Labelled pairs of a client, or of all to simulate."),
    ] = None,
    out: Folder = Path("federated"),
    base: Annotated[
        str, typer.Option("--base", metavar="DIR", help="The model folder that everybody has; default: what ships.")
    ] = "default",
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help="JSON: a token for each client.", rich_help_panel=_SERVER),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="NAME,...", help="Write new tokens for these.", rich_help_panel=_SERVER),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Address, or unix:PATH.", rich_help_panel=_SERVER)
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", help="8090 by default; 0: a free one.", rich_help_panel=_SERVER),
    ] = None,
    url: Annotated[
        str,
        typer.Option("--url", metavar="URL", help="Where the server is: URL, or unix:PATH.", rich_help_panel=_CLIENT),
    ] = "http://127.0.0.1:8090",
    clients: Annotated[
        int, typer.Option("--clients", min=2, max=1000, help="How many.", rich_help_panel=_SIMULATION)
    ] = 20,
    alike: Annotated[
        bool, typer.Option("--alike", help="Deal pairs at random, not by topic.", rich_help_panel=_SIMULATION)
    ] = False,
    masked: Annotated[
        bool,
        typer.Option("--masked", help="Also mask and unmask; the result is the same.", rich_help_panel=_SIMULATION),
    ] = False,
    rounds: Annotated[int, typer.Option("--rounds", min=1, rich_help_panel=_TRAINING)] = 20,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="Passes of a client in a round.", rich_help_panel=_TRAINING)
    ] = 1,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Pairs a step.", rich_help_panel=_TRAINING)] = 64,
    rate: Annotated[float, typer.Option("--rate", min=1e-8, max=1.0, rich_help_panel=_TRAINING)] = 2e-3,
    rank: Annotated[
        int, typer.Option("--rank", min=0, help="Of the change of the map; 0: the whole.", rich_help_panel=_TRAINING)
    ] = 0,
    least: Annotated[
        int, typer.Option("--least", min=2, help="Clients that make a sum.", rich_help_panel=_TRAINING)
    ] = 3,
    patience: Annotated[
        float, typer.Option("--patience", metavar="SECONDS", min=1.0, rich_help_panel=_TRAINING)
    ] = 60.0,
    clip: Annotated[
        float, typer.Option("--clip", min=0.0, help="Length of an update at most; 0: any.", rich_help_panel=_PRIVACY)
    ] = 0.0,
    noise: Annotated[
        float, typer.Option("--noise", min=0.0, help="Of the sum, in units of --clip.", rich_help_panel=_PRIVACY)
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the training and the split.")] = 7,
    force: ReplaceFolder = False,
    as_json: options.Json = False,
) -> None:
    """Train with others: a map of the embedder's vectors is learned where the prompts are, and only sums are read.

    A server needs --tokens, a client the token in SEMCACHE_FEDERATION_TOKEN. A secret that clients share and the server
    does not know, in SEMCACHE_FEDERATION_SECRET, keeps a server from posing as clients. The plan is the server's; a
    client that is given --clip, --noise or --least takes part in none that protects it less.
    """
    from semcache.train.atomic_folder import vacant
    from semcache.train.distill.projection import need_onnx
    from semcache.train.federate.federated_model import base_folder
    from semcache.train.federate.local_training import FederationPlan

    need_onnx()
    vacant(out, replace=force)
    identity, dim = _identity(base_folder(base))
    plan = FederationPlan(identity, dim, rank, rounds, epochs, batch, rate, seed, least, patience, clip, noise)
    if role is Role.SERVER:
        refuse_port(host, port)
        place = (host, _PORT if port is None else port)
        report = _serve(plan, _tokens(tokens, names, plan.least), place, out, base, force=force)
    elif role is Role.CLIENT:
        given = getattr(ctx.get_parameter_source("least"), "name", "DEFAULT") != "DEFAULT"
        report = _join(files or [], url, plan, out, base, seed, least=least if given else 0, force=force)
    else:
        report = _simulate(files or [], plan, clients, out, base, alike=alike, masked=masked, force=force)
    if as_json:
        output.as_json(report)
        return
    _table(report)
    output.note(f"model in {out}: try it with --embedder onnx:{out}, threshold {report['threshold']:.3f}")


def _identity(folder: Path) -> tuple[str, int]:
    """Return the id of the base model and its dimension. Raises ConfigError."""
    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        identity = str(card["id"]), int(card["dim"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"--base {folder} is no model folder: model.json cannot be read ({error})") from error
    if card.get("kind") == "static":
        raise ConfigError(f"--base {folder} is a table of words, no network: name the model that it was distilled from")
    return identity


def _tokens(path: Path | None, names: str | None, least: int) -> dict[str, str]:
    """Return the tokens of `least` clients or more, made anew for `names`. Raises InvalidArgument or StoreError."""
    if path is None:
        raise InvalidArgument("a server needs --tokens FILE, and --names to make it")
    try:
        if names is not None:
            made = {name.strip(): secrets.token_urlsafe(24) for name in names.split(",") if name.strip()}
            if len(made) < least:
                raise InvalidArgument(f"{names!r} names fewer than the {least} clients that make a sum (--least)")
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(json.dumps(made, indent=2) + "\n")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileExistsError as error:
        raise InvalidArgument(f"{path} is there already: leave out --names to use it") from error
    except OSError as error:
        hint = "; --names NAME,NAME,... makes it" if names is None and isinstance(error, FileNotFoundError) else ""
        raise StoreError(f"{path}: {error.strerror or error}{hint}") from error
    except ValueError as error:
        raise InvalidArgument(f'{path} is no JSON ({error}): write {{"NAME": "TOKEN", ...}}') from error
    if not isinstance(found, dict) or not all(isinstance(token, str) for token in found.values()):
        raise InvalidArgument(f'{path} must hold one object: {{"NAME": "TOKEN", ...}}')
    return found


def _serve(
    plan: FederationPlan, tokens: Mapping[str, str], place: tuple[str, int], out: Path, base: str, *, force: bool
) -> dict[str, Any]:
    from semcache.train.federate import federated_model, local_training
    from semcache.train.federate.coordinator import create
    from semcache.train.federate.rounds import Federation

    if len(tokens) < plan.least:
        raise InvalidArgument(f"{len(tokens)} tokens are fewer than the {plan.least} clients that make a sum (--least)")
    federation = Federation(plan, local_training.start(plan), tokens)
    app = create(federation, tokens, time.monotonic)
    with listening(*place) as (listener, address):
        told = federated_model.privacy_statement(plan)
        output.note(f"federation on {address}: waiting for {', '.join(sorted(tokens))}; {told}")
        _run(app, federation, listener)
    if federation.failed:
        raise StoreError(f"no model was written: {federation.failed}")
    if federation.phase != "over":
        raise StoreError(f"stopped in round {federation.round} of {plan.rounds + 1}: no model was written")
    seen = federation.seen[-1][1]
    report: dict[str, Any] = federated_model.publish(
        federation.model, plan, out, base=base, clients=len(tokens), seen=seen, force=force
    )
    return report


def _run(app: Starlette, federation: Federation, listener: Any) -> None:
    """Serve until the federation is over and everybody has its model, or until a signal."""
    import uvicorn

    config = uvicorn.Config(
        app, loop="asyncio", http="httptools", ws="none", lifespan="off", log_level="warning", access_log=False
    )
    server = uvicorn.Server(config)

    def watch() -> None:
        shown, over = 0, 0.0
        while not server.should_exit:
            time.sleep(0.1)
            federation_over = federation.phase == "over"
            for before, seen in federation.seen[shown:]:
                shown += 1
                output.note(_round_note(shown, federation.plan, before, seen))
            if federation_over:
                over = over or time.monotonic()
                if federation.finished >= federation.clients or time.monotonic() - over > _LINGER:
                    server.should_exit = True

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        server.run(sockets=[listener])
    finally:
        server.should_exit = True
        watcher.join()


def _join(
    files: Sequence[Path],
    url: str,
    asked: FederationPlan,
    out: Path,
    base: str,
    seed: int,
    *,
    least: int,
    force: bool,
) -> dict[str, Any]:
    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.train.federate import averaging, federated_model, local_training
    from semcache.train.federate.client import Client, ClientEnvironment

    token = os.environ.get(TOKEN, "")
    if not token:
        raise ConfigError(f"set {TOKEN} to the token that the federation's operator gave you")
    pairs = _pairs(files)
    world = ClientEnvironment(time.monotonic, time.sleep, lambda: secrets.randbits(128))
    told = lambda round_, what: output.note(f"round {round_}: {what}")  # noqa: E731
    client = Client(url, token, world, secret=os.environ.get(SECRET, "").encode(), told=told)
    try:
        plan = client.plan()
        if plan.embedder != asked.embedder:
            raise ConfigError(f"the federation is about {plan.embedder}, and --base is {asked.embedder}: use the same")
        federated_model.check_protection(plan, asked, least=least)
        output.note(f"{len(pairs)} pairs stay here; {plan.rounds} rounds; {federated_model.privacy_statement(plan)}")
        held = local_training.client_pairs(pairs, OnnxEmbedder(federated_model.base_folder(base)).encode, seed=seed)
        model = client.take_part(held, plan)
    finally:
        client.close()
    seen = averaging.empty_histogram() if plan.clip else local_training.held_back(model, held, plan)
    found: dict[str, Any] = federated_model.publish(model, plan, out, base=base, clients=None, seen=seen, force=force)
    return found


def _simulate(
    files: Sequence[Path],
    plan: FederationPlan,
    clients: int,
    out: Path,
    base: str,
    *,
    alike: bool,
    masked: bool,
    force: bool,
) -> dict[str, Any]:
    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.train import splits
    from semcache.train.federate import comparison, federated_model
    from semcache.train.pairs import both_classes

    need_training()
    encode = OnnxEmbedder(federated_model.base_folder(base)).encode
    parts = splits.split(splits.distinct(_pairs(files)), check=0.0, test=0.1, seed=plan.seed)
    both_classes(parts.test, "the test part, a tenth of the pairs")
    owners = comparison.divide_pairs(parts.train, clients, None if alike else encode, seed=plan.seed)
    found = comparison.compare(
        owners,
        parts.test,
        encode,
        plan,
        masked=masked,
        told=lambda round_, before, seen: output.note(_round_note(round_, plan, before, seen)),
    )
    report: dict[str, Any] = federated_model.publish(
        found.model, plan, out, base=base, clients=clients, seen=found.seen, force=force
    )
    return {**report, "figures": found.figures, "samples": list(found.samples), "test_pairs": len(parts.test)}


def _pairs(files: Sequence[Path]) -> list[Pair]:
    if not files:
        raise InvalidArgument("there is nothing to learn from: name a file of labelled pairs")
    return read_pairs(files)


def _round_note(round_: int, plan: FederationPlan, before: FederatedMap, seen: ScoreHistogram) -> str:
    counted = int(seen.same.sum() + seen.other.sum())
    worth = f", F1 {seen.f1(before.threshold):.3f} before it on pairs that clients hold back" if counted else ""
    return f"round {round_} of {plan.rounds + 1} is over{worth}"


def _table(report: Mapping[str, Any]) -> None:
    bound = report["privacy"]
    if "figures" in report:
        columns = ["", "F1", "P", "R", "threshold", "best F1", "AP", "R at P 0.95"]
        names = ("f1", "precision", "recall", "threshold", "best_f1", "average_precision", "recall_95")
        rows = [[way, *(f"{one[name]:.3f}" for name in names)] for way, one in report["figures"].items()]
        output.table(columns, rows, right=columns[1:])
    elif report["f1"] is not None:
        output.table(["F1", "threshold"], [[f"{report['f1']:.3f}", f"{report['threshold']:.3f}"]], right=["F1"])
    spent = f"epsilon {bound['epsilon']:g} at delta {bound['delta']:g}" if bound else "sums alone were read, no epsilon"
    output.note(f"privacy of a client: {spent}")
