"""`emu world import-eq2emu-knowledge`: taking over the skills of an EQ2Emulator world."""

from __future__ import annotations

from pathlib import Path

import click

from emu.cli.common import load_config
from emu.cli.world.imports import dump_options, target_folder, tell_report
from emu.world.eq2emu import import_knowledge
from emu.world.knowledge import read_knowledge


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
