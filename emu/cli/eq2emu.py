"""`import-eq2emu`: imports the databases of an EQ2Emulator server."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from emu.cli.common import Command, change_store, is_terminal, load_config, together
from emu.cli.installed import install_command
from emu.cli.options import asked_secret, present
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows
from emu.config import Config
from emu.config.readers import at_home
from emu.database.engines import exists
from emu.errors import CommandError, StoreError
from emu.facts import U16
from emu.files import partial_folder
from emu.login.names import account_name
from emu.model import Place, Title, WorldCharacter
from emu.sqldump import Dump, ImportReport, LiveDatabase, RowSource
from emu.sqldump.live import is_url
from emu.store import Store
from emu.store.eq2emu_world import OldWorld
from emu.store.server_lock import ServerLock
from emu.times import DAY

if TYPE_CHECKING:
    from emu.content.crafts import CraftTables
    from emu.content.homes import HomeTables
    from emu.content.spells import SpellKinds
    from emu.world.knowledge import Knowledge
    from emu.world.zones.definitions import Atlas

CONFIGURED_BY = {
    "max_characters_per_account": "[login] max_characters",
    "accountcreation": "[login] auto_create_accounts",
    "expansionflag": "[login] expansion_flag",
    "citiesflag": "[login] cities_flag",
    "defaultsubscriptionlevel": "[login] subscription_level",
    "enabledraces": "[login] enabled_races",
}
"""Settings of EQ2Emulator and the keys of the same settings here."""


VARIABLE = "EMU_MYSQL_PASSWORD"
"""Environment variable with the password of a live database."""


class SourceType(click.Path):
    """A dump's file, or the URL of a live database; the command gets a `RowSource`."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the source. Raises `CommandError` for an unusable URL."""
        if isinstance(value, str) and is_url(value):
            return live_database(value)
        return Dump(Path(os.fsdecode(super().convert(value, param, ctx))))


def live_database(url: str) -> LiveDatabase:
    """Return a live database, which is closed when the command ends. Raises `CommandError`."""
    # Tested before the import, so that a missing library gives one clear line.
    if importlib.util.find_spec("pymysql") is None:
        raise CommandError(
            f"a live database is read with PyMySQL; install it with: {install_command('mariadb')}"
        )
    database = LiveDatabase(url, password=_asked_password, warn=partial(click.echo, err=True))
    click.get_current_context().call_on_close(database.close)
    # Before anything is locked or written, and before progress is shown where it asks.
    database.open()
    return database


def _asked_password(who: str) -> str:
    """Return the password of the environment, or ask for one at the terminal."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return given
    # Without a terminal there may be nothing on the other side of a pipe: no password.
    return asked_secret(who) if is_terminal() else ""


@click.command("import-eq2emu")
@click.argument("source", metavar="FILE", type=SourceType())
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--renumber", is_flag=True, help="Give rows with a taken id a new id; see above.")
@click.option(
    "--world",
    "worlds",
    multiple=True,
    metavar="OLD=FILE",
    help="Continue the characters of the world OLD in this server's world; FILE is a dump of OLD's"
    " own database, or its URL. Several files of one world, and several worlds, are several"
    " options.",
)
@format_option
def import_login_dump(
    *, source: RowSource, dry_run: bool, renumber: bool, worlds: tuple[str, ...], style: str
) -> None:
    """Import EQ2Emulator's login database: an SQL dump, or the live database.

    FILE is a dump, of which nothing is executed, or mysql://USER@HOST/DATABASE, which is read in
    one read-only transaction and needs the extra `mariadb`. Its password comes from the variable
    EMU_MYSQL_PASSWORD or is asked for; in the URL, others on this machine could see it.

    Imports accounts and worlds with their bans and settings, the characters of all worlds with
    appearance and equipment, the zones that worlds described, and the numbers of models (the table
    appearances, which the world database has as well). The import runs on a copy first: an
    unreadable file changes nothing. The server may be running.

    Passwords stay valid. Existing rows stay unchanged, so you can repeat the import. Ids are kept,
    because worlds identify their players' accounts by id. If an id is taken, nothing is imported
    unless you give --renumber; then characters on existing worlds do not belong to the renumbered
    accounts. The exit status is 1 if rows were skipped.

    Without --world, characters stay on their old worlds, which must then connect to this server.
    With --world, they continue in this server's own world with place, level, coins, titles, skills,
    languages, friends, rank, appearance, things, quests, spells, houses, letters and guilds. The
    server must be stopped; the whole import is one transaction. A repeated import does not change
    characters that it imported before. The guide "Migrating from EQ2Emulator" shows all steps.

    Example: emu account import-eq2emu eq2login.sql.gz --world 'Antonia=eq2world.sql.gz' --dry-run
    """
    # `emu account` is there for other commands as well, and these modules take long to import.
    from emu.store.eq2emu import check_login_dump, import_dump  # noqa: PLC0415

    # Wrong options are reported before a lock is taken.
    old_worlds = _old_worlds(worlds)
    config = load_config()
    if old_worlds and not (config.login.enabled and config.world.enabled):
        raise CommandError(
            "--world needs a login server and a world in one server, with one database; set"
            " enabled = true under [login] and [world]"
        )
    with (
        _stopped_server(config, needed=bool(old_worlds) and not dry_run),
        _import_target(dry_run=dry_run) as store,
        show_progress() as progress,
    ):
        report = import_dump(
            store,
            source.read_rows,
            clean_name=account_name,
            moment=present(),
            renumber=renumber,
            dry_run=dry_run,
            old_worlds=old_worlds,
            built_in=ConfiguredWorld.of(config) if old_worlds else None,
            check=partial(check_login_dump, source),
            progress=progress,
        )
    _print_settings(report)
    print_counts(report, style, dry_run=dry_run)
    for line in report.advice:
        click.echo(line, err=True)
    if report.left_out:
        raise CommandError(f"the import is incomplete: {report.left_out} rows skipped")


def _old_worlds(options: Sequence[str]) -> list[OldWorld]:
    """Return the worlds of the options ``--world OLD=FILE``. Raises `CommandError`."""
    worlds: dict[str, OldWorld] = {}
    for option in options:
        name, equals, file = option.partition("=")
        if is_url(option):
            # The text may hold a password, so it is not shown.
            raise CommandError("--world: give the world's name before the URL, OLD=URL")
        if not name.strip() or not equals:
            raise CommandError(f"--world {option!r}: give the world's name and a file, OLD=FILE")
        # Several files may belong to one world, so they are collected by its name.
        before = worlds.get(name.strip().casefold(), OldWorld(name.strip()))
        dumps = (*before.dumps, _world_source(name, file))
        worlds[before.name.casefold()] = replace(before, dumps=dumps)
    return list(worlds.values())


def _world_source(name: str, file: str) -> RowSource:
    """Return the source of an option ``--world OLD=FILE``. Raises `CommandError`."""
    if is_url(file):
        return live_database(file)
    try:
        path = at_home(file)
    except ValueError as error:
        raise CommandError(f"--world {f'{name}={file}'!r}: {error}") from None
    if not path.is_file():
        raise CommandError(f"--world {f'{name}={file}'!r}: there is no file {file!r}")
    return Dump(path)


@contextmanager
def _stopped_server(config: Config, *, needed: bool) -> Iterator[None]:
    """Keep servers from starting meanwhile. Raises `CommandError` if one runs."""
    path = config.database.path
    # Without a database no server can be using it.
    if not needed or not path.exists():
        yield
        return
    try:
        lock = ServerLock(path)
    except StoreError as error:
        raise CommandError(f"an import with --world needs a stopped server: {error}") from None
    with lock:
        yield


@dataclass(frozen=True, slots=True)
class ConfiguredWorld:
    """The built-in world as the configuration describes it."""

    name: str
    atlas: Atlas
    knowledge: Knowledge
    homes: HomeTables
    crafts: CraftTables
    spells: SpellKinds
    letter_seconds: float

    @classmethod
    def of(cls, config: Config) -> ConfiguredWorld:
        """Read its zones, skills, titles, houses and collections. Raises `FileFormatError`."""
        from emu.content.crafts import CraftTables, TomlCrafts, shipped_crafts  # noqa: PLC0415
        from emu.content.homes import read_homes  # noqa: PLC0415
        from emu.content.spells import SpellKinds  # noqa: PLC0415
        from emu.world.knowledge import read_knowledge  # noqa: PLC0415
        from emu.world.population.atlas import read_atlas  # noqa: PLC0415

        world = config.world
        return cls(
            world.name, read_atlas(world.zones, world.content), read_knowledge(world.knowledge),
            read_homes(world.content), CraftTables(world.content, TomlCrafts([shipped_crafts()])),
            SpellKinds(world.content), world.mail_days * DAY,
        )  # fmt: skip

    def zone_file(self, zone_id: int) -> str | None:
        """Return the file name of a zone; None for an unknown zone."""
        zone = self.atlas.get(zone_id)
        return zone.file if zone is not None else None

    def zone_description(self, zone_id: int) -> str:
        """Return the name of a zone that players see; empty for an unknown zone."""
        zone = self.atlas.get(zone_id)
        return zone.description if zone is not None else ""

    def start_of(self, character: WorldCharacter) -> tuple[int, Place | None]:
        """Return the zone of new characters like this one, and the place in it."""
        start = self.atlas.start_of(character)
        return start.zone_id, start.place

    def title(self, title_id: int) -> Title | None:
        """Return a title by number."""
        return self.knowledge.titles.get(title_id)

    def pieces_of(self, collection: int) -> Sequence[int]:
        """Return the items of a collection by their places; none for an unknown one."""
        found = self.crafts.collections([collection]).get(collection)
        return found.pieces if found is not None else ()

    def has_home(self, home: int) -> bool:
        """Return whether there is a house of the content with this number."""
        return home in self.homes.homes

    def spell_icon(self, spell_id: int) -> tuple[int, int]:
        """Return icon and backdrop of a spell; zeros for an unknown one."""
        kind = self.spells.get(spell_id)
        return (kind.icon & U16, kind.backdrop & U16) if kind is not None else (0, 0)


def _import_target(*, dry_run: bool) -> AbstractContextManager[Store]:
    """Open the database. A dry run without a database gets an empty temporary one."""
    if not dry_run:
        return change_store(create=True)
    where = load_config().database.url
    return Store.create(where) if exists(where) else _empty_store()


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
    if report.later:
        counts = ", ".join(f"{what} {count}" for what, count in sorted(report.later.items()))
        click.echo(
            f"not imported, because this version has no use for it: {counts}. Keep the dump: a"
            " later version can import it for the same characters",
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
            type=SourceType(),
        ),
        click.option(
            "--to",
            "folder",
            type=FilePath(file_okay=False, path_type=Path),
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


@click.command("import-eq2emu", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, metavar="FILE...")
def import_world_dump(arguments: tuple[str, ...]) -> None:
    """Name the command that imports zones now: `emu content import`.

    Example: emu content import worldtables_with_data
    """
    raise CommandError(
        f"zones are imported into a content file: emu content import {' '.join(arguments)}".rstrip()
    )


@click.command("import-eq2emu-knowledge")
@dump_options("knowledge; by default that of world.knowledge", "the file anew when it was")
def import_eq2emu_knowledge(
    *,
    files: tuple[RowSource, ...],
    folder: Path | None,
    dry_run: bool,
    replace: bool,
    style: str,
) -> None:
    """Import skills, languages and titles from EQ2Emulator's world database.

    Reads the tables skills, languages, titles, starting_skills, starting_languages, starting_titles
    and starting_skillbar, in one dump or one for each table; give them together. Nothing is
    executed. The live database is mysql://USER@HOST/DATABASE (see `emu account import-eq2emu`).
    The result is one file, eq2emu.toml, in the folder of world.knowledge. The server
    reads it at its start and with `emu admin reload knowledge`.

    Nothing is written before all dumps have been read. You can repeat the import: it rewrites its
    own file if the dumps have changed, and skips a file that you have edited. The exit status is 1
    if rows were skipped.

    Example: emu world import-eq2emu-knowledge eq2world.sql.gz --to knowledge --dry-run
    """
    from emu.world.knowledge import read_knowledge  # noqa: PLC0415
    from emu.world.population.eq2emu_import import import_knowledge  # noqa: PLC0415

    configured = load_config().world.knowledge
    target = target_folder(folder, configured, "world.knowledge")
    report = import_knowledge(files, target, dry_run=dry_run, replace=replace)
    if not dry_run and target.is_dir():
        # The file is read back, so that a fault appears now and not at the next start.
        read_knowledge(target)
    hint = f"set knowledge = {str(target.resolve())!r} under [world] to use it"
    print_report(report, style, dry_run=dry_run, hint=None if configured else hint)
