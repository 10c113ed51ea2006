"""`emu admin`: one command on the running server, by its local socket."""

from __future__ import annotations

import json
import sys

import click

from emu.cli.common import load_config
from emu.cli.consoles.admin_socket import ConsoleSocket
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
