"""A subject of a content file as linked records: what the pages of operators show and follow.

Source: docs/guides/content.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.subjects import SUBJECTS, describe, find, name_of
from emu.content.tables import Stored, content_tables

MOST_FOUND: Final = 40
"""Results for each subject of a search."""
MOST_OF_ONE: Final = 500
"""Results of a search in one subject, and spawns of a zone."""
MOST_PLACES: Final = 100
Record = dict[str, Any]
_BY_TABLE: Final = {(one.table, one.key): name for name, one in SUBJECTS.items()}


def search(file: ContentFile, word: str, subject: str = "") -> list[Record]:
    """Return what has a word in its name, or a number; of one subject or of all."""
    found = [
        one._asdict() for one in find(file, word, MOST_OF_ONE if subject else MOST_FOUND, subject)
    ]
    if word.isascii() and word.isdecimal() and len(word) < 19:
        found = [*_numbered(file, int(word), subject), *found]
    return found


def _numbered(file: ContentFile, number: int, subject: str) -> Iterator[Record]:
    for name in (subject,) if subject else SUBJECTS:
        known = SUBJECTS[name]
        if text := name_of(file, known.table, known.key, number):
            yield {"subject": name, "number": number, "name": text}


def record_of(file: ContentFile, subject: str, number: int) -> Record | None:
    """Return all about a subject: the rows of each table, with links; None without it."""
    sections: list[Record] = [
        {
            "table": section.table,
            "rows": [list(cells_of(file, section.table, row)) for row in section.rows],
            "has_more": section.has_more,
        }
        for section in describe(file, subject, number)
    ]
    if not sections:
        return None
    known = SUBJECTS[subject]
    record: Record = {
        "subject": subject, "number": number,
        "name": name_of(file, known.table, known.key, number), "sections": sections,
        "scripts": [], "places": [], "spawns": [],
    }  # fmt: skip
    if subject == "spawn":
        record["scripts"] = [
            {"kind": kind, "number": one, "script": script}
            for kind, one, script in file.scripts_of(number)
        ]
        record["places"] = list(_places(file, number))
    elif subject == "zone":
        record["spawns"] = _spawns_of_zone(file, number)
    elif subject == "merchant":
        sections.append(_wares(file, number))
    return record


def cells_of(file: ContentFile, table: str, row: Row) -> Iterator[Record]:
    """Yield the columns of a row that say something; one that names a subject has its link."""
    references = {one.column: one for one in content_tables()[table].references}
    for column, value in row.items():
        if value in (0, 0.0, ""):
            continue
        cell: Record = {
            "column": column, "text": f"{value:g}" if isinstance(value, float) else str(value),
        }  # fmt: skip
        reference = references.get(column)
        if reference is not None:
            cell |= _link(file, reference.table, reference.key, value)
        yield cell


def _link(file: ContentFile, table: str, key: str, value: Stored) -> Record:
    subject, name = _BY_TABLE.get((table, key)), name_of(file, table, key, value)
    if subject is None or not name:
        return {"name": name} if name else {}
    return {"name": name, "subject": subject, "number": value}


def _wares(file: ContentFile, number: int) -> Record:
    """Return what the inventories of a merchant sell."""
    rows = [
        list(cells_of(file, "merchant_items", ware))
        for one in file.rows_of("merchants", "merchant_id", number)
        for ware in file.rows_of("merchant_items", "inventory_id", one["inventory_id"])
    ]
    return {"table": "merchant_items", "rows": rows[:MOST_OF_ONE],
            "has_more": len(rows) > MOST_OF_ONE}  # fmt: skip


def _places(file: ContentFile, number: int) -> Iterator[Record]:
    for zone_id, placement, weight in islice(file.places_of(number), MOST_PLACES):
        name = name_of(file, "zones", "id", zone_id)
        yield {"zone_id": zone_id, "zone": name, "placement": placement, "weight": weight}


def _spawns_of_zone(file: ContentFile, zone_id: int) -> list[Record]:
    content = file.zone_content(zone_id)
    if content is None:
        return []
    placed = {entry.spawn_id for entries in content.entries.values() for entry in entries}
    known = sorted(
        (str(one.spawn["name"]), one.id, one.kind)
        for one in content.templates.values()
        if one.id in placed
    )
    return [{"name": name, "number": number, "kind": kind} for name, number, kind in known]
