"""The tables of a database, in an order for copies."""

import pytest

from emu.database import Kind
from emu.database.catalog import CatalogTable, by_parents


def table(name: str, *parents: str) -> CatalogTable:
    return CatalogTable(name, {"id": Kind.INTEGER}, ["id"], parents)


def test_parents_come_before_their_children() -> None:
    found = by_parents(
        [table("a", "c", "b"), table("b", "c"), table("c", "c", "elsewhere"), table("d")]
    )
    assert [one.name for one in found] == ["c", "d", "b", "a"]


def test_a_circle_is_an_error() -> None:
    with pytest.raises(ValueError, match="refer to each other: a, b"):
        by_parents([table("a", "b"), table("b", "a")])
