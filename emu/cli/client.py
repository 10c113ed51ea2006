"""`emu client`: play a real client against a login server, and say what each step took."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, cast

import click

from emu.cli.opcodes_common import present_tables
from emu.cli.secrets import password_option
from emu.cli.tables import line_format_option
from emu.client import Credentials, StepDone, flow, report
from emu.config import Address
from emu.config.readers import address as read_address
from emu.errors import CommandError, EmuError
from emu.versions import CLIENT_2006

Body = Callable[[Any], Coroutine[Any, Any, None]]
Printer = Callable[[StepDone], None]


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


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options that every verb has."""
    for option in (
        line_format_option,
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=flow.STEP_TIMEOUT,
            show_default=True,
            help="Seconds that each step may take.",
        ),
        click.option(
            "--version",
            type=click.IntRange(1, 0xFFFF),
            default=CLIENT_2006,
            show_default=True,
            help="Client data version to play.",
        ),
        click.argument("address", callback=server_address, metavar="HOST:PORT"),
    ):
        command = option(command)
    return command


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a verb that logs in."""
    named = click.option("--user", required=True, help="Account name.")
    return cast("Callable[..., None]", named(password_option(command)))


@click.group()
def client() -> None:
    """A scripted client that logs in as a real one does.

    It speaks with the opcode tables of the database, as `emu opcodes` shows them.

    Example: emu client ping 127.0.0.1:9100
    """


@client.command()
@server_options
@account_options
@click.option("--create", "create_name", metavar="NAME", help="Create a character.")
@click.option("--world", metavar="ID", help="World to create it on; default the first that is up.")
@click.option("--delete", "delete_name", metavar="NAME", help="Delete a character.")
@click.option("--play", "play_name", metavar="NAME", help="Enter the world with a character.")
@click.pass_context
def login(
    ctx: click.Context,
    *,
    address: Address,
    user: str,
    password: str | None,
    version: int,
    timeout: float,
    style: str,
    create_name: str | None,
    world: str | None,
    delete_name: str | None,
    play_name: str | None,
) -> None:
    """Log in, list worlds and characters, and create, delete and play as asked, in this order.

    Prints each step with the milliseconds it took. Exit status 1 and one line when the server does
    not answer, denies the login or refuses a request.

    Example: emu client login 127.0.0.1:9100 --user alice --create Testa --play Testa
    """
    if world is not None and create_name is None:
        raise click.UsageError("--world is of use only with --create")
    credentials = Credentials(user, _password(password))
    tables = present_tables(ctx)

    async def body(reactor: Any) -> None:
        from emu.net.client import open_client  # noqa: PLC0415  # imports the reactor's rooms

        opened = await open_client(
            reactor,
            address.host,
            address.port,
            credentials,
            version=version,
            timeout=timeout,
            tables=tables,
        )
        async with opened:
            script = flow.whole_login(
                opened.core,
                create_name=create_name,
                world=world,
                delete_name=delete_name,
                play_name=play_name,
            )
            await opened.run(script, on_step=_printer(style=style))

    carry_out(body, style)


@client.command()
@server_options
@account_options
@click.pass_context
def worlds(
    ctx: click.Context,
    *,
    address: Address,
    user: str,
    password: str | None,
    version: int,
    timeout: float,
    style: str,
) -> None:
    """Log in and print the worlds, one a line: id, name, state, players, separated by tabs.

    Example: emu client worlds 127.0.0.1:9100 --user alice
    """
    credentials = Credentials(user, _password(password))
    tables = present_tables(ctx)

    async def body(reactor: Any) -> None:
        from emu.net.client import open_client  # noqa: PLC0415  # imports the reactor's rooms

        opened = await open_client(
            reactor,
            address.host,
            address.port,
            credentials,
            version=version,
            timeout=timeout,
            tables=tables,
        )
        async with opened:
            await opened.run(flow.login())
            for line in report.world_lines(await opened.worlds(), as_json=style == "json"):
                click.echo(line)

    carry_out(body, style)


@client.command()
@server_options
@click.pass_context
def ping(ctx: click.Context, *, address: Address, version: int, timeout: float, style: str) -> None:
    """Set a session up, wait for the server's statistics, and close: no account is needed.

    Example: emu client ping 127.0.0.1:9100
    """
    tables = present_tables(ctx)

    async def body(reactor: Any) -> None:
        from emu.net.client import open_client  # noqa: PLC0415  # imports the reactor's rooms

        opened = await open_client(
            reactor,
            address.host,
            address.port,
            None,
            version=version,
            timeout=timeout,
            tables=tables,
        )
        async with opened:
            await opened.run(flow.ping(), on_step=_printer(style=style))

    carry_out(body, style)


def _password(given: str | None) -> str:
    if given is not None:
        return given
    return str(click.prompt("Password", hide_input=True, err=True))


def _printer(*, style: str) -> Printer:
    def show(step: StepDone) -> None:
        click.echo(json.dumps(report.as_record(step)) if style == "json" else report.as_line(step))

    return show


def carry_out(body: Body, style: str) -> None:
    """Run an ``async def`` as `run_reactor` does; as JSON an error is an object of its own, too."""
    try:
        run_reactor(body)
    except EmuError as error:
        if style == "json":
            click.echo(json.dumps(report.failure_record(error)))
        raise


def run_reactor(body: Body) -> None:
    """Run an ``async def`` on the reactor to its end; an error of ours is raised as it is."""
    from twisted.internet.defer import Deferred  # noqa: PLC0415  # `emu --help` stays quick
    from twisted.internet.task import react  # noqa: PLC0415

    ended: list[EmuError | None] = []

    async def guarded(reactor: Any) -> None:
        try:
            await body(reactor)
        except EmuError as error:
            ended.append(error)
        else:
            ended.append(None)

    try:
        react(lambda reactor: Deferred.fromCoroutine(guarded(reactor)))
    except SystemExit as end:
        if end.code:
            raise
    if not ended:
        raise CommandError("interrupted")
    if ended[0] is not None:
        raise ended[0]
