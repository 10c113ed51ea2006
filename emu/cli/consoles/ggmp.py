"""`emu ggmp`: watches and controls actors of a running world, as tools and bots do."""

from __future__ import annotations

import functools
import json
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

from emu.admin.ggmp.acting import GgmpPlace
from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import BIG, MOST_CLIENTS, ORDERS, SERVER, ByteOrder, ValueType
from emu.admin.ggmp.peer import Delivery, Whole
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.common import VerbGroup
from emu.cli.options import asked_secret, passing, password_option
from emu.cli.tables import failures_in, line_format_option, printable
from emu.config import Address
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic

LONGEST = 2048
"""Size of the receive buffer in bytes; no message is as long."""


class NothingListens(CommandError):
    """Nothing listens at this port of the name's address."""


class GgmpSocket(AbstractContextManager["GgmpSocket"]):
    """A client that is logged in; send by `client`, receive by `next_delivery`."""

    def __init__(
        self, address: Address, token: str, patience: float,
        *, order: ByteOrder = BIG, number: int = SERVER,
    ) -> None:  # fmt: skip
        """Log in, unless the server knows this client by its number.

        Raises `CommandError` if no server accepts the login for `patience` seconds.
        """
        self._address = address
        self._patience = patience
        try:
            places = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
        except OSError as error:
            raise CommandError(f"{address} cannot be reached ({error.strerror})") from None
        for family, _, _, _, place in places:
            self.client = GgmpClient(0.2, order, number)
            try:
                self._open(family, place, token)
            except NothingListens:
                # If nothing listens at any address, the last error is reported.
                if place is places[-1][4]:
                    raise
            else:
                return

    def _open(self, family: int, place: Any, token: str) -> None:
        """Log in at one of a name's addresses."""
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.connect(place)
            # A static client has its number already and does not log in.
            if not self.client.id:
                self._join(token)
        except OSError as error:
            self._socket.close()
            raise CommandError(f"{self._address} cannot be reached ({error.strerror})") from None
        except CommandError:
            self._socket.close()
            raise

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    @property
    def now(self) -> Monotonic:
        """The monotonic time."""
        return passing()

    def expect(self) -> Delivery:
        """Return the next delivery. Raises `CommandError` if none comes."""
        content = self.next_delivery(Monotonic(self.now + self._patience))
        if content is None:
            raise CommandError(f"{self._address} does not answer")
        return content

    def next_delivery(self, until: Monotonic) -> Delivery | None:
        """Return the next delivery, None if none comes until then."""
        while (content := self.client.next_delivery()) is None:
            if self.now >= until:
                return None
            self._turn(until)
        return content

    def _join(self, token: str) -> None:
        until = Monotonic(self.now + self._patience)
        self.client.join(token, self.now)
        while not self.client.id:
            if self.now >= until:
                raise CommandError(
                    f"{self._address} lets us not in: nobody speaks GGMP there, or not to this"
                    " token, or not from this address"
                )
            # A datagram may be lost, so the login is repeated until the time is over.
            if self.client.lost:
                self.client.join(token, self.now)
            self._turn(until)

    def _turn(self, until: Monotonic) -> None:
        """Send what is due, and receive one datagram unless something is due earlier."""
        self.client.handle_timer(self.now)
        due = self.client.get_timer()
        wait = (until if due is None else min(until, due)) - self.now
        try:
            for data in self.client.data_to_send():
                self._socket.send(data)
            # A timeout of 0 would make the socket non-blocking.
            self._socket.settimeout(max(wait, 0.001))
            self.client.receive(self._socket.recv(LONGEST), self.now)
            for data in self.client.data_to_send():  # the acknowledgments
                self._socket.send(data)
        except (TimeoutError, MalformedMessage):
            # No datagram came, or a damaged one; the caller decides by the time what to do.
            return
        except ConnectionRefusedError:
            raise NothingListens(f"nothing listens on UDP {self._address}") from None
        except OSError as error:
            raise CommandError(f"{self._address}: {error.strerror}") from None


Join = Callable[[], GgmpSocket]
"""Logs in; asks for the token if none is given."""

ACTOR = click.IntRange(0, 0xFFFFFFFF)
STATE = ("actor", "name", "zone", "x", "y", "z", "heading")
SERVER_COLUMNS = ("name", "online", "places", "zones", "uptime")


@click.group(cls=VerbGroup)
def ggmp() -> None:
    """Watch and control actors (spawns) of a running world.

    The password is a token of the server's ggmp.tokens_file; it is empty if the server admits
    everybody. It crosses the network unencrypted.

    Example: emu ggmp query 127.0.0.1:12358 --name Alice
    """


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options of a login, as `join`, and the output format."""

    @address_argument
    @timeout_option(3.0, "Seconds to wait for each answer.")
    @click.option(
        "--byteorder", type=click.Choice(sorted(ORDERS)), default=BIG.name, show_default=True,
        help="The server's byte order.",
    )  # fmt: skip
    @click.option(
        "--client", type=click.IntRange(1, MOST_CLIENTS),
        help="This client's number, for a server with static clients.",
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
    """Show an actor; without one, the server.

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
    """Move an actor within its zone.

    Example: emu ggmp move 127.0.0.1:12358 17 10.5 -3 22 90
    """
    with join() as talk:
        talk.client.move(actor, GgmpPlace(*place), talk.now)
        _print(_record(talk.expect(), talk.client), style)


@ggmp.command()
@_server_options
@click.argument("actors", type=ACTOR, nargs=-1, required=True)
@click.option(
    "--interval", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True,
    help="Minimum seconds between two lines of an actor.",
)  # fmt: skip
@click.option("--seconds", type=click.FloatRange(min=0), help="Seconds to watch; default for ever.")
def watch(
    *, join: Join, style: str, actors: tuple[int, ...], interval: float, seconds: float | None
) -> None:
    """Print the positions of actors whenever they move.

    Example: emu ggmp watch 127.0.0.1:12358 17 18 --interval 0.5
    """
    with join() as talk:
        end = talk.now + (float("inf") if seconds is None else seconds)
        for actor in actors:
            talk.client.watch(actor, interval, talk.now)
        while talk.now < end:
            # The server removes a client that is silent for a minute.
            content = talk.next_delivery(Monotonic(min(end, talk.now + 20)))
            if content is None:
                talk.client.query(0, talk.now)
                continue
            record = _record(content, talk.client)
            # Answers to the keep-alive query and confirmations are no positions.
            if "online" not in record and record.get("said") != "done":
                _print(record, style)


def _record(content: Delivery, client: GgmpClient) -> dict[str, Any]:
    """Return a delivery's fields by name. Raises `CommandError` for a refusal."""
    if isinstance(content, Whole):
        return {"zone": content.act.condition1, "actors": client.listed_actors(content.data)}
    if isinstance(content, bytes) or len(content) < 3:
        raise CommandError("the server's answer is unknown")
    values = [entry.value for entry in content]
    if content[2].type == ValueType.ASCII:
        if values[2] == "refused":
            raise CommandError(f"the server refuses: {_text(values[-1])}")
        return {"actor": values[1], "said": values[2]}
    if not values[1]:
        return dict(zip(SERVER_COLUMNS, values[2:], strict=False))
    return dict(zip(STATE, values[1:], strict=False))


def _print(record: dict[str, Any], style: str) -> None:
    if style == "json":
        click.echo(json.dumps(record))
        return
    shown = (f"{name} {_text(value)}" for name, value in record.items())
    click.echo(", ".join(shown))


def _text(value: Any) -> str:
    """Return a value on one line, without the control characters that a server may send."""
    if isinstance(value, float):
        return f"{value:.2f}"
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return printable(text)
