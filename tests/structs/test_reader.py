from __future__ import annotations

import contextlib
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.structs import FieldType
from emu.structs.definitions import NumbersOf
from emu.structs.reader import FILE_LIMIT, read_file, read_text
from tests.support.files.struct_texts import array, data, file_of, struct_of
from tests.support.patience import within


def read(*structs: str):
    return read_text(file_of(*structs), "Test.xml")


def test_a_struct_with_all_its_attributes() -> None:
    (made,) = read(
        '<Struct Name="S" ClientVersion="546" OpcodeName="OP_ClientCmdMsg" OpcodeType="OP_EqX">'
        '<Data ElementName="a" Type="int16" Size="3" DefaultByteValue="255"/>'
        '<Data ElementName="b" Type="int16" OversizedValue="255"/>'
        '<Data ElementName="c" Type="float" Type2="sint16" Optional="True" IfVariableSet="a, b"'
        ' IfVariableNotSet="d" IfVariableEquals="e" IfVariableNotEquals="f" IfFlagSet="g"'
        ' IfFlagNotSet="h" IfVariableIn="i: 1, 2" IfVariableNotIn="j:3"/></Struct>'
    )
    assert (made.name, made.client_version, made.file, made.line) == ("S", 546, "Test.xml", 2)
    assert (made.opcode_name, made.opcode_type) == ("OP_ClientCmdMsg", "OP_EqX")
    first, second, third = made.fields
    assert (first.type, first.size, first.default_byte) == (FieldType.INT16, 3, 255)
    assert second.oversized is not None
    assert (second.oversized.threshold, second.oversized.marker) == (255, 255)
    assert (third.type2, third.optional) == (FieldType.SINT16, True)
    rules = third.conditions
    assert (rules.variable_set, rules.variable_not_set) == (("a", "b"), ("d",))
    assert (rules.variable_equals, rules.variable_not_equals) == ("e", "f")
    assert (rules.flag_set, rules.flag_not_set) == ("g", "h")
    assert rules.variable_in == NumbersOf("i", (1, 2))
    assert rules.variable_not_in == NumbersOf("j", (3,))


@pytest.mark.parametrize("text", ["i", "i:", ":1", "i:one", "i:1,-2"])
def test_a_condition_on_numbers_names_a_field_and_numbers(text: str) -> None:
    with pytest.raises(FileFormatError, match="field x: ifvariablein"):
        read(
            '<Struct Name="S" ClientVersion="1"><Data ElementName="x" Type="int8"'
            f' IfVariableIn="{text}"/></Struct>'
        )


def test_names_of_elements_and_attributes_are_read_in_any_case() -> None:
    text = (
        b'<eq2emulator><STRUCT name="S" CLIENTVERSION="1">'
        b'<data elementname="a" TYPE="INT8" size="2"/></STRUCT></eq2emulator>'
    )
    (made,) = read_text(text, "Test.xml")
    assert (made.fields[0].name, made.fields[0].size) == ("a", 2)


def test_what_else_a_file_holds_is_let_be() -> None:
    text = file_of(
        "<!-- c --><Other a='1'><Data/></Other>", struct_of("a int8", more='Comment="x"')
    )
    (made,) = read_text(text, "Test.xml")
    assert len(made.fields) == 1


def test_arrays_hold_fields_and_arrays() -> None:
    inner = array("inner", "m", data("x", "int8"), 'MaxArraySize="5"')
    (made,) = read(struct_of(data("n", "int8") + array("outer", "n", data("m", "int8") + inner)))
    outer = made.fields[1]
    assert (outer.type, outer.count_field, outer.max_count) == (FieldType.ARRAY, "n", None)
    assert (outer.fields[1].count_field, outer.fields[1].max_count) == ("m", 5)


def test_a_substruct_is_the_one_of_the_enclosing_version_that_stands_before() -> None:
    use = '<Data ElementName="s" SubStruct="Sub" Size="2"/>'
    structs = read(
        struct_of("a int8", "Sub", 1), struct_of("a int16", "Sub", 546), struct_of(use, "S", 545),
        struct_of(use, "S", 546), struct_of("a int32", "Sub", 550), struct_of(use, "S", 1000),
    )  # fmt: skip
    kinds = [made.fields[0].fields[0].type for made in structs if made.name == "S"]
    assert kinds == [FieldType.INT8, FieldType.INT16, FieldType.INT32]
    assert all(made.fields[0].size == 2 for made in structs if made.name == "S")


def test_substructs_of_another_file(tmp_path: Path) -> None:
    (sub,) = read(struct_of("a int8", "Sub"))
    path = tmp_path / "Own.xml"
    path.write_bytes(file_of(struct_of('<Data ElementName="s" Substruct="Sub"/>')))
    (made,) = read_file(path, {"Sub": {1: sub}})
    assert made.fields[0].fields == sub.fields


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "S.xml.gz"
    path.write_bytes(gzip.compress(file_of(struct_of("a int8"))))
    assert [made.name for made in read_file(path)] == ["S"]


COMPLAINTS = [
    ('<Struct ClientVersion="1"/>', "line 2: struct ?: the Struct has no Name"),
    ('<Struct Name="S"/>', "line 2: struct S: the Struct has no ClientVersion"),
    ('<Struct Name="S" ClientVersion="-1"/>', "struct S: S: clientversion '-1' must be a number"),
    ('<Struct Name="S" ClientVersion="5000000000"/>', "a number from 0 to 4294967295"),
    (struct_of('\n<Data Type="int8"/>'), "line 4: struct S: a Data has no ElementName"),
    (struct_of(data("a", "int9")), "line 3: struct S: field a: unknown Type 'int9'"),
    (struct_of('<Data ElementName="a"/>'), "field a: unknown Type ''"),
    (struct_of(data("a", "int8", 'Type2="x"')), "field a: unknown Type2 'x'"),
    (struct_of(data("a", "int8", 'Size="0"')), "field a: Size is 0"),
    (struct_of(data("a", "int8", 'Size="4000000000"')), "a: size '4000000000' must be a number"),
    (struct_of(data("a", "int8", 'Size="1e3"')), "a: size '1e3' must be a number from 0 to 65535"),
    (struct_of(data("a", "int8", 'DefaultByteValue="256"')), "a number from 0 to 255"),
    (struct_of(data("a", "int16", 'OversizedValue="300"')), "a number from 0 to 255"),
    (struct_of('<Data ElementName="a" Type="Array"/>'), "array a: no ArraySizeVariable"),
    (struct_of('<Data ElementName="a" Type="int8"><Data ElementName="b" Type="int8"/></Data>'),
     "field a: only an Array may contain Data"),
    (struct_of(struct_of("a int8")), "struct S: a Struct inside a Struct"),
    (struct_of('<Data ElementName="a" Substruct="S"/>'), "field a: struct S copies itself"),
    (struct_of('<Data ElementName="a" Substruct="T"/>') + struct_of("b int8", "T"),
     "field a: no struct T for version 1 precedes it"),
    (struct_of("b int8", "T", 2) + struct_of('<Data ElementName="a" Substruct="T"/>'),
     "field a: no struct T for version 1 precedes it"),
    (struct_of(data("a" * 129, "int8")), "a name has more than 128 characters"),
    ("<Struct", "not well-formed XML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "complaint"), COMPLAINTS)
def test_a_complaint_names_file_line_struct_and_field(text: str, complaint: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("Test.xml, line ")
    assert caught.value.place is not None
    assert len(str(caught.value)) < 400


def test_two_structs_that_hold_one_another_are_refused() -> None:
    def hold(name: str, other: str) -> str:
        return struct_of(f'<Data ElementName="x" Substruct="{other}"/>', name)

    with pytest.raises(FileFormatError, match="no struct B for version 1 precedes it"):
        read(hold("A", "B"), hold("B", "A"))


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lollollol">'
    b'<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><EQ2Emulator>&b;</EQ2Emulator>'
)
DOUBLING = [struct_of("x int8", "S0")] + [
    struct_of(
        f'<Data ElementName="x" Substruct="S{i}"/><Data ElementName="y" Substruct="S{i}"/>',
        f"S{i + 1}",
    )
    for i in range(40)
]
CHAIN = [struct_of("x int8", "S0")] + [
    struct_of(f'<Data ElementName="x" Substruct="S{i}"/>', f"S{i + 1}") for i in range(5000)
]
MANY = [struct_of("".join(data(f"f{i}", "int8") for i in range(9000)), "Big")] + [
    struct_of('<Data ElementName="x" Substruct="Big"/>', f"S{i}") for i in range(300)
]
HOSTILE = {
    "entities": (BOMB, "document type"),
    "an outside file": (
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><EQ2Emulator/>', "document type",
    ),
    "no XML": (b"\0" * 100, "not well-formed"), "nothing": (b"", "not well-formed"),
    "an unknown encoding": (b'<?xml version="1.0" encoding="x"?><EQ2Emulator/>', "not readable"),
    "a cut file": (file_of(struct_of("a int8"))[:-20], "not well-formed"),
    "another root": (b"<html/>", "root element is html"),
    "a deep file": (b"<EQ2Emulator>" + b"<a>" * 200_000, "nested deeper"),
    "doubling substructs": (file_of(*DOUBLING), "more than [0-9]+ fields"),
    "a chain of substructs": (file_of(*CHAIN), "substructs nested deeper"),
    "many large structs": (file_of(*MANY), "fields in this file"),
    "huge fields": (
        file_of(struct_of("".join(data(f"f{i}", "int64", 'Size="65535"') for i in range(9)))),
        "more than [0-9]+ fields",
    ),
    "a huge substruct": (
        file_of(
            struct_of("x int8", "A"),
            struct_of('<Data ElementName="x" Substruct="A" Size="65535"/>', "B"),
        ),
        "more than [0-9]+ fields",
    ),
    "many structs": (file_of(*["<Struct Name='A' ClientVersion='1'/>"] * 20_001), "more than"),
    "a long line": (
        b'<EQ2Emulator><Struct Name="' + b"a" * 3_000_000 + b'" ClientVersion="1"/></EQ2Emulator>',
        "name has more",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_end_in_one_clear_line(kind: str) -> None:
    text, complaint = HOSTILE[kind]
    with within(5):
        with pytest.raises(FileFormatError, match=complaint) as caught:
            read_text(text, "Test.xml")
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_file_of_100_megabytes_in_one_line_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.xml.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(100):
            stream.write(b" " * 1_000_000)
    with pytest.raises(FileFormatError, match=f"larger than {FILE_LIMIT} bytes"):
        read_file(path)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"<EQ2Emulator/>", mtime=0)[:-10]],
    ids=["no gzip", "cut short"],
)
def test_a_damaged_gzip_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "S.xml.gz"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_file(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_file(tmp_path / "none.xml")


GOOD = file_of(
    struct_of("a int8, b EQ2_16Bit_String", "Sub"),
    struct_of(data("n", "int8") + array("x", "n", '<Data ElementName="s" Substruct="Sub"/>')),
)


@given(place=st.integers(0, len(GOOD)), cut=st.integers(0, 9), put=st.binary(max_size=6))
def test_a_garbled_file_is_read_or_refused(place: int, cut: int, put: bytes) -> None:
    with contextlib.suppress(FileFormatError):
        read_text(GOOD[:place] + put + GOOD[place + cut :], "Test.xml")
