"""Reads knowledge from TOML files: the shipped ones, then those of an operator's folder.

Any file may hold any of the lists. A row of a later file stands in for the earlier one of the same
number; a list of ``[beginner]`` in a later file stands in for the whole earlier one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from emu.errors import FileFormatError
from emu.model import Hotkey, Title
from emu.resources import data_file
from emu.world.knowledge.beginners import Beginners, For, KnownSkill
from emu.world.knowledge.facts import Knowledge, Language, OlderTypes, Skill

T = TypeVar("T")
Row = dict[str, Any]

OLDER: Final = "older"
LISTS: Final = ("skill", "language", "title")
BEGINNER: Final = "beginner"
LARGEST: Final = 0xFFFFFFFF
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
    if folder is None:
        return shipped
    if not folder.is_dir():
        raise FileFormatError(f"{folder}: there is no such folder")
    return [*shipped, *sorted(folder.glob("*.toml"))]


def _document(path: Path) -> Row:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{path}: {error}") from None
    unknown = set(document) - {*LISTS, BEGINNER, OLDER}
    if unknown:
        raise FileFormatError(f"{path}: there is nothing called {', '.join(sorted(unknown))}")
    return document


def _id(path: Path, row: Row) -> int:
    number = row.get("id")
    if not isinstance(number, int):
        raise FileFormatError(f"{path}: a row needs an id: {row!r}")
    return number


def _made(make: Callable[[Row], T], path: Path, row: Row) -> T:
    try:
        return make(dict(row))
    except (TypeError, ValueError, KeyError) as error:
        raise FileFormatError(f"{path}: {row!r}: {error}") from None


def _plain(kind: type[T], row: Row) -> T:
    """Make a value of plain fields. Raises `TypeError` and `ValueError` for what it cannot be."""
    made = kind(**row)
    for name, wanted in get_type_hints(kind).items():
        value = getattr(made, name)
        if not isinstance(value, wanted):
            raise TypeError(f"{name} must be {wanted.__name__}")
        if isinstance(value, int) and not 0 <= value <= LARGEST:
            raise ValueError(f"{name} must be 0 to {LARGEST}")
    return made


def _title(row: Row) -> Title:
    del row["id"]
    return _plain(Title, {"is_prefix": row.pop("prefix", False)} | row)


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
        rows("language", lambda row: int(row["id"])),
        rows("title", lambda row: titles[row["id"]]),
        rows("hotkey", partial(_plain, Hotkey)),
    )


def _for(make: Callable[[Row], T], row: Row) -> For[T]:
    conditions = {name: frozenset(row.pop(name)) for name in CONDITIONS if name in row}
    return For(make(row), **conditions)
