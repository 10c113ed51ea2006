"""Values for any packet struct, made from its definition, and what a round trip must show."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from itertools import cycle, islice
from random import Random
from typing import Any

from emu.structs import FieldDefinition, FieldType, StructLayout
from emu.structs.definitions import STRINGS

LETTERS = {
    FieldType.INT8: "B", FieldType.INT16: "H", FieldType.INT32: "I", FieldType.INT64: "Q",
    FieldType.SINT8: "b", FieldType.SINT16: "h", FieldType.SINT32: "i", FieldType.SINT64: "q",
    FieldType.FLOAT: "f", FieldType.DOUBLE: "d",
}  # fmt: skip
ELEMENTS = 3
"""Most elements of one array."""
LONGEST_TEXT = 12


def struct_values(
    fields: Sequence[FieldDefinition], random: Random, *, create_color: bool = False
) -> dict[str, Any]:
    """Return values for all of a struct's fields, also those that may be absent.

    Arrays are filled where their count stands in the same struct under the same conditions. Values
    come from a generator, because hypothesis needs twenty times as long to draw those of a thousand
    structs as these take to code.
    """
    return _Maker(random, create_color=create_color).block(fields)


def check_round_trip(layout: StructLayout, values: dict[str, Any]) -> None:
    """Encode, decode, encode: nothing that is on the wire may change."""
    data = layout.encode(values)
    decoded = layout.decode(data)
    assert_within(decoded, values)
    assert layout.encode(decoded, strict=True) == data
    assert layout.decode_prefix(b"\xa5" + data, 1) == (decoded, len(data) + 1)
    assert layout.decode_short(data) == decoded


def assert_within(decoded: Any, given: Any) -> None:
    """Show that all that was decoded is what was given, and no more.

    An array that was not given has as many empty elements as its count says.
    """
    if isinstance(decoded, dict):
        for key, value in decoded.items():
            if key in given or not isinstance(value, list):
                assert_within(value, given[key])
    elif isinstance(decoded, list) and decoded and isinstance(decoded[0], dict):
        assert len(decoded) == len(given)
        for one, other in zip(decoded, given, strict=True):
            assert_within(one, other)
    else:
        assert decoded == given


def _by_key(fields: Sequence[FieldDefinition]) -> dict[str, FieldDefinition]:
    """Return the fields by name; a repeated name gets a number."""
    known: dict[str, FieldDefinition] = {}
    for entry in fields:
        key, number = entry.name, 1
        while key in known:
            number += 1
            key = f"{entry.name}_{number}"
        known[key] = entry
    return known


class _Maker:
    """Makes values; the smallest and the largest ones come more often than others."""

    def __init__(self, random: Random, *, create_color: bool) -> None:
        self._random = random
        self._color = "f" if create_color else "B"

    def block(self, fields: Sequence[FieldDefinition]) -> dict[str, Any]:
        # Bytes that come again have no values.
        known = _by_key([entry for entry in fields if entry.type is not FieldType.AGAIN])
        counters = {entry.count_field for entry in known.values()}
        made: dict[str, Any] = {}
        for entry in known.values():
            if entry.type is FieldType.ARRAY and entry.count_field not in made:
                counter = known.get(entry.count_field)
                if counter is not None and counter.conditions == entry.conditions:
                    most = min(ELEMENTS, entry.max_count or ELEMENTS)
                    made[entry.count_field] = self._random.randint(0, most)
        filled = set(made)
        for key, entry in known.items():
            if entry.type is FieldType.ARRAY:
                if entry.count_field in filled:
                    count = made[entry.count_field]
                    made[key] = [self.block(entry.fields) for _ in range(count)]
            elif key in counters:
                made.setdefault(key, 0)
            else:
                made[key] = self.field(entry)
        return made

    def field(self, entry: FieldDefinition) -> Any:
        kind, size = entry.type, entry.size
        if entry.substruct:
            if size == 1:
                return self.block(entry.fields)
            # Hundreds of different rows take minutes to make and find no more faults than a few.
            rows = [self.block(entry.fields) for _ in range(min(size, ELEMENTS))]
            return list(islice(cycle(rows), size))
        assert kind is not None
        # Small whole numbers fit whichever type the kind of statistic selects.
        return self.of_type(kind, size) if entry.type2 is None else self._random.randint(0, 100)

    def of_type(self, kind: FieldType, size: int) -> Any:
        if kind is FieldType.COLOR:
            return _grouped(self._numbers(self._color, 3 * size), 3, size)
        if kind is FieldType.EQUIPMENT:
            pieces = [self._equipment() for _ in range(size)]
            return pieces[0] if size == 1 else pieces
        if kind is FieldType.CHAR:
            return self._bytes(self._random.randint(0, size)).rstrip(b"\0").decode("latin-1")
        if kind in STRINGS or kind is FieldType.ITEM:
            texts = [self._text() for _ in range(size)]
            return texts[0] if size == 1 else texts
        numbers = self._numbers(LETTERS[kind], size)
        return numbers[0] if size == 1 else numbers

    def _equipment(self) -> dict[str, Any]:
        colors = self._numbers("B", 6)
        return {
            "type": self._numbers("H", 1)[0], "color": colors[:3], "highlight": colors[3:],
        }  # fmt: skip

    def _text(self) -> str:
        return self._bytes(self._random.randint(0, LONGEST_TEXT)).decode("latin-1")

    def _numbers(self, letter: str, count: int) -> list[Any]:
        whole = struct.Struct(f"<{count}{letter}")
        numbers = whole.unpack(self._bytes(whole.size))
        return [0.0 if math.isnan(number) else number for number in numbers]

    def _bytes(self, count: int) -> bytes:
        choice = self._random.random()
        if choice < 0.2:
            return b"\x00\xff\x01\x7f"[int(choice * 20) :][:1] * count
        return self._random.randbytes(count)


def _grouped(flat: list[Any], step: int, size: int) -> list[Any]:
    if size == 1:
        return flat
    return [flat[i : i + step] for i in range(0, len(flat), step)]
