"""Readers of some numbers of a struct, beside `decode`."""

from __future__ import annotations

import random
import struct

import pytest

from emu.structs import shipped_catalog
from emu.world_stream.deltas import CONTENT
from tests.support.files.struct_texts import array, data, layout_of

STEP = ("z", "x", "activity", "grid_location", "pitch", "direction1")


@pytest.mark.parametrize("version", [373, 546, 561, 908, 1096, 1208, 57080, 60114, 64753])
def test_the_numbers_of_a_step_are_those_that_decode_returns(version: int) -> None:
    layout = shipped_catalog().layout(CONTENT, version)
    read, chance = layout.number_reader(*STEP), random.Random(version)
    for _ in range(20):
        body = chance.randbytes(layout.empty_size())
        fields = layout.decode(body)
        # Compared by their texts: random bytes are NaN at times, which equals nothing.
        assert list(map(repr, read(body))) == [repr(fields[name]) for name in STEP]


def test_lists_between_the_numbers_are_skipped() -> None:
    layout = layout_of(data("a", "int8") + data("l", "int16", 'Size="3"') + data("b", "float"))
    body = struct.pack("<B3Hf", 7, 1, 2, 3, 0.5)
    assert layout.decode(body) == {"a": 7, "l": [1, 2, 3], "b": 0.5}
    assert layout.number_reader("b", "a")(body) == (0.5, 7)


def test_a_layout_with_other_fields_is_read_as_well() -> None:
    layout = layout_of(
        data("n", "int8") + array("items", "n", data("id", "int8")) + data("z", "int16")
    )
    assert layout.number_reader("z", "n")(bytes.fromhex("02 0102 0300")) == (3, 2)
