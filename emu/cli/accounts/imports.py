"""`emu account import-eq2emu`: taking over the login database of an EQ2Emulator server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console

from emu.cli.common import load_config
from emu.cli.moments import present
from emu.cli.stores import change_store
from emu.cli.tables import Row, format_option, print_rows
from emu.errors import CommandError
from emu.login.accounts.names import account_name
from emu.sqldump import read_inserts
from emu.store import Store
from emu.store.eq2emu import ImportReport, import_dump

CONFIGURED_BY = {
    "max_characters_per_account": "[login] max_characters",
    "accountcreation": "[login] auto_create_accounts",
    "expansionflag": "[login] expansion_flag",
    "citiesflag": "[login] cities_flag",
    "defaultsubscriptionlevel": "[login] subscription_level",
    "enabledraces": "[login] enabled_races",
}
"""Setting of EQ2Emulator -> our configuration key."""


@click.command("import-eq2emu")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option(
    "--renumber", is_flag=True, help="Give rows whose id is taken here a new one; see above."
)
@format_option
def import_eq2emu(file: Path, dry_run: bool, renumber: bool, style: str) -> None:
    """Take over an SQL dump of EQ2Emulator's login database; nothing in it is executed.

    Takes accounts and worlds with their bans and settings, the characters of all worlds with their
    looks and equipment, the zones that worlds described, and the numbers of models (the table
    appearances, which the world database has, too). It is tried on a copy first: a file that
    cannot be read changes nothing. A running server goes on meanwhile.

    Passwords keep working. What is here already stays as it is, so the command may be run again.
    Ids are kept, because worlds know their players' accounts by id; when an id belongs to somebody
    else here, nothing is imported unless --renumber is given, and then characters on existing
    worlds do not belong to the renumbered accounts. The exit status is 1 when rows were left out.

    Example: emu account import-eq2emu eq2login.sql.gz --dry-run
    """
    with _import_target(dry_run=dry_run) as store, show_progress() as progress:
        report = import_dump(
            store,
            partial(read_inserts, file),
            clean_name=account_name,
            moment=present(),
            renumber=renumber,
            dry_run=dry_run,
            progress=progress,
        )
    _print_settings(report)
    print_counts(report, style, dry_run=dry_run)
    if report.left_out:
        raise CommandError(f"not everything can be brought over: {report.left_out} rows left out")


def _import_target(*, dry_run: bool) -> AbstractContextManager[Store]:
    """Open the database; to try an import where there is none, an empty one for the moment."""
    if not dry_run:
        return change_store(create=True)
    path = load_config().database.path
    return Store.create(path) if path.exists() else _empty_store()


@contextmanager
def _empty_store() -> Iterator[Store]:
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "emu.sqlite") as store:
        yield store


@contextmanager
def show_progress() -> Iterator[Callable[[str, int], None]]:
    """Show on a terminal how many rows were taken so far."""
    with Console(stderr=True).status("reading") as status:
        yield lambda doing, rows: status.update(f"{doing}: {rows:,} rows")


def _print_settings(report: ImportReport) -> None:
    for name, value in report.settings.items():
        key = CONFIGURED_BY.get(name)
        if key is not None:
            click.echo(f"{name} was {value}: set {key} in the configuration if you want", err=True)


def print_counts(report: ImportReport, style: str, *, dry_run: bool) -> None:
    """Print what became of each table's rows, and below it, for people, the sums."""
    for note in report.notes:
        click.echo(note, err=True)
    rows: list[Row] = [
        {
            "table": table,
            "rows": tally.read,
            "added": tally.added,
            "here_already": tally.present,
            "left_out": tally.skipped,
        }
        for table, tally in report.tables.items()
    ]
    print_rows(rows, style, ("table", "rows", "added", "here_already", "left_out"))
    would = "would be" if dry_run else "were"
    click.echo(
        f"{report.added} rows {would} brought over, {report.present} are here already,"
        f" {report.left_out} {would} left out",
        err=True,
    )
    if dry_run:
        click.echo("nothing was changed (--dry-run)", err=True)
