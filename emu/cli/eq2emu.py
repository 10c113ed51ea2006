"""`import-eq2emu`: imports the databases of an EQ2Emulator server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from emu.cli.common import Command, change_store, load_config, together
from emu.cli.options import present
from emu.cli.tables import Row, format_option, print_rows
from emu.errors import CommandError
from emu.login.accounts import account_name
from emu.partial import partial_folder
from emu.sqldump import ImportReport, read_inserts
from emu.store import Store
from emu.store.eq2emu import import_dump
from emu.world.content.atlas import read_atlas
from emu.world.content.eq2emu_import import import_knowledge, import_world
from emu.world.content.knowledge import read_knowledge

CONFIGURED_BY = {
    "max_characters_per_account": "[login] max_characters",
    "accountcreation": "[login] auto_create_accounts",
    "expansionflag": "[login] expansion_flag",
    "citiesflag": "[login] cities_flag",
    "defaultsubscriptionlevel": "[login] subscription_level",
    "enabledraces": "[login] enabled_races",
}
"""Settings of EQ2Emulator and the keys of the same settings here."""


@click.command("import-eq2emu")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--renumber", is_flag=True, help="Give rows with a taken id a new id; see above.")
@format_option
def import_login_dump(file: Path, dry_run: bool, renumber: bool, style: str) -> None:
    """Import an SQL dump of EQ2Emulator's login database; nothing in it is executed.

    Imports accounts and worlds with their bans and settings, the characters of all worlds with
    appearance and equipment, the zones that worlds described, and the numbers of models (the table
    appearances, which the world database has as well). The import runs on a copy first: an
    unreadable file changes nothing. The server may be running.

    Passwords stay valid. Existing rows stay unchanged, so you can repeat the import. Ids are kept,
    because worlds identify their players' accounts by id. If an id is taken, nothing is imported
    unless you give --renumber; then characters on existing worlds do not belong to the renumbered
    accounts. The exit status is 1 if rows were skipped.

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
        raise CommandError(f"the import is incomplete: {report.left_out} rows skipped")


def _import_target(*, dry_run: bool) -> AbstractContextManager[Store]:
    """Open the database. A dry run without a database gets an empty temporary one."""
    if not dry_run:
        return change_store(create=True)
    path = load_config().database.path
    return Store.create(path) if path.exists() else _empty_store()


@contextmanager
def _empty_store() -> Iterator[Store]:
    with partial_folder() as folder, Store.create(folder / "emu.sqlite") as store:
        yield store


@contextmanager
def show_progress() -> Iterator[Callable[[str, int], None]]:
    """Show the number of imported rows on a terminal."""
    with Console(stderr=True).status("reading") as status:
        yield lambda doing, rows: status.update(f"{doing}: {rows:,} rows")


def _print_settings(report: ImportReport) -> None:
    for name, value in report.settings.items():
        key = CONFIGURED_BY.get(name)
        if key is not None:
            click.echo(f"{name} was {value}: set {key} in the configuration to keep it", err=True)


def print_counts(report: ImportReport, style: str, *, dry_run: bool) -> None:
    """Print the result of each table, and for people the sums below it."""
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
        f"{report.added} rows {would} imported, {report.present} exist already,"
        f" {report.left_out} {would} skipped",
        err=True,
    )
    if dry_run:
        click.echo("nothing was changed (--dry-run)", err=True)


def dump_options(setting: str, replaced: str) -> Callable[[Command], Command]:
    """Add the arguments and options that every import of a world's dumps has.

    `setting` names the target folder's setting, `replaced` what may have been changed by hand.
    """
    return together(
        click.argument(
            "files",
            nargs=-1,
            required=True,
            metavar="FILE...",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
        ),
        click.option(
            "--to",
            "folder",
            type=click.Path(file_okay=False, path_type=Path),
            help=f"The folder of {setting}.",
        ),
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--replace", is_flag=True, help=f"Write {replaced} changed by hand."),
        format_option,
    )


def target_folder(given: Path | None, configured: Path | None, setting: str) -> Path:
    """Return the target folder of an import. Raises `CommandError` if nothing names one."""
    target = given or configured
    if target is None:
        raise CommandError(f"name a folder with --to, or set {setting} in the configuration")
    return target


def print_report(report: ImportReport, style: str, *, dry_run: bool, hint: str | None) -> None:
    """Print the result of an import and, after a real one, the next step.

    Raises `CommandError` if rows were skipped.
    """
    print_counts(report, style, dry_run=dry_run)
    if not dry_run and hint is not None:
        click.echo(hint, err=True)
    if report.left_out:
        raise CommandError(f"the import is incomplete: {report.left_out} rows skipped")


@click.command("import-eq2emu")
@dump_options("zone files; by default that of world.zones", "files anew that were")
def import_world_dump(
    *,
    files: tuple[Path, ...],
    folder: Path | None,
    dry_run: bool,
    replace: bool,
    style: str,
) -> None:
    """Import zones from SQL dumps of EQ2Emulator's world database; nothing is executed.

    Imports zones, starting places, and their spawns: creatures, objects, signs, doors and other
    widgets, with places, appearance, commands and destinations. Give all dumps together, one file
    or one for each table. Each zone becomes one editable file in the folder of world.zones; a
    running server reads it with `reload zones`.

    Nothing is written before all dumps have been read. You can repeat the import: it rewrites its
    own files if the dumps have changed, and skips files that you have edited. A shipped zone keeps
    its own spawns unless the dumps have spawns for it. The exit status is 1 if rows were skipped.

    Example: emu world import-eq2emu eq2world.sql.gz --to zones --dry-run
    """
    configured = load_config().world.zones
    target = target_folder(folder, configured, "world.zones")
    with show_progress() as progress:
        report = import_world(files, target, dry_run=dry_run, replace=replace, progress=progress)
    if not dry_run and target.is_dir():
        read_atlas(target)
    hint = f"set zones = {str(target.resolve())!r} under [world] to use them"
    print_report(report, style, dry_run=dry_run, hint=None if configured else hint)


@click.command("import-eq2emu-knowledge")
@dump_options("knowledge; by default that of world.knowledge", "the file anew when it was")
def import_eq2emu_knowledge(
    *,
    files: tuple[Path, ...],
    folder: Path | None,
    dry_run: bool,
    replace: bool,
    style: str,
) -> None:
    """Import skills, languages and titles from SQL dumps of EQ2Emulator's world database.

    Reads the tables skills, languages, titles, starting_skills, starting_languages, starting_titles
    and starting_skillbar, in one dump or one for each table; give them together. Nothing is
    executed. The result is one file, eq2emu.toml, in the folder of world.knowledge. The server
    reads it at its start and with `emu admin reload knowledge`.

    Nothing is written before all dumps have been read. You can repeat the import: it rewrites its
    own file if the dumps have changed, and skips a file that you have edited. The exit status is 1
    if rows were skipped.

    Example: emu world import-eq2emu-knowledge eq2world.sql.gz --to knowledge --dry-run
    """
    configured = load_config().world.knowledge
    target = target_folder(folder, configured, "world.knowledge")
    report = import_knowledge(files, target, dry_run=dry_run, replace=replace)
    if not dry_run and target.is_dir():
        read_knowledge(target)
    hint = f"set knowledge = {str(target.resolve())!r} under [world] to use it"
    print_report(report, style, dry_run=dry_run, hint=None if configured else hint)
