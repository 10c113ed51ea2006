"""Arrays and the fields that count them, where either may be absent."""

from __future__ import annotations

import pytest

from emu.errors import StructValueError
from emu.structs import StructLayout
from emu.structs.reader import read_text

ARRAY = (
    '<Data ElementName="a" Type="Array" ArraySizeVariable="n" {extra}>'
    '<Data ElementName="x" Type="int8"/></Data><Data ElementName="end" Type="int8"/>'
)
COUNT = '<Data ElementName="with" Type="int8"/><Data ElementName="n" Type="int8" {extra}/>'
IF = 'IfVariableSet="with"'
FLAG = 'IfFlagSet="loot"'


def layout(fields: str) -> StructLayout:
    text = f'<EQ2Emulator><Struct Name="A" ClientVersion="1">{fields}</Struct></EQ2Emulator>'
    return StructLayout(read_text(text.encode(), "a.xml")[0])


@pytest.mark.parametrize(("condition", "flags"), [(IF, ()), (FLAG, ("loot",))])
def test_elements_are_written_even_where_their_count_is_not(
    condition: str, flags: tuple[str, ...]
) -> None:
    made = layout(COUNT.format(extra=condition) + ARRAY.format(extra=""))
    fields = {"with": int(not flags), "a": [{"x": 5}], "end": 9}
    data = made.encode(fields, flags)
    assert data[1:] == b"\x01\x05\x09"
    assert made.decode(data, flags)["a"] == [{"x": 5}]
    assert made.encode({**fields, "with": 0}) == b"\0\x05\x09"
    assert made.encode({**fields, "with": 0, "n": 1}) == b"\0\x05\x09"
    with pytest.raises(StructValueError, match=r"A 1\.n: is 2, but a has 1"):
        made.encode({**fields, "with": 0, "n": 2})


def test_two_lists_whose_counts_exclude_each_other_as_flight_paths_have_them() -> None:
    made = layout(
        '<Data ElementName="n" Type="int16"/>'
        '<Data ElementName="a" Type="Array" ArraySizeVariable="n">'
        '<Data ElementName="length" Type="int16"/></Data>'
        '<Data ElementName="n2" Type="int16" IfVariableNotSet="n"/>'
        '<Data ElementName="b" Type="Array" ArraySizeVariable="n2">'
        '<Data ElementName="length2" Type="int16" IfVariableSet="n"/>'
        '<Data ElementName="c" Type="Array" ArraySizeVariable="length2">'
        '<Data ElementName="x" Type="int8"/></Data></Data>'
    )
    fields = {"n": 1, "a": [{"length": 2}], "b": [{"c": [{"x": 7}, {"x": 8}]}]}
    assert made.encode(fields) == bytes.fromhex("0100 0200 07 08")
    assert made.encode({**fields, "n2": 1}) == bytes.fromhex("0100 0200 07 08")


def test_no_elements_need_no_count() -> None:
    made = layout(COUNT.format(extra=IF) + ARRAY.format(extra=""))
    assert made.encode({"a": [], "end": 9}) == b"\0\x09"
    assert made.decode(b"\0\x09") == {"with": 0, "a": [], "end": 9}
    assert made.encode({"n": 0, "end": 9}) == b"\0\x09"


def test_a_count_that_is_not_there_counts_all_the_same() -> None:
    made = layout(COUNT.format(extra=IF) + ARRAY.format(extra=""))
    assert made.encode({"n": 3, "end": 9}) == b"\0\0\0\0\x09"


def test_an_array_that_is_not_there_leaves_its_count() -> None:
    made = layout(COUNT.format(extra="") + ARRAY.format(extra=IF))
    data = made.encode({"a": [{"x": 5}], "end": 9})
    assert data == b"\0\x01\x09"
    assert made.encode(made.decode(data)) == data


def test_a_condition_may_ask_for_a_count_that_follows_from_its_array() -> None:
    made = layout(
        '<Data ElementName="n" Type="int8"/><Data ElementName="m" Type="int8" IfVariableSet="n"/>'
        + ARRAY.format(extra="")
    )
    assert made.encode({"a": [{"x": 5}], "m": 7, "end": 9}) == b"\x01\x07\x05\x09"
    assert made.encode({"m": 7, "end": 9}) == b"\0\x09"
