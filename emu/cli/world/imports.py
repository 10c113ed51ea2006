"""`emu world import-eq2emu` and `import-eq2emu-knowledge`: what an EQ2Emulator world has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from emu.cli.accounts.imports import print_counts, show_progress
from emu.cli.common import Command, load_config, together
from emu.cli.tables import format_option
from emu.errors import CommandError
from emu.sqldump import ImportReport
from emu.world.eq2emu import import_knowledge, import_world
from emu.world.knowledge import read_knowledge
from emu.world.places import read_atlas


def dump_options(setting: str, replaced: str) -> Callable[[Command], Command]:
    """Give a command what every import of a world's dumps has: files, where to, how.

    `setting` names the folder that they go to, `replaced` what may have been changed by hand.
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
        click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing."),
        click.option("--replace", is_flag=True, help=f"Write {replaced} changed by hand."),
        format_option,
    )


def target_folder(given: Path | None, configured: Path | None, setting: str) -> Path:
    """Return where an import goes. Raises `CommandError` when nothing names a folder."""
    target = given or configured
    if target is None:
        raise CommandError(f"name a folder with --to, or set {setting} in the configuration")
    return target


def tell_report(report: ImportReport, style: str, *, dry_run: bool, hint: str | None) -> None:
    """Print what came of an import and, when it was done, a hint on what is left to do.

    Raises `CommandError` when rows were left out.
    """
    print_counts(report, style, dry_run=dry_run)
    if not dry_run and hint is not None:
        click.echo(hint, err=True)
    if report.left_out:
        raise CommandError(f"not everything can be brought over: {report.left_out} rows left out")


@click.command("import-eq2emu")
@dump_options("zone files; by default that of world.zones", "files anew that were")
def import_eq2emu(
    *,
    files: tuple[Path, ...],
    folder: Path | None,
    dry_run: bool,
    replace: bool,
    style: str,
) -> None:
    """Take over zones from SQL dumps of EQ2Emulator's world database; nothing is executed.

    Takes zones, starting places, and the creatures, objects, signs, doors and other widgets that
    stand in them, with their places, looks, commands and ways. The dumps may be one file or one for
    each table; give them together. What they hold becomes one file a zone, which people can read
    and change, in the folder that world.zones names; a running server takes it with `reload zones`.

    Nothing is written before all dumps were read. The command may be run again: it writes its own
    files anew when the dumps have changed, and leaves alone what was changed by hand. A zone that
    comes with the program keeps what stands in it unless the dumps place spawns there. The exit
    status is 1 when rows were left out.

    Example: emu world import-eq2emu eq2world.sql.gz --to zones --dry-run
    """
    configured = load_config().world.zones
    target = target_folder(folder, configured, "world.zones")
    with show_progress() as progress:
        report = import_world(files, target, dry_run=dry_run, replace=replace, progress=progress)
    if not dry_run and target.is_dir():
        read_atlas(target)
    hint = f"set zones = {str(target.resolve())!r} under [world] to use them"
    tell_report(report, style, dry_run=dry_run, hint=None if configured else hint)


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
    """Take over skills, languages and titles from SQL dumps of EQ2Emulator's world database.

    Takes the tables skills, languages, titles, starting_skills, starting_languages, starting_titles
    and starting_skillbar, in one dump or in one for each table; give them together. Nothing is
    executed. They become one file, eq2emu.toml, in the folder that world.knowledge names; a server
    reads it when it starts, and at `emu admin reload knowledge`.

    Nothing is written before all dumps were read. The command may be run again: it writes its own
    file anew when the dumps have changed, and leaves it alone when it was changed by hand. The exit
    status is 1 when rows were left out.

    Example: emu world import-eq2emu-knowledge eq2world.sql.gz --to knowledge --dry-run
    """
    configured = load_config().world.knowledge
    target = target_folder(folder, configured, "world.knowledge")
    report = import_knowledge(files, target, dry_run=dry_run, replace=replace)
    if not dry_run and target.is_dir():
        read_knowledge(target)
    hint = f"set knowledge = {str(target.resolve())!r} under [world] to use it"
    tell_report(report, style, dry_run=dry_run, hint=None if configured else hint)
