"""Imports the knowledge of an EQ2Emulator world database: rows in, a knowledge file out.

A row that cannot be imported is reported with its reason.
Source: docs/protocol/world/data.md#knowledge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from emu.model import COMMAND_KEY
from emu.sqldump import ImportReport, InsertRow, RowSource, Tally
from emu.sqldump.report import Columns, number, text, visible
from emu.world.knowledge import Knowledge, read_knowledge
from emu.world.population.eq2emu_files import Document, store

ANY: Final = 255
FILE: Final = "eq2emu.toml"
COMMON: Final = 0
"""The language of every character; it needs no row."""
LONGEST_TITLE: Final = 63
LONGEST_TEXT: Final = 255
Row = dict[str, Any]


def import_knowledge(
    dumps: Sequence[RowSource], folder: Path, *, dry_run: bool = False, replace: bool = False
) -> ImportReport:
    """Write the skills, languages and titles of dumps into a file; return a report of the rows.

    Nothing is written before all dumps were read, and with `dry_run` nothing at all. A file that
    was changed by hand stays unless `replace`. Raises `FileFormatError` for an unreadable dump, and
    `CommandError` if the folder cannot be written.
    """
    report = ImportReport({table: Tally() for table in KNOWLEDGE_TABLES})
    gathered = Gathered(report, read_knowledge())
    for dump in dumps:
        for row in dump.read_rows(KNOWLEDGE_TABLES):
            gathered.add_row(row)
    _require_some(dumps, KNOWLEDGE_TABLES)
    document = gathered.document()
    if document.tables:
        store(document, folder, report, dry_run=dry_run, replace=replace)
    report.settle()
    return report


def _require_some(dumps: Sequence[RowSource], tables: Collection[str]) -> None:
    """Raise an error that names the sources if none of them has any of the tables."""
    if all(dump.tables.isdisjoint(tables) for dump in dumps):
        first, *others = dumps
        also = f" (and {len(others)} more)" if others else ""
        raise first.error(f"has none of the tables {', '.join(tables)}{also}")


class Gathered:
    """The rows of the dumps as rows of the file."""

    def __init__(self, report: ImportReport, shipped: Knowledge) -> None:
        self._report = report
        self._rows: dict[str, list[Row]] = {name: [] for name in LISTS}
        self._known = {
            "skill": set(shipped.skills),
            "language": set(shipped.languages),
            "title": set(shipped.titles),
        }
        self._counts: Counter[str] = Counter()
        self._later: list[tuple[str, str, str, Row]] = []

    def add_row(self, read: InsertRow) -> None:
        """Add one row; report it if it cannot be imported."""
        table = read.table.lower()
        made = self._report.read_row(read, KNOWLEDGE_TABLES[table])
        if made is None:
            return
        name, row = made
        if name == NOTHING:
            # The row needs no entry, so it counts as present.
            self._report.tables[table].present += 1
        elif name in self._known:
            self._known[name].add(row["id"])
            self._keep(table, name, row)
        else:
            # May refer to rows that follow in a later dump.
            self._later.append((table, read.place, name, row))

    def document(self) -> Document:
        """Return the file's content; without tables if there are no rows."""
        # Rows of beginners refer to skills, languages and titles, which may follow in the dumps. So
        # they are checked here, after all rows.
        for table, place, name, row in self._later:
            kind = name.removeprefix(BEGINNER)
            if kind in self._known and row["id"] not in self._known[kind]:
                self._report.leave_out(table, place, f"there is no {kind} {row['id']}")
            else:
                self._keep(table, name, row)
        self._later = []
        # The first row for a slot counts in dumps (`starting_hotkeys`), and the last one in a file.
        self._rows["beginner.hotkey"].reverse()
        tables = {name: rows for name, rows in self._rows.items() if rows}
        return Document(FILE, tables, self._counts)

    def _keep(self, table: str, name: str, row: Row) -> None:
        self._rows[name].append(row)
        self._counts[table] += 1


BEGINNER: Final = "beginner."
NOTHING: Final = ""
"""The list of a row that needs no row in the file."""
LISTS: Final = (
    "skill", "language", "title", "beginner.skill", "beginner.language", "beginner.title",
    "beginner.hotkey",
)  # fmt: skip


def _skill(columns: Columns) -> tuple[str, Row]:
    row: Row = {
        "id": number(columns, "id", least=1),
        "name": visible(columns, "name", LONGEST_TEXT),
        "short_name": text(columns, "short_name"),
        "description": text(columns, "description"),
        "type": number(columns, "skill_type"),
    }
    return "skill", row if number(columns, "display", 1) else row | {"shown": False}


def _language(columns: Columns) -> tuple[str, Row]:
    row = {"id": number(columns, "id", least=1, most=255)}
    return "language", row | {"name": visible(columns, "language", LONGEST_TEXT)}


def _title(columns: Columns) -> tuple[str, Row]:
    row: Row = {"id": number(columns, "id"), "text": visible(columns, "title", LONGEST_TITLE)}
    return "title", row | {"prefix": True} if number(columns, "prefix") else row


def _starting_skill(columns: Columns) -> tuple[str, Row]:
    row = {
        "id": number(columns, "skill_id", least=1),
        "value": number(columns, "current_val", 1),
        "most": number(columns, "max_val", 1),
    }
    return "beginner.skill", row | _whose(columns, classes="class_id", races="race_id")


def _starting_language(columns: Columns) -> tuple[str, Row]:
    if number(columns, "starting_city"):
        # A file has no condition for it; without the condition every character would have it.
        raise ValueError("it is for one city only, which is not supported")
    language = number(columns, "language_id", COMMON)
    if language == COMMON:
        return NOTHING, {}
    return "beginner.language", {"id": language} | _whose(columns, races="race")


def _starting_title(columns: Columns) -> tuple[str, Row]:
    row = {"id": number(columns, "title_id")}
    whose = _whose(columns, classes="class_id", races="race_id", genders="gender_id")
    return "beginner.title", row | whose


def _hotkey(columns: Columns) -> tuple[str, Row]:
    kind = number(columns, "type")
    row: Row = {
        "bar": number(columns, "hotbar"),
        "slot": number(columns, "slot"),
        "type": kind,
        "ability": number(columns, "spell_id"),
    }
    if kind == COMMAND_KEY:
        row["text"] = visible(columns, "text_val", LONGEST_TEXT)
    return "beginner.hotkey", row | _whose(columns, classes="class_id", races="race_id")


def _whose(columns: Columns, **conditions: str) -> Row:
    """Return the conditions of a row; the value for "any" gives no condition."""
    found = {name: number(columns, column, ANY) for name, column in conditions.items()}
    return {name: [value] for name, value in found.items() if value != ANY}


KNOWLEDGE_TABLES: Final[Mapping[str, Callable[[Columns], tuple[str, Row]]]] = {
    "skills": _skill,
    "languages": _language,
    "titles": _title,
    "starting_skills": _starting_skill,
    "starting_languages": _starting_language,
    "starting_titles": _starting_title,
    "starting_skillbar": _hotkey,
}
"""For each table: the function that returns the name of a list and its new row."""
