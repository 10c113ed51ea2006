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


def test_a_column_that_the_dump_lacks_has_its_default() -> None:
    converter = content_tables()["zones"].converter(("ID", "name"))
    reasons: list[str] = []
    row = converter.convert((7, "meadow"), reasons.append)
    names = [one.name for one in content_tables()["zones"].columns]
    values = dict(zip(names, row or (), strict=True))
    assert (values["id"], values["name"], values["can_gate"], values["underworld"]) == (
        7, "meadow", 1, -1_000_000.0,
    )  # fmt: skip
    assert reasons == []
    assert "can_gate" in converter.missing
