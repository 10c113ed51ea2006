"""Fields with FirstVersion and LastVersion: one struct in a file is several layouts."""

from __future__ import annotations

import pytest

from emu.errors import FileFormatError, UnknownStruct
from emu.structs import StructCatalog
from emu.structs.reader import read_text
from tests.support.files.struct_texts import file_of

TEXT = (
    '<Struct Name="Inner" ClientVersion="1"><Data ElementName="a" Type="int8"/></Struct>'
    '<Struct Name="Inner" ClientVersion="30"><Data ElementName="a" Type="int16"/></Struct>'
    '<Struct Name="S" ClientVersion="10" OpcodeName="OP_XMsg">'
    '<Data ElementName="always" Type="int8"/>'
    '<Data ElementName="early" Type="int8" LastVersion="19"/>'
    '<Data ElementName="late" Type="int16" FirstVersion="30"/>'
    '<Data ElementName="count" Type="int8"/>'
    '<Data ElementName="rows" Type="Array" ArraySizeVariable="count">'
    '<Data ElementName="one" Type="int8"/><Data ElementName="two" Type="int8" FirstVersion="20"/>'
    "</Data>"
    '<Data ElementName="inner" Substruct="Inner"/></Struct>'
    '<Struct Name="S" ClientVersion="40"><Data ElementName="last" Type="int32"/></Struct>'
)


def catalog(text: str = TEXT) -> StructCatalog:
    return StructCatalog(read_text(file_of(text), "Test.xml"))


def test_each_limit_begins_a_layout() -> None:
    made = catalog()
    assert made.versions("S") == [10, 20, 30, 40]
    fields = {
        version: [one.name for one in made.definition("S", version).fields]
        for version in (19, 20, 30, 39, 40)
    }
    assert fields == {
        19: ["always", "early", "count", "rows", "inner"],
        20: ["always", "count", "rows", "inner"],
        30: ["always", "late", "count", "rows", "inner"],
        39: ["always", "late", "count", "rows", "inner"],
        40: ["last"],
    }
    assert made.definition("S", 20).opcode_name == "OP_XMsg"


def test_elements_of_arrays_and_substructs_follow_the_version() -> None:
    made = catalog()
    sizes = [len(made.layout("S", version).encode({"rows": [{}]})) for version in (10, 20, 30)]
    assert sizes == [5, 5, 8]


def test_a_range_that_ends_before_it_begins_is_named() -> None:
    field = '<Data ElementName="a" Type="int8" FirstVersion="9" LastVersion="8"/>'
    with pytest.raises(FileFormatError, match="field a: FirstVersion is above LastVersion"):
        catalog(f'<Struct Name="S" ClientVersion="1">{field}</Struct>')


def test_a_range_of_one_version_is_a_layout_of_its_own() -> None:
    fields = (
        '<Data ElementName="a" Type="int8"/>'
        '<Data ElementName="b" Type="int8" FirstVersion="9" LastVersion="9"/>'
    )
    made = catalog(f'<Struct Name="S" ClientVersion="1">{fields}</Struct>')
    names = [[one.name for one in made.definition("S", version).fields] for version in (8, 9, 10)]
    assert names == [["a"], ["a", "b"], ["a"]]


ENDED = (
    '<Struct Name="S" ClientVersion="10" LastVersion="19"><Data ElementName="a" Type="int8"/>'
    '<Data ElementName="b" Type="int8" FirstVersion="15"/></Struct>'
    '<Struct Name="S" ClientVersion="30"><Data ElementName="c" Type="int32"/></Struct>'
)


def test_a_struct_ends_with_its_last_version() -> None:
    made = catalog(ENDED)
    assert [made.has("S", at) for at in (9, 10, 19, 20, 29, 30)] == [
        False, True, True, False, False, True,
    ]  # fmt: skip
    assert [made.layout("S", at).versions for at in (10, 15, 30)] == [
        "10-14", "15-19", "30 and later",
    ]  # fmt: skip
    with pytest.raises(UnknownStruct, match="no layout for version 20"):
        made.layout("S", 20)
    assert [one.client_version for one in made.for_opcode("", 25)] == []


def test_a_struct_cannot_end_before_it_begins() -> None:
    with pytest.raises(FileFormatError, match="LastVersion is below ClientVersion"):
        catalog('<Struct Name="S" ClientVersion="9" LastVersion="8"/>')
