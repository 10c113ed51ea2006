"""`emu world import-eq2emu-knowledge`: taking over the skills of an EQ2Emulator world."""

from __future__ import annotations

from pathlib import Path

import click

from emu.cli.account_import import print_counts
from emu.cli.common import load_config
from emu.cli.tables import format_option
from emu.errors import CommandError
from emu.world.eq2emu import import_knowledge
from emu.world.knowledge import read_knowledge


@click.command("import-eq2emu-knowledge")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of knowledge; by default that of world.knowledge.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--replace", is_flag=True, help="Write the file anew when it was changed by hand.")
@format_option
@click.pass_context
def import_eq2emu_knowledge(
    ctx: click.Context,
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
    reads it when it starts.

    Nothing is written before all dumps were read. The command may be run again: it writes its own
    file anew when the dumps have changed, and leaves it alone when it was changed by hand. The exit
    status is 1 when rows were left out.

    Example: emu world import-eq2emu-knowledge eq2world.sql.gz --to knowledge --dry-run
    """
    configured = load_config(ctx).world.knowledge
    target = folder or configured
    if target is None:
        raise CommandError("name a folder with --to, or set world.knowledge in the configuration")
    report = import_knowledge(files, target, dry_run=dry_run, replace=replace)
    if not dry_run and target.is_dir():
        read_knowledge(target)
    print_counts(report, style, dry_run=dry_run)
    if not dry_run and configured is None:
        click.echo(f"set knowledge = {str(target.resolve())!r} under [world] to use it", err=True)
    if report.left_out:
        raise CommandError(f"not everything can be brought over: {report.left_out} rows left out")
