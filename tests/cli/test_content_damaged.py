"""Any damage of any table of a content file: a world starts without it, and commands say one line.

The damages are those that SQLite itself would refuse: they come from disks and other programs.
"""

from __future__ import annotations

import functools
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from emu.cli.content_changes import lines_of_table
from emu.config.content_rules import defaults_of_content
from emu.content.difference import changes, summary
from emu.content.figures import read_figures
from emu.content.file import ContentFile
from emu.content.homes import read_homes
from emu.content.importing import import_content
from emu.content.models import read_stand_ins
from emu.content.rules import read_rules
from emu.content.sources import dump_parts
from emu.content.subjects import SUBJECTS, find
from emu.content.tables import Table, content_tables
from emu.errors import EmuError
from emu.files import data_file
from emu.world.population import atlas
from emu.world.population.reading import read_zone_content
from emu.world.travel.tables import read_tables
from tests.support.content.damages import loosen
from tests.support.content.dumps import meadow, write_dumps
from tests.support.content.subjects import knowledge, others, trade
from tests.support.examples import tries
from tests.support.running.command_line import CommandLine

pytestmark = pytest.mark.slow

NUMBERS = ("NULL", "'word'", "x'00ff'", "-9223372036854775807", "9223372036854775807")
DAMAGES = {
    "int": (*NUMBERS, "1.5"),
    "flag": (*NUMBERS, "1.5"),
    "float": (*NUMBERS, "9e999", "-9e999"),
    "text": ("NULL", "x'00ff'", "CAST(x'ff41' AS TEXT)", "''"),
    "word": ("NULL", "x'00ff'", "CAST(x'c328' AS TEXT)", "'nonsense'"),
}
"""Values by the kind of their column."""
DAMAGED = tries(1).max_examples
"""Damages of each table, of all that its columns can have."""
TOGETHER = 3 if DAMAGED == 1 else 1
"""Tables that are damaged in one file; a file of its own for each takes three times as long."""
NAMES = tuple(content_tables())
GROUPS = [NAMES[first : first + TOGETHER] for first in range(0, len(NAMES), TOGETHER)]


def row_of(table: Table) -> dict[str, object]:
    """Return a row that an import could have written."""
    ordinary = {"text": "x", "word": "x", "flag": 1}
    return {
        column.name: ordinary.get(column.kind, max(column.low, min(1, column.high)))
        for column in table.columns
    }


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tables: dict[str, list[dict[str, object]]] = {}
    for several in (meadow(), trade(), knowledge(), others()):
        for name, rows in several.items():
            tables.setdefault(name, []).extend(rows)
    return write_dumps(tmp_path_factory.mktemp("dumps"), tables)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, dumps: Path) -> Path:
    """A file in which every table has rows, and SQLite refuses nothing."""
    path = tmp_path_factory.mktemp("whole") / "content.sqlite"
    import_content(dump_parts([dumps]), path)
    with closing(sqlite3.connect(path)) as database, database:
        for table in content_tables().values():
            if not database.execute(f'SELECT 1 FROM "{table.name}"').fetchone():
                database.execute(table.insert(), [*row_of(table).values()])
    loosen(path)
    return path


def damage(path: Path, statement: str) -> bool:
    """Damage a file; return False if not even a damaged file could be like that."""
    with closing(sqlite3.connect(path)) as database:
        try:
            with database:
                database.execute(statement)
        except sqlite3.IntegrityError:
            return False
    return True


def zones_of(path: Path) -> set[int]:
    with ContentFile(path) as file:
        return {row["id"] for row in file.zones()}


def names_of(path: Path) -> list[object]:
    with ContentFile(path) as file:
        return [one for subject in SUBJECTS for one in find(file, "a", 9, subject)]


def rules_of(path: Path) -> object:
    with ContentFile(path) as file:
        return read_rules(file), file.digest(), file.counts(), file.set_of(31)


READERS: dict[str, Callable[[Path], object]] = {
    "atlas": lambda path: atlas.read_atlas(None, path),
    "figures": read_figures,
    "travel": read_tables,
    "houses": read_homes,
    "stand-ins": read_stand_ins,
    "settings": lambda path: defaults_of_content(path, ()),
    "zones": lambda path: [read_zone_content(path, zone) for zone in zones_of(path)],
    "names": names_of,
    "rules": rules_of,
}
"""What a starting world, and an operator who searches, read. None of them may raise."""
COMMANDS = (
    ("check", "--details"), ("info", "--rules"), ("info",), ("find", "a"), ("zone", "9"),
    ("export", "--zone", "9"), ("show", "90001"),
)  # fmt: skip
"""Commands that print, or say one line; each damage has one of them, in turn."""


def lines_of(emu: CommandLine, *words: str) -> list[str]:
    """Return what a command prints; it ends in order or with a line about the file."""
    result = emu.run("content", *words)
    assert result.exception is None or isinstance(result.exception, SystemExit | EmuError), (
        words, result.exception,
    )  # fmt: skip
    return [*result.output.splitlines(), *str(result.exception or "").splitlines()]


def damages_of(table: Table) -> Iterator[str]:
    """Return statements that damage a table."""
    every = [(column, value) for column in table.columns for value in DAMAGES[column.kind]]
    for column, value in Random(table.name).sample(every, min(DAMAGED, len(every))):
        yield f'UPDATE "{table.name}" SET "{column.name}" = {value}'


@pytest.fixture(scope="module", autouse=True)
def _shipped_zones() -> Iterator[None]:
    """Shipped zones that are read once: no damage is in them."""
    whole = functools.partial(atlas._zone_files, data_file("world", "zones"), is_shipped=True)
    read = functools.cache(lambda: whole(atlas._Problems()))
    with patch.object(atlas, "_zone_files", lambda *_, **__: dict(read())):
        yield


@pytest.mark.parametrize("names", GROUPS, ids=" ".join)
def test_a_world_starts_and_commands_end_whatever_is_damaged(
    names: tuple[str, ...], whole: Path, dumps: Path, tmp_path: Path
) -> None:
    emu, path = CommandLine(tmp_path), tmp_path / "content.sqlite"
    shows = [("show", one, "1") for one, known in SUBJECTS.items() if known.table in names]
    # Another one begins at each group, so that all of them meet damages.
    first = NAMES.index(names[0]) // TOGETHER * DAMAGED % len(COMMANDS)
    commands = cycle([*COMMANDS[first:], *shows, *COMMANDS[:first]])
    for statements in zip(*(damages_of(content_tables()[name]) for name in names), strict=True):
        shutil.copyfile(whole, path)
        made = [statement for statement in statements if damage(path, statement)]
        if not made:
            continue
        for what, read in READERS.items():
            try:
                read(path)
            except Exception as error:
                raise AssertionError(f"{what}: {made}") from error
        lines_of(emu, *next(commands), "--file", str(path))
        for name in names:
            list(lines_of_table(whole, path, name))
        summary(changes(path, whole))
