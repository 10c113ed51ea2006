from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, MalformedStruct, StructValueError
from emu.structs import StructLayout
from tests.support.files.struct_texts import array, catalog_of, data, layout_of, struct_of

EVERY_TYPE = layout_of(
    "a int8, b int16, c int32, d int64, e float, f double, g EQ2_Color, h sint8, i sint16,"
    "j sint32, k sint64, l char 4, m EQ2_8Bit_String, n EQ2_16Bit_String, o EQ2_32Bit_String,"
    "p EQ2_EquipmentItem, q EQ2_Item"
)
VALUES = {
    "a": 1, "b": 2, "c": 3, "d": 4, "e": 1.5, "f": -2.5, "g": [1, 2, 3], "h": -1, "i": -2,
    "j": -3, "k": -4, "l": "ab", "m": "x", "n": "yz", "o": "\xff",
    "p": {"type": 9, "color": [1, 2, 3], "highlight": [4, 5, 6]}, "q": "rest",
}  # fmt: skip
WIRE = bytes.fromhex(
    "01 0200 03000000 0400000000000000 0000c03f 00000000000004c0 010203 ff feff fdffffff"
    "fcffffffffffffff 61620000 0178 0200797a 01000000ff 0900010203040506 72657374"
)


def test_every_type_in_the_order_of_the_file_without_padding() -> None:
    assert EVERY_TYPE.encode(VALUES) == WIRE
    assert EVERY_TYPE.decode(WIRE) == VALUES


def test_what_is_missing_is_zero_or_empty() -> None:
    assert EVERY_TYPE.encode({}) == bytes(64)
    assert EVERY_TYPE.empty_size() == 64


def test_a_whole_message_has_nothing_behind_it() -> None:
    layout = layout_of("a int8, b int16")
    assert layout.decode(b"\x01\x02\x00") == {"a": 1, "b": 2}
    for wrong in (b"", b"\x01\x02", b"\x01\x02\x00\x00"):
        with pytest.raises(MalformedMessage):
            layout.decode(wrong)


def test_a_prefix_says_where_it_ends() -> None:
    layout = layout_of("a int8, t EQ2_8Bit_String")
    assert layout.decode_prefix(b"zz\x05\x01xyy", 2) == ({"a": 5, "t": "x"}, 5)
    with pytest.raises(MalformedMessage):
        layout.decode_prefix(b"zz\x05", 2)
    with pytest.raises(MalformedMessage):
        layout.decode_prefix(b"zz\x05", 20)


LOGIN = layout_of("user EQ2_16Bit_String, password EQ2_16Bit_String, number int32, version int16")
WHOLE = bytes.fromhex("0200 6162 0100 63 78563412 2202")


def test_a_short_message_has_zeros_from_the_first_field_that_does_not_fit() -> None:
    full = {"user": "ab", "password": "c", "number": 0x12345678, "version": 546}
    assert LOGIN.decode_short(WHOLE) == full
    assert LOGIN.decode_short(WHOLE + b"more") == full
    assert LOGIN.decode_short(WHOLE[:-1]) == full | {"version": 0}
    assert LOGIN.decode_short(WHOLE[:10]) == full | {"version": 0, "number": 0}
    assert LOGIN.decode_short(WHOLE[:6]) == {
        "user": "ab", "password": "", "number": 0, "version": 0,
    }  # fmt: skip
    lie = b"\xff\xff" + WHOLE[2:]
    assert LOGIN.decode_short(lie) == {"user": "", "password": "", "number": 0, "version": 0}


@given(length=st.integers(0, len(WIRE)))
def test_a_short_message_of_every_type_can_be_read_and_written(length: int) -> None:
    read = EVERY_TYPE.decode_short(WIRE[:length])
    assert read.keys() == VALUES.keys()
    assert len(EVERY_TYPE.encode(read)) >= length


def test_names_the_struct_does_not_have_are_refused() -> None:
    with pytest.raises(StructValueError, match=r"S 1\.acount"):
        layout_of("a int8").encode({"a": 1, "acount": 2})
    with pytest.raises(StructValueError, match="object"):
        layout_of("a int8").encode([1])  # type: ignore[arg-type]


def test_a_layout_knows_where_it_comes_from() -> None:
    catalog = catalog_of(struct_of("a int8", "X", 546, 'OpcodeName="OP_X"'))
    layout = catalog.layout("X", 561)
    assert (layout.name, layout.client_version, layout.opcode_name) == ("X", 546, "OP_X")
    assert layout.definition.fields[0].name == "a"


def test_a_layout_names_the_versions_that_it_is_for() -> None:
    catalog = catalog_of(
        struct_of("a int8", "X", 60100), struct_of("a int8", "X", 546), struct_of("a int8", "Y", 1)
    )
    assert catalog.layout("X", 561).versions == "546-60099"
    assert catalog.layout("X", 561).last_version == 60099
    assert catalog.layout("X", 60100, create_color=True).versions == "60100 and later"
    assert catalog.layout("X", 60114).last_version is None
    catalog.add_struct(replace(catalog.definition("X", 546), client_version=562))
    assert catalog.layout("X", 561).versions == "546-561"
    assert catalog.layout("X", 562).versions == "562-60099"


DEEP = layout_of(
    data("n", "int8")
    + array("items", "n", data("id", "int16") + data("text", "EQ2_8Bit_String"))
    + '<Data ElementName="pair" Substruct="Sub" Size="2"/><Data ElementName="one" Substruct="Sub"/>'
    + data("names", "EQ2_8Bit_String", 'Size="2"'),
    before=struct_of("x int8, y int16", name="Sub"),
)
DEEP_WIRE = bytes.fromhex("02 0100 0161 0200 00  010200 030400  050600 0162 0163")


@pytest.mark.parametrize(
    ("size", "field", "offset"),
    [(0, "n", 0), (1, "items", 1), (4, "items[0].text", 3), (6, "items[1].id", 5),
     (7, "items[1].text", 7), (9, "pair[0].y", 9), (13, "pair[1].y", 12), (15, "one.y", 15),
     (17, "names[0]", 17), (20, "names[1]", 19)],
)  # fmt: skip
def test_an_error_names_struct_field_and_byte(size: int, field: str, offset: int) -> None:
    for read in (DEEP.decode, DEEP.decode_prefix):
        with pytest.raises(MalformedStruct) as caught:
            read(DEEP_WIRE[:size])
        error = caught.value
        assert (error.struct, error.field, error.offset) == ("S 1", field, offset)
        assert str(error) == f"S 1, field {field}, byte {offset}: {error.reason}"
        assert error.reason in (
            "message shorter than its layout",
            "array count is larger than the message",
        )


def test_an_error_hands_out_what_was_read() -> None:
    with pytest.raises(MalformedStruct) as caught:
        DEEP.decode(DEEP_WIRE[:13])
    assert caught.value.values == {
        "n": 2, "items": [{"id": 1, "text": "a"}, {"id": 2, "text": ""}],
        "pair": [{"x": 1, "y": 2}, {"x": 3}],
    }  # fmt: skip
    with pytest.raises(
        MalformedStruct, match=r"^S 1, byte 21: message longer than its layout$"
    ) as caught:
        DEEP.decode(DEEP_WIRE + b"x")
    assert caught.value.values == DEEP.decode(DEEP_WIRE)


OPTIONAL = layout_of(
    data("n", "int8")
    + data("x", "int8", 'IfVariableSet="n"')
    + data("m", "int8", 'IfVariableSet="n"')
    + array("a", "m", data("k", "int8") + data("v", "int8", 'IfVariableSet="k_%i"'))
)


def test_strict_values_are_those_that_are_written() -> None:
    values = {"n": 1, "x": 2, "m": 2, "a": [{"k": 1, "v": 3}, {"k": 0}]}
    assert OPTIONAL.encode(values, strict=True) == OPTIONAL.encode(values)
    assert OPTIONAL.encode({"n": 0, "x": None, "a": []}, strict=True) == b"\0"
    assert OPTIONAL.decode(OPTIONAL.encode(values, strict=True)) == values


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"n": 0, "x": 2}, r"^S 1\.x: its conditions do not hold"),
        ({"n": 0, "x": 0}, r"^S 1\.x: its conditions do not hold"),
        ({"n": 0, "m": 0}, r"^S 1\.m: its conditions do not hold"),
        ({"n": 0, "a": [{}]}, r"^S 1\.a: its count m would not be written"),
        ({"n": 1, "a": [{"k": 0, "v": 1}]}, r"^S 1\.a\.v: its conditions do not hold"),
        ({"y": 1}, r"^S 1\.y: unknown field"),
    ],
)
def test_strict_values_that_would_not_be_written_are_refused(
    values: dict[str, Any], what: str
) -> None:
    with pytest.raises(StructValueError, match=what):
        OPTIONAL.encode(values, strict=True)
    if "y" not in values:
        OPTIONAL.encode(values)


def test_an_error_about_a_whole_block_has_no_dot_behind_it() -> None:
    with pytest.raises(StructValueError, match=r"^S 1: must be an object, not 5$"):
        OPTIONAL.encode(5)  # type: ignore[arg-type]
    with pytest.raises(StructValueError, match=r"^S 1\.a: must be an object, not 5$"):
        OPTIONAL.encode({"n": 1, "a": [5]})
    with pytest.raises(StructValueError, match=r"^S 1\.a: must be a list of 2 objects"):
        OPTIONAL.encode({"n": 1, "m": 2, "a": {}})


HARD = layout_of(
    data("n", "int8")
    + data("over", "int16", 'OversizedValue="255"')
    + data("text", "EQ2_16Bit_String", 'IfVariableSet="n"')
    + array(
        "items", "n",
        data("m", "int16")
        + data("kind", "sint16", 'OversizedValue="127" OversizedByte="127"')
        + array("inner", "m", data("v", "float") + data("c", "EQ2_Color")),
        'MaxArraySize="4"',
    )
    + data("worn", "EQ2_EquipmentItem", 'Size="3"')
    + data("name", "char", 'Size="8"')
)  # fmt: skip
BOTH: list[StructLayout] = [EVERY_TYPE, HARD, LOGIN]


@given(layout=st.sampled_from(BOTH), garbage=st.binary(max_size=200))
def test_any_bytes_are_values_or_malformed(layout: StructLayout, garbage: bytes) -> None:
    for read in (layout.decode, layout.decode_prefix, layout.decode_short):
        with contextlib.suppress(MalformedMessage):
            read(garbage)


PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(layout=st.sampled_from(BOTH), data=st.data())
def test_any_values_are_bytes_or_refused(layout: StructLayout, data: st.DataObject) -> None:
    names = st.sampled_from([entry.name for entry in layout.definition.fields])
    values = data.draw(st.dictionaries(names, PLAIN_JSON, max_size=4))
    with contextlib.suppress(StructValueError):
        layout.encode(values)
