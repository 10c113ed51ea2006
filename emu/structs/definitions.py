"""Declarations of struct files: field types, conditions, fields and structs, as plain values.

Source: docs/protocol/structs.md#types, docs/protocol/structs.md#conditions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

MOST_VERSION: Final = 0xFFFFFFFF
"""The last client version of what has no end."""


class FieldType(Enum):
    """The data types; each value is the beginning of the type's name in lower case."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT = "float"
    DOUBLE = "double"
    COLOR = "eq2_c"
    SINT8 = "sint8"
    SINT16 = "sint16"
    SINT32 = "sint32"
    CHAR = "char"
    STRING8 = "eq2_8"
    STRING16 = "eq2_16"
    STRING32 = "eq2_32"
    EQUIPMENT = "eq2_e"
    ARRAY = "array"
    ITEM = "eq2_i"
    SINT64 = "sint64"
    AGAIN = "eq2_again"
    """Ours: bytes of the same struct once more."""

    __hash__ = object.__hash__
    """Layouts look up the type of each field, and the hash of `Enum` is a call of Python code."""


EXACT_NAMES = frozenset({FieldType.FLOAT, FieldType.DOUBLE, FieldType.CHAR})
"""Types whose name must match as a whole; for the others the beginning is enough."""

STRINGS = frozenset({FieldType.STRING8, FieldType.STRING16, FieldType.STRING32})
OVERSIZED = frozenset({FieldType.INT16, FieldType.SINT16, FieldType.INT32})
"""Types that may have a short form for small values (docs/protocol/structs.md#oversized)."""
SHORT_BYTES = frozenset({FieldType.SINT32, FieldType.FLOAT})
"""Types that have a short form only with our attribute ShortByte."""


def field_type(name: str) -> FieldType | None:
    """Return the type with a name, in any case; None for an unknown name."""
    lower = name.lower()
    for kind in FieldType:
        # EQ2Emulator compares only the beginning: `EQ2_EquipmentItem` is the type `eq2_e`.
        if lower == kind.value or (kind not in EXACT_NAMES and lower.startswith(kind.value)):
            return kind
    return None


@dataclass(frozen=True, slots=True)
class Oversized:
    """A value below `threshold` has the short form; any other follows a `marker` byte."""

    threshold: int
    marker: int
    any_type: bool = False
    """Ours: sint32 and float have a short form as well, of one signed byte."""


@dataclass(frozen=True, slots=True)
class NumbersOf:
    """The field that a condition names, and the numbers that it has to have, or must not have."""

    name: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions for a field to be present; empty means always.

    Source: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
    """

    variable_set: tuple[str, ...] = ()
    variable_not_set: tuple[str, ...] = ()
    variable_equals: str = ""
    variable_not_equals: str = ""
    flag_set: str = ""
    flag_not_set: str = ""
    variable_in: NumbersOf | None = None
    variable_not_in: NumbersOf | None = None
    """Our own attributes IfVariableIn and IfVariableNotIn."""

    def __bool__(self) -> bool:
        # Nearly all fields share the one object, which is faster to see than that nothing is set.
        return self is not NO_CONDITIONS and self != NO_CONDITIONS

    def hold_for_zeros(self) -> bool:
        """Return whether a field is present if all values are zero or empty."""
        among, other = self.variable_in, self.variable_not_in
        return not (
            self.variable_set or self.variable_equals or self.flag_set
            or (among is not None and 0 not in among.numbers)
            or (other is not None and 0 in other.numbers)
        )  # fmt: skip


NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """One Data element. `fields` are those of an array's element or of a substruct's copy."""

    name: str
    type: FieldType | None
    """None for a substruct."""
    line: int
    size: int = 1
    type2: FieldType | None = None
    oversized: Oversized | None = None
    conditions: Conditions = NO_CONDITIONS
    lost_conditions: Conditions = NO_CONDITIONS
    """For a field of a copy: the conditions that the copy has lost (see `copied`)."""
    count_field: str = ""
    max_count: int | None = None
    default_byte: int = 0
    start: int = 0
    """For bytes that come again: where they begin, in bytes from the beginning of the struct."""
    optional: bool = False
    substruct: str = ""
    fields: tuple[FieldDefinition, ...] = ()
    first_version: int = 0
    last_version: int = MOST_VERSION
    """The client versions that have the field, both included: our own attributes FirstVersion and
    LastVersion. A struct with such fields stands for one layout at each of their limits."""

    def is_short_for_small(self) -> bool:
        """Return whether small values of the field have a short form."""
        if self.oversized is None:
            return False
        return self.type in OVERSIZED or (self.oversized.any_type and self.type in SHORT_BYTES)


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """One Struct element: a layout from a client version on."""

    name: str
    client_version: int
    fields: tuple[FieldDefinition, ...]
    opcode_name: str = ""
    opcode_type: str = ""
    file: str = ""
    line: int = 0
    last_version: int = MOST_VERSION
    """The last client version with this layout, if no later Struct ends it: our own attribute
    LastVersion. Clients above it have no layout."""


def copied(fields: Iterable[FieldDefinition]) -> tuple[FieldDefinition, ...]:
    """Return the fields of a struct as a substruct's copy has them.

    EQ2Emulator's loader loses two kinds of conditions when it copies a field, and the messages that
    real clients get depend on it:

    * IfVariableNotSet is lost unless the field also has IfVariableSet. Because of this, the
      collectable, quest and charge fields of item footers are always on the wire.
    * IfVariableEquals is always lost.

    The fields of an array inside the struct keep their conditions, because arrays are copied whole.
    The shipped struct files have no such conditions; `lints` reports those in other files.
    """
    return tuple(_copied(entry) if entry.conditions else entry for entry in fields)


def _copied(entry: FieldDefinition) -> FieldDefinition:
    before = entry.conditions
    not_set = before.variable_not_set if before.variable_set else ()
    kept = replace(before, variable_not_set=not_set, variable_equals="")
    # Most fields lose nothing; they are then shared by all copies.
    if kept == before:
        return entry
    lost = Conditions(
        variable_not_set=() if not_set else before.variable_not_set,
        variable_equals=before.variable_equals,
    )
    return replace(entry, conditions=kept or NO_CONDITIONS, lost_conditions=lost)
