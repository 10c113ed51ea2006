"""`emu query`: ask any server how it is, by the protocols that server lists use."""

from __future__ import annotations

import click

from emu.cli.query_ssq import ssq


@click.group()
def query() -> None:
    """Ask a server how it is: ours, or any other that speaks the protocol.

    Example: emu query ssq 127.0.0.1:26999
    """


query.add_command(ssq)
