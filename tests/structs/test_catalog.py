from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError, UnknownStruct
from emu.structs import StructCatalog, StructLayout, load_folder, shipped_catalog
from emu.structs.catalog import read_shipped, shape
from tests.support.files.struct_texts import catalog_of, data, file_of, struct_of

STEPS = catalog_of(
    struct_of("a int8", "S", 546), struct_of("a int16", "S", 562), struct_of("a int32", "S", 60_085)
)


@pytest.mark.parametrize(
    ("version", "client_version"),
    [(546, 546), (547, 546), (561, 546), (562, 562), (60_084, 562), (60_085, 60_085),
     (0xFFFFFFFF, 60_085)],
)  # fmt: skip
def test_the_highest_version_not_above_counts(version: int, client_version: int) -> None:
    assert STEPS.layout("S", version).client_version == client_version
    assert STEPS.definition("S", version).client_version == client_version


def test_below_the_first_version_there_is_nothing() -> None:
    with pytest.raises(UnknownStruct, match="S has no layout for version 545; its first is 546"):
        STEPS.layout("S", 545)
    with pytest.raises(UnknownStruct, match="there is no struct T"):
        STEPS.layout("T", 546)


def test_a_layout_is_compiled_once() -> None:
    assert STEPS.layout("S", 546) is STEPS.layout("S", 561)
    floats = STEPS.layout("S", 546, create_color=True)
    assert floats is not STEPS.layout("S", 546)
    assert floats is STEPS.layout("S", 561, create_color=True)


def test_names_versions_and_structs_are_in_order() -> None:
    catalog = catalog_of(
        struct_of("a int8", "B", 2), struct_of("a int8", "A"), struct_of("a int8", "B")
    )
    assert catalog.names() == ["A", "B"]
    assert catalog.versions("B") == [1, 2]
    assert catalog.versions("C") == []
    assert [(made.name, made.client_version) for made in catalog] == [("A", 1), ("B", 1), ("B", 2)]
    assert len(catalog) == 3


def test_of_two_structs_of_one_version_the_first_stays_and_a_note_says_so() -> None:
    catalog = catalog_of(struct_of("a int8"), struct_of("a int16"), struct_of("a int8"))
    assert catalog.layout("S", 1).empty_size() == 1
    first, second = catalog.notes
    assert first == (
        "Test.xml, line 5: struct S 1 is already defined in Test.xml, line 2,"
        " so this one is ignored; its fields differ"
    )
    assert second == (
        "Test.xml, line 8: struct S 1 is already defined in Test.xml, line 2,"
        " so this one is ignored"
    )


def test_a_struct_added_later_counts_at_once() -> None:
    catalog = catalog_of(struct_of("a int8"))
    assert catalog.layout("S", 600).empty_size() == 1
    (later,) = catalog_of(struct_of("a int16", "S", 546))
    catalog.add_struct(later)
    assert catalog.layout("S", 600).empty_size() == 2
    assert catalog.layout("S", 545).empty_size() == 1


def test_a_file_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "S.xml"
    path.write_bytes(file_of(struct_of("a int8", "Good"), struct_of("a int9", "Bad")))
    catalog = catalog_of(struct_of("a int8"))
    with pytest.raises(FileFormatError, match="Bad"):
        catalog.load(path)
    assert catalog.names() == ["S"]


def test_substructs_come_from_files_read_before(tmp_path: Path) -> None:
    (tmp_path / "ZCommon.xml").write_bytes(
        file_of(struct_of('<Data ElementName="s" Substruct="Sub"/>'))
    )
    (tmp_path / "CommonStructs.xml").write_bytes(file_of(struct_of("a int8", "Sub")))
    (tmp_path / "readme.txt").write_text("no struct file")
    catalog = load_folder(tmp_path)
    assert catalog.names() == ["S", "Sub"]
    assert catalog.layout("S", 1).decode(b"\x05") == {"s": {"a": 5}}


def test_structs_are_found_by_the_message_that_carries_them() -> None:
    catalog = catalog_of(
        struct_of("a int8", "One", 1, 'OpcodeName="OP_X"'),
        struct_of("a int16", "One", 546, 'OpcodeName="OP_X"'),
        struct_of("a int32", "Two", 546, 'OpcodeName="OP_X"'),
        struct_of("a int8", "Cmd", 1, 'OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqX"'),
    )

    def found(name: str, version: int) -> list[tuple[str, int]]:
        return [(made.name, made.client_version) for made in catalog.for_opcode(name, version)]

    assert found("OP_X", 545) == [("One", 1)]
    assert found("OP_X", 546) == [("One", 546), ("Two", 546)]
    assert found("OP_EqX", 546) == [("Cmd", 1)]
    assert found("OP_ClientCmdMsg", 546) == []


def test_a_shape_is_what_the_wire_shows_not_where_it_is_written() -> None:
    one, two, three = (
        next(iter(catalog_of("\n" * blank + struct_of(data("a", kind)))))
        for blank, kind in ((0, "int8"), (3, "int8"), (0, "int16"))
    )
    assert shape(one.fields) == shape(two.fields) != shape(three.fields)


def test_the_shipped_structs_are_read_once_and_without_notes() -> None:
    catalog = shipped_catalog()
    assert catalog is shipped_catalog()
    assert catalog.notes == []
    assert isinstance(catalog.layout("LS_LoginReplyMsg", 546), StructLayout)


def test_an_empty_catalog() -> None:
    catalog = StructCatalog()
    assert len(catalog) == 0
    assert catalog.names() == []


@pytest.mark.slow
def test_a_catalog_takes_over_the_structs_of_another() -> None:
    mine, other = read_shipped(), StructCatalog()
    before = mine.layout("LS_LoginReplyMsg", 546)
    mine.made["zeros", before] = {}
    edition = mine.edition
    assert mine.is_like(read_shipped())
    assert not mine.is_like(other)
    mine.exchange(read_shipped())
    assert mine.edition != edition
    assert mine.layout("LS_LoginReplyMsg", 546) is not before
    assert not mine.made
    mine.exchange(other)
    with pytest.raises(UnknownStruct):
        mine.layout("LS_LoginReplyMsg", 546)
