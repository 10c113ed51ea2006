"""What is odd about a struct though it can be used: names that mean nothing, fields never there.

EQ2Emulator loads such structs without a word. Source: docs/protocol/structs.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields as fields_of

from emu.structs.reader import Conditions, FieldDefinition, FieldType, StructDefinition, copied
from emu.structs.scope import Scope

_CONDITIONS = tuple(entry.name for entry in fields_of(Conditions))


def oddities(
    definition: StructDefinition, opcode_names: Collection[str] | None = None
) -> Iterator[str]:
    """Yield one line for each odd thing, with file and line in front.

    `opcode_names` are all names that opcode tables have; EQ2Emulator leaves a struct out whose
    message it does not know (docs/protocol/structs.md#struct).
    """
    place = f"{definition.file}, line "
    about = f"struct {definition.name} {definition.client_version}: "
    if opcode_names is not None:
        for name in (definition.opcode_name, definition.opcode_type):
            if name and name not in opcode_names:
                text = f"no opcode table has {name}; EQ2Emulator leaves such a struct out"
                yield f"{place}{definition.line}: {about}{text}"
    alone = not _is_made_to_be_copied(definition.name)
    if not alone:
        for text in _lost_conditions(copied(definition.fields)):
            yield f"{place}{definition.line}: {about}copies lose {text}"
    for entry, text in _fields(definition.fields, Scope(), alone):
        yield f"{place}{entry.line}: {about}field {entry.name}: {text}"


def _fields(
    fields: Sequence[FieldDefinition], scope: Scope, alone: bool
) -> Iterator[tuple[FieldDefinition, str]]:
    seen: set[str] = set()
    for entry in fields:
        if entry.name in seen:
            yield entry, "the name stands there already; values of this one need _2, _3 ..."
        seen.add(entry.name)
        if alone:
            yield from ((entry, text) for text in _unknown_names(entry, scope))
        if entry.substruct and not _is_made_to_be_copied(entry.substruct):
            for text in _lost_conditions(entry.fields):
                yield entry, f"copies of {entry.substruct} lose {text}"
        if not _counted_whenever_there(entry, fields):
            count = entry.count_field
            text = f"its count {count} is not always there; elements without it can be written"
            yield entry, f"{text} but not read back"
        if entry.type is FieldType.ITEM and entry is not fields[-1]:
            yield entry, "an item before the end can be written but not read back"
        if entry.substruct:
            # What is odd inside is told once, about the struct itself.
            inner = scope.substruct(entry.name, entry.name, entry.size)
            for _ in _fields(entry.fields, inner, alone=False):
                pass
            continue
        if entry.type is FieldType.ARRAY:
            yield from _fields(entry.fields, scope.element(entry.name), alone)
        scope.add(entry.name, entry.name, entry.size)


def _unknown_names(entry: FieldDefinition, scope: Scope) -> Iterator[str]:
    if entry.type is FieldType.ARRAY and scope.find(entry.count_field) is None:
        yield f"no field {entry.count_field} before it, so it never has elements"
    conditions = entry.conditions
    for attribute, names in (
        ("IfVariableSet", conditions.variable_set),
        ("IfVariableNotSet", conditions.variable_not_set),
        ("IfVariableEquals", (conditions.variable_equals,)),
        ("IfVariableNotEquals", (conditions.variable_not_equals,)),
    ):
        for name in names:
            if name and scope.find(name) is None:
                place = " in its array" if scope.array else ""
                yield f"{attribute} names {name}, which does not stand before it{place}"


def _counted_whenever_there(array: FieldDefinition, fields: Sequence[FieldDefinition]) -> bool:
    """Tell whether an array's count is on the wire wherever the array is."""
    counts = [entry for entry in fields if entry.name == array.count_field]
    if array.type is not FieldType.ARRAY or not counts:
        return True
    count, own = counts[-1].conditions, array.conditions
    return all(
        getattr(count, name) in (getattr(own, name), type(getattr(own, name))())
        for name in _CONDITIONS
    )


def _is_made_to_be_copied(name: str) -> bool:
    """Tell by its name whether a struct stands only in others; it may speak of their fields."""
    return name.lower().startswith("substruct")


def _lost_conditions(fields: Sequence[FieldDefinition]) -> Iterator[str]:
    lost = [(entry.name, entry.lost_conditions) for entry in fields]
    for attribute, names in (
        ("IfVariableNotSet", [name for name, conditions in lost if conditions.variable_not_set]),
        ("IfVariableEquals", [name for name, conditions in lost if conditions.variable_equals]),
    ):
        if names:
            there = "such fields are always there, as in EQ2Emulator"
            yield f"{attribute} of {', '.join(names)}; {there}"
