"""What a struct file says, as plain values: structs, their fields, their conditions.

Source: docs/protocol/structs.md. Knows no XML and no bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FieldType(Enum):
    """The 18 data types; the value is what type names begin with, in lower case."""

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


EXACT_NAMES = frozenset({FieldType.FLOAT, FieldType.DOUBLE, FieldType.CHAR})
"""Types whose name must be the whole word; the others are known by how their name begins."""

STRINGS = frozenset({FieldType.STRING8, FieldType.STRING16, FieldType.STRING32})
OVERSIZED = frozenset({FieldType.INT16, FieldType.SINT16, FieldType.INT32})
"""Types that may be written short when their value is small.

Source: docs/protocol/structs.md#oversized.
"""


def field_type(name: str) -> FieldType | None:
    """Return the type that a name spells, in any case, or None."""
    lower = name.lower()
    for kind in FieldType:
        if lower == kind.value or (kind not in EXACT_NAMES and lower.startswith(kind.value)):
            return kind
    return None


@dataclass(frozen=True, slots=True)
class Oversized:
    """A value below `threshold` is written short; others follow a `marker` byte."""

    threshold: int
    marker: int


@dataclass(frozen=True, slots=True)
class Conditions:
    """When a field is there at all; empty means always.

    Sources: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
    """

    variable_set: tuple[str, ...] = ()
    variable_not_set: tuple[str, ...] = ()
    variable_equals: str = ""
    variable_not_equals: str = ""
    flag_set: str = ""
    flag_not_set: str = ""

    def __bool__(self) -> bool:
        return self != NO_CONDITIONS


NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """One Data element. For an array, `fields` is one element; for a substruct, its copy."""

    name: str
    type: FieldType | None
    """None for a substruct."""
    line: int
    size: int = 1
    type2: FieldType | None = None
    oversized: Oversized | None = None
    conditions: Conditions = NO_CONDITIONS
    lost_conditions: Conditions = NO_CONDITIONS
    """What this field, as a copy, no longer has of its struct's conditions (`copies`)."""
    count_field: str = ""
    max_count: int | None = None
    default_byte: int = 0
    optional: bool = False
    substruct: str = ""
    fields: tuple[FieldDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """One Struct element: a layout from one client version on."""

    name: str
    client_version: int
    fields: tuple[FieldDefinition, ...]
    opcode_name: str = ""
    opcode_type: str = ""
    file: str = ""
    line: int = 0
