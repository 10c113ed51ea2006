"""EQ2_Again: bytes of the same struct that come once more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, MalformedStruct
from emu.structs import StructLayout
from tests.support.files.struct_texts import array, catalog_of, data, layout_of, struct_of

FIELDS = (
    data("kind", "int8") + data("name", "EQ2_8Bit_String")
    + data("more", "EQ2_Again", 'From="1" IfVariableIn="kind:128"')
)  # fmt: skip


def layout() -> StructLayout:
    return layout_of(FIELDS)


def test_the_bytes_from_the_offset_on_come_again() -> None:
    made = layout()
    whole = bytes.fromhex("80 02 4162 02 4162")
    assert made.encode({"kind": 128, "name": "Ab"}) == whole
    assert made.decode(whole) == {"kind": 128, "name": "Ab"}
    assert made.encode({"kind": 0, "name": "Ab"}) == bytes.fromhex("00 02 4162")


@pytest.mark.parametrize("rest", ["02 4163", "02 41", "", "02 4162 00"])
def test_other_bytes_or_another_length_are_refused(rest: str) -> None:
    with pytest.raises(MalformedMessage):
        layout().decode(bytes.fromhex("80 02 4162" + rest))


def test_a_fault_is_shown_at_its_place() -> None:
    with pytest.raises(MalformedStruct, match="bytes that come again differ") as caught:
        layout().decode(bytes.fromhex("80 02 4162 02 4163"))
    assert (caught.value.field, caught.value.offset) == ("more", 4)


def test_a_short_message_is_read_as_far_as_it_goes() -> None:
    assert layout().decode_short(bytes.fromhex("80 02 4162 02 41")) == {"kind": 128, "name": "Ab"}


def test_offsets_count_from_the_copied_struct() -> None:
    inner = struct_of(FIELDS, name="Inner")
    rows = data("n", "int8") + array("rows", "n", '<Data ElementName="x" Substruct="Inner"/>')
    made = catalog_of(inner, struct_of(rows)).layout("S", 1)
    values = {"n": 2, "rows": [{"x": {"kind": 128, "name": "A"}}, {"x": {"kind": 0, "name": "B"}}]}
    whole = bytes.fromhex("02 80 0141 0141 00 0142")
    assert made.encode(values) == whole
    assert made.decode(whole) == values
    assert made.decode_prefix(b"\xa5" + whole, 1) == (values, len(whole) + 1)


@given(st.integers(0, 255), st.binary(max_size=255))
def test_every_message_makes_the_way_and_back(kind: int, name: bytes) -> None:
    made = layout()
    values: dict[str, Any] = {"kind": kind, "name": name.decode("latin-1")}
    assert made.decode(made.encode(values)) == values
