"""`emu world console`: a prompt on the running server."""

from __future__ import annotations

import sys

import click

from emu.cli.common import load_config
from emu.cli.consoles.admin_socket import ConsoleSocket
from emu.cli.consoles.dialogue import Told, converse


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
