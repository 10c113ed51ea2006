"""`emu rcon`: commands on any server that speaks Source RCON, ours and others'."""

from __future__ import annotations

import json
import sys

import click

from emu.cli.client.common import address_argument, timeout_option
from emu.cli.consoles.admin import command_line
from emu.cli.consoles.dialogue import Told, converse
from emu.cli.consoles.rcon_socket import RconSocket
from emu.cli.secrets import given_password, password_option
from emu.cli.tables import line_format_option, printable
from emu.config import Address
from emu.errors import EmuError


@click.command(context_settings={"ignore_unknown_options": True})
@line_format_option
@timeout_option(15.0, "Seconds that each answer may take.")
@password_option
@address_argument
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

    At the prompt TAB completes commands and names, arrow keys go through what was typed before;
    exit or Ctrl-D ends it.

    Example: emu rcon 192.0.2.7:27015 status
    """
    with RconSocket(address, given_password(password), timeout) as server:

        def ask(line: str) -> Told:
            return Told(_shown(line, server.run(line), style=style))

        def ask_on(line: str) -> Told:
            try:
                return ask(line)
            except EmuError as error:  # the next line calls the server again
                return Told(str(error), ok=False)

        if words:
            click.echo(ask(command_line(words)).text)
        else:
            asked = ask_on if sys.stdin.isatty() else ask
            converse(asked, f"{address}> ", lambda line: Told(server.run(line)))


def _shown(line: str, answer: str, *, style: str) -> str:
    if style == "json":
        return json.dumps({"command": line, "answer": answer, "lines": answer.splitlines()})
    return "\n".join(printable(row) for row in answer.rstrip("\n").split("\n"))
