"""`emu backup` and `emu restore`: a copy of the database, and the return to one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from emu.cli.common import load_config
from emu.cli.options import present
from emu.cli.paths import FilePath
from emu.database import ServerUrl
from emu.database.sqlite import SqliteDatabase
from emu.errors import CommandError
from emu.files import partial_file
from emu.store.restoring import restore as restore_database
from emu.system import flush
from emu.texts import counted

VERBS: Final = {
    "restore": "to return to a backup, use `emu restore FILE`",
    "create": "`emu backup FILE` makes a copy; FILE may be left out",
    "list": "backups are files; those without a given name are beside the database, *.bak",
}
"""Words that are probably no file names, and the right command."""


@click.command()
@click.argument("file", required=False, type=FilePath(path_type=Path))
@click.option("--replace", is_flag=True, help="Replace FILE if it exists.")
def backup(file: Path | None, *, replace: bool) -> None:
    """Copy the database into FILE. The server may be running.

    The copy is a checked snapshot: accounts, characters, opcode tables, worlds, bans. The
    configuration, certificates and your own data folders are separate files: copy them as well.
    FILE may be a folder; without FILE the copy is written beside the database. There and in
    folders, the file name contains the time in UTC. A database on PostgreSQL is dumped with
    pg_dump, which must be installed; opcode tables are not in it.

    `emu restore FILE` returns to the copy.

    Example: emu backup emu-copy.db
    """
    if file is not None and file.name in VERBS and not file.exists():
        raise CommandError(VERBS[file.name])
    config = load_config()
    path, where = config.database.path, config.database.url
    name = where.database if isinstance(where, ServerUrl) else path.name
    # UTC, so that the names sort by age.
    named = f"{name}.{datetime.fromtimestamp(present(), UTC):%Y%m%d-%H%M%S}.bak"
    copy = path.with_name(named) if file is None else file / named if file.is_dir() else file
    if isinstance(where, ServerUrl):
        _check(copy, path, replace=replace)
        dump_server(where, copy)
        click.echo(copy)
        click.echo(f"{copy.stat().st_size} bytes dumped from {where}", err=True)
        return
    with SqliteDatabase.connect(path) as database:  # a backup must not migrate the schema
        _check(copy, path, replace=replace)
        database.back_up(copy)
    click.echo(copy)
    click.echo(f"{copy.stat().st_size} bytes copied from {path}", err=True)


@click.command()
@click.argument("file", type=FilePath(path_type=Path))
def restore(file: Path) -> None:
    """Return to the backup FILE; the server must be stopped.

    The backup is checked completely first. The present database is kept beside it, with the time
    and the ending .before-restore.bak; `emu restore` also returns to that one. Configuration,
    certificates and your own data folders are not part of a backup.

    Example: emu restore emu-copy.db
    """
    path, where = load_config().database.path, load_config().database.url
    if isinstance(where, ServerUrl):
        raise CommandError(
            f"{where}: stop its servers, then return to a dump with: {restore_command(where, file)}"
        )
    # On a new machine the database's folder does not exist yet.
    path.parent.mkdir(parents=True, exist_ok=True)
    done = restore_database(file, path, present())
    if done.kept is not None:
        click.echo(f"the database before is kept: {done.kept}", err=True)
    if done.unsaved is not None:
        click.echo(f"players that it had not saved are kept: {done.unsaved}", err=True)
    counts = f"{counted(done.accounts, 'account')}, {counted(done.characters, 'character')}"
    click.echo(f"restored {path} from {file}: {counts}", err=True)


def dump_server(where: ServerUrl, copy: Path) -> None:
    """Dump a database on a server into a file, with pg_dump. Raises `CommandError`."""
    program = shutil.which("pg_dump")
    command = ["pg_dump", "--format=custom", f"--file={copy}", *_connection(where)]
    if program is None:
        raise CommandError(
            f"{where}: pg_dump is not installed; install PostgreSQL's client programs, or run this"
            f" on the database's machine: {shlex.join(command)}"
        )
    with partial_file(copy) as fresh, tempfile.NamedTemporaryFile("w", suffix=".pgpass") as secret:
        # A file and no variable or argument: other users can read those. The name of the temporary
        # file is not guessable, and only this user may read it.
        environment = dict(os.environ)
        if where.password:
            password = where.password.replace("\\", "\\\\").replace(":", "\\:")
            secret.write(f"*:*:*:*:{password}\n")
            secret.flush()
            environment["PGPASSFILE"] = secret.name
        command = [program, "--format=custom", f"--file={fresh}", *_connection(where)]
        done = subprocess.run(  # noqa: S603  # no shell
            command, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = where.hide(" ".join(done.stderr.split()))
            raise CommandError(f"{where}: was not dumped ({reason})")
        fresh.chmod(0o600)
        flush(fresh)
        fresh.replace(copy)
    flush(copy.parent)


def restore_command(where: ServerUrl, file: Path) -> str:
    """Return the command that returns to a dump."""
    words = ["pg_restore", "--clean", "--if-exists", "--single-transaction"]
    return shlex.join([*words, *_connection(where), str(file)])


def _connection(where: ServerUrl) -> list[str]:
    given = {
        "--host": where.host, "--port": where.port, "--username": where.user,
        "--dbname": where.database,
    }  # fmt: skip
    return [f"{name}={text}" for name, text in given.items() if text]


def _check(copy: Path, database: Path, *, replace: bool) -> None:
    """Raise `CommandError` if the copy cannot be written."""
    if not copy.parent.is_dir():
        raise CommandError(f"{copy.parent}: this folder does not exist; create it first")
    if copy.exists() and database.exists() and copy.samefile(database):
        raise CommandError(f"{copy}: is the database itself; choose another file")
    if copy.exists() and not replace:
        raise CommandError(f"{copy}: exists already; choose another name or give --replace")
