"""Arrays and the fields that count them, where either may be absent."""

from __future__ import annotations

import pytest

from emu.errors import StructValueError
from emu.structs import Layout
from emu.structs.reader import read_text

ARRAY = (
    '<Data ElementName="a" Type="Array" ArraySizeVariable="n" {extra}>'
    '<Data ElementName="x" Type="int8"/></Data><Data ElementName="end" Type="int8"/>'
)
COUNT = '<Data ElementName="with" Type="int8"/><Data ElementName="n" Type="int8" {extra}/>'
IF = 'IfVariableSet="with"'
FLAG = 'IfFlagSet="loot"'


def layout(fields: str) -> Layout:
    text = f'<EQ2Emulator><Struct Name="A" ClientVersion="1">{fields}</Struct></EQ2Emulator>'
    return Layout(read_text(text.encode(), "a.xml")[0])


@pytest.mark.parametrize(("condition", "flags"), [(IF, ()), (FLAG, ("loot",))])
def test_elements_need_their_count_on_the_wire(condition: str, flags: tuple[str, ...]) -> None:
    made = layout(COUNT.format(extra=condition) + ARRAY.format(extra=""))
    fields = {"with": int(not flags), "a": [{"x": 5}], "end": 9}
    data = made.encode(fields, flags)
    assert data[1:] == b"\x01\x05\x09"
    assert made.decode(data, flags)["a"] == [{"x": 5}]
    with pytest.raises(StructValueError, match=r"A 1\.a.*list of 0 objects, as its count says"):
        made.encode({**fields, "with": 0})


def test_no_elements_need_no_count() -> None:
    made = layout(COUNT.format(extra=IF) + ARRAY.format(extra=""))
    assert made.encode({"a": [], "end": 9}) == b"\0\x09"
    assert made.decode(b"\0\x09") == {"with": 0, "a": [], "end": 9}
    assert made.encode({"n": 0, "end": 9}) == b"\0\x09"


def test_a_count_that_is_not_there_counts_nothing() -> None:
    made = layout(COUNT.format(extra=IF) + ARRAY.format(extra=""))
    assert made.encode({"n": 3, "end": 9}) == b"\0\x09"


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
