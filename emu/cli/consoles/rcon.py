"""`emu rcon`: commands on any server that speaks Source RCON, ours and others'."""

from __future__ import annotations

import json

import click

from emu.cli.client.common import server_address
from emu.cli.consoles.admin import command_line
from emu.cli.consoles.dialogue import Told, converse
from emu.cli.consoles.rcon_socket import RconSocket
from emu.cli.secrets import password_option
from emu.cli.tables import line_format_option
from emu.config import Address


@click.command(context_settings={"ignore_unknown_options": True})
@line_format_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=15.0,
    show_default=True,
    help="Seconds that each answer may take.",
)
@password_option
@click.argument("address", callback=server_address, metavar="HOST:PORT")
@click.argument("words", nargs=-1, metavar="[COMMAND...]", type=click.UNPROCESSED)
def rcon(
    address: Address,
    words: tuple[str, ...],
    password: str | None,
    timeout: float,
    style: str,
) -> None:
    """Run a command by RCON; without one there is a prompt, and lines from a pipe are run.

    The password crosses the network in the clear.

    Example: emu rcon 192.0.2.7:27015 status
    """
    if password is None:
        password = str(click.prompt("Password", hide_input=True, err=True))
    with RconSocket(address, password, timeout) as server:

        def ask(line: str) -> Told:
            return Told(_shown(line, server.run(line), style=style))

        if words:
            click.echo(ask(command_line(words)).text)
        else:
            converse(ask, f"{address}> ")


def _shown(line: str, answer: str, *, style: str) -> str:
    if style == "json":
        return json.dumps({"command": line, "answer": answer, "lines": answer.splitlines()})
    return answer.rstrip("\n")
