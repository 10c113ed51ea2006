"""Reads knowledge from TOML files: the shipped ones, then those of an operator's folder.

Any file may hold any of the lists. A row of a later file stands in for the earlier one of the same
number; a list of ``[beginner]`` in a later file stands in for the whole earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from emu.documents import listed, quoted, read_document
from emu.errors import FileFormatError
from emu.model import Hotkey, Title
from emu.resources import data_file
from emu.world.knowledge.beginners import Beginners, For, KnownSkill
from emu.world.knowledge.facts import Knowledge, Language, OlderTypes, Skill

T = TypeVar("T")
Row = dict[str, Any]

OLDER: Final = "older"
LISTS: Final = ("skill", "language", "title")
LONGEST_NAME: Final = 60
"""Letters of a name that a mistake is told with."""
BEGINNER: Final = "beginner"
BEGUN: Final = ("skill", "language", "title", "hotkey")
"""Lists of ``[beginner]``."""
LARGEST: Final = 0xFFFFFFFF
MOST: Final[Mapping[type, Mapping[str, int]]] = {
    Hotkey: {"bar": 99, "slot": 99, "icon": 0xFFFF, "icon_type": 0xFFFF},
    KnownSkill: {"value": 0xFFFF, "most": 0xFFFF},
    Language: {"id": 0xFF},
}
"""What clients have room for, where that is less."""
LONGEST_TEXT: Final = 255
CONDITIONS: Final = ("classes", "races", "genders")


def read_knowledge(folder: Path | None = None) -> Knowledge:
    """Read the shipped files and those of a folder. Raises `FileFormatError`."""
    rows: dict[str, dict[int, tuple[Path, Row]]] = {name: {} for name in LISTS}
    beginners: dict[str, tuple[Path, list[Row]]] = {}
    older = OlderTypes()
    for path in _files(folder):
        document = _document(path)
        for name in LISTS:
            for row in document.get(name, ()):
                rows[name][_id(path, row)] = path, row
        if OLDER in document:
            older = _made(_older, path, document[OLDER])
        for name, begun in document.get(BEGINNER, {}).items():
            beginners[name] = path, begun
    titles = {number: _made(_title, *found) for number, found in rows["title"].items()}
    return Knowledge(
        skills=[_made(partial(_plain, Skill), *found) for found in rows["skill"].values()],
        languages=[_made(partial(_plain, Language), *found) for found in rows["language"].values()],
        titles=titles,
        beginners=_beginners(beginners, titles),
        older=older,
    )


def _files(folder: Path | None) -> list[Path]:
    shipped = sorted(data_file("world", "knowledge").glob("*.toml"))
    return shipped if folder is None else [*shipped, *listed(folder, ".toml", "world.knowledge")]


def _document(path: Path) -> Row:
    document = read_document(path)
    beginner = document.get(BEGINNER, {})
    if not isinstance(beginner, dict):
        raise FileFormatError(f"{path}: {BEGINNER} must be a table, written as [{BEGINNER}]")
    for names, found in ((LISTS, document), (BEGUN, beginner)):
        for name in names:
            rows = found.get(name, [])
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise FileFormatError(f"{path}: {name} must be a list of tables")
    unknown = {*document, *beginner} - {*LISTS, *BEGUN, BEGINNER, OLDER}
    if unknown:
        raise FileFormatError(f"{path}: there is nothing called {min(unknown)[:LONGEST_NAME]}")
    return document


def _id(path: Path, row: Row) -> int:
    number = row.get("id")
    if not isinstance(number, int):
        raise FileFormatError(f"{path}: a row needs an id: {quoted(row)}")
    return number


def _made(make: Callable[[Row], T], path: Path, row: Row) -> T:
    try:
        return make(dict(row))
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise FileFormatError(f"{path}: {quoted(row)}: {error}") from None


def _plain(kind: type[T], row: Row) -> T:
    """Make a value of plain fields. Raises `TypeError` and `ValueError` for what it cannot be."""
    made = kind(**row)
    for name, wanted in get_type_hints(kind).items():
        value = getattr(made, name)
        if not isinstance(value, wanted):
            raise TypeError(f"{name} must be {wanted.__name__}")
        most = MOST.get(kind, {}).get(name, LARGEST)
        if isinstance(value, int) and not 0 <= value <= most:
            raise ValueError(f"{name} must be 0 to {most}")
        if isinstance(value, str) and len(value.encode()) > LONGEST_TEXT:
            raise ValueError(f"{name} must not be longer than {LONGEST_TEXT} bytes")
    return made


def _title(row: Row) -> Title:
    del row["id"]
    return _plain(Title, {"is_prefix": row.pop("prefix", False)} | row)


def _language_id(row: Row) -> int:
    return _plain(Language, {"name": "", **row}).id


def _older(row: Row) -> OlderTypes:
    return OlderTypes(int(row["last_version"]), {int(old): int(new) for old, new in row["types"]})


def _beginners(
    found: Mapping[str, tuple[Path, list[Row]]], titles: Mapping[int, Title]
) -> Beginners:
    def rows(name: str, make: Callable[[Row], T]) -> list[For[T]]:
        path, listed = found.get(name, (Path(), []))
        return [_made(lambda row: _for(make, row), path, row) for row in listed]

    return Beginners(
        rows("skill", partial(_plain, KnownSkill)),
        rows("language", _language_id),
        rows("title", lambda row: titles[row["id"]]),
        rows("hotkey", partial(_plain, Hotkey)),
    )


def _for(make: Callable[[Row], T], row: Row) -> For[T]:
    conditions = {name: frozenset(row.pop(name)) for name in CONDITIONS if name in row}
    return For(make(row), **conditions)
