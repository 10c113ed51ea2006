"""The fields of one level of a layout: structs, substructs, arrays, and conditional fields.

Source: docs/protocol/structs.md. Fixed fields that follow one another become one run.

Source: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from emu.errors import MalformedStruct
from emu.structs.fields import (
    COUNT_LIMIT,
    FORMATS,
    PREFIXES,
    SIZES,
    Context,
    EquipmentItems,
    FieldCodec,
    Fixed,
    FixedText,
    Item,
    MixedRun,
    OversizedInteger,
    PlainRun,
    Scopes,
    Text,
    Values,
    bad_value,
    shown,
)
from emu.structs.reader import FieldDefinition, FieldType
from emu.structs.scope import Getter, Scope, Test, compile_conditions

FIRST_TYPE_STATISTICS = (6, 7)
"""Kinds of statistic whose value has the first of two types."""


class Conditional:
    """A part that is there only when its conditions hold."""

    __slots__ = ("_key", "_part", "_test", "_where")

    def __init__(self, where: str, key: str, part: FieldCodec, test: Test) -> None:
        self._where, self._key, self._part, self._test = where, key, part, test

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the part if it is there."""
        if self._test(out, scopes, context.flags):
            return self._part.decode(data, at, out, scopes, context)
        return at

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write the part if it has to be there."""
        if self._test(fields, scopes, context.flags):
            self._part.encode(fields, parts, scopes, context)
        elif context.strict and fields.get(self._key) is not None:
            bad_value(self._where, self._key, "its conditions do not hold, so it is not written")


class TwoTypes:
    """A field that has its second type unless a statistic's kind is 6 or 7 (items only)."""

    __slots__ = ("_first", "_kind", "_second")

    def __init__(self, first: FieldCodec, second: FieldCodec, kind: Getter) -> None:
        self._first, self._second, self._kind = first, second, kind

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read in the type that the statistic asks for."""
        return self._choose(out, scopes).decode(data, at, out, scopes, context)

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write in the type that the statistic asks for."""
        self._choose(fields, scopes).encode(fields, parts, scopes, context)

    def _choose(self, fields: Mapping[str, Any], scopes: Scopes) -> FieldCodec:
        return self._first if self._kind(fields, scopes) in FIRST_TYPE_STATISTICS else self._second


class RepeatedCodec:
    """A part several times in a row, its values a list under one name."""

    __slots__ = ("_count", "_key", "_one", "_where", "_zero")

    def __init__(self, where: str, key: str, one: FieldCodec, count: int, zero: str | int) -> None:
        self._where, self._key, self._one, self._count, self._zero = where, key, one, count, zero

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read all of them into a list."""
        found: list[Any] = []
        one: Values = {}
        out[self._key] = found
        try:
            for _ in range(self._count):
                at = self._one.decode(data, at, one, scopes, context)
                found.append(one[self._key])
        except MalformedStruct as error:
            error.field = f"{self._key}[{len(found)}]"
            raise
        return at

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write all of them."""
        values = fields.get(self._key)
        if values is None:
            values = [self._zero] * self._count
        if not isinstance(values, (list, tuple)) or len(values) != self._count:
            bad_value(self._where, self._key, f"must be a list of {self._count}")
        for value in values:
            self._one.encode({self._key: value}, parts, scopes, context)


class Block:
    """The fields of one level.

    `where` names it in complaints, `scope` collects the names its fields can be asked for by.
    With `create_color` each EQ2_Color is three floats.
    """

    __slots__ = ("_counts", "_names", "_parts", "_scope", "_tests", "_where")

    def __init__(
        self, where: str, fields: Collection[FieldDefinition], scope: Scope, create_color: bool
    ) -> None:
        self._where = where
        self._scope = scope
        self._parts: list[FieldCodec] = []
        self._counts: list[tuple[str, str, Test | None]] = []
        self._tests: dict[str, Test] = {}
        keyed = keyed_fields(fields)
        self._names = keyed.keys()
        run: list[Fixed] = []
        for key, entry in keyed.items():
            fixed = _as_fixed(entry, key, create_color)
            if fixed is None or entry.conditions or entry.type2 is not None:
                self._end_run(run)
                self._parts.append(self._part(entry, key, fixed, create_color))
            else:
                run.append(fixed)
            if not entry.substruct:
                scope.add(entry.name, key, entry.size)
        self._end_run(run)

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read every part in order."""
        for part in self._parts:
            at = part.decode(data, at, out, scopes, context)
        return at

    def decode_each(
        self, found: list[Values], data: bytes, at: int, scopes: Scopes, context: Context
    ) -> int:
        """Read one after the other into the empty dicts of a list; drop those never reached."""
        begun = 0
        try:
            for inner in found:
                begun += 1
                at = self.decode(data, at, inner, scopes, context)
        except MalformedStruct as error:
            del found[begun:]
            error.enter(f"[{begun - 1}]")
            raise
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write every part in order; counts follow from the lists they count."""
        self.write(self.completed(fields, scopes, context), parts, scopes, context)

    def completed(self, fields: Mapping[str, Any], scopes: Scopes, context: Context) -> Values:
        """Return a copy of the values with every count that follows from a list.

        Raises `StructValueError` for names that the block does not have and counts that differ;
        in a strict context also for elements whose count is not on the wire.
        """
        if not isinstance(fields, Mapping):
            bad_value(self._where, "", f"must be an object, not {shown(fields)}")
        if not fields.keys() <= self._names:
            unknown = sorted(map(str, fields.keys() - self._names))
            bad_value(self._where, unknown[0], "the struct has no such field")
        whole = dict(fields)
        for key, count_key, test in self._counts:
            elements = whole.get(key)
            if not isinstance(elements, (list, tuple)):
                continue
            given, length = whole.get(count_key), len(elements)
            if context.strict and test is not None and not test(whole, scopes, context.flags):
                if length:
                    bad_value(self._where, key, f"its count {count_key} is not written")
                continue
            if given is not None and given != length:
                bad_value(self._where, count_key, f"is {shown(given)}, but {key} has {length}")
            whole[count_key] = length
        return whole

    def write(self, whole: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write completed values, and leave in them those of substructs and elements completed."""
        for part in self._parts:
            part.encode(whole, parts, scopes, context)

    def _end_run(self, run: list[Fixed]) -> None:
        if run:
            self._parts.append(_run(self._where, list(run)))
            run.clear()

    def _part(
        self, entry: FieldDefinition, key: str, fixed: Fixed | None, create_color: bool
    ) -> FieldCodec:
        test = compile_conditions(entry.conditions, self._scope)
        if fixed is not None:
            part: FieldCodec = _run(self._where, [fixed])
        elif entry.substruct:
            where = f"{self._where}.{key}"
            inner = self._scope.substruct(entry.name, key, entry.size)
            block = Block(where, entry.fields, inner, create_color)
            part = SubstructCodec(where, key, block, entry.size)
        elif entry.type is FieldType.ARRAY:
            part = self._array(entry, key, create_color)
        else:
            part = _single(self._where, entry, key)
        if entry.type2 is not None:
            part = self._two_types(entry, key, part)
        if test is None:
            return part
        self._tests[key] = test
        return Conditional(self._where, key, part, test)

    def _array(self, entry: FieldDefinition, key: str, create_color: bool) -> ArrayCodec:
        # A substruct may count by a field of its holder; alone it has no elements.
        count = self._scope.find(entry.count_field) or _nothing
        if entry.count_field in self._names:
            self._counts.append((key, entry.count_field, self._tests.get(entry.count_field)))
        where = f"{self._where}.{key}"
        inner = Block(where, entry.fields, self._scope.element(key), create_color)
        return ArrayCodec(where, key, inner, count, entry.max_count)

    def _two_types(self, entry: FieldDefinition, key: str, first: FieldCodec) -> FieldCodec:
        assert entry.type2 is not None  # noqa: S101
        kind = self._scope.last_ending("stat_type")
        getter = self._scope.find(kind) if kind else None
        if getter is None:
            return first
        second = FieldDefinition(
            entry.name, entry.type2, entry.line, entry.size,
            oversized=entry.oversized if entry.type2 is FieldType.SINT16 else None,
        )  # fmt: skip
        fixed = _as_fixed(second, key, create_color=False)
        other = _single(self._where, second, key) if fixed is None else _run(self._where, [fixed])
        return TwoTypes(first, other, getter)


class SubstructCodec:
    """Another struct copied in, once or several times.

    Its values are put in place before they are read or written, as fields of the copy may ask for
    each other by the names they have in the holder.
    """

    __slots__ = ("_block", "_key", "_size", "_where")

    def __init__(self, where: str, key: str, block: Block, size: int) -> None:
        self._where, self._key, self._block, self._size = where, key, block, size

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read into one dict, or a list of them."""
        found: list[Values] = [{} for _ in range(self._size)]
        out[self._key] = found if self._size > 1 else found[0]
        inside = (*scopes, out)
        try:
            if self._size > 1:
                return self._block.decode_each(found, data, at, inside, context)
            return self._block.decode(data, at, found[0], inside, context)
        except MalformedStruct as error:
            error.enter(self._key)
            raise

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write one dict, or a list of them."""
        value = fields.get(self._key)
        values = [{}] * self._size if value is None else value if self._size > 1 else [value]
        if not isinstance(values, (list, tuple)) or len(values) != self._size:
            bad_value(self._where, "", f"must be a list of {self._size} objects")
        inside = (*scopes, fields)
        whole = [self._block.completed(inner, inside, context) for inner in values]
        fields[self._key] = whole if self._size > 1 else whole[0]
        for inner in whole:
            self._block.write(inner, parts, inside, context)


class ArrayCodec:
    """As many elements as another field says."""

    __slots__ = ("_block", "_count", "_key", "_most", "_where")

    def __init__(self, where: str, key: str, block: Block, count: Getter, most: int | None) -> None:
        self._where, self._key, self._block = where, key, block
        self._count, self._most = count, most

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the elements into a list; MaxArraySize caps how many.

        Source: docs/protocol/structs.md#data.
        """
        count = self._count(out, scopes) or 0
        if not isinstance(count, int) or count < 0:
            raise MalformedStruct("array count is no number", self._key, at)
        if count > COUNT_LIMIT or count > context.limit - at:
            raise MalformedStruct("array count beyond the message", self._key, at)
        if self._most is not None:
            count = min(count, self._most)
        context.begin_elements(count, self._key, at)
        found: list[Values] = [{} for _ in range(count)]
        out[self._key] = found
        try:
            return self._block.decode_each(found, data, at, (*scopes, out), context)
        except MalformedStruct as error:
            error.enter(self._key)
            raise

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write the elements one after the other."""
        count = self._count(fields, scopes) or 0
        if not isinstance(count, int) or not 0 <= count <= COUNT_LIMIT:
            bad_value(self._where, "", f"cannot have {shown(count)} elements")
        elements = fields.get(self._key)
        if elements is None:
            elements = [{}] * count
        if not isinstance(elements, (list, tuple)) or len(elements) != count:
            bad_value(self._where, "", f"must be a list of {count} objects, as its count says")
        inside = (*scopes, fields)
        whole = [self._block.completed(element, inside, context) for element in elements]
        fields[self._key] = whole
        for element in whole:
            self._block.write(element, parts, inside, context)


def keyed_fields(fields: Collection[FieldDefinition]) -> dict[str, FieldDefinition]:
    """Return fields by the key their values have; a name used again gets ``_2``, ``_3`` ..."""
    keyed: dict[str, FieldDefinition] = {}
    for entry in fields:
        key, number = entry.name, 1
        while key in keyed:
            number += 1
            key = f"{entry.name}_{number}"
        keyed[key] = entry
    return keyed


def _nothing(_here: Mapping[str, Any], _scopes: Scopes) -> None:
    """Stand for a variable that does not exist."""


def _as_fixed(entry: FieldDefinition, key: str, create_color: bool) -> Fixed | None:
    """Return a field of fixed size as part of a run, None for any other."""
    if entry.type not in FORMATS or entry.oversized is not None:
        return None
    letter, group = FORMATS[entry.type]
    if entry.type is FieldType.COLOR and create_color:
        letter = "f"
    count = entry.size * group
    default = 0
    if entry.default_byte and entry.size > 1 and letter in "BHIQ":
        default = int.from_bytes(bytes((entry.default_byte,)) * SIZES[letter], "little")
    return Fixed(key, letter, count, group, listed=count > 1, default=default)


def _run(where: str, fields: list[Fixed]) -> FieldCodec:
    if any(entry.listed for entry in fields):
        return MixedRun(where, fields)
    return PlainRun(where, fields)


def _single(where: str, entry: FieldDefinition, key: str) -> FieldCodec:
    """Return the part for one field that no run can hold."""
    kind = entry.type
    assert kind is not None  # noqa: S101
    if kind is FieldType.CHAR:
        return FixedText(where, key, entry.size)
    if kind is FieldType.EQUIPMENT:
        return EquipmentItems(where, key, entry.size)
    if kind is FieldType.ITEM:
        return Item(where, key)
    one: FieldCodec
    if kind in PREFIXES:
        one = Text(where, key, PREFIXES[kind])
        zero: str | int = ""
    else:
        assert entry.oversized is not None  # noqa: S101
        one = OversizedInteger(where, key, kind, entry.oversized)
        zero = 0
    return one if entry.size == 1 else RepeatedCodec(where, key, one, entry.size, zero)
