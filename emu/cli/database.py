"""`emu database`: copies a database into another one, upgrades its tables, and checks it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from emu.cli.common import VerbGroup, load_config
from emu.cli.doctor.commands import COLUMNS, show
from emu.cli.doctor.database import check_database
from emu.cli.doctor.findings import Level
from emu.cli.tables import Row, format_option, print_rows
from emu.config.readers import at_home, database_url
from emu.config.secrets import read_secret
from emu.database import ServerUrl, Where
from emu.database.engines import upgrade_database
from emu.database.sqlite.served import serving_process
from emu.errors import CommandError
from emu.store import Store
from emu.store.copying import copy_store
from emu.store.repository import schemas
from emu.texts import counted

CONFIGURED = "configured"
"""Stands for the database of the configuration."""


class DatabasePlace(click.ParamType[Where]):
    """A database: a URL without a password, ``@FILE`` with a URL in it, or ``configured``."""

    name = "database"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Where:
        """Return where the database is."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # converted already
        if value == CONFIGURED:
            return load_config().database.url
        try:
            if value.startswith("@"):
                return database_url(read_secret(at_home(value[1:])))
            where = database_url(value)
        except (OSError, ValueError) as error:
            # The value may have a password, so it is not shown.
            self.fail(str(getattr(error, "strerror", None) or error), param, ctx)
        if isinstance(where, ServerUrl) and where.password:
            self.fail(
                "a password on a command line is shown to every user of this machine; give @FILE,"
                f" a file with the URL, {CONFIGURED!r}, or put the password into ~/.pgpass",
                param,
                ctx,
            )
        return where


PLACE = DatabasePlace()


@click.group(cls=VerbGroup)
def database() -> None:
    """Copy, upgrade and check the database of accounts and characters.

    A database is sqlite:FILE or postgresql://USER@HOST/DATABASE. A password belongs into ~/.pgpass,
    or into a file with the whole URL, which is given as @FILE. The word "configured" stands for the
    database of the configuration.

    Example: emu database check
    """


@database.command()
@click.argument("source", metavar="FROM", type=PLACE)
@click.argument("target", metavar="TO", type=PLACE)
@click.option("--resume", is_flag=True, help="Continue a copy that was interrupted.")
@format_option
def copy(source: Where, target: Where, *, resume: bool, style: str) -> None:
    """Copy all accounts, worlds, characters and bans of the database FROM into the database TO.

    Both may be of any engine. Stop the servers of both first. TO must be empty; a file and tables
    that are missing are made. In the end the rows of all tables are counted and summed in both
    databases. An interrupted copy is continued with --resume. Opcode tables stay in the file of
    each server (`emu opcodes`), and unsaved players beside it: start and stop the old server first.

    Example: emu database copy configured sqlite:emu-copy.sqlite
    """
    if source == target:
        raise CommandError("FROM and TO are the same database")
    for where in (source, target):
        _refuse_server(where)
    with (
        Store.open_for_reading(source) as reading,
        Store.create(target) as writing,
        _progress() as progress,
    ):
        copied = copy_store(reading.database, writing.database, resume=resume, progress=progress)
    rows: list[Row] = [
        {"table": one.name, "rows": one.rows, "copied": one.copied} for one in copied
    ]
    print_rows(rows, style, ("table", "rows", "copied"))
    total = counted(sum(one.rows for one in copied), "row")
    click.echo(f"{target}: {total}, the same as in {source}", err=True)
    if isinstance(target, ServerUrl):
        click.echo(f'to use it, set in [database]: url = "{target}"', err=True)


@database.command()
def upgrade() -> None:
    """Bring the tables of the configured database to this program's version.

    A server with a SQLite file does that when it starts, after a copy. On PostgreSQL only this
    command does it, once for all servers: those of the release before go on with the new tables.
    Servers of this release start afterwards.

    Example: emu database upgrade
    """
    where = load_config().database.url
    applied = upgrade_database(where, schemas())
    newest = schemas().sqlite.newest
    if applied:
        click.echo(f"{where}: schema {newest}, {counted(len(applied), 'migration')} applied")
    else:
        click.echo(f"{where}: schema {newest} already")


@database.command()
@format_option
def check(style: str) -> None:
    """Check whether the configured database can be reached and used, and its version.

    On PostgreSQL these are reach, delay, clock, encoding, version of the tables, rights and
    connections; for a SQLite file pages, references, free disk space and logs. The exit status is 1
    after a fault.

    Example: emu database check
    """
    found = [*check_database(load_config().database.url)]
    if style == "table":
        show(found)
    else:
        print_rows([one._asdict() for one in found], style, COLUMNS)
    if any(one.level is Level.FAIL for one in found):
        sys.exit(1)


def _refuse_server(where: Where) -> None:
    process = serving_process(where) if isinstance(where, Path) else None
    if process is not None:
        raise CommandError(f"{where}: a server uses it (process {process}); stop that server first")


@contextmanager
def _progress() -> Iterator[Any]:
    """Show the number of copied rows on a terminal."""
    with Console(stderr=True).status("copying") as status:
        yield lambda table, rows: status.update(f"copying {table}: {rows:,} rows")
