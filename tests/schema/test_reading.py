from pathlib import Path

import attrs
import pytest

from emu.errors import FileFormatError
from emu.schema import Form, TableFaults, TableReader, field, read_rows, read_table, unknown_key


@attrs.frozen
class Verb:
    name: str = field()
    distance: float = field(10.0)


@attrs.frozen
class Row:
    level: int = field(1, limits=(1, 5))
    verbs: tuple[Verb, ...] = field((), most=3)
    first: Verb | None = field(default=None)
    classes: frozenset[int] = field(frozenset(), key="class")
    word: str = field("", secret=True, limits=(0, 3))


def faults(table: object, schema: TableReader | None = None) -> list[str]:
    with pytest.raises(TableFaults) as caught:
        (schema or TableReader()).read_table(Row, table)
    return [str(fault) for fault in caught.value.faults]


def test_a_table_becomes_an_object() -> None:
    table = {"level": 4, "verbs": [{"name": "hail"}], "first": {"name": "a", "distance": 2},
             "class": [1, 2]}  # fmt: skip
    assert TableReader().read_table(Row, table) == Row(
        4, (Verb("hail"),), Verb("a", 2.0), frozenset((1, 2)), ""
    )
    assert TableReader().read_table(Row, {}) == Row()


def test_every_fault_is_reported_with_its_path() -> None:
    table = {"level": 9, "verbs": [{"name": 3}, {}], "first": 5, "class": [1, "x"], "verb": 1}
    assert faults(table) == [
        "level: must be a whole number from 1 to 5, not 9",
        "verbs[0].name: must be a text of up to 4000 bytes, not 3",
        "verbs[1].name: is missing",
        "first: must be a table, not 5",
        "class: must be a whole number from 0 to 4294967295, not [1, 'x']",
        "verb: unknown key; did you mean verbs?",
    ]
    assert faults(5) == ["must be a table"]
    assert faults({"verbs": 5}) == ["verbs: must be a list, not 5"]


def test_a_secret_is_not_repeated() -> None:
    assert faults({"word": "long secret"}) == [
        "word: must be text of 0 to 3 characters on one line"
    ]


def test_the_text_of_an_override_is_read_as_a_value() -> None:
    schema = TableReader(from_text=True, forms={Path: Form(Path, "file")})
    read = schema.read_table(Row, {"level": "0x2", "class": "1, 2"})
    assert (read.level, read.classes) == (2, frozenset((1, 2)))
    assert faults({"level": "2"}) == ["level: must be a whole number from 1 to 5, not '2'"]


def test_an_unknown_key_names_the_nearest_one_or_all() -> None:
    assert unknown_key("lisen", ["listen", "name"]) == "unknown key; did you mean listen?"
    assert unknown_key("LISTEN", ["Listen", "name"]) == "unknown key; did you mean Listen?"
    assert unknown_key("x", ["a", "b"], "table") == "unknown table (known: a, b)"
    many = [f"{letter}{letter}_seconds" for letter in "abcdefghijklmnopqrstu"]
    assert unknown_key("b9", many) == (
        "unknown key (21 are known, the nearest: bb_seconds, uu_seconds, tt_seconds, ss_seconds,"
        " rr_seconds)"
    )


def test_a_file_names_place_row_and_name() -> None:
    place = Path("isle.toml")
    assert read_table(Row, {"level": 2}, place) == Row(2)
    assert read_rows(Row, [{"level": 2}], place, "row", attrs.astuple)[0][0] == 2
    with pytest.raises(FileFormatError, match=r"^isle\.toml: level: must be"):
        read_table(Row, {"level": 7}, place)
    with pytest.raises(FileFormatError) as caught:
        read_rows(Verb, [{"name": "a"}, {"name": "b", "far": 1}, 5], place, "verb", str)
    assert str(caught.value) == (
        "isle.toml: verb 2 (b): far: unknown key (known: name, distance); verb 3: must be a table"
    )
    with pytest.raises(FileFormatError, match=r"verb: must be a list of tables"):
        read_rows(Verb, {}, place, "verb", str)


def test_of_many_faults_the_first_are_listed() -> None:
    with pytest.raises(FileFormatError, match="verb 10: name: is missing; and 5 more faults"):
        read_rows(Verb, [{}] * 15, "x", "verb", str)
