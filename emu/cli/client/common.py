"""Shared parts of the verbs of `emu client`: server, account, and running a coroutine."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from emu.cli.common import Command, together
from emu.cli.opcodes.common import present_tables
from emu.cli.options import given_password, password_option
from emu.cli.tables import line_format_option
from emu.client import Credentials, report
from emu.client.flow import STEP_TIMEOUT
from emu.config import Address
from emu.config.readers import address as read_address
from emu.errors import CommandError, EmuError
from emu.opcodes import OpcodeTables
from emu.versions import CLIENT_2006

if TYPE_CHECKING:
    from emu.net.client.connection import ClientConnection

Body = Callable[[Any], Coroutine[Any, Any, None]]


def server_address(ctx: click.Context, param: click.Parameter, value: str) -> Address:  # noqa: ARG001
    """Read HOST:PORT from a command line; fails as wrong usage."""
    try:
        result = read_address(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} {error}") from None
    assert isinstance(result, Address)  # noqa: S101
    if not result.port:
        raise click.BadParameter(f"{value!r} must have a port of 1 or more")
    return result


@dataclass(frozen=True, slots=True)
class Target:
    """The server of a verb, and how to connect and print."""

    address: Address
    version: int
    timeout: float
    """Seconds for each step."""
    style: str
    """Output format: text or json."""
    tables: OpcodeTables

    async def opened(
        self, reactor: Any, credentials: Credentials | None = None
    ) -> ClientConnection:
        """Open a client of the login server; raises as `open_client` does."""
        from emu.net.client.connection import open_client  # noqa: PLC0415  # imports the reactor

        return await open_client(
            reactor,
            self.address.host,
            self.address.port,
            credentials,
            version=self.version,
            timeout=self.timeout,
            tables=self.tables,
        )


address_argument = click.argument("address", callback=server_address, metavar="HOST:PORT")


def timeout_option(seconds: float, about: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--timeout``, in seconds."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=seconds,
        show_default=True,
        help=about,
    )


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options of every verb; the verb gets them as its `target`."""

    @together(
        address_argument,
        click.option(
            "--version",
            type=click.IntRange(1, 0xFFFF),
            default=CLIENT_2006,
            show_default=True,
            help="Client data version to play.",
        ),
        timeout_option(STEP_TIMEOUT, "Seconds that each step may take."),
        line_format_option,
    )
    @wraps(command)
    def call(*, address: Address, version: int, timeout: float, style: str, **others: Any) -> None:
        target = Target(address, version, timeout, style, present_tables())
        command(target=target, **others)

    return call


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a verb that logs in; the verb gets them as `who`."""

    @click.option("--user", required=True, help="Account name.")
    @password_option
    @wraps(command)
    def call(*, user: str, password: str | None, **others: Any) -> None:
        command(who=Credentials(user, given_password(password)), **others)

    return call


def on_reactor(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Turn an ``async def`` into a verb; it gets the reactor, its `target` and its options."""

    @wraps(command)
    def call(*, target: Target, **others: Any) -> None:
        carry_out(lambda reactor: command(reactor, target=target, **others), target.style)

    return call


def carry_out(body: Body, style: str, *, on_asyncio: bool = False) -> None:
    """Run an ``async def`` as `run_reactor` does; with JSON output an error is an object too.

    `on_asyncio` runs it on asyncio's loop, for libraries that need one.
    """
    if on_asyncio:
        from twisted.internet import asyncioreactor  # noqa: PLC0415  # `emu --help` stays quick

        # The reactor must be installed before any module imports the default one.
        asyncioreactor.install()  # type: ignore[no-untyped-call]
    try:
        run_reactor(body)
    except EmuError as error:
        if style == "json":
            click.echo(json.dumps(report.failure_record(error)))
        raise


def run_reactor(body: Body) -> None:
    """Run an ``async def`` on the reactor; raise its `EmuError` unchanged."""
    from twisted.internet.defer import Deferred  # noqa: PLC0415  # `emu --help` stays quick
    from twisted.internet.task import react  # noqa: PLC0415

    # `react` leaves by SystemExit, so the result is passed out in a list.
    ended: list[EmuError | None] = []
    begun: list[Coroutine[Any, Any, None]] = []

    async def guarded(reactor: Any) -> None:
        try:
            await body(reactor)
        except EmuError as error:
            ended.append(error)
        else:
            ended.append(None)

    def begin(reactor: Any) -> Deferred[None]:
        begun.append(guarded(reactor))
        return Deferred.fromCoroutine(begun[0])

    try:
        react(begin)
    except SystemExit as end:
        if end.code:
            raise
    # Neither result nor error: Ctrl-C has stopped the reactor.
    if not ended:
        with suppress(RuntimeError):  # It tries to wait for something that can no longer come.
            begun[0].close()  # Let a display restore the terminal while it can.
        raise CommandError("interrupted")
    if ended[0] is not None:
        raise ended[0]
