"""Reading and writing the parts of a layout: runs of fixed fields, strings, arrays, and so on.

Each part has ``decode`` and ``encode`` made of the same definition, so that they cannot drift
apart. Integers are little-endian. A part knows its struct's name only for complaints.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from emu.errors import MalformedMessage, StructValueError
from emu.structs.definitions import FieldType, Oversized
from emu.structs.scope import Getter, Scopes, Test

TOO_SHORT = "message shorter than its layout"
COUNT_LIMIT = 65_535


@dataclass(slots=True)
class Context:
    """What one call of decode or encode carries along."""

    flags: frozenset[str]
    limit: int
    """Where the real bytes end; a lenient decode has zeros behind them."""
    lenient: bool = False


class Part(Protocol):
    """One part of a layout."""

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read from `at` on, put values into `out`, return where the part ends."""

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Append the part's bytes."""


FORMATS: dict[FieldType, tuple[str, int]] = {
    FieldType.INT8: ("B", 1), FieldType.INT16: ("H", 1), FieldType.INT32: ("I", 1),
    FieldType.INT64: ("Q", 1), FieldType.SINT8: ("b", 1), FieldType.SINT16: ("h", 1),
    FieldType.SINT32: ("i", 1), FieldType.SINT64: ("q", 1), FieldType.FLOAT: ("f", 1),
    FieldType.DOUBLE: ("d", 1), FieldType.COLOR: ("B", 3),
}  # fmt: skip
"""struct letter and how many of them one value takes, for fields of fixed size."""
OVERSIZED_LETTERS = {
    FieldType.INT16: ("B", "H"), FieldType.SINT16: ("b", "h"), FieldType.INT32: ("H", "I"),
}  # fmt: skip
"""struct letters of the short and the long form."""
PREFIXES = {FieldType.STRING8: 1, FieldType.STRING16: 2, FieldType.STRING32: 4}


@dataclass(frozen=True, slots=True)
class Fixed:
    """One field of a run: its key, struct letters, and how its numbers make a value."""

    key: str
    letter: str
    count: int
    """How many numbers it takes in all."""
    group: int
    """Numbers of one value: 3 for a color, 1 otherwise."""
    listed: bool
    """Whether the value is a list (Size above 1, or a color)."""
    default: int = 0


class PlainRun:
    """Consecutive fields of fixed size with one number each; the quickest part."""

    __slots__ = ("_keys", "_pack", "_size", "_struct", "_unpack", "_where")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self._keys = tuple(entry.key for entry in fields)
        self._struct = struct.Struct("<" + "".join(entry.letter for entry in fields))
        self._unpack = self._struct.unpack_from
        self._pack = self._struct.pack
        self._size = self._struct.size

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, _context: Context
    ) -> int:
        """Read all of the run at once."""
        try:
            out.update(zip(self._keys, self._unpack(data, at), strict=True))
        except struct.error:
            raise MalformedMessage(TOO_SHORT) from None
        return at + self._size

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write all of the run at once."""
        get = fields.get
        values = [get(key, 0) for key in self._keys]
        try:
            parts.append(self._pack(*values))
        except (struct.error, OverflowError, TypeError):
            for key, letter, value in zip(self._keys, self._struct.format[1:], values, strict=True):
                _pack_one(self._where, key, letter, value)
            raise


class MixedRun:
    """Consecutive fields of fixed size, some of them lists or colors."""

    __slots__ = ("_fields", "_struct", "_where")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self._fields = fields
        self._struct = struct.Struct("<" + "".join(f"{e.count}{e.letter}" for e in fields))

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, _context: Context
    ) -> int:
        """Read all numbers at once and share them out."""
        try:
            numbers = self._struct.unpack_from(data, at)
        except struct.error:
            raise MalformedMessage(TOO_SHORT) from None
        start = 0
        for entry in self._fields:
            stop = start + entry.count
            if not entry.listed:
                out[entry.key] = numbers[start]
            elif entry.group in {1, entry.count}:
                out[entry.key] = list(numbers[start:stop])
            else:
                step = entry.group
                out[entry.key] = [list(numbers[i : i + step]) for i in range(start, stop, step)]
            start = stop
        return at + self._struct.size

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Gather the numbers and write them at once."""
        numbers: list[Any] = []
        for entry in self._fields:
            numbers += self._numbers(entry, fields.get(entry.key))
        try:
            parts.append(self._struct.pack(*numbers))
        except (struct.error, OverflowError, TypeError):
            start = 0
            for entry in self._fields:
                for value in numbers[start : start + entry.count]:
                    _pack_one(self._where, entry.key, entry.letter, value)
                start += entry.count
            raise

    def _numbers(self, entry: Fixed, value: Any) -> list[Any]:
        if value is None:
            return [entry.default] * entry.count
        if not entry.listed:
            return [value]
        if not isinstance(value, (list, tuple)):
            bad_value(self._where, entry.key, f"must be a list, not {value!r}")
        items = list(value)
        if entry.count > entry.group > 1:
            if any(
                not isinstance(item, (list, tuple)) or len(item) != entry.group for item in items
            ):
                bad_value(self._where, entry.key, f"must be a list of {entry.group} numbers each")
            items = [number for item in items for number in item]
        if len(items) != entry.count:
            bad_value(self._where, entry.key, f"must have {entry.count} numbers, not {len(items)}")
        return items


class Text:
    """A string with a length prefix of 1, 2 or 4 bytes."""

    __slots__ = ("_key", "_prefix", "_where")

    def __init__(self, where: str, key: str, prefix: int) -> None:
        self._where, self._key, self._prefix = where, key, prefix

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, context: Context
    ) -> int:
        """Read one string; every byte becomes the character of that number."""
        start = at + self._prefix
        stop = start + int.from_bytes(data[at:start], "little")
        if stop > context.limit or start > context.limit:
            if not context.lenient:
                raise MalformedMessage(TOO_SHORT)
            out[self._key] = ""
            return start
        out[self._key] = data[start:stop].decode("latin-1")
        return stop

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write one string with its length."""
        parts.append(_text(self._where, self._key, self._prefix, fields.get(self._key, "")))


class TextList:
    """Several strings in a row under one name."""

    __slots__ = ("_count", "_key", "_one", "_prefix", "_where")

    def __init__(self, where: str, key: str, prefix: int, count: int) -> None:
        self._where, self._key, self._prefix, self._count = where, key, prefix, count
        self._one = Text(where, key, prefix)

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read all of them into a list."""
        found = []
        for _ in range(self._count):
            at = self._one.decode(data, at, out, scopes, context)
            found.append(out[self._key])
        out[self._key] = found
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write all of them."""
        values = fields.get(self._key, [""] * self._count)
        if not isinstance(values, (list, tuple)) or len(values) != self._count:
            bad_value(self._where, self._key, f"must be a list of {self._count} texts")
        parts += [_text(self._where, self._key, self._prefix, value) for value in values]


class Characters:
    """Text of fixed size, zero padded."""

    __slots__ = ("_key", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size = where, key, size

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, _context: Context
    ) -> int:
        """Read the text without the zeros at its end."""
        stop = at + self._size
        if stop > len(data):
            raise MalformedMessage(TOO_SHORT)
        out[self._key] = data[at:stop].rstrip(b"\0").decode("latin-1")
        return stop

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the text with zeros behind it."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        if len(raw) > self._size:
            bad_value(self._where, self._key, f"must have at most {self._size} bytes")
        parts.append(raw.ljust(self._size, b"\0"))


class Item:
    """An item that code has prepared; its length is known only to its writer.

    Reading takes all that is left, so it can be read only at the end of a message.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: str, key: str) -> None:
        self._where, self._key = where, key

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, context: Context
    ) -> int:
        """Take the rest."""
        stop = max(at, context.limit)
        out[self._key] = data[at:stop].decode("latin-1")
        return stop

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the bytes as they are."""
        parts.append(raw_text(self._where, self._key, fields.get(self._key, "")))


_EQUIPMENT = struct.Struct("<H6B")


class EquipmentItems:
    """EQ2_EquipmentItem, once or several times: u16 model, color, highlight."""

    __slots__ = ("_key", "_listed", "_many", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size, self._listed = where, key, size, size > 1
        self._many = struct.Struct("<" + "H6B" * size)

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, _context: Context
    ) -> int:
        """Read every item into a dict."""
        try:
            numbers = self._many.unpack_from(data, at)
        except struct.error:
            raise MalformedMessage(TOO_SHORT) from None
        items = [
            {
                "type": numbers[i],
                "color": list(numbers[i + 1 : i + 4]),
                "highlight": list(numbers[i + 4 : i + 7]),
            }
            for i in range(0, len(numbers), 7)
        ]
        out[self._key] = items if self._listed else items[0]
        return at + self._many.size

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write every item."""
        value = fields.get(self._key)
        items = [{}] * self._size if value is None else value if self._listed else [value]
        if not isinstance(items, (list, tuple)) or len(items) != self._size:
            bad_value(self._where, self._key, f"must be a list of {self._size} items")
        for item in items:
            try:
                color, highlight = item.get("color", (0, 0, 0)), item.get("highlight", (0, 0, 0))
                parts.append(_EQUIPMENT.pack(item.get("type", 0), *color, *highlight))
            except (struct.error, TypeError, AttributeError) as error:
                bad_value(self._where, self._key, f"is no equipment item: {error}")


class OversizedInteger:
    """An integer that is written short while it is small (eq2-login.md 8.5).

    The peer reads an int32 in another way than it writes it; here both follow the writer.
    """

    __slots__ = ("_key", "_long", "_low", "_marker", "_short", "_threshold", "_where")

    def __init__(self, where: str, key: str, kind: FieldType, oversized: Oversized) -> None:
        short, long = OVERSIZED_LETTERS[kind]
        self._where, self._key = where, key
        self._short, self._long = struct.Struct("<" + short), struct.Struct("<" + long)
        self._threshold = oversized.threshold
        self._low = -oversized.threshold if short == "b" else -1
        self._marker = oversized.marker

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], _scopes: Scopes, _context: Context
    ) -> int:
        """Read the short form, or the long one behind the marker."""
        try:
            if data[at] == self._marker:
                (out[self._key],) = self._long.unpack_from(data, at + 1)
                return at + 1 + self._long.size
            (out[self._key],) = self._short.unpack_from(data, at)
        except (struct.error, IndexError):
            raise MalformedMessage(TOO_SHORT) from None
        return at + self._short.size

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the short form where the value is below the threshold."""
        value = fields.get(self._key, 0)
        try:
            if self._low < value < self._threshold and value & 0xFF != self._marker:
                parts.append(self._short.pack(value))
            else:
                parts.append(bytes((self._marker,)) + self._long.pack(value))
        except (struct.error, TypeError):
            bad_value(self._where, self._key, f"does not fit: {value!r}")


class Conditional:
    """A part that is there only when its conditions hold."""

    __slots__ = ("_part", "_test")

    def __init__(self, part: Part, test: Test) -> None:
        self._part, self._test = part, test

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read the part if it is there."""
        if self._test(out, scopes, context.flags):
            return self._part.decode(data, at, out, scopes, context)
        return at

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write the part if it has to be there."""
        if self._test(fields, scopes, context.flags):
            self._part.encode(fields, parts, scopes, context)


class TwoTypes:
    """A field that has its second type unless a statistic's type is 6 or 7 (items only)."""

    __slots__ = ("_first", "_second", "_stat_type")

    def __init__(self, first: Part, second: Part, stat_type: Getter) -> None:
        self._first, self._second, self._stat_type = first, second, stat_type

    def decode(
        self, data: bytes, at: int, out: dict[str, Any], scopes: Scopes, context: Context
    ) -> int:
        """Read in the type that the statistic asks for."""
        part = self._first if self._stat_type(out, scopes) in (6, 7) else self._second
        return part.decode(data, at, out, scopes, context)

    def encode(
        self, fields: Mapping[str, Any], parts: list[bytes], scopes: Scopes, context: Context
    ) -> None:
        """Write in the type that the statistic asks for."""
        part = self._first if self._stat_type(fields, scopes) in (6, 7) else self._second
        part.encode(fields, parts, scopes, context)


def bad_value(where: str, key: str, what: str) -> NoReturn:
    """Raise `StructValueError` that names struct and field."""
    raise StructValueError(f"{where}.{key}: {what}")


def raw_text(where: str, key: str, value: Any) -> bytes:
    """Return the bytes of a text whose characters each stand for one byte."""
    if not isinstance(value, str):
        bad_value(where, key, f"must be text, not {value!r}")
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        bad_value(where, key, "has characters above U+00FF; give the bytes as characters")


def _text(where: str, key: str, prefix: int, value: Any) -> bytes:
    raw = raw_text(where, key, value)
    try:
        return len(raw).to_bytes(prefix, "little") + raw
    except OverflowError:
        bad_value(where, key, f"is longer than {256**prefix - 1} bytes")


def _pack_one(where: str, key: str, letter: str, value: Any) -> None:
    try:
        struct.pack("<" + letter, value)
    except (struct.error, OverflowError, TypeError):
        bad_value(where, key, f"does not fit its type: {value!r}")
