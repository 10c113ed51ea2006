from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, StructValueError
from emu.structs import Layout
from tests.support.struct_texts import array, catalog_of, data, layout_of, struct_of

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
BOTH: list[Layout] = [EVERY_TYPE, HARD, LOGIN]


@given(layout=st.sampled_from(BOTH), garbage=st.binary(max_size=200))
def test_any_bytes_are_values_or_malformed(layout: Layout, garbage: bytes) -> None:
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


@given(layout=st.sampled_from(BOTH), data=st.data())
def test_any_values_are_bytes_or_refused(layout: Layout, data: st.DataObject) -> None:
    names = st.sampled_from([entry.name for entry in layout.definition.fields])
    values = data.draw(st.dictionaries(names, PLAIN_JSON, max_size=4))
    with contextlib.suppress(StructValueError):
        layout.encode(values)
