"""Rows of a content file in memory."""

from emu.content.rows import SharedValues, StoredRow


def test_a_row_is_like_a_dict() -> None:
    row = StoredRow({"id": 0, "name": 1}, (7, "a"))
    assert row == {"id": 7, "name": "a"}
    assert {**row, "id": 8} == {"id": 8, "name": "a"}
    assert (row.get("none"), "id" in row, "none" in row, len(row)) == (None, True, False, 2)
    assert repr(row) == "{'id': 7, 'name': 'a'}"
    assert row != StoredRow({"id": 0, "name": 1}, (8, "a"))


def test_equal_values_are_one_object_by_their_type() -> None:
    known = SharedValues()
    first, second = b"ab".decode(), b"ab".decode()
    assert known.value(first) is known.value(second)
    assert [type(one) for one in known.values([1, 1.0])] == [int, float]
    row = StoredRow({"name": 0}, (first,))
    (shared,) = known.rows([row])
    assert shared == row
    assert shared["name"] is known.value(second)
