"""The declared tables of a content file."""

import sqlite3
from typing import Any

import pytest

from emu.content.tables import content_tables


def column(table: str, name: str) -> Any:
    return next(one for one in content_tables()[table].columns if one.name == name)


def test_every_declared_table_can_be_created_and_has_its_key() -> None:
    database = sqlite3.connect(":memory:")
    for table in content_tables().values():
        database.execute(table.create())
        assert set(table.key) <= {one.name for one in table.columns}
    database.close()


@pytest.mark.parametrize(
    ("table", "name", "value", "stored"),
    [
        ("placements", "x", 3, 3.0),
        ("placements", "x", "1.5", 1.5),
        ("placements", "x", float("inf"), None),
        ("placements", "pitch", 400.0, None),
        ("placements", "id", "x", None),
        ("zones", "instance_type", "SOLO_PERSIST", "solo_persist"),
        ("zones", "is_city", 2, 1),
        ("zones", "name", None, None),
        ("spawns", "name", b"caf\xc3\xa9", "café"),
        ("spawns", "name", "a\0b ", "ab"),
        ("npcs", "difficulty", 146, None),
    ],
)
def test_a_value_is_converted_or_refused(table: str, name: str, value: Any, stored: Any) -> None:
    assert column(table, name).convert(value) == stored


@pytest.mark.parametrize(
    ("table", "name", "value", "fits"),
    [
        ("placements", "x", 3, True), ("placements", "x", 1.5, True),
        ("placements", "x", "left", False), ("placements", "pitch", 400.0, False),
        ("spawns", "name", "cafe", True), ("spawns", "name", 7, False),
        ("spawns", "name", b"x", False), ("zones", "is_city", 1, True),
        ("zones", "is_city", "x", False), ("zones", "is_city", 1.0, False),
        ("zones", "underworld", -1_000_000.0, True),
    ],
)  # fmt: skip
def test_a_stored_value_fits_if_an_import_could_have_written_it(
    table: str, name: str, value: Any, *, fits: bool
) -> None:
    assert column(table, name).fits(value) is fits


def test_a_column_that_the_dump_lacks_has_its_default() -> None:
    converter = content_tables()["zones"].converter(("ID", "name"))
    reasons: list[tuple[str, str]] = []
    row = converter.convert((7, "meadow"), lambda *reason: reasons.append(reason))
    names = [one.name for one in content_tables()["zones"].columns]
    values = dict(zip(names, row or (), strict=True))
    assert (values["id"], values["name"], values["can_gate"], values["underworld"]) == (
        7, "meadow", 1, -1_000_000.0,
    )  # fmt: skip
    assert reasons == []
    assert "can_gate" in converter.missing


def test_the_rows_of_one_converter_do_not_mix_texts_and_numbers() -> None:
    """A converter remembers values, and 1 equals 1.0."""
    converter = content_tables()["channels"].converter(("id", "name", "classes"))
    reasons: list[tuple[str, str]] = []
    rows = [
        converter.convert(values, lambda *reason: reasons.append(reason))
        for values in ((1, 1, 1.0), (2, 1.0, 1), (3, "1", "1"), (1.0, None, "x"), ("x", "", 0))
    ]
    assert [None if row is None else row[:2] + row[4:5] for row in rows] == [
        (1, "1", 1), (2, "1.0", 1), (3, "1", 1), (1, "", 0), None,
    ]  # fmt: skip
    assert reasons == [
        ("classes is out of its range: the default is taken", "1.0"),
        ("id is no usable number", "x"),
    ]


def test_every_reference_names_a_column_of_a_table() -> None:
    tables = content_tables()
    columns = {name: {one.name for one in table.columns} for name, table in tables.items()}
    for name, table in tables.items():
        for reference in table.references:
            assert reference.column in columns[name]
            assert reference.key in columns[reference.table]


def test_each_table_of_the_database_fills_one_table() -> None:
    sources = [table.source for table in content_tables().values()]
    assert len(set(sources)) == len(sources)


def test_a_key_that_repeats_is_reported_unless_it_has_the_number_of_the_dump() -> None:
    reasons: list[tuple[str, str]] = []
    for name, columns in (
        ("models", ("appearance_id",)),
        ("npcs", ("spawn_id",)),
        ("spawns", ("id",)),
    ):
        converter = content_tables()[name].converter(columns)
        for number in (7, 8, 7):
            converter.convert((number,), lambda *reason: reasons.append(reason))
    assert reasons == [
        ("an earlier row has the same key", "7"), ("a later row has the same key", "7"),
    ]  # fmt: skip
