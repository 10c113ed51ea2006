"""Rows for `emu structs show`: every field with its offset, type and when it is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from emu.structs import FieldDefinition, FieldType
from emu.structs.blocks import keyed_fields
from emu.structs.runs import FORMATS, SIZES
from emu.structs.texts import PREFIXES

FIELD_COLUMNS = ("offset", "field", "type", "size", "bytes", "remarks")
_NAMES = {
    FieldType.COLOR: "EQ2_Color", FieldType.STRING8: "EQ2_8Bit_String",
    FieldType.STRING16: "EQ2_16Bit_String", FieldType.STRING32: "EQ2_32Bit_String",
    FieldType.EQUIPMENT: "EQ2_EquipmentItem", FieldType.ARRAY: "Array", FieldType.ITEM: "EQ2_Item",
}  # fmt: skip


Row = dict[str, str | int | None]


@dataclass(slots=True)
class _Place:
    """How far the fields told so far reach, when all is empty."""

    offset: int = 0
    moved: bool = False
    """Whether something before grows with its content."""

    def __str__(self) -> str:
        return f"{self.offset}{'+' if self.moved else ''}"

    def pass_by(self, entry: FieldDefinition) -> None:
        """Go on behind a field."""
        if not entry.conditions:
            self.offset += least_length(entry)
        self.moved = self.moved or bool(entry.conditions) or grows(entry)


def field_rows(
    fields: Sequence[FieldDefinition], prefix: str = "", place: _Place | None = None
) -> Iterator[Row]:
    """Yield a row for each field, those of arrays and substructs behind what they are in.

    Of several copies of a substruct the first is told. Fields of array elements have no offset.
    """
    outermost = not prefix
    place = _Place() if outermost else place
    for key, entry in keyed_fields(fields).items():
        yield {
            "offset": str(place) if place else None,
            "field": prefix + key,
            "type": f"Substruct {entry.substruct}" if entry.substruct else type_name(entry),
            "size": entry.size,
            "bytes": least_length(entry),
            "remarks": "; ".join(_remarks(entry)),
        }
        if entry.substruct:
            inner = replace(place) if place else None
            first = "[0]" if entry.size > 1 else ""
            yield from field_rows(entry.fields, f"{prefix}{key}{first}.", inner)
        elif entry.type is FieldType.ARRAY:
            yield from field_rows(entry.fields, f"{prefix}{key}[].")
        if place:
            place.pass_by(entry)


def least_length(entry: FieldDefinition) -> int:
    """Return the bytes of a field with every string and array empty."""
    kind = entry.type
    if entry.substruct:
        inner = (least_length(inner) for inner in entry.fields if not inner.conditions)
        return entry.size * sum(inner)
    if kind is None or kind in (FieldType.ARRAY, FieldType.ITEM):
        return 0
    if kind in PREFIXES:
        return PREFIXES[kind] * entry.size
    if kind is FieldType.CHAR:
        return entry.size
    if kind is FieldType.EQUIPMENT:
        return 8 * entry.size
    letter, count = FORMATS[kind]
    width = SIZES[letter] * count
    return (width // 2 if entry.oversized else width) * entry.size


def grows(entry: FieldDefinition) -> bool:
    """Tell whether a field's length depends on its content."""
    if entry.substruct:
        return any(grows(inner) or inner.conditions for inner in entry.fields)
    variable = entry.type in PREFIXES or entry.type in (FieldType.ARRAY, FieldType.ITEM)
    return variable or entry.oversized is not None


def type_name(entry: FieldDefinition) -> str:
    """Return a field's type as struct files spell it."""
    assert entry.type is not None  # noqa: S101
    return _NAMES.get(entry.type, entry.type.value)


def _remarks(entry: FieldDefinition) -> Iterator[str]:
    if entry.count_field:
        yield f"as many as {entry.count_field}"
    if entry.max_count is not None:
        yield f"at most {entry.max_count}"
    if entry.oversized is not None:
        yield f"short below {entry.oversized.threshold}"
    if entry.type2 is not None:
        yield f"or {_NAMES.get(entry.type2, entry.type2.value)}"
    if entry.default_byte:
        yield f"filled with {entry.default_byte}"
    conditions = entry.conditions
    for text, names in (
        ("if set: ", conditions.variable_set),
        ("if not set: ", conditions.variable_not_set),
        ("if 1: ", (conditions.variable_equals,)),
        ("if not 1: ", (conditions.variable_not_equals,)),
        ("if flag: ", (conditions.flag_set,)),
        ("if no flag: ", (conditions.flag_not_set,)),
    ):
        if any(names):
            yield text + ", ".join(names)
