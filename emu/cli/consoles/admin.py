"""`emu admin` and `emu world console`: commands on the running server, by its local socket."""

from __future__ import annotations

import json
import sys

import click

from emu.cli.common import load_config
from emu.cli.consoles.admin_socket import ConsoleSocket
from emu.cli.consoles.dialogue import Told, converse
from emu.cli.tables import line_format_option


@click.command(context_settings={"ignore_unknown_options": True})
@line_format_option
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...", type=click.UNPROCESSED)
def admin(words: tuple[str, ...], style: str) -> None:
    """Run a command on the server that runs with this configuration, as its console does.

    The commands are those of the game and of RCON: `emu admin help` lists them. The exit status is
    1 when one could not be carried out.

    Example: emu admin kick Aldana
    """
    with ConsoleSocket(load_config().console_path) as console:
        reply = console.run(command_line(words))
    if style == "json":
        click.echo(json.dumps(reply.data if reply.ok and reply.data is not None else reply.lines))
    elif reply.lines:
        click.echo(reply.text, err=not reply.ok)
    if not reply.ok:
        sys.exit(1)


def command_line(words: tuple[str, ...]) -> str:
    """Return words of a shell as a line; a blank inside one is kept, and the last is as it is."""
    *first, last = words
    return " ".join([*(f'"{word}"' if " " in word else word for word in first), last])


@click.command()
def console() -> None:
    """Run commands on the server that runs with this configuration.

    TAB completes commands and names, arrow keys go through what was typed before; exit or Ctrl-D
    ends it. Lines from a pipe are run one after the other; the exit status is 1 when one of them
    could not be carried out.

    Example: emu world console
    """
    with ConsoleSocket(load_config().console_path) as server:

        def ask(line: str) -> Told:
            reply = server.run(line)
            return Told(reply.text, reply.ok)

        if not converse(ask, "emu> "):
            sys.exit(1)
