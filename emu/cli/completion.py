"""What the shell offers when TAB is pressed behind a message's or a struct's name.

The shells' side is click's own; the README tells how it is switched on.
"""

from __future__ import annotations

import click

from emu.cli.opcodes.common import present_rows
from emu.errors import EmuError
from emu.opcodes.shipped import shipped_rows
from emu.structs import shipped_catalog


def message_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the opcode names of the database, or of the program, that begin as typed."""
    try:
        with ctx.scope(cleanup=False):
            rows = present_rows()
    except EmuError:  # nothing can be said at a prompt: offer what is known anyway
        rows = list(shipped_rows())
    return _beginning({row.name for row in rows}, incomplete)


def struct_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the names of the structs that come with the program and begin as typed."""
    return _beginning(set(shipped_catalog().names()), incomplete)


def _beginning(names: set[str], incomplete: str) -> list[str]:
    """Return the names that begin so, in any case of letters."""
    return sorted(name for name in names if name.lower().startswith(incomplete.lower()))
