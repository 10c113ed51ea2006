"""What a struct's fields become where another struct copies them in.

Source: docs/protocol/structs.md#substructs.

EQ2Emulator's loader hands a field's conditions on to its copy with two gaps, and real clients are
served by exactly that:

* IfVariableNotSet comes along only beside an IfVariableSet on the same field. Item footers rely on
  it unknowingly: their collectable, quest and charge fields are always on the wire.
* IfVariableEquals never comes along.

This is the one place that follows it. Fields inside an array of the copied struct keep everything,
as arrays are copied whole. Struct files of our own do without such conditions; `lints` tells of
those in other files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from emu.structs.definitions import NO_CONDITIONS, Conditions, FieldDefinition


def copied(fields: Iterable[FieldDefinition]) -> tuple[FieldDefinition, ...]:
    """Return the fields of a struct as its copies have them, each with what it lost."""
    return tuple(_copied(entry) if entry.conditions else entry for entry in fields)


def _copied(entry: FieldDefinition) -> FieldDefinition:
    before = entry.conditions
    not_set = before.variable_not_set if before.variable_set else ()
    kept = replace(before, variable_not_set=not_set, variable_equals="")
    if kept == before:
        return entry
    lost = Conditions(
        variable_not_set=() if not_set else before.variable_not_set,
        variable_equals=before.variable_equals,
    )
    return replace(entry, conditions=kept or NO_CONDITIONS, lost_conditions=lost)
