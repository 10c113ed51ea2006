from __future__ import annotations

import struct
from typing import Any

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.structs import StructLayout
from tests.support.files.struct_texts import array, data, layout_of, struct_of


def both_ways(layout: StructLayout, values: dict[str, Any], wire: str, *flags: str) -> None:
    raw = bytes.fromhex(wire)
    assert layout.encode(values, flags, strict=True) == raw
    assert layout.decode(raw, flags) == values


LIST = layout_of(
    data("n", "int8") + array("items", "n", data("id", "int16") + data("t", "EQ2_8Bit_String"))
)


def test_an_array_is_written_element_by_element() -> None:
    values = {"n": 2, "items": [{"id": 1, "t": "a"}, {"id": 2, "t": ""}]}
    both_ways(LIST, values, "02 0100 01 61 0200 00")
    both_ways(LIST, {"n": 0, "items": []}, "00")


def test_a_count_follows_from_its_list() -> None:
    assert LIST.encode({"items": [{"id": 1}]}) == bytes.fromhex("01 0100 00")
    assert LIST.encode({"n": 2}) == bytes.fromhex("02 0000 00 0000 00")


@pytest.mark.parametrize(
    "values",
    [{"n": 1, "items": [{}, {}]}, {"items": [{}] * 256}, {"items": {}}, {"items": [5]},
     {"items": [{"x": 1}]}, {"items": "ab", "n": 2}, {"n": "1", "items": [{}]}],
)  # fmt: skip
def test_elements_that_do_not_fit_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(StructValueError, match="S 1"):
        LIST.encode(values)


@pytest.mark.parametrize("kind", ["int32", "int64", "sint32", "float", "EQ2_8Bit_String"])
def test_counts_that_cannot_be_make_no_elements(kind: str) -> None:
    layout = layout_of(data("n", kind) + array("items", "n", data("id", "int8")))
    for count in (4_000_000_000, 65_536, -1, 1.5, "9"):
        with pytest.raises(StructValueError):
            layout.encode({"n": count})


@pytest.mark.parametrize("wire", ["ffffffff", "00000100", "03000000 0101", "ffff0000 00"])
def test_a_count_beyond_the_message_is_malformed_even_for_the_lenient(wire: str) -> None:
    layout = layout_of(data("n", "int32") + array("items", "n", data("id", "int8")))
    for read in (layout.decode, layout.decode_short):
        with pytest.raises(MalformedMessage):
            read(bytes.fromhex(wire))


@pytest.mark.parametrize(("kind", "wire"), [("sint8", "ff 00"), ("float", "0000803f 00000000")])
def test_a_count_that_is_no_number_of_elements_is_malformed(kind: str, wire: str) -> None:
    layout = layout_of(data("n", kind) + array("items", "n", data("id", "int8")))
    with pytest.raises(MalformedMessage):
        layout.decode(bytes.fromhex(wire))


def test_arrays_nest() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("outer", "n", data("m", "int8") + array("inner", "m", data("x", "int8")))
    )
    values = {
        "n": 2,
        "outer": [{"m": 2, "inner": [{"x": 1}, {"x": 2}]}, {"m": 0, "inner": []}],
    }
    both_ways(layout, values, "02 02 01 02 00")


def test_nested_counts_cannot_multiply_without_bound() -> None:
    nothing = data("x", "int8", 'IfVariableSet="never"')
    layout = layout_of(
        data("n", "int16")
        + array("outer", "n", data("m", "int16") + array("inner", "m", nothing))
        + data("z", "int8", 'Size="300"')
    )
    with pytest.raises(MalformedMessage, match="array elements"):
        layout.decode(struct.pack("<301H", *[300] * 301) + bytes(300))


def test_reading_stops_at_the_largest_size_of_an_array() -> None:
    layout = layout_of(
        data("n", "int8") + array("items", "n", data("x", "int8"), 'MaxArraySize="2"')
    )
    values, end = layout.decode_prefix(bytes.fromhex("03 01 02 03"))
    assert values == {"n": 3, "items": [{"x": 1}, {"x": 2}]}
    assert end == 3


SUB = struct_of("x int8, y EQ2_8Bit_String", name="Sub")


def test_a_substruct_is_a_dict_and_several_are_a_list() -> None:
    layout = layout_of(
        '<Data ElementName="one" Substruct="Sub"/>'
        '<Data ElementName="two" Substruct="Sub" Size="2"/>',
        before=SUB,
    )
    one, two = {"x": 1, "y": ""}, {"x": 2, "y": "b"}
    both_ways(layout, {"one": one, "two": [one, two]}, "01 00 01 00 02 01 62")
    assert layout.encode({}) == bytes(6)
    for wrong in ({"one": [one]}, {"two": one}, {"two": [one]}, {"one": {"z": 1}}):
        with pytest.raises(StructValueError):
            layout.encode(wrong)


def test_conditions_of_a_substruct_cover_all_of_it() -> None:
    layout = layout_of(
        data("n", "int8") + '<Data ElementName="s" Substruct="Sub" IfVariableSet="n"/>', before=SUB
    )
    both_ways(layout, {"n": 0}, "00")
    both_ways(layout, {"n": 1, "s": {"x": 5, "y": ""}}, "01 05 00")


def test_a_later_field_may_ask_for_a_substructs_field_by_its_flat_name() -> None:
    layout = layout_of(
        '<Data ElementName="s" Substruct="Sub" Size="2"/>'
        + data("tail", "int8", 'IfVariableSet="s_x_1"'),
        before=SUB,
    )
    both_ways(layout, {"s": [{"x": 1, "y": ""}, {"x": 0, "y": ""}]}, "0100 0000")
    both_ways(layout, {"s": [{"x": 0, "y": ""}, {"x": 1, "y": ""}], "tail": 9}, "0000 0100 09")


def test_a_substructs_field_may_ask_for_another_by_the_name_it_has_in_its_holder() -> None:
    foot = struct_of(
        data("flag", "int8") + data("extra", "int8", 'IfVariableSet="footer_flag_0"'), name="Foot"
    )
    once = layout_of('<Data ElementName="footer" Substruct="Foot"/>', before=foot)
    both_ways(once, {"footer": {"flag": 1, "extra": 2}}, "01 02")
    both_ways(once, {"footer": {"flag": 0}}, "00")
    twice = layout_of('<Data ElementName="footer" Substruct="Foot" Size="2"/>', before=foot)
    both_ways(twice, {"footer": [{"flag": 1, "extra": 2}, {"flag": 0, "extra": 3}]}, "0102 0003")
    both_ways(twice, {"footer": [{"flag": 0}, {"flag": 1}]}, "00 01")


def test_flat_names_reach_through_two_substructs() -> None:
    foot = struct_of(
        data("flag", "int8") + data("extra", "int8", 'IfVariableSet="item_footer_flag_0_0"'),
        name="Foot",
    )
    item = struct_of('<Data ElementName="footer" Substruct="Foot"/>', name="Item")
    layout = layout_of('<Data ElementName="item" Substruct="Item"/>', before=foot + item)
    both_ways(layout, {"item": {"footer": {"flag": 1, "extra": 2}}}, "01 02")
    both_ways(layout, {"item": {"footer": {"flag": 0}}}, "00")


def test_a_condition_sees_the_count_that_follows_from_a_list_in_a_substruct() -> None:
    own = struct_of(data("k", "int8") + array("a", "k", data("x", "int8")), name="Own")
    layout = layout_of(
        '<Data ElementName="p" Substruct="Own"/>' + data("tail", "int8", 'IfVariableSet="p_k_0"'),
        before=own,
    )
    assert layout.encode({"p": {"a": [{"x": 5}]}, "tail": 9}) == b"\x01\x05\x09"
    both_ways(layout, {"p": {"k": 1, "a": [{"x": 5}]}, "tail": 9}, "01 05 09")


def test_a_numbered_name_in_an_array_means_that_element() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("a", "n", data("flag", "int8")
                + data("text", "EQ2_8Bit_String", 'IfVariableSet="flag_0"'))
    )  # fmt: skip
    assert layout.encode({"a": [{"flag": 1, "text": "no"}]}) == bytes.fromhex("0101 026e6f")
    both_ways(layout, {"n": 1, "a": [{"flag": 1, "text": "no"}]}, "01 01 026e6f")
    both_ways(layout, {"n": 2, "a": [{"flag": 0}, {"flag": 1}]}, "02 00 01")
    values = {"n": 2, "a": [{"flag": 1, "text": "a"}, {"flag": 0, "text": ""}]}
    both_ways(layout, values, "02 01 0161 00 00")


def test_a_numbered_name_in_an_array_sees_the_count_of_its_elements_list() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("a", "n", data("m", "int8") + array("b", "m", data("x", "int8"))
                + data("z", "int8", 'IfVariableSet="m_0"'))
    )  # fmt: skip
    assert layout.encode({"a": [{"b": [{"x": 5}], "z": 9}]}) == bytes.fromhex("01 01 05 09")


@pytest.mark.parametrize("strict", [True, False])
def test_an_object_that_is_repeated_has_the_bytes_of_copies_of_it(*, strict: bool) -> None:
    # The bytes that come again are those of the element, and not of the list.
    inner = (
        data("kind", "int8") + data("name", "EQ2_8Bit_String")
        + data("more", "EQ2_Again", 'From="1" IfVariableIn="kind:128"')
        + data("m", "int8") + array("b", "m", data("x", "int8"))
    )  # fmt: skip
    layout = layout_of(data("n", "int8") + array("a", "n", inner) + data("tail", "int8"))
    one: dict[str, Any] = {"kind": 128, "name": "Ab", "b": [{"x": 5}]}
    two: dict[str, Any] = {"kind": 0, "name": "", "b": []}
    order = [one, one, two, two, two, one]
    copies = [dict(element) for element in order]
    wire = layout.encode({"a": order, "tail": 9}, strict=strict)
    assert wire == layout.encode({"a": copies, "tail": 9}, strict=strict)
    first, second = "80 02 4162 02 4162 01 05", "00 00 00"
    assert wire == bytes.fromhex(f"06 {first * 2} {second * 3} {first} 09")
    assert (one, two) == (copies[0], copies[2])


def test_an_arrays_fields_see_nothing_around_it() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("a", "n", data("x", "int8", 'IfVariableSet="n"')
                + data("y", "int8", 'IfVariableNotSet="n"'))
    )  # fmt: skip
    both_ways(layout, {"n": 1, "a": [{"y": 5}]}, "01 05")


def test_an_array_in_a_substruct_counts_by_a_field_of_either() -> None:
    own = struct_of(data("k", "int8") + array("a", "k", data("x", "int8")), name="Own")
    owner = struct_of(array("a", "n", data("x", "int8")), name="Owner")
    layout = layout_of(
        data("n", "int8")
        + '<Data ElementName="p" Substruct="Own"/><Data ElementName="q" Substruct="Owner"/>',
        before=own + owner,
    )
    values = {"n": 1, "p": {"k": 2, "a": [{"x": 1}, {"x": 2}]}, "q": {"a": [{"x": 3}]}}
    both_ways(layout, values, "01 02 01 02 03")


def test_a_condition_in_an_array_names_the_same_element() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("items", "n", data("k", "int16") + data("x", "int8", 'IfVariableEquals="k_%i"'))
    )
    values = {"n": 2, "items": [{"k": 1, "x": 9}, {"k": 2}]}
    both_ways(layout, values, "02 0100 09 0200")


def test_flags_stand_for_both_directions() -> None:
    layout = layout_of(
        data("a", "int8", 'IfFlagSet="loot"') + data("b", "int8", 'IfFlagNotSet="loot"')
    )
    both_ways(layout, {"a": 1}, "01", "loot")
    both_ways(layout, {"b": 1}, "01")


def test_a_value_whose_condition_does_not_hold_may_be_given_and_is_left_out() -> None:
    layout = layout_of(data("n", "int8") + data("x", "int8", 'IfVariableSet="n"'))
    assert layout.encode({"n": 0, "x": 5}) == b"\x00"


def test_a_name_used_again_gets_a_number() -> None:
    layout = layout_of("a int8, a int8, b int8, a int8")
    both_ways(layout, {"a": 1, "a_2": 2, "b": 3, "a_3": 4}, "01 02 03 04")


def test_default_bytes_fill_unsigned_lists_only() -> None:
    layout = layout_of(
        data("a", "int16", 'Size="2" DefaultByteValue="255"')
        + data("b", "int8", 'DefaultByteValue="255"')
        + data("c", "sint8", 'Size="2" DefaultByteValue="255"')
    )
    assert layout.encode({}) == b"\xff" * 4 + bytes(3)
    assert layout.encode({"a": [1, 2]}) == bytes.fromhex("0100 0200 00 0000")


def test_the_second_type_of_a_field_in_an_array_of_statistics() -> None:
    layout = layout_of(
        data("n", "int8")
        + array("stats", "n", data("stat_type", "int8") + data("value", "float", 'Type2="sint16"'))
    )
    values = {"n": 2, "stats": [{"stat_type": 6, "value": 1.0}, {"stat_type": 1, "value": -2}]}
    both_ways(layout, values, "02 06 0000803f 01 feff")


def test_several_strings_or_oversized_integers_under_one_name() -> None:
    layout = layout_of(
        data("t", "EQ2_16Bit_String", 'Size="2"')
        + data("n", "int16", 'Size="3" OversizedValue="255"')
    )
    both_ways(layout, {"t": ["a", ""], "n": [1, 255, 300]}, "0100 61 0000 01 ffff00 ff2c01")
    assert layout.encode({}) == bytes(7)


def test_create_colors_are_three_floats() -> None:
    plain = layout_of("c EQ2_Color, d EQ2_Color 2")
    floats = layout_of("c EQ2_Color, d EQ2_Color 2", create_color=True)
    assert plain.empty_size() == 9
    assert floats.empty_size() == 36
    values = {"c": [0.5, 1.0, 0.0], "d": [[0.0, 0.25, 1.0], [0.0, 0.0, 0.0]]}
    assert floats.decode(floats.encode(values)) == values
