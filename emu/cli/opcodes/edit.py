"""The command `emu opcodes edit`: opens the full-screen editor if its extra is installed."""

from __future__ import annotations

import importlib.util

import click

from emu.cli.common import is_terminal
from emu.cli.installed import install_command
from emu.cli.opcodes.common import writing
from emu.errors import CommandError


@click.command("edit")
@click.option("--version", type=click.IntRange(0, 0xFFFFFFFF), help="Start at this client version.")
def edit_verb(version: int | None) -> None:
    """Edit the tables on the full screen: versions left, opcodes right, conflicts marked.

    This needs the extra `editor` (textual). Each edit is written at once and can be undone.

    Example: emu opcodes edit --version 546
    """
    if importlib.util.find_spec("textual") is None:
        raise CommandError(
            f"the editor needs textual; install it with: {install_command('editor')}"
        )
    if not is_terminal():
        raise CommandError("the editor needs a terminal; use `emu opcodes set` in scripts")
    from emu.cli.opcodes.editor import OpcodeEditor  # noqa: PLC0415  # an optional extra

    with writing() as store:
        start = None if version is None else store.tables().for_version(version).range
        OpcodeEditor(store, start=start).run()
