"""The smallest pieces of a layout: runs of numbers, texts, equipment, oversized integers.

Each piece reads its bytes into values and writes values into bytes. `Context` is what one call of a
layout shares between its pieces.

A part is one piece of a layout with a ``decode`` and an ``encode`` made of the same definition, so
that they cannot drift apart. A part knows its struct's name only for complaints.

Fields of fixed size that follow one another are read and written by one `struct.Struct`; this is
where the speed of layouts comes from. Numbers are little-endian without padding.
Source: docs/protocol/characters.md#looks, docs/protocol/structs.md.

Text is ``str`` with one character a byte (latin-1), so that any byte makes the way and back.
Source: docs/protocol/structs.md#types.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from emu.errors import MalformedStruct, StructValueError
from emu.structs.reader import FieldType, Oversized

TOO_SHORT: Final = "message shorter than its layout"
COUNT_LIMIT: Final = 65_535
"""Most elements of one array, as EQ2Emulator has it (docs/protocol/structs.md#arrays)."""
ELEMENT_LIMIT: Final = 65_535
"""Most elements of all arrays of one message; nested counts cannot multiply beyond it."""

Values = dict[str, Any]
"""The values of one level of a layout, by their keys."""
Scopes = tuple[Mapping[str, Any], ...]
"""The dicts around the one at hand, outermost first."""


@dataclass(slots=True)
class Context:
    """What one call of decode or encode carries along."""

    flags: frozenset[str]
    limit: int = 0
    """Where the bytes to decode end."""
    lenient: bool = False
    """Whether what is past the end is zero or empty instead of an error."""
    elements: int = 0
    """Array elements begun so far."""

    strict: bool = False
    """Whether values that would not be written are refused."""

    def begin_elements(self, count: int, key: str, at: int) -> None:
        """Count the elements of an array that begins. Raises `MalformedStruct` over the limit."""
        self.elements += count
        if self.elements > ELEMENT_LIMIT:
            raise MalformedStruct("more array elements than any message has", key, at)


class FieldCodec(Protocol):
    """One part of a layout."""

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read from `at` on, put values into `out`, return where the part ends.

        Raises `MalformedStruct`; what could be read stands in `out` then.
        """

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Append the part's bytes."""


def bad_value(where: str, key: str, what: str) -> NoReturn:
    """Raise `StructValueError` that names struct and field; no `key` means the whole of `where`."""
    raise StructValueError(f"{where}.{key}: {what}" if key else f"{where}: {what}")


def shown(value: object) -> str:
    """Return a value for a complaint, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def raw_text(where: str, key: str, value: Any) -> bytes:
    """Return the bytes of a text whose characters each stand for one byte."""
    if not isinstance(value, str):
        bad_value(where, key, f"must be text, not {shown(value)}")
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        bad_value(where, key, "has characters above U+00FF; give the bytes as characters")


FORMATS: Final[dict[FieldType, tuple[str, int]]] = {
    FieldType.INT8: ("B", 1), FieldType.INT16: ("H", 1), FieldType.INT32: ("I", 1),
    FieldType.INT64: ("Q", 1), FieldType.SINT8: ("b", 1), FieldType.SINT16: ("h", 1),
    FieldType.SINT32: ("i", 1), FieldType.SINT64: ("q", 1), FieldType.FLOAT: ("f", 1),
    FieldType.DOUBLE: ("d", 1), FieldType.COLOR: ("B", 3),
}  # fmt: skip
"""struct letter and how many of them one value takes, for fields of fixed size."""
OVERSIZED_LETTERS: Final = {
    FieldType.INT16: ("B", "H"), FieldType.SINT16: ("b", "h"), FieldType.INT32: ("H", "I"),
}  # fmt: skip
"""struct letters of the short and the long form."""
SIZES: Final = {letter: struct.calcsize("<" + letter) for letter in "BHIQbhiqfd"}
_PACK_ERRORS = (struct.error, OverflowError, TypeError)


@dataclass(frozen=True, slots=True)
class Fixed:
    """One field of a run: its key, struct letter, and how its numbers make a value."""

    key: str
    letter: str
    count: int = 1
    """How many numbers it takes in all."""
    group: int = 1
    """Numbers of one value: 3 for a color, 1 otherwise."""
    listed: bool = False
    """Whether the value is a list (Size above 1, or a color)."""
    default: int = 0

    def value_of(self, numbers: list[Any]) -> Any:
        """Return the field's value made of all its numbers."""
        if not self.listed:
            return numbers[0]
        if self.group in (1, self.count):
            return numbers
        return [numbers[i : i + self.group] for i in range(0, self.count, self.group)]


class PlainRun:
    """Consecutive fields of fixed size with one number each; the quickest part."""

    __slots__ = ("_fields", "_keys", "_letters", "_pack", "_size", "_unpack", "_where")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self._fields = fields
        self._keys = tuple(entry.key for entry in fields)
        self._letters = "".join(entry.letter for entry in fields)
        whole = struct.Struct("<" + self._letters)
        self._unpack, self._pack, self._size = whole.unpack_from, whole.pack, whole.size

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read all of the run at once."""
        try:
            out.update(zip(self._keys, self._unpack(data, at), strict=True))
        except struct.error:
            return read_short(self._fields, data, at, out, context)
        return at + self._size

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write all of the run at once."""
        get = fields.get
        values = [get(key, 0) for key in self._keys]
        try:
            parts.append(self._pack(*values))
        except _PACK_ERRORS:
            for key, letter, value in zip(self._keys, self._letters, values, strict=True):
                check_number(self._where, key, letter, value)
            raise


class MixedRun:
    """Consecutive fields of fixed size, some of them lists or colors."""

    __slots__ = ("_fields", "_gather", "_shares", "_struct", "_where")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self._fields = fields
        self._struct = struct.Struct("<" + "".join(f"{e.count}{e.letter}" for e in fields))
        self._shares: list[tuple[str, int, int, int]] = []
        self._gather: list[tuple[Fixed, str, int, list[int]]] = []
        start = 0
        for entry in fields:
            step = 0
            if entry.listed:
                step = 1 if entry.count == entry.group else entry.group
            self._shares.append((entry.key, start, start + entry.count, step))
            flat = entry.count if step == 1 else 0
            self._gather.append((entry, entry.key, flat, [entry.default] * entry.count))
            start += entry.count

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read all numbers at once and share them out."""
        try:
            numbers = list(self._struct.unpack_from(data, at))
        except struct.error:
            return read_short(self._fields, data, at, out, context)
        for key, first, last, step in self._shares:
            if not step:
                out[key] = numbers[first]
            elif step == 1:
                out[key] = numbers[first:last]
            else:
                out[key] = [numbers[i : i + step] for i in range(first, last, step)]
        return at + self._struct.size

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Gather the numbers and write them at once."""
        numbers: list[Any] = []
        get = fields.get
        for entry, key, flat, default in self._gather:
            value = get(key)
            if value is None:
                numbers += default
            elif flat and type(value) is list and len(value) == flat:
                numbers += value
            elif not entry.listed:
                numbers.append(value)
            else:
                numbers += self._items(entry, value)
        try:
            parts.append(self._struct.pack(*numbers))
        except _PACK_ERRORS:
            start = 0
            for entry in self._fields:
                for value in numbers[start : start + entry.count]:
                    check_number(self._where, entry.key, entry.letter, value)
                start += entry.count
            raise

    def _items(self, entry: Fixed, value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            bad_value(self._where, entry.key, f"must be a list, not {shown(value)}")
        items = list(value)
        if entry.count > entry.group > 1:
            if any(not _is_list_of(entry.group, item) for item in items):
                bad_value(self._where, entry.key, f"must be a list of {entry.group} numbers each")
            items = [number for item in items for number in item]
        if len(items) != entry.count:
            bad_value(self._where, entry.key, f"must have {entry.count} numbers, not {len(items)}")
        return items


class EquipmentItems:
    """EQ2_EquipmentItem, once or several times: u16 model, color, highlight."""

    __slots__ = ("_empty", "_key", "_listed", "_pack", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size, self._listed = where, key, size, size > 1
        self._empty = bytes(size * _EQUIPMENT.size)
        self._pack = struct.Struct("<" + "H6B" * size).pack

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read every item into a dict."""
        raw = data[at : at + len(self._empty)]
        stop = at + len(raw)
        if len(raw) < len(self._empty):
            whole = len(raw) // _EQUIPMENT.size * _EQUIPMENT.size
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at + whole)
            raw = raw[:whole].ljust(len(self._empty), b"\0")
        items = [
            {"type": model, "color": [red, green, blue], "highlight": [red2, green2, blue2]}
            for model, red, green, blue, red2, green2, blue2 in _EQUIPMENT.iter_unpack(raw)
        ]
        out[self._key] = items if self._listed else items[0]
        return stop

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write every item."""
        value = fields.get(self._key)
        if value is None:
            parts.append(self._empty)
            return
        items = value if self._listed else [value]
        if not isinstance(items, (list, tuple)) or len(items) != self._size:
            bad_value(self._where, self._key, f"must be a list of {self._size} items")
        numbers: list[Any] = []
        try:
            for item in items:
                red, green, blue = item.get("color", _BLACK)
                red2, green2, blue2 = item.get("highlight", _BLACK)
                numbers += (item.get("type", 0), red, green, blue, red2, green2, blue2)
                if len(item) > 3 or not item.keys() <= _EQUIPMENT_KEYS:
                    names = ", ".join(sorted(map(str, item.keys() - _EQUIPMENT_KEYS)))
                    bad_value(self._where, self._key, f"an equipment item has no {names}")
            parts.append(self._pack(*numbers))
        except (*_PACK_ERRORS, ValueError, AttributeError) as error:
            bad_value(self._where, self._key, f"holds no equipment item: {error}")


class OversizedInteger:
    """An integer that is written short while it is small.

    EQ2Emulator reads an int32 in another way than it writes it
    (docs/protocol/structs.md#oversized), and writes a small value that equals the marker so that it
    cannot be read back. Here reading follows EQ2Emulator's writing, and a value whose short form
    would begin with the marker takes the long one.
    """

    __slots__ = ("_key", "_long", "_low", "_marker", "_short", "_threshold", "_where")

    def __init__(self, where: str, key: str, kind: FieldType, oversized: Oversized) -> None:
        short, long = OVERSIZED_LETTERS[kind]
        self._where, self._key = where, key
        self._short, self._long = struct.Struct("<" + short), struct.Struct("<" + long)
        self._threshold = oversized.threshold
        self._low = max(-oversized.threshold, -129) if short == "b" else -1
        if short == "b":
            self._threshold = min(self._threshold, 128)
        self._marker = oversized.marker

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the short form, or the long one behind the marker."""
        try:
            if data[at] == self._marker:
                (out[self._key],) = self._long.unpack_from(data, at + 1)
                return at + 1 + self._long.size
            (out[self._key],) = self._short.unpack_from(data, at)
        except (struct.error, IndexError):
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at) from None
            out[self._key] = 0
            return context.limit
        return at + self._short.size

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the short form where the value is below the threshold."""
        value = fields.get(self._key, 0)
        try:
            if self._low < value < self._threshold and value & 0xFF != self._marker:
                parts.append(self._short.pack(value))
            else:
                parts.append(bytes((self._marker,)) + self._long.pack(value))
        except _PACK_ERRORS:
            bad_value(self._where, self._key, f"does not fit its type: {shown(value)}")


def read_short(fields: Iterable[Fixed], data: bytes, at: int, out: Values, context: Context) -> int:
    """Read a run from a message that ends among its values, and return where reading goes on.

    A value that does not fit whole, and all behind it, is zero; a color is one value. Raises
    `MalformedStruct` at the first of them unless the context is lenient.
    """
    for entry in fields:
        one = struct.Struct(f"<{entry.group}{entry.letter}")
        numbers: list[Any] = []
        for _ in range(entry.count // entry.group):
            if at + one.size <= context.limit:
                numbers += one.unpack_from(data, at)
                at += one.size
            elif context.lenient:
                numbers += one.unpack(bytes(one.size))
                at = context.limit
            else:
                raise MalformedStruct(TOO_SHORT, entry.key, at)
        out[entry.key] = entry.value_of(numbers)
    return at


def check_number(where: str, key: str, letter: str, value: Any) -> None:
    """Raise `StructValueError` when a number does not fit its type."""
    try:
        struct.pack("<" + letter, value)
    except _PACK_ERRORS:
        bad_value(where, key, f"does not fit its type: {shown(value)}")


_EQUIPMENT: Final = struct.Struct("<H6B")
_EQUIPMENT_KEYS: Final = {"type", "color", "highlight"}
_BLACK: Final = (0, 0, 0)


def _is_list_of(count: int, item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == count


PREFIXES: Final = {FieldType.STRING8: 1, FieldType.STRING16: 2, FieldType.STRING32: 4}
"""Bytes of the length before a string, little-endian."""


class Text:
    """A string with a length prefix of 1, 2 or 4 bytes."""

    __slots__ = ("_key", "_prefix", "_where")

    def __init__(self, where: str, key: str, prefix: int) -> None:
        self._where, self._key, self._prefix = where, key, prefix

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read one string; every byte becomes the character of that number."""
        start = at + self._prefix
        stop = start + int.from_bytes(data[at:start], "little")
        if stop > context.limit or start > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            out[self._key] = ""
            return context.limit
        out[self._key] = data[start:stop].decode("latin-1")
        return stop

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write one string with its length."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        try:
            parts.append(len(raw).to_bytes(self._prefix, "little") + raw)
        except OverflowError:
            most = 256**self._prefix - 1
            bad_value(self._where, self._key, f"is longer than {most} bytes")


class FixedText:
    """Text of fixed size, zero padded; decoding leaves out the zeros at its end."""

    __slots__ = ("_key", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size = where, key, size

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the text without the zeros at its end."""
        stop = at + self._size
        if stop > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            stop = context.limit
        out[self._key] = data[at:stop].rstrip(b"\0").decode("latin-1")
        return stop

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the text with zeros behind it."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        if len(raw) > self._size:
            bad_value(self._where, self._key, f"must have at most {self._size} bytes")
        parts.append(raw.ljust(self._size, b"\0"))


class Item:
    """An EQ2_Item: bytes that code has prepared; only their writer knows how many.

    Reading takes all that is left, so fields behind an item that is not empty cannot be read back.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: str, key: str) -> None:
        self._where, self._key = where, key

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Take the rest."""
        out[self._key] = data[at : context.limit].decode("latin-1")
        return max(at, context.limit)

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the bytes as they are."""
        parts.append(raw_text(self._where, self._key, fields.get(self._key, "")))
