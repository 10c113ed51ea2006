"""Running an import: all dumps are read, zones are made of them, and then files are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from emu.sqldump import ImportReport, Tally, read_inserts
from emu.world.eq2emu.composing import Composer
from emu.world.eq2emu.tables import TABLES, Tables
from emu.world.eq2emu.writing import store, zones_of_others
from emu.world.places import read_atlas

Progress = Callable[[str, int], None]
"""Told what is being done, and how many rows were taken so far."""


def import_world(
    dumps: Sequence[Path],
    folder: Path,
    *,
    dry_run: bool = False,
    replace: bool = False,
    progress: Progress = lambda _doing, _rows: None,
) -> ImportReport:
    """Write the zones of dumps into a folder of zone files and tell what became of the rows.

    The dumps are one database's, in one file or a file a table. Nothing is written before all were
    read, and with `dry_run` nothing at all. A file that was changed by hand is left as it is unless
    `replace`, and so is a zone that another file of the folder describes. Raises `FileFormatError`
    for a dump that cannot be read, `CommandError` when the folder cannot be written.
    """
    report = ImportReport({table: Tally() for table in TABLES})
    tables = Tables()
    takes = tables.takes
    taken = 0
    for dump in dumps:
        for row in read_inserts(dump, TABLES):
            report.take(row, takes[row.table.lower()])
            taken += 1
            if taken % 1000 == 0:
                progress("reading", taken)
    shipped = {zone.id for zone in read_atlas()}
    others = zones_of_others(folder)
    for document in Composer(tables, report, shipped).documents():
        progress("writing", taken)
        zone, path = document.tables.get("zone", {}), folder / document.name
        other = others.get(zone.get("id", 0), path)
        if other != path and not zone.get("extends"):
            text = f"{path} is not written: {other.name} has zone {zone['id']}"
            report.note(document.name, text)
        else:
            store(document, folder, report, dry_run=dry_run, replace=replace)
    report.settle()
    return report
