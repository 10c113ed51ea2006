"""`emu content edits`: the changes of the content file that game masters made in the game."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from emu.cli.common import VerbGroup, acting, change_store, content_path, read_store
from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows
from emu.content.file import ContentFile
from emu.content.layers import PLACEMENT, SUBJECTS, ZONE, stored_value
from emu.errors import CommandError
from emu.processes.ports import ContentEdit
from emu.texts import counted, timestamp
from emu.world.population.edits import conflict, edits_text
from emu.world.population.eq2emu_files import write

COLUMNS: Final = ("subject", "number", "column", "value", "old", "by", "at", "conflict")


@click.group(cls=VerbGroup)
def edits() -> None:
    """List, export and remove edits of the content file.

    Example: emu content edits list
    """


def _conflict(file: ContentFile | None, row: ContentEdit) -> str:
    return "" if file is None else conflict(row, stored_value(file, *row.key))


def _rows() -> list[ContentEdit]:
    with read_store() as store:
        return list(store.world.content_edits.every())


@edits.command("list")
@click.option("--conflicts", is_flag=True, help="Only edits whose row has changed since.")
@format_option
def list_edits(conflicts: bool, style: str) -> None:
    """List all edits, with those that conflict with the content file of now.

    An edit conflicts when an import has removed what it changes, or has brought another value than
    the one it replaced. It has its effect until somebody removes it.

    Example: emu content edits list --conflicts
    """
    path = content_path()
    file = ContentFile(path) if path.exists() else None
    rows: list[Row] = []
    for one in _rows():
        fault = _conflict(file, one)
        if fault or not conflicts:
            rows.append({
                "subject": one.subject, "number": one.number, "column": one.name,
                "value": one.value, "old": one.old, "by": one.author,
                "at": timestamp(one.changed), "conflict": fault,
            })  # fmt: skip
    if file is not None:
        file.close()
    print_rows(rows, style, COLUMNS, least=("at", "old"))


@edits.command()
@click.argument("zone")
@click.option("--to", type=FilePath(dir_okay=False, path_type=Path), help="Write a file.")
def export(zone: str, to: Path | None) -> None:
    """Print the edits of a zone, and those of its spawns, as a zone file that extends it.

    ZONE is its number, name or file. Put the file into the folder of world.zones, and remove the
    edits; then the file has their effect.

    Example: emu content edits export Antonica --to zones/antonica-edits.toml
    """
    path = content_path()
    with ContentFile(path) as file:
        number = file.zone_named(zone)
        content = None if number is None else file.zone_content(number)
    if number is None or content is None:
        raise CommandError(f"there is no zone {zone!r} in {path}")
    rows = _rows()
    zones = {one.number: one.value for one in rows if one.name == ZONE}
    known = {
        "placement": {one.id for one in content.placements},
        "spawn": {one.spawn_id for of in content.entries.values() for one in of},
        "group": {one.id for one in content.groups},
    }
    of_zone = [
        one for one in rows
        if one.number in known[one.subject]
        or (one.subject == PLACEMENT and zones.get(one.number) == str(number))
    ]  # fmt: skip
    text = edits_text(of_zone, number)
    if to is None:
        click.echo(text, nl=False)
        return
    if to.exists():
        raise CommandError(f"{to} exists; choose another file")
    write(to, text)
    click.echo(f"{to}: {counted(len(of_zone), 'edit')}", err=True)


@edits.command()
@click.argument("subject", type=click.Choice(SUBJECTS))
@click.argument("number", type=int)
@click.argument("column", default="")
def remove(subject: str, number: int, column: str) -> None:
    """Remove the edits of a placement, spawn or group, or that of one column.

    A running server follows with `reload content`.

    Example: emu content edits remove placement 3504
    """
    with (
        change_store() as store,
        acting(store, f"{subject} {number}", f"the edit of {column or 'all columns'} is undone"),
    ):
        if not store.world.content_edits.remove(subject, number, column):
            raise CommandError(f"{subject} {number} has no such edit")
