"""`emu ggmp`: look at actors of a running world and act through them, as tools and bots do."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import click

from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import MOST_CLIENTS
from emu.admin.ggmp.orders import BIG, ORDERS
from emu.admin.ggmp.peer import Delivery
from emu.admin.ggmp.ports import Place
from emu.admin.ggmp.transfers import Whole
from emu.admin.ggmp.values import ValueType
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.common import VerbGroup
from emu.cli.consoles.ggmp_socket import GgmpSocket
from emu.cli.secrets import asked_secret, password_option
from emu.cli.tables import failures_in, line_format_option, printable
from emu.config import Address
from emu.errors import CommandError
from emu.times import Monotonic

Join = Callable[[], GgmpSocket]
"""Joins the server; asks for the token where none is given."""

ACTOR = click.IntRange(0, 0xFFFFFFFF)
STATE = ("actor", "name", "zone", "x", "y", "z", "heading")
SERVER = ("name", "online", "places", "zones", "uptime")


@click.group(cls=VerbGroup)
def ggmp() -> None:
    """Look at actors, which are spawns of a running world, and act through them.

    The password is a token of the server's ggmp.tokens_file, empty where anybody may join; it
    crosses the network in the clear.

    Example: emu ggmp query 127.0.0.1:12358 --name Alice
    """


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what joins a server, as `join`, and the form of what it prints."""

    @address_argument
    @timeout_option(3.0, "Seconds to wait for each answer.")
    @click.option(
        "--byteorder", type=click.Choice(sorted(ORDERS)), default=BIG.name, show_default=True,
        help="That of the server.",
    )  # fmt: skip
    @click.option(
        "--client", type=click.IntRange(1, MOST_CLIENTS),
        help="Our number, for a server that knows its clients by number and address.",
    )  # fmt: skip
    @password_option
    @line_format_option
    @functools.wraps(command)
    def with_server(
        *, address: Address, password: str | None, timeout: float, byteorder: str,
        client: int | None, **named: Any,
    ) -> None:  # fmt: skip
        def join() -> GgmpSocket:
            token = asked_secret("Token") if password is None and not client else password
            return GgmpSocket(
                address, token or "", timeout, order=ORDERS[byteorder], number=client or 0
            )

        with failures_in(named["style"]):
            command(join=join, **named)

    return with_server


@ggmp.command()
@_server_options
@click.option("--actor", type=ACTOR, help="Number of an actor.")
@click.option("--name", help="Name of an actor.")
@click.option("--zone", type=click.IntRange(1, 0xFFFFFFFF), help="List the actors of a zone.")
def query(*, join: Join, style: str, actor: int | None, name: str | None, zone: int | None) -> None:
    """Tell of an actor; without one, of the server.

    Example: emu ggmp query 127.0.0.1:12358 --zone 325 --json
    """
    if sum(one is not None for one in (actor, name, zone)) > 1:
        raise click.UsageError("give one of --actor, --name and --zone")
    with join() as talk:
        if name is not None:
            talk.client.query_named(name, talk.now)
        elif zone is not None:
            talk.client.query_zone(zone, talk.now)
        else:
            talk.client.query(actor or 0, talk.now)
        _print(_record(talk.expect(), talk.client), style)


@ggmp.command()
@_server_options
@click.argument("actor", type=ACTOR)
@click.argument("text")
def say(*, join: Join, style: str, actor: int, text: str) -> None:
    """Let an actor speak to the players near it.

    Example: emu ggmp say 127.0.0.1:12358 17 "Halt! Who goes there?"
    """
    with join() as talk:
        talk.client.say(actor, text, talk.now)
        _print(_record(talk.expect(), talk.client), style)


@ggmp.command(context_settings={"ignore_unknown_options": True})
@_server_options
@click.argument("actor", type=ACTOR)
@click.argument("place", nargs=4, type=float, metavar="X Y Z HEADING")
def move(*, join: Join, style: str, actor: int, place: tuple[float, float, float, float]) -> None:
    """Put an actor elsewhere in its zone.

    Example: emu ggmp move 127.0.0.1:12358 17 10.5 -3 22 90
    """
    with join() as talk:
        talk.client.move(actor, Place(*place), talk.now)
        _print(_record(talk.expect(), talk.client), style)


@ggmp.command()
@_server_options
@click.argument("actors", type=ACTOR, nargs=-1, required=True)
@click.option(
    "--interval", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True,
    help="Seconds between two lines of one actor, at least.",
)  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), help="How long; for ever by default.")
def watch(
    *, join: Join, style: str, actors: tuple[int, ...], interval: float, seconds: float | None
) -> None:
    """Tell where actors are, whenever they have moved.

    Example: emu ggmp watch 127.0.0.1:12358 17 18 --interval 0.5
    """
    with join() as talk:
        end = talk.now + (float("inf") if seconds is None else seconds)
        for actor in actors:
            talk.client.watch(actor, interval, talk.now)
        while talk.now < end:
            # The server forgets who says nothing for a minute.
            told = talk.next_delivery(Monotonic(min(end, talk.now + 20)))
            if told is None:
                talk.client.query(0, talk.now)
                continue
            record = _record(told, talk.client)
            if "online" not in record and record.get("said") != "done":
                _print(record, style)


def _record(told: Delivery, client: GgmpClient) -> dict[str, Any]:
    """Return what the server told by name. Raises `CommandError` for a refusal."""
    if isinstance(told, Whole):
        return {"zone": told.act.condition1, "actors": client.listed_actors(told.data)}
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
    return printable(text)
