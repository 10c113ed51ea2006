"""A struct of one client version, compiled once: bytes to values and back.

Values are plain: numbers, ``str`` (each character one byte, latin-1), lists for fields with a Size
above 1 and for colors, dicts for equipment items and substructs, a list of dicts for an array.
A field whose conditions do not hold is missing from a decoded dict and may be given or not when
encoding. A name used twice in one struct gets ``_2`` the second time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from emu.errors import MalformedMessage
from emu.structs.codecs import (
    COUNT_LIMIT,
    FORMATS,
    PREFIXES,
    Characters,
    Conditional,
    Context,
    EquipmentItems,
    Fixed,
    Item,
    MixedRun,
    OversizedInteger,
    Part,
    PlainRun,
    Text,
    TextList,
    TwoTypes,
    bad_value,
)
from emu.structs.definitions import FieldDefinition, FieldType, StructDefinition
from emu.structs.scope import Getter, Scope, Scopes, compile_conditions

_NO_FLAGS: frozenset[str] = frozenset()
_LENIENT_ZEROS = 65_536


class Layout:
    """One struct as one client version has it.

    `definition` is what the file says; `create_color` reads and writes each EQ2_Color as three
    floats, as create requests above version 561 have them (eq2-login.md 5.1).
    """

    __slots__ = ("_block", "definition", "name")

    def __init__(self, definition: StructDefinition, *, create_color: bool = False) -> None:
        self.definition = definition
        self.name = definition.name
        where = f"{definition.name} {definition.client_version}"
        self._block = Block(where, definition.fields, Scope(), create_color)

    @property
    def client_version(self) -> int:
        """The first client version that has this layout."""
        return self.definition.client_version

    @property
    def opcode_name(self) -> str:
        """The message that carries this struct, empty when the file names none."""
        return self.definition.opcode_name

    def encode(self, fields: Mapping[str, Any], flags: Collection[str] = ()) -> bytes:
        """Return the bytes for these values; what is missing is zero or empty.

        `flags` are the names for which IfFlagSet holds. Raises `StructValueError` for a name the
        struct does not have or a value that does not fit.
        """
        parts: list[bytes] = []
        self._block.encode(fields, parts, (), Context(frozenset(flags), 0))
        return b"".join(parts)

    def decode(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of a whole message.

        Raises `MalformedMessage` when it is shorter or longer than the layout asks for.
        """
        fields, end = self.decode_prefix(data, 0, flags)
        if end != len(data):
            raise MalformedMessage("bytes behind the layout")
        return fields

    def decode_prefix(
        self, data: bytes, offset: int = 0, flags: Collection[str] = ()
    ) -> tuple[dict[str, Any], int]:
        """Return the values that begin at `offset`, and where they end. Raises as `decode`."""
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data))
        out: dict[str, Any] = {}
        return out, self._block.decode(data, offset, out, (), context)

    def decode_short(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values as the peer reads them: what is past the end is zero or empty.

        Bytes behind the layout are let be. Source: eq2-login.md 1.2 and 8.3. Raises
        `MalformedMessage` only for an array whose count cannot be.
        """
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data), lenient=True)
        out: dict[str, Any] = {}
        self._block.decode(bytes(data) + bytes(_LENIENT_ZEROS), 0, out, (), context)
        return out

    def empty_size(self) -> int:
        """Return the length with every string and array empty and every number zero."""
        return len(self.encode({}))


class Block:
    """The fields of one level: a struct, a substruct's copy, or one element of an array."""

    __slots__ = ("_counts", "_parts", "keys", "scope", "where")

    def __init__(
        self, where: str, fields: Collection[FieldDefinition], scope: Scope, create_color: bool
    ) -> None:
        self.where = where
        self.scope = scope
        self.keys: dict[str, FieldDefinition] = {}
        self._parts: list[Part] = []
        self._counts: list[tuple[str, str]] = []
        run: list[Fixed] = []
        for entry in fields:
            key = self._new_key(entry)
            fixed = _as_fixed(entry, key, create_color)
            if fixed is None or entry.conditions or entry.type2 is not None:
                self._end_run(run)
                self._parts.append(self._part(entry, key, fixed, create_color))
            else:
                run.append(fixed)
            if not entry.substruct:
                scope.add(entry.name, key, entry.size)
        self._end_run(run)

    def _new_key(self, entry: FieldDefinition) -> str:
        key, number = entry.name, 1
        while key in self.keys:
            number += 1
            key = f"{entry.name}_{number}"
        self.keys[key] = entry
        return key

    def _end_run(self, run: list[Fixed]) -> None:
        if run:
            self._parts.append(_run(self.where, list(run)))
            run.clear()

    def _part(
        self, entry: FieldDefinition, key: str, fixed: Fixed | None, create_color: bool
    ) -> Part:
        test = compile_conditions(entry.conditions, self.scope)
        if fixed is not None:
            part: Part = _run(self.where, [fixed])
        elif entry.substruct:
            inner = Block(f"{self.where}.{key}", entry.fields, Scope(self.scope), create_color)
            self.scope.add_inner(entry.name, key, entry.size, inner.scope)
            part = SubstructPart(key, inner, entry.size)
        elif entry.type is FieldType.ARRAY:
            part = self._array(entry, key, create_color)
        else:
            part = _single(self.where, entry, key)
        if entry.type2 is not None:
            part = self._two_types(entry, key, part)
        return part if test is None else Conditional(part, test)

    def _array(self, entry: FieldDefinition, key: str, create_color: bool) -> ArrayPart:
        # A substruct on its own may count by a field of the struct that will hold it: no elements.
        count = self.scope.find(entry.count_field) or _nothing
        if entry.count_field in self.keys:
            self._counts.append((key, entry.count_field))
        inner = Block(f"{self.where}.{key}", entry.fields, Scope(self.scope), create_color)
        return ArrayPart(self.where, key, inner, count, entry.max_count)

    def _two_types(self, entry: FieldDefinition, key: str, first: Part) -> Part:
        assert entry.type2 is not None  # noqa: S101
        names = [name for name in self.scope.names if name.endswith("stat_type")]
        second = FieldDefinition(
            entry.name, entry.type2, entry.line, entry.size,
            oversized=entry.oversized if entry.type2 is FieldType.SINT16 else None,
        )  # fmt: skip
        fixed = _as_fixed(second, key, create_color=False)
        other = _single(self.where, second, key) if fixed is None else _run(self.where, [fixed])
        getter = self.scope.find(names[-1]) if names else None
        return first if getter is None else TwoTypes(first, other, getter)

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read every part in order."""
        for part in self._parts:
            at = part.decode(data, at, out, scopes, context)
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write every part in order; counts follow from the lists they count."""
        if not isinstance(fields, Mapping):
            bad_value(self.where, "", f"must be an object, not {fields!r}")
        if not fields.keys() <= self.keys.keys():
            unknown = sorted(set(fields) - set(self.keys))
            bad_value(self.where, str(unknown[0]), "the struct has no such field")
        if self._counts:
            fields = self._with_counts(fields)
        for part in self._parts:
            part.encode(fields, parts, scopes, context)

    def _with_counts(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        whole = dict(fields)
        for key, count_key in self._counts:
            elements = whole.get(key)
            if elements is None:
                continue
            given = fields.get(count_key)
            if given is not None and given != len(elements):
                bad_value(self.where, count_key, f"is {given}, but {key} has {len(elements)}")
            whole[count_key] = len(elements)
        return whole


class SubstructPart:
    """Another struct copied in, once or several times."""

    __slots__ = ("_block", "_key", "_size")

    def __init__(self, key: str, block: Block, size: int) -> None:
        self._key, self._block, self._size = key, block, size

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read into one dict, or a list of them."""
        inside = (*scopes, out)
        found: list[dict[str, Any]] = []
        for _ in range(self._size):
            inner: dict[str, Any] = {}
            at = self._block.decode(data, at, inner, inside, context)
            found.append(inner)
        out[self._key] = found if self._size > 1 else found[0]
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write one dict, or a list of them."""
        value = fields.get(self._key)
        values = [{}] * self._size if value is None else value if self._size > 1 else [value]
        if not isinstance(values, (list, tuple)) or len(values) != self._size:
            bad_value(self._block.where, "", f"must be a list of {self._size} objects")
        inside = (*scopes, fields)
        for inner in values:
            self._block.encode(inner, parts, inside, context)


class ArrayPart:
    """As many elements as another field says."""

    __slots__ = ("_block", "_count", "_key", "_most", "_where")

    def __init__(self, where: str, key: str, block: Block, count: Getter, most: int | None) -> None:
        self._where, self._key, self._block, self._count, self._most = (
            where,
            key,
            block,
            count,
            most,
        )

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read the elements into a list; MaxArraySize caps how many (eq2-login.md 8.2)."""
        count = self._count(out, scopes) or 0
        if not isinstance(count, int) or count < 0:
            raise MalformedMessage("array count is no number")
        if count > COUNT_LIMIT or count > context.limit - at:
            if count and not (context.lenient and count <= COUNT_LIMIT):
                raise MalformedMessage("array count beyond the message")
            count = 0
        if self._most is not None:
            count = min(count, self._most)
        inside = (*scopes, out)
        elements: list[dict[str, Any]] = []
        for _ in range(count):
            element: dict[str, Any] = {}
            at = self._block.decode(data, at, element, inside, context)
            elements.append(element)
        out[self._key] = elements
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write the elements one after the other."""
        count = self._count(fields, scopes) or 0
        elements = fields.get(self._key)
        if elements is None:
            elements = [{}] * count
        if not isinstance(elements, (list, tuple)) or len(elements) != count:
            bad_value(self._where, self._key, f"must be a list of {count} objects")
        if count > COUNT_LIMIT:
            bad_value(self._where, self._key, f"must have at most {COUNT_LIMIT} elements")
        inside = (*scopes, fields)
        for element in elements:
            self._block.encode(element, parts, inside, context)


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
    default = entry.default_byte if entry.size > 1 and letter in "BHIQ" else 0
    width = {"B": 1, "H": 2, "I": 4, "Q": 8}.get(letter, 1)
    return Fixed(
        key, letter, count, group, listed=count > 1,
        default=int.from_bytes(bytes((default,)) * width, "little"),
    )  # fmt: skip


def _run(where: str, fields: list[Fixed]) -> Part:
    if all(not entry.listed for entry in fields):
        return PlainRun(where, fields)
    return MixedRun(where, fields)


def _single(where: str, entry: FieldDefinition, key: str) -> Part:
    """Return the part for one field that no run can hold."""
    kind = entry.type
    if kind in PREFIXES:
        prefix = PREFIXES[kind]
        return (
            Text(where, key, prefix)
            if entry.size == 1
            else TextList(where, key, prefix, entry.size)
        )
    if kind is FieldType.CHAR:
        return Characters(where, key, entry.size)
    if kind is FieldType.EQUIPMENT:
        return EquipmentItems(where, key, entry.size)
    if kind is FieldType.ITEM:
        return Item(where, key)
    assert kind is not None  # noqa: S101
    assert entry.oversized is not None  # noqa: S101
    if entry.size > 1:
        bad_value(where, key, "several oversized integers under one name are not supported")
    return OversizedInteger(where, key, kind, entry.oversized)
