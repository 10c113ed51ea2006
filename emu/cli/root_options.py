"""The options ``--config`` and ``--db`` of every command.

Both may stand before the noun or anywhere after it. The root of the command line imports this
module, and not the configuration: `emu --help` and `emu --version` need none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from emu.cli.paths import FilePath


@dataclass(slots=True)
class Root:
    """The values of ``--config`` and ``--db``; the `obj` of every click context."""

    config: Path | None = None
    """The configuration file, or None for the default search."""
    db: Path | None = None
    """The database file, or None for the configured one."""


def _keep(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    # Stored at the root, so that the option works before the noun and behind it.
    if value is not None and param.name is not None:
        setattr(ctx.find_root().ensure_object(Root), param.name, value)


def shared_options() -> list[click.Option]:
    """Return new options ``--config`` and ``--db``, which `load_config` reads."""
    kind: Any = FilePath(dir_okay=False, path_type=Path)
    return [
        click.Option(
            ["--config"], type=kind, callback=_keep, expose_value=False,
            help="Configuration file (TOML); the default is $EMU_CONFIG, ./emu.toml or"
            " ./state/emu.toml, the first that exists.",
        ),
        click.Option(
            ["--db"], type=kind, callback=_keep, expose_value=False,
            help="The database (SQLite); the default is the configured one.",
        ),
    ]  # fmt: skip


def share_options(command: click.Command) -> None:
    """Add ``--config`` and ``--db`` to a command and its subcommands."""
    present = {param.name for param in command.params}
    command.params += [one for one in shared_options() if one.name not in present]
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            share_options(inner)


def root_values() -> Root:
    """Return the values of both options for the running command."""
    return click.get_current_context().find_root().ensure_object(Root)
