"""`emu client`: play a real client against a login server, and print the steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from emu.cli.client.common import Target, account_options, carry_out, on_reactor, server_options
from emu.cli.client.evening import evening
from emu.cli.client.swarm import swarm
from emu.cli.client.world import play, shell
from emu.cli.common import VerbGroup
from emu.client import Credentials, flow, report
from emu.client.flow import StepDone

Printer = Callable[[StepDone], None]


@click.group(cls=VerbGroup)
def client() -> None:
    """A client that logs in and plays as a real one does: scripted, by hand, or a swarm.

    It uses the opcode tables of the database, as `emu opcodes` shows them.

    Example: emu client ping 127.0.0.1:9100
    """


@client.command()
@server_options
@account_options
@click.option("--create", "create_name", metavar="NAME", help="Create a character.")
@click.option("--world", metavar="ID", help="World to create it on; the default is the first up.")
@click.option("--delete", "delete_name", metavar="NAME", help="Delete a character.")
@click.option("--play", "play_name", metavar="NAME", help="Enter the world with a character.")
def login(
    *,
    target: Target,
    who: Credentials,
    create_name: str | None,
    world: str | None,
    delete_name: str | None,
    play_name: str | None,
) -> None:
    """Log in, list worlds and characters, and create, delete and play as asked, in this order.

    Prints each step with the milliseconds it took. If the server does not answer, denies the login
    or refuses a request, it prints one line and the exit status is 1.

    Example: emu client login 127.0.0.1:9100 --user alice --create Testa --play Testa
    """
    if world is not None and create_name is None:
        raise click.UsageError("--world needs --create")

    async def body(reactor: Any) -> None:
        async with await target.opened(reactor, who) as opened:
            script = flow.whole_login(
                opened.core,
                create_name=create_name,
                world=world,
                delete_name=delete_name,
                play_name=play_name,
            )
            await opened.run(script, on_step=_printer(target.style))

    carry_out(body, target.style)


@client.command()
@server_options
@account_options
@on_reactor
async def worlds(reactor: Any, *, target: Target, who: Credentials) -> None:
    """Log in and print the worlds, one per line: id, name, state, players, separated by tabs.

    Example: emu client worlds 127.0.0.1:9100 --user alice
    """
    async with await target.opened(reactor, who) as opened:
        await opened.run(flow.login())
        for line in report.world_lines(await opened.worlds(), as_json=target.style == "json"):
            click.echo(line)


@client.command()
@server_options
@on_reactor
async def ping(reactor: Any, *, target: Target) -> None:
    """Set up a session, wait for the server's statistics, and close; needs no account.

    Example: emu client ping 127.0.0.1:9100
    """
    async with await target.opened(reactor) as opened:
        await opened.run(flow.ping(), on_step=_printer(target.style))


def _printer(style: str) -> Printer:
    def show(step: StepDone) -> None:
        click.echo(json.dumps(report.as_record(step)) if style == "json" else report.as_line(step))

    return show


for verb in (play, shell, swarm, evening):
    client.add_command(verb)
