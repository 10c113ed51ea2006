"""Statements are rewritten for PostgreSQL, and rows answer to names and positions."""

from typing import Any

import pytest

from emu.database.postgresql.statements import Statement, row_class


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", "SELECT 1"),
        ("UPDATE a SET b = ? WHERE c = ?", "UPDATE a SET b = $1 WHERE c = $2"),
        ("SELECT '?', ':a', '' '' ?", "SELECT '?', ':a', '' '' $1"),
        ("SELECT 'it''s ?', ?", "SELECT 'it''s ?', $1"),
        ('SELECT "a?" FROM b WHERE c = ?', 'SELECT "a?" FROM b WHERE c = $1'),
        ("SELECT ?::bigint[] -- why?\n, ?", "SELECT $1::bigint[] -- why?\n, $2"),
        ("SELECT '100%', ?", "SELECT '100%', $1"),
    ],
)
def test_parameters_become_numbers(sql: str, expected: str) -> None:
    assert Statement(sql).sql == expected


def test_a_name_has_one_number_wherever_it_stands() -> None:
    statement = Statement("SELECT :b, :a, :b, x::text")
    assert statement.sql == "SELECT $1, $2, $1, x::text"
    assert statement.values({"a": 1, "b": 2, "more": 3}) == [2, 1]
    assert Statement("SELECT ?").values((5,)) == (5,)


def test_a_row_answers_to_names_and_positions() -> None:
    row: Any = row_class(("id", "name"))((7, "Ay"))
    assert (row[0], row["name"], row[-1]) == (7, "Ay", "Ay")
    assert dict(row) == {"id": 7, "name": "Ay"}
    number, name = row
    assert (number, name) == (7, "Ay")
    assert row == (7, "Ay")
    with pytest.raises(KeyError):
        row["level"]
    assert row_class(("id", "name")) is type(row)
