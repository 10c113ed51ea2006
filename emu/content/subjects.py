"""The subjects of a content file: what operators search and look at.

A subject is what one number names: a spawn, a quest, a spell. Its row and the rows that belong to
it are found by the references that the tables declare, so a new table needs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.tables import Stored, content_tables


class ContentSubject(NamedTuple):
    """A kind of thing that has a number."""

    table: str
    columns: tuple[str, ...]
    """Its texts; the first is its name."""
    key: str = "id"
    """The column with its number."""


SUBJECTS: Final[Mapping[str, ContentSubject]] = {
    "spawn": ContentSubject("spawns", ("name", "subtitle")),
    "zone": ContentSubject("zones", ("name", "description", "file")),
    "area": ContentSubject("areas", ("name",)),
    "item": ContentSubject("items", ("name",)),
    "spell": ContentSubject("spells", ("name",)),
    "quest": ContentSubject("quests", ("name",)),
    "recipe": ContentSubject("recipes", ("name",)),
    "collection": ContentSubject("collections", ("name",)),
    "achievement": ContentSubject("achievements", ("title",)),
    "home": ContentSubject("homes", ("name",)),
    "faction": ContentSubject("factions", ("name",)),
    "loot": ContentSubject("loot_tables", ("name",)),
    "merchant": ContentSubject("merchants", ("description",), "merchant_id"),
    "harvest": ContentSubject("harvests", ("name",), "ground_id"),
    "transporter": ContentSubject("transporters", ("name",), "list_id"),
    "command": ContentSubject("commands", ("text",), "list_id"),
    "flight": ContentSubject("flight_paths", ("name",)),
    "opportunity": ContentSubject("heroic_opportunities", ("name",)),
    "skill": ContentSubject("skills", ("name",)),
    "title": ContentSubject("titles", ("title",)),
    "language": ContentSubject("languages", ("name",)),
}
MOST_ROWS: Final = 20
"""Rows of one table that a subject is shown with."""


class Found(NamedTuple):
    """Something whose name has a word."""

    subject: str
    number: int
    name: str


class Section(NamedTuple):
    """Rows of one table that say something about a subject."""

    table: str
    rows: list[Row]
    """At most `MOST_ROWS`."""
    has_more: bool


def find(file: ContentFile, word: str, most: int, subject: str = "") -> Iterator[Found]:
    """Yield what has a word in its name: at most `most` of each subject, or of one."""
    for name in (subject,) if subject else SUBJECTS:
        known = SUBJECTS[name]
        for number, text in file.matching(known.table, known.key, known.columns, word, most):
            yield Found(name, int(number), text)


def describe(file: ContentFile, subject: str, number: int) -> list[Section]:
    """Return the rows of a subject, and those of other tables that belong to it."""
    known = SUBJECTS[subject]
    sections = [_section(file, known.table, known.key, number)]
    sections += [
        _section(file, table.name, reference.column, number)
        for table in content_tables().values()
        for reference in table.references
        # What belongs to a subject is stored by its number; items belong to many.
        if (reference.table, reference.key) == (known.table, known.key)
        and (table.key[0] == reference.column or subject == "item")
    ]
    return [section for section in sections if section.rows]


def name_of(file: ContentFile, table: str, key: str, number: Stored) -> str:
    """Return the name of the row that a reference means; empty without one."""
    for known in SUBJECTS.values():
        if known.table == table:
            rows = file.rows(table, key, [number])
            return next((str(row[known.columns[0]]) for row in rows), "")
    return ""


def named(file: ContentFile, table: str, row: Row) -> Iterator[tuple[str, str]]:
    """Yield the columns of a row that say something, with the names of what they refer to."""
    references = {one.column: one for one in content_tables()[table].references}
    for column, value in row.items():
        if value in (0, 0.0, ""):
            continue
        text = f"{value:g}" if isinstance(value, float) else str(value)
        reference = references.get(column)
        name = reference and name_of(file, reference.table, reference.key, value)
        yield column, f"{text} ({name})" if name else text


def _section(file: ContentFile, table: str, column: str, number: int) -> Section:
    rows: list[Row] = list(islice(file.rows(table, column, [number]), MOST_ROWS + 1))
    return Section(table, rows[:MOST_ROWS], len(rows) > MOST_ROWS)
