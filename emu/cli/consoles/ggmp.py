"""`emu ggmp`: look at actors of a running world and act through them, as tools and bots do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from emu.admin.ggmp.client import listed_actors
from emu.admin.ggmp.peer import Delivery
from emu.admin.ggmp.ports import Place
from emu.admin.ggmp.transfers import Whole
from emu.admin.ggmp.values import ValueType
from emu.cli.client.common import server_address
from emu.cli.consoles.ggmp_socket import GgmpSocket
from emu.cli.secrets import password_option
from emu.cli.tables import line_format_option
from emu.config import Address
from emu.errors import CommandError
from emu.times import Monotonic

ACTOR = click.IntRange(0, 0xFFFFFFFF)
STATE = ("actor", "name", "zone", "x", "y", "z", "heading")
SERVER = ("name", "online", "places", "zones", "uptime")


@click.group()
def ggmp() -> None:
    """Look at actors, which are spawns of a running world, and act through them.

    The password is a token of the server's ggmp.tokens_file; it crosses the network in the clear.

    Example: emu ggmp query 127.0.0.1:12358 --name Alice
    """


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the server, the token, the time to wait and the form of what it prints."""
    for option in (
        click.argument("address", callback=server_address, metavar="HOST:PORT"),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=3.0,
            show_default=True,
            help="Seconds to wait for each answer.",
        ),
        password_option,
        line_format_option,
    ):
        command = option(command)
    return command


@ggmp.command()
@_server_options
@click.option("--actor", type=ACTOR, help="Number of an actor.")
@click.option("--name", help="Name of an actor.")
@click.option("--zone", type=click.IntRange(1, 0xFFFFFFFF), help="List the actors of a zone.")
def query(
    *, address: Address, password: str | None, timeout: float, style: str,
    actor: int | None, name: str | None, zone: int | None,
) -> None:  # fmt: skip
    """Tell of an actor; without one, of the server.

    Example: emu ggmp query 127.0.0.1:12358 --zone 325 --json
    """
    if sum(one is not None for one in (actor, name, zone)) > 1:
        raise click.UsageError("give one of --actor, --name and --zone")
    with _joined(address, password, timeout) as server:
        if name is not None:
            server.client.query_named(name, server.now)
        elif zone is not None:
            server.client.query_zone(zone, server.now)
        else:
            server.client.query(actor or 0, server.now)
        _print(_record(server.expect()), style)


@ggmp.command()
@_server_options
@click.argument("actor", type=ACTOR)
@click.argument("text")
def say(
    *, address: Address, password: str | None, timeout: float, style: str, actor: int, text: str
) -> None:
    """Let an actor speak to the players near it.

    Example: emu ggmp say 127.0.0.1:12358 17 "Halt! Who goes there?"
    """
    with _joined(address, password, timeout) as server:
        server.client.say(actor, text, server.now)
        _print(_record(server.expect()), style)


@ggmp.command(context_settings={"ignore_unknown_options": True})
@_server_options
@click.argument("actor", type=ACTOR)
@click.argument("place", nargs=4, type=float, metavar="X Y Z HEADING")
def move(
    *, address: Address, password: str | None, timeout: float, style: str, actor: int,
    place: tuple[float, float, float, float],
) -> None:  # fmt: skip
    """Put an actor elsewhere in its zone.

    Example: emu ggmp move 127.0.0.1:12358 17 10.5 -3 22 90
    """
    with _joined(address, password, timeout) as server:
        server.client.move(actor, Place(*place), server.now)
        _print(_record(server.expect()), style)


@ggmp.command()
@_server_options
@click.argument("actors", type=ACTOR, nargs=-1, required=True)
@click.option(
    "--interval", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True,
    help="Seconds between two lines of one actor, at least.",
)  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), help="How long; for ever by default.")
def watch(
    *, address: Address, password: str | None, timeout: float, style: str,
    actors: tuple[int, ...], interval: float, seconds: float | None,
) -> None:  # fmt: skip
    """Tell where actors are, whenever they have moved.

    Example: emu ggmp watch 127.0.0.1:12358 17 18 --interval 0.5
    """
    with _joined(address, password, timeout) as server:
        end = server.now + (float("inf") if seconds is None else seconds)
        for actor in actors:
            server.client.watch(actor, interval, server.now)
        while server.now < end:
            # The server forgets who says nothing for a minute.
            told = server.next_delivery(Monotonic(min(end, server.now + 20)))
            if told is None:
                server.client.query(0, server.now)
                continue
            record = _record(told)
            if "online" not in record and record.get("said") != "done":
                _print(record, style)


def _joined(address: Address, token: str | None, patience: float) -> GgmpSocket:
    if token is None:
        token = str(click.prompt("Token", hide_input=True, err=True))
    return GgmpSocket(address, token, patience)


def _record(told: Delivery) -> dict[str, Any]:
    """Return what the server told by name. Raises `CommandError` for a refusal."""
    if isinstance(told, Whole):
        return {"zone": told.act.condition1, "actors": listed_actors(told.data)}
    if isinstance(told, bytes) or len(told) < 3:
        raise CommandError("the server answers with something that emu does not know")
    values = [entry.value for entry in told]
    if told[2].type == ValueType.ASCII:
        if values[2] == "refused":
            raise CommandError(f"the server refuses: {_text(values[-1])}")
        return {"actor": values[1], "said": values[2]}
    if not values[1]:
        return dict(zip(SERVER, values[2:], strict=False))
    return dict(zip(STATE, values[1:], strict=False))


def _print(record: dict[str, Any], style: str) -> None:
    if style == "json":
        click.echo(json.dumps(record))
        return
    shown = (f"{name} {_text(value)}" for name, value in record.items())
    click.echo(", ".join(shown))


def _text(value: Any) -> str:
    """Return a value on one line; what a server sent may hold controls."""
    if isinstance(value, float):
        return f"{value:.2f}"
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return "".join(letter if letter.isprintable() else "?" for letter in text)
