"""Layouts: a struct of one client version, compiled to codecs that read and write its bytes.

Values are plain: numbers, ``str`` (each character is one byte, latin-1), lists for fields with a
Size above 1 and for colors, dicts for equipment items and substructs, and a list of dicts for an
array. A field whose conditions do not hold is missing from a decoded dict. Encoding ignores such a
field, strict encoding refuses it. A name that occurs twice in a struct gets ``_2`` the second time.

EQ2Emulator reads some fields otherwise than it writes them. Both directions here follow its
writing, for short int32 values (docs/protocol/structs.md#oversized), IfFlagSet and IfFlagNotSet
(argument `flags`), and the meaning of "set" (docs/protocol/structs.md#conditions). Optional fields
are always present, as in EQ2Emulator's practice.
Source: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from emu.errors import MalformedStruct
from emu.structs.definitions import FieldDefinition, FieldType, StructDefinition
from emu.structs.fields import (
    COUNT_LIMIT,
    FORMATS,
    PREFIXES,
    SIZES,
    Again,
    Context,
    EquipmentItems,
    FieldCodec,
    Fixed,
    FixedText,
    Item,
    MixedRun,
    NumberReader,
    OversizedInteger,
    PlainRun,
    Scopes,
    Text,
    Values,
    bad_value,
    number_reader,
    shown,
)
from emu.structs.scope import Getter, Scope, Test, compile_conditions

# One shared empty set, because nearly all calls have no flags.
_NO_FLAGS: Final[frozenset[str]] = frozenset()


class StructLayout:
    """One struct for a range of client versions.

    `definition` is the struct as the file has it. `last_version` is the last client version of the
    layout, None if there is no later layout. With `create_color`, each EQ2_Color is three floats,
    as in create requests above version 561 (docs/protocol/characters.md#create).
    """

    __slots__ = ("_block", "_title", "definition", "last_version", "name")

    def __init__(
        self,
        definition: StructDefinition,
        *,
        last_version: int | None = None,
        create_color: bool = False,
    ) -> None:
        self.definition = definition
        self.name = definition.name
        self.last_version = last_version
        self._title = f"{definition.name} {definition.client_version}"
        self._block = Block(self._title, definition.fields, Scope(), create_color)

    @property
    def client_version(self) -> int:
        """The first client version that has this layout."""
        return self.definition.client_version

    @property
    def versions(self) -> str:
        """The client versions of this layout as text: ``546-561`` or ``60100 and later``."""
        if self.last_version is None:
            return f"{self.client_version} and later"
        return f"{self.client_version}-{self.last_version}"

    @property
    def opcode_name(self) -> str:
        """The message that carries this struct, "" if the file names none."""
        return self.definition.opcode_name

    def encode(
        self, fields: Mapping[str, Any], flags: Collection[str] = (), *, strict: bool = False
    ) -> bytes:
        """Return the bytes for these values; missing values are zero or empty.

        `flags` are the names for which IfFlagSet holds. Raises `StructValueError` for an unknown
        name and for a value that does not fit. `strict` also raises for a value that would not be
        written because of a condition, and for elements whose count would not be written.
        """
        chunks: list[bytes] = []
        context = Context(frozenset(flags) if flags else _NO_FLAGS, strict=strict)
        self._block.encode(fields, chunks, (), context)
        return b"".join(chunks)

    def decode(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of a whole message.

        Raises `MalformedStruct` if the message is shorter or longer than the layout. The error has
        the place, and the values up to it.
        """
        out: dict[str, Any] = {}
        size = len(data)
        end = self._read(data, 0, out, Context(frozenset(flags) if flags else _NO_FLAGS, size))
        if end != size:
            error = MalformedStruct("message longer than its layout", offset=end)
            # The values that were read are the best hint at where a layout is wrong.
            error.struct, error.values = self._title, out
            raise error
        return out

    def decode_prefix(
        self, data: bytes, offset: int = 0, flags: Collection[str] = ()
    ) -> tuple[dict[str, Any], int]:
        """Return the values from `offset` on, and the offset of their end. Raises as `decode`."""
        out: dict[str, Any] = {}
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data))
        return out, self._read(data, offset, out, context)

    def decode_short(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values as EQ2Emulator reads them: values past the end are zero or empty.

        Reading stops at the first value that does not fit (a color is one value). Bytes behind the
        layout are ignored. Raises `MalformedStruct` only for an array with more elements than the
        message has bytes. Source: docs/protocol/login.md#version, docs/protocol/structs.md#types,
        docs/protocol/structs.md#arrays.
        """
        out: dict[str, Any] = {}
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data), lenient=True)
        self._read(data, 0, out, context)
        return out

    def number_reader(self, *names: str) -> NumberReader:
        """Return a function that reads only these fields, two or more, in this order.

        For messages that each player sends several times a second: it takes a fraction of the time
        of `decode`. They must have the layout's length. The fields must be single numbers.
        """
        fields = self._block.fixed_fields()
        if fields is not None:
            return number_reader(fields, names)
        pick = itemgetter(*names)
        return lambda data: pick(self.decode(data))

    def empty_size(self) -> int:
        """Return the length in bytes with all strings and arrays empty and all numbers zero."""
        return len(self.encode({}))

    def _read(self, data: bytes, offset: int, out: dict[str, Any], context: Context) -> int:
        try:
            return self._block.decode(data, offset, out, (), context)
        except MalformedStruct as error:
            # Codecs know only their fields; the name of the struct is added here, once for all of
            # them.
            error.struct, error.values = self._title, out
            raise


FIRST_TYPE_STATISTICS = (6, 7)
"""The kinds of statistic whose value has the first of two types."""


class Conditional:
    """A field that is present only if its conditions hold."""

    __slots__ = ("_codec", "_key", "_test", "_where")

    def __init__(self, where: str, key: str, codec: FieldCodec, test: Test) -> None:
        self._where, self._key, self._codec, self._test = where, key, codec, test

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the field if it is present."""
        # The test reads fields that come earlier in the message, so reading in order is enough.
        if self._test(out, scopes, context.flags):
            return self._codec.decode(data, at, out, scopes, context)
        return at

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write the field if its conditions hold."""
        if self._test(fields, scopes, context.flags):
            self._codec.encode(fields, chunks, scopes, context)
        elif context.strict and fields.get(self._key) is not None:
            bad_value(
                self._where,
                self._key,
                "its conditions do not hold; leave it out",
            )


class TwoTypes:
    """A field of items with two types: the first if the statistic's kind is 6 or 7."""

    __slots__ = ("_first", "_kind", "_second")

    def __init__(self, first: FieldCodec, second: FieldCodec, kind: Getter) -> None:
        self._first, self._second, self._kind = first, second, kind

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the type that the statistic's kind selects."""
        return self._choose(out, scopes).decode(data, at, out, scopes, context)

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write the type that the statistic's kind selects."""
        self._choose(fields, scopes).encode(fields, chunks, scopes, context)

    def _choose(self, fields: Mapping[str, Any], scopes: Scopes) -> FieldCodec:
        return self._first if self._kind(fields, scopes) in FIRST_TYPE_STATISTICS else self._second


class RepeatedCodec:
    """A field with a Size above 1: its values are a list under one name."""

    __slots__ = ("_count", "_key", "_one", "_where", "_zero")

    def __init__(self, where: str, key: str, one: FieldCodec, count: int, zero: str | int) -> None:
        self._where, self._key, self._one, self._count, self._zero = where, key, one, count, zero

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read all values into a list."""
        found: list[Any] = []
        # One dict for all values: the codec writes under its own key, and the list takes the
        # value out.
        one: Values = {}
        # The list is in `out` before it is filled, so an error still shows the values read so
        # far.
        out[self._key] = found
        try:
            for _ in range(self._count):
                at = self._one.decode(data, at, one, scopes, context)
                found.append(one[self._key])
        except MalformedStruct as error:
            error.field = f"{self._key}[{len(found)}]"
            raise
        return at

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write all values."""
        values = fields.get(self._key)
        if values is None:
            values = [self._zero] * self._count
        if not isinstance(values, (list, tuple)) or len(values) != self._count:
            bad_value(self._where, self._key, f"must be a list of {self._count}")
        for value in values:
            self._one.encode({self._key: value}, chunks, scopes, context)


class Block:
    """The fields of one level: a struct, a substruct, or an array's element.

    `where` names the level in errors. `scope` collects the names by which conditions and counts
    refer to its fields. With `create_color`, each EQ2_Color is three floats.
    """

    __slots__ = ("_again", "_codecs", "_counts", "_names", "_scope", "_tests", "_where")

    def __init__(
        self, where: str, fields: Collection[FieldDefinition], scope: Scope, create_color: bool
    ) -> None:
        self._where = where
        self._scope = scope
        self._codecs: list[FieldCodec] = []
        self._counts: list[tuple[str, str, Test | None]] = []
        self._tests: dict[str, Test] = {}
        keyed = keyed_fields(fields)
        self._names = keyed.keys()
        # Only such levels note where they begin.
        self._again = any(entry.type is FieldType.AGAIN for entry in fields)
        # Fields of fixed size in a row become one run: one call of `struct` reads all of them,
        # which is several times as fast as a call per field.
        run: list[Fixed] = []
        for key, entry in keyed.items():
            fixed = _as_fixed(entry, key, create_color)
            if fixed is None or entry.conditions or entry.type2 is not None:
                # Its presence depends on other fields, so it cannot be read together with its
                # neighbors.
                self._end_run(run)
                self._codecs.append(self._codec(entry, key, fixed, create_color))
            else:
                run.append(fixed)
            # Added in the order of the file: a condition may name only fields that are read before.
            if not entry.substruct:
                scope.add_field(entry.name, key, entry.size)
        self._end_run(run)

    def fixed_fields(self) -> Sequence[Fixed] | None:
        """Return the fields if all of them are numbers that are always present, otherwise None."""
        run, *others = self._codecs
        return run.fields if not others and isinstance(run, PlainRun | MixedRun) else None

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read all fields in order into `out`; return the offset behind them."""
        if self._again:
            context.begins[self] = at
        for codec in self._codecs:
            at = codec.decode(data, at, out, scopes, context)
        return at

    def decode_each(
        self, found: list[Values], data: bytes, at: int, scopes: Scopes, context: Context
    ) -> int:
        """Read elements into the empty dicts of a list; drop those that an error leaves unread."""
        begun = 0
        try:
            for inner in found:
                begun += 1
                at = self.decode(data, at, inner, scopes, context)
        except MalformedStruct as error:
            # The elements behind the fault were never read; the faulty one keeps the fields
            # before it.
            del found[begun:]
            error.enter(f"[{begun - 1}]")
            raise
        return at

    def encode(
        self, fields: Mapping[str, Any], chunks: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write all fields in order; counts are derived from the lists that they count."""
        self.write(self.completed(fields, scopes, context), chunks, scopes, context)

    def completed(self, fields: Mapping[str, Any], scopes: Scopes, context: Context) -> Values:
        """Return a copy of the values with all counts that lists determine.

        Raises `StructValueError` for unknown names and for counts that differ from their lists. A
        strict context also raises for elements whose count would not be written.
        """
        # A dict, as nearly always, is no question to the abstract class.
        if type(fields) is not dict and not isinstance(fields, Mapping):
            bad_value(self._where, "", f"must be an object, not {shown(fields)}")
        if not fields.keys() <= self._names:
            unknown = sorted(map(str, fields.keys() - self._names))
            bad_value(self._where, unknown[0], "unknown field; `emu structs show` lists the fields")
        # A copy, because counts and completed substructs are added and the caller's dict must not
        # change.
        whole = dict(fields)
        for key, count_key, test in self._counts:
            elements = whole.get(key)
            # Without a list the count is the caller's: the array is then empty or comes from
            # elsewhere.
            if not isinstance(elements, (list, tuple)):
                continue
            given, length = whole.get(count_key), len(elements)
            if context.strict and test is not None and not test(whole, scopes, context.flags):
                if length:
                    bad_value(self._where, key, f"its count {count_key} would not be written")
                continue
            # A caller that gives both and they differ has made a mistake; silently writing one of
            # them would hide it.
            if given is not None and given != length:
                bad_value(self._where, count_key, f"is {shown(given)}, but {key} has {length}")
            whole[count_key] = length
        return whole

    def write(self, whole: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write completed values; complete those of substructs and elements in place."""
        if self._again:
            context.begins[self] = len(chunks)
        for codec in self._codecs:
            codec.encode(whole, chunks, scopes, context)

    def completed_each(
        self, elements: Sequence[Mapping[str, Any]], scopes: Scopes, context: Context
    ) -> list[Values]:
        """Complete the elements of a list; what is repeated in it is one object in the result."""
        whole: list[Values] = []
        before: object = None
        for element in elements:
            if element is not before or not whole:
                before, made = element, self.completed(element, scopes, context)
            whole.append(made)
        return whole

    def write_each(
        self, whole: Sequence[Values], chunks: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write completed elements; an object that is repeated has the same bytes again."""
        before: Values | None = None
        written: list[bytes] = []
        for element in whole:
            if element is not before:
                before, begun = element, len(chunks)
                self.write(element, chunks, scopes, context)
                written = chunks[begun:]
            else:
                chunks += written

    def _end_run(self, run: list[Fixed]) -> None:
        if run:
            self._codecs.append(_run(self._where, list(run)))
            # A copy, because the caller's list is emptied for the next run.
            run.clear()

    def _codec(
        self, entry: FieldDefinition, key: str, fixed: Fixed | None, create_color: bool
    ) -> FieldCodec:
        test = compile_conditions(entry.conditions, self._scope)
        if fixed is not None:
            codec: FieldCodec = _run(self._where, [fixed])
        elif entry.substruct:
            where = f"{self._where}.{key}"
            inner = self._scope.substruct(entry.name, key, entry.size)
            block = Block(where, entry.fields, inner, create_color)
            codec = SubstructCodec(where, key, block, entry.size)
        elif entry.type is FieldType.ARRAY:
            codec = self._array(entry, key, create_color)
        elif entry.type is FieldType.AGAIN:
            codec = Again(self._where, key, self, entry.start)
        else:
            codec = _single(self._where, entry, key)
        if entry.type2 is not None:
            codec = self._two_types(entry, key, codec)
        if test is None:
            return codec
        self._tests[key] = test
        return Conditional(self._where, key, codec, test)

    def _array(self, entry: FieldDefinition, key: str, create_color: bool) -> ArrayCodec:
        # A substruct may take its count from a field of the struct that copies it. Alone, it has
        # no such field, and the array is empty.
        count = self._scope.find(entry.count_field) or _nothing
        # Only a count of this level follows from its list. A count further out is the caller's.
        if entry.count_field in self._names:
            self._counts.append((key, entry.count_field, self._tests.get(entry.count_field)))
        where = f"{self._where}.{key}"
        inner = Block(where, entry.fields, self._scope.element(key), create_color)
        return ArrayCodec(where, key, inner, count, entry.max_count)

    def _two_types(self, entry: FieldDefinition, key: str, first: FieldCodec) -> FieldCodec:
        assert entry.type2 is not None  # noqa: S101
        kind = self._scope.last_ending("stat_type")
        getter = self._scope.find(kind) if kind else None
        # Only items have `stat_type`; everywhere else the first type applies.
        if getter is None:
            return first
        second = FieldDefinition(
            entry.name, entry.type2, entry.line, entry.size,
            oversized=entry.oversized,
        )  # fmt: skip
        fixed = _as_fixed(second, key, create_color=False)
        other = _single(self._where, second, key) if fixed is None else _run(self._where, [fixed])
        return TwoTypes(first, other, getter)


class SubstructCodec:
    """A substruct: another struct copied into this one, once or `size` times.

    Its dict is put into the holder's values before its fields are read or written: the conditions
    of one of its fields may name another by the flat name that it has in the holder.
    """

    __slots__ = ("_block", "_key", "_size", "_where")

    def __init__(self, where: str, key: str, block: Block, size: int) -> None:
        self._where, self._key, self._block, self._size = where, key, block, size

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read one dict, or a list of dicts."""
        found: list[Values] = [{} for _ in range(self._size)]
        out[self._key] = found if self._size > 1 else found[0]
        # `found` is in `out` before its fields are read, so conditions can already find them.
        inside = (*scopes, out)
        try:
            if self._size > 1:
                return self._block.decode_each(found, data, at, inside, context)
            return self._block.decode(data, at, found[0], inside, context)
        except MalformedStruct as error:
            error.enter(self._key)
            raise

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write one dict, or a list of dicts."""
        value = fields.get(self._key)
        values = [{}] * self._size if value is None else value if self._size > 1 else [value]
        if not isinstance(values, (list, tuple)) or len(values) != self._size:
            bad_value(self._where, "", f"must be a list of {self._size} objects")
        # All copies are completed before the first is written, because a condition of one copy may
        # name a field of another.
        inside = (*scopes, fields)
        whole = self._block.completed_each(values, inside, context)
        fields[self._key] = whole if self._size > 1 else whole[0]
        self._block.write_each(whole, chunks, inside, context)


class ArrayCodec:
    """An array: as many elements as its count field says."""

    __slots__ = ("_block", "_count", "_key", "_most", "_where")

    def __init__(self, where: str, key: str, block: Block, count: Getter, most: int | None) -> None:
        self._where, self._key, self._block = where, key, block
        self._count, self._most = count, most

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the elements into a list, at most MaxArraySize (docs/protocol/structs.md#data)."""
        count = self._count(out, scopes) or 0
        if not isinstance(count, int) or count < 0:
            raise MalformedStruct("array count is not a number", self._key, at)
        # Every element has at least one byte, so a larger count is false. Checked before the dicts
        # are made, because a forged count could make millions of them.
        if count > COUNT_LIMIT or count > context.limit - at:
            raise MalformedStruct("array count is larger than the message", self._key, at)
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

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write all elements."""
        count = self._count(fields, scopes) or 0
        if not isinstance(count, int) or not 0 <= count <= COUNT_LIMIT:
            bad_value(self._where, "", f"cannot have {shown(count)} elements")
        elements = fields.get(self._key)
        if elements is None:
            elements = [{}] * count
        if not isinstance(elements, (list, tuple)) or len(elements) != count:
            bad_value(self._where, "", f"must be a list of {count} objects, the value of its count")
        inside = (*scopes, fields)
        # Completed before the first is written, as for substructs: a condition may name another
        # element.
        whole = fields[self._key] = self._block.completed_each(elements, inside, context)
        self._block.write_each(whole, chunks, inside, context)


def keyed_fields(fields: Collection[FieldDefinition]) -> dict[str, FieldDefinition]:
    """Return fields by the key of their values; a repeated name gets ``_2``, ``_3`` ..."""
    keyed: dict[str, FieldDefinition] = {}
    for entry in fields:
        key, number = entry.name, 1
        while key in keyed:
            number += 1
            key = f"{entry.name}_{number}"
        keyed[key] = entry
    return keyed


def _nothing(_here: Mapping[str, Any], _scopes: Scopes) -> None:
    """Return None: the value of a variable that does not exist."""


def _as_fixed(entry: FieldDefinition, key: str, create_color: bool) -> Fixed | None:
    """Return a field of fixed size as an entry of a run, None for any other field."""
    if entry.type not in FORMATS or entry.is_short_for_small():
        return None
    letter, group = FORMATS[entry.type]
    if entry.type is FieldType.COLOR and create_color:
        letter = "f"
    count = entry.size * group
    default = 0
    # EQ2Emulator fills only unsigned integers with a Size above 1
    # (docs/protocol/structs.md#data).
    if entry.default_byte and entry.size > 1 and letter in "BHIQ":
        default = int.from_bytes(bytes((entry.default_byte,)) * SIZES[letter], "little")
    return Fixed(key, letter, count, group, listed=count > 1, default=default)


def _run(where: str, fields: list[Fixed]) -> FieldCodec:
    # Without lists the numbers need no regrouping, so the faster codec is enough.
    if any(entry.listed for entry in fields):
        return MixedRun(where, fields)
    return PlainRun(where, fields)


def _single(where: str, entry: FieldDefinition, key: str) -> FieldCodec:
    """Return the codec of a field without a fixed size."""
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
