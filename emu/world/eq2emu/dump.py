"""Running an import: all dumps are read, zones are made of them, and then files are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from emu.sqldump import ImportReport, Tally, read_inserts
from emu.world.eq2emu.composing import Composer, Document
from emu.world.eq2emu.tables import TABLES, Tables
from emu.world.eq2emu.writing import Fate, fate_of, text_of, write, zones_of_others
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
        _store(document, folder, report, others, dry_run=dry_run, replace=replace)
    for tally in report.tables.values():
        tally.skipped = tally.read - tally.added - tally.present
    return report


def _store(
    document: Document,
    folder: Path,
    report: ImportReport,
    others: Mapping[int, Path],
    *,
    dry_run: bool,
    replace: bool,
) -> None:
    """Write one document, and count its rows as what became of it."""
    path = folder / document.name
    zone: dict[str, Any] = document.tables.get("zone", {})
    other = others.get(zone.get("id", 0), path)
    if other != path and not zone.get("extends"):
        report.note(document.name, f"{path} is not written: {other.name} has zone {zone['id']}")
        return
    text = text_of(document.tables)
    fate = fate_of(path, text, replace=replace)
    if fate is Fate.KEPT:
        report.note(document.name, f"{path} was changed by hand and stays as it is; see --replace")
        return
    if fate is Fate.WRITTEN and not dry_run:
        write(path, text)
    for table, rows in document.counts.items():
        tally = report.tables[table]
        if fate is Fate.SAME:
            tally.present += rows
        else:
            tally.added += rows
