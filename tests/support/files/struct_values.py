"""Values for any packet struct, made from its definition, and what a round trip must show."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

from hypothesis import strategies as st

from emu.structs import FieldDefinition, FieldType, StructLayout
from emu.structs.definitions import STRINGS

LETTERS = {
    FieldType.INT8: "B", FieldType.INT16: "H", FieldType.INT32: "I", FieldType.INT64: "Q",
    FieldType.SINT8: "b", FieldType.SINT16: "h", FieldType.SINT32: "i", FieldType.SINT64: "q",
    FieldType.FLOAT: "f", FieldType.DOUBLE: "d",
}  # fmt: skip
ELEMENTS = 3
"""Most elements of one array."""
LATIN_1 = st.binary(max_size=12).map(lambda raw: raw.decode("latin-1"))


def struct_values(
    fields: Sequence[FieldDefinition], *, create_color: bool = False
) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for all values of a struct's fields, also those that may be absent.

    Arrays are filled where their count stands in the same struct under the same conditions.
    """
    return _Maker(create_color).block(tuple(fields))


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
    """Makes strategies; large fields are drawn as bytes, which is what keeps them cheap."""

    def __init__(self, create_color: bool) -> None:
        self._color = "f" if create_color else "B"

    def block(self, fields: Sequence[FieldDefinition]) -> st.SearchStrategy[dict[str, Any]]:
        # Bytes that come again have no values.
        known = _by_key([entry for entry in fields if entry.type is not FieldType.AGAIN])
        counts: dict[str, list[str]] = {}
        parts = {}
        for key, entry in known.items():
            if entry.type is FieldType.ARRAY:
                counter = known.get(entry.count_field)
                if counter is not None and counter.conditions == entry.conditions:
                    counts.setdefault(entry.count_field, []).append(key)
                parts[key] = self.block(entry.fields)
            else:
                parts[key] = self.field(entry)

        @st.composite
        def make(draw: st.DrawFn) -> dict[str, Any]:
            made: dict[str, Any] = {}
            lengths = {
                key: draw(st.integers(0, min(ELEMENTS, known[key].max_count or ELEMENTS)))
                for keys in counts.values() for key in keys[:1]
            }  # fmt: skip
            for counter, keys in counts.items():
                made[counter] = lengths[keys[0]]
            for key, strategy in parts.items():
                if known[key].type is FieldType.ARRAY:
                    wanted = made.get(known[key].count_field)
                    if key in counts.get(known[key].count_field, ()):
                        made[key] = [draw(strategy) for _ in range(wanted or 0)]
                elif key in {entry.count_field for entry in known.values()}:
                    made.setdefault(key, 0)
                else:
                    made[key] = draw(strategy)
            return made

        return make()

    def field(self, entry: FieldDefinition) -> st.SearchStrategy[Any]:
        kind, size = entry.type, entry.size
        if entry.substruct:
            inner = self.block(entry.fields)
            # Hundreds of different rows take minutes to make and find no more faults than a few.
            rows = st.lists(inner, min_size=min(size, ELEMENTS), max_size=min(size, ELEMENTS))
            return inner if size == 1 else rows.map(lambda some: list(islice(cycle(some), size)))
        assert kind is not None
        # Small whole numbers fit whichever type the kind of statistic selects.
        return self.of_type(kind, size) if entry.type2 is None else st.integers(0, 100)

    def of_type(self, kind: FieldType, size: int) -> st.SearchStrategy[Any]:
        if kind is FieldType.COLOR:
            return _numbers(self._color, 3 * size).map(lambda flat: _grouped(flat, 3, size))
        if kind is FieldType.EQUIPMENT:
            one = st.tuples(_numbers("H", 1), _numbers("B", 6)).map(
                lambda made: {"type": made[0][0], "color": made[1][:3], "highlight": made[1][3:]}
            )
            return one if size == 1 else st.lists(one, min_size=size, max_size=size)
        if kind is FieldType.CHAR:
            return st.binary(max_size=size).map(lambda raw: raw.rstrip(b"\0").decode("latin-1"))
        if kind in STRINGS or kind is FieldType.ITEM:
            text = LATIN_1
            return text if size == 1 else st.lists(text, min_size=size, max_size=size)
        return _numbers(LETTERS[kind], size).map(lambda flat: flat[0] if size == 1 else flat)


def _numbers(letter: str, count: int) -> st.SearchStrategy[list[Any]]:
    whole = struct.Struct(f"<{count}{letter}")
    return st.binary(min_size=whole.size, max_size=whole.size).map(
        lambda raw: [0.0 if math.isnan(number) else number for number in whole.unpack(raw)]
    )


def _grouped(flat: list[Any], step: int, size: int) -> list[Any]:
    if size == 1:
        return flat
    return [flat[i : i + step] for i in range(0, len(flat), step)]
