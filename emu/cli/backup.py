"""`emu backup`: a copy of the database, also while a server is running."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from emu.cli.common import load_config
from emu.cli.options import present
from emu.database import Database
from emu.errors import CommandError


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace FILE if it exists.")
def backup(file: Path | None, *, replace: bool) -> None:
    """Copy the database into FILE. The server may be running.

    The copy is a checked snapshot: accounts, characters, opcode tables, worlds, bans. The
    configuration, certificates and your own data folders are separate files: copy them as well.
    FILE may be a folder; without FILE the copy is written beside the database. There and in
    folders, the file name contains the time in UTC.

    To restore: stop the server, remove the database and its -wal and -shm files, move the copy to
    its place, start the server.

    Example: emu backup emu-copy.db
    """
    path = load_config().database.path
    named = f"{path.name}.{datetime.fromtimestamp(present(), UTC):%Y%m%d-%H%M%S}.bak"
    copy = path.with_name(named) if file is None else file / named if file.is_dir() else file
    with Database.connect(path) as database:  # a backup must not migrate the schema
        _check(copy, path, replace=replace)
        database.back_up(copy)
    click.echo(copy)
    click.echo(f"{copy.stat().st_size} bytes copied from {path}", err=True)


def _check(copy: Path, database: Path, *, replace: bool) -> None:
    """Raise `CommandError` if the copy cannot be written."""
    if not copy.parent.is_dir():
        raise CommandError(f"{copy.parent}: this folder does not exist; create it first")
    if copy.exists() and copy.samefile(database):
        raise CommandError(f"{copy}: is the database itself; choose another file")
    if copy.exists() and not replace:
        raise CommandError(f"{copy}: exists already; choose another name or give --replace")
