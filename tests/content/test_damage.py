"""Values that no import could have written, and where they are."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from emu.content.damage import damaged_tables, decoded, has_wrong_rows, wrong_texts
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.tables import content_tables
from tests.support.content.damages import damage, loosen
from tests.support.content.dumps import meadow, write_dumps


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    loosen(path)
    with closing(sqlite3.connect(path)) as opened:
        opened.text_factory = bytes
        yield opened


def test_bytes_that_are_no_text_become_marks() -> None:
    assert decoded(b"a\xffb") == "a\ufffdb"


@pytest.mark.parametrize(
    ("value", "column"),
    [
        ("NULL", "x"), ("'left'", "x"), ("x'00'", "x"), ("9e999", "x"), ("1.5", "grid"),
        ("NULL", "grid"), ("x'00'", "location_id"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_or_out_of_range_is_wrong(
    database: sqlite3.Connection, value: str, column: str
) -> None:
    table = content_tables()["placements"]
    assert not has_wrong_rows(database, table)
    database.execute(f"UPDATE placements SET {column} = {value} WHERE id = 11")
    assert has_wrong_rows(database, table)


def test_a_float_may_be_whole(database: sqlite3.Connection) -> None:
    database.execute("UPDATE placements SET x = 7")
    assert not has_wrong_rows(database, content_tables()["placements"])


def test_texts_that_are_not_utf8_are_found_with_key_and_column(
    database: sqlite3.Connection,
) -> None:
    zones = content_tables()["zones"]
    database.execute("UPDATE zones SET description = 'Grüße'")
    assert list(wrong_texts(database, zones)) == []
    database.execute("UPDATE zones SET description = CAST(x'4772fc' AS TEXT)")
    assert list(wrong_texts(database, zones)) == [("9", "description")]
    assert damaged_tables(database, ["zones", "spawns"]) == {"zones"}
    assert damaged_tables(database, ["no such table"]) == {"no such table"}


DAMAGES = (
    "UPDATE zones SET name = CAST(x'ff' AS TEXT)", "UPDATE zones SET safe_x = 'x'",
    "UPDATE zones SET min_level = NULL", "UPDATE zones SET min_level = -5",
    "UPDATE imports SET tables = NULL", "UPDATE imports SET digest = x'ff'",
    "UPDATE imports SET tables = CAST(x'ff' AS TEXT)", "DELETE FROM checked", "DROP TABLE zones",
    "UPDATE left_out SET key = NULL", "UPDATE left_out SET key = CAST(x'ff' AS TEXT)",
)  # fmt: skip


@pytest.mark.parametrize("statement", DAMAGES)
def test_an_import_over_a_damaged_file_takes_none_of_the_damage(
    tmp_path: Path, statement: str
) -> None:
    parts = dump_parts([write_dumps(tmp_path / "dumps", meadow())])
    path, whole = tmp_path / "content.sqlite", tmp_path / "whole.sqlite"
    import_content(parts, whole)
    import_content(parts, path)
    damage(path, statement)
    report = import_content(parts, path)
    assert report.rows["zones"] == 1
    with closing(sqlite3.connect(path)) as made, closing(sqlite3.connect(whole)) as expected:
        for name in (*content_tables(), "left_out"):
            rows = f'SELECT * FROM "{name}"'
            if name != "left_out" or "left_out" not in statement:
                assert sorted(made.execute(rows)) == sorted(expected.execute(rows)), name
