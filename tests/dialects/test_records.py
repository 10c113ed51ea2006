"""`RecordPacker`: the places of fields, found by a layout alone."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import pytest

from emu.dialects.records import RecordPacker
from emu.errors import StructValueError

LAYOUT = struct.Struct("<xHxi4sQ")


def encode(values: Mapping[str, Any]) -> bytes:
    """Write a record with a gap, a signed number, a text of four bytes and a number of eight."""
    text = values.get("text", "").encode()
    numbers = [values.get(name, 0) for name in ("level", "price", "coins")]
    try:
        return LAYOUT.pack(numbers[0], numbers[1], text, numbers[2])
    except struct.error as error:
        raise StructValueError(str(error)) from error


def test_records_are_those_of_the_layout() -> None:
    packer = RecordPacker(encode, ("price", "level", "coins", "unknown"), {"text": 4})
    for level, price, coins, text in (
        (0, 0, 0, ""),
        (0xFFFF, 5, 1 << 63, "oak"),
        (7, 9, 1, "abcd"),
    ):
        values = {"level": level, "price": price, "coins": coins, "text": text}
        packed = packer.pack({**values, "text": text.encode(), "more": 1})
        assert packed == encode(values)


def test_a_number_that_is_too_great_is_refused() -> None:
    packer = RecordPacker(encode, ("level", "price"))
    with pytest.raises(struct.error):
        packer.pack({"level": 0x10000, "price": 0})


def test_a_record_that_begins_with_something_is_refused() -> None:
    with pytest.raises(ValueError, match="zeros"):
        RecordPacker(lambda _values: b"\1", ("level",))
