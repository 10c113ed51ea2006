"""Lints of structs: unknown names, fields that are never present, values that cannot be read back.

Such a struct can be used, and EQ2Emulator loads it without a warning.
Source: docs/protocol/structs.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields as fields_of

from emu.structs.catalog import StructCatalog
from emu.structs.definitions import (
    NO_CONDITIONS,
    Conditions,
    FieldDefinition,
    FieldType,
    NumbersOf,
    StructDefinition,
    copied,
)
from emu.structs.scope import Scope

_CONDITIONS = tuple(entry.name for entry in fields_of(Conditions))


def oddities(
    definition: StructDefinition, opcode_names: Collection[str] | None = None
) -> Iterator[str]:
    """Yield one line for each oddity, with file and line in front.

    `opcode_names` are all names in opcode tables: EQ2Emulator ignores a struct whose message has
    no opcode (docs/protocol/structs.md#struct).
    """
    place = f"{definition.file}, line "
    about = f"struct {definition.name} {definition.client_version}: "
    if opcode_names is not None:
        for name in (definition.opcode_name, definition.opcode_type):
            if name and name not in opcode_names:
                text = f"no opcode table has {name}; EQ2Emulator ignores such a struct"
                yield f"{place}{definition.line}: {about}{text}"
    alone = not _is_made_to_be_copied(definition.name)
    if not alone:
        for text in _lost_conditions(copied(definition.fields)):
            yield f"{place}{definition.line}: {about}copies lose {text}"
    for entry, text in _fields(definition.fields, Scope(), alone):
        yield f"{place}{entry.line}: {about}field {entry.name}: {text}"


NEEDED_TO_ENTER = (
    "LS_LoginResponse",
    "WS_ZoneInfo",
    "WS_GameWorldTime",
    "WS_SetControlGhost",
    "WS_SetPOVGhostCmd",
    "WS_CharacterSheet",
    "WS_DefaultGroupOptions",
    "WS_HearChat",
    "WS_SpawnStruct_Header",
    "Substruct_SpawnPositionStruct",
    "Substruct_SpawnVisualizationInfoStruct",
    "Substruct_SpawnInfoStruct",
    "WS_WidgetSpawnStruct_Footer",
    "WS_SignWidgetSpawnStruct_Footer",
    "Player_Update",
)
"""Structs without which a client cannot enter a world, or sees nobody there."""


def holes(catalog: StructCatalog, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield one line for each struct and span of versions that has no layout of it.

    `spans` are the versions that enter a world, first and last. Structs of which the catalog has no
    layout at all are left out: its files are others.
    """
    versions = list(spans)
    for name in NEEDED_TO_ENTER:
        known = catalog.versions(name)
        for first, last in versions:
            if known and first < known[0]:
                end = min(last, known[0] - 1)
                yield (
                    f"struct {name}: no layout for client versions {first}-{end}, which have"
                    " numbers of a world's messages"
                )


def _fields(
    fields: Sequence[FieldDefinition], scope: Scope, alone: bool
) -> Iterator[tuple[FieldDefinition, str]]:
    seen: set[str] = set()
    for entry in fields:
        if entry.name in seen:
            yield entry, "the name is used already; the values of this field need _2, _3 ..."
        seen.add(entry.name)
        if alone:
            yield from ((entry, text) for text in _unknown_names(entry, scope))
        yield from ((entry, text) for text in _unreadable(entry, fields))
        if entry.substruct:
            # Oddities inside are reported once, with the struct itself. The fields are still added
            # to the scope, because later fields may name them.
            inner = scope.substruct(entry.name, entry.name, entry.size)
            for _ in _fields(entry.fields, inner, alone=False):
                pass
            continue
        if entry.type is FieldType.ARRAY:
            yield from _fields(entry.fields, scope.element(entry.name), alone)
        scope.add_field(entry.name, entry.name, entry.size)


def _unreadable(entry: FieldDefinition, fields: Sequence[FieldDefinition]) -> Iterator[str]:
    """Yield what a copy or the wire loses of one field."""
    if entry.substruct and not _is_made_to_be_copied(entry.substruct):
        for text in _lost_conditions(entry.fields):
            yield f"copies of {entry.substruct} lose {text}"
    if not _counted_whenever_there(entry, fields):
        text = f"its count {entry.count_field} is not always present"
        yield f"{text}; elements without it can be written but not read back"
    if entry.type is FieldType.ITEM and entry is not fields[-1]:
        yield "an item before the end can be written but not read back"


def _unknown_names(entry: FieldDefinition, scope: Scope) -> Iterator[str]:
    if entry.type is FieldType.ARRAY and scope.find(entry.count_field) is None:
        yield f"no field {entry.count_field} precedes it, so the array never has elements"
    conditions = entry.conditions
    for attribute, names in (
        ("IfVariableSet", conditions.variable_set),
        ("IfVariableNotSet", conditions.variable_not_set),
        ("IfVariableEquals", (conditions.variable_equals,)),
        ("IfVariableNotEquals", (conditions.variable_not_equals,)),
        ("IfVariableIn", _name_of(conditions.variable_in)),
        ("IfVariableNotIn", _name_of(conditions.variable_not_in)),
    ):
        for name in names:
            if name and scope.find(name) is None:
                place = " in its array" if scope.array else ""
                yield f"{attribute} names {name}, but no such field precedes it{place}"


def _name_of(numbers: NumbersOf | None) -> tuple[str, ...]:
    return (numbers.name,) if numbers is not None else ()


def _counted_whenever_there(array: FieldDefinition, fields: Sequence[FieldDefinition]) -> bool:
    """Return whether an array's count is on the wire whenever the array is."""
    counts = [entry for entry in fields if entry.name == array.count_field]
    if array.type is not FieldType.ARRAY or not counts:
        return True
    count, own = counts[-1].conditions, array.conditions
    # Each condition of the count must be absent, or be one that the array has, too.
    return all(
        getattr(count, name) in (getattr(own, name), getattr(NO_CONDITIONS, name))
        for name in _CONDITIONS
    )


def _is_made_to_be_copied(name: str) -> bool:
    """Return whether a struct is only copied into others; its conditions may name their fields."""
    return name.lower().startswith("substruct")


def _lost_conditions(fields: Sequence[FieldDefinition]) -> Iterator[str]:
    lost = [(entry.name, entry.lost_conditions) for entry in fields]
    for attribute, names in (
        ("IfVariableNotSet", [name for name, conditions in lost if conditions.variable_not_set]),
        ("IfVariableEquals", [name for name, conditions in lost if conditions.variable_equals]),
    ):
        if names:
            always = "copies of these fields are always present, as in EQ2Emulator"
            yield f"{attribute} of {', '.join(names)}; {always}"
