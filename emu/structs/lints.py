"""What is odd about a struct though it can be used: names that mean nothing, fields never there.

EQ2Emulator loads such structs without a word. Source: eq2-login.md 8.1, 8.2, 8.4, 8.7.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from emu.structs.definitions import FieldDefinition, FieldType, StructDefinition
from emu.structs.scope import Scope


def oddities(
    definition: StructDefinition, opcode_names: Collection[str] | None = None
) -> Iterator[str]:
    """Yield one line for each odd thing, with file and line in front.

    `opcode_names` are all names that opcode tables have; the peer leaves a struct out whose
    message it does not know (eq2-login.md 8.1).
    """
    place = f"{definition.file}, line "
    about = f"struct {definition.name} {definition.client_version}: "
    if opcode_names is not None:
        for name in (definition.opcode_name, definition.opcode_type):
            if name and name not in opcode_names:
                text = f"no opcode table has {name}; EQ2Emulator leaves such a struct out"
                yield f"{place}{definition.line}: {about}{text}"
    # Structs made to be copied into others may speak of their holder's fields.
    alone = not definition.name.lower().startswith("substruct")
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
        if entry.type is FieldType.ITEM and entry is not fields[-1]:
            yield entry, "an item before the end can be written but not read back"
        if entry.substruct:
            inner = Scope(scope)
            # What is odd inside is told once, about the struct itself.
            for _ in _fields(entry.fields, inner, alone=False):
                pass
            scope.add_inner(entry.name, entry.name, entry.size, inner)
            continue
        if entry.type is FieldType.ARRAY:
            yield from _fields(entry.fields, Scope(scope), alone)
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
                yield f"{attribute} names {name}, which does not stand before it"
