"""Field codecs: runs of numbers, texts, equipment, and oversized integers.

Each codec has a ``decode`` and an ``encode``, made from the same definition. A codec has the name
of its struct only for errors. Numbers are little-endian without padding. Text is ``str`` with one
character per byte (latin-1), so every byte survives decoding and encoding.

Consecutive fields of fixed size share one `struct.Struct`. The speed of layouts comes from that.
Source: docs/protocol/characters.md#looks, docs/protocol/structs.md#types.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NoReturn, Protocol

from emu.errors import MalformedStruct, StructValueError
from emu.structs.definitions import FieldType, Oversized

TOO_SHORT: Final = "message shorter than its layout"
COUNT_LIMIT: Final = 65_535
"""The most elements of one array, as in EQ2Emulator (docs/protocol/structs.md#arrays)."""
ELEMENT_LIMIT: Final = 65_535
"""The most elements of all arrays of one message. Nested counts multiply, so each array's own
limit is not enough."""

Values = dict[str, Any]
"""The values of one level of a layout, by their keys."""
Scopes = tuple[Mapping[str, Any], ...]
"""The dicts of the enclosing levels, outermost first."""
NumberReader = Callable[[bytes], tuple[Any, ...]]
"""Returns some numbers of a message."""


@dataclass(slots=True)
class Context:
    """The settings and the state of one call of decode or encode."""

    flags: frozenset[str]
    limit: int = 0
    """The offset of the end of the bytes to decode."""
    lenient: bool = False
    """Whether values past the end are zero or empty instead of an error."""
    elements: int = 0
    """The number of array elements so far."""

    strict: bool = False
    """Whether values that would not be written raise an error."""
    begins: dict[object, int] = field(default_factory=dict)
    """Where the levels begin whose bytes come again: an offset, or a number of chunks on encoding.
    Only such levels are in it."""

    def begin_elements(self, count: int, key: str, at: int) -> None:
        """Count the elements of an array. Raises `MalformedStruct` above `ELEMENT_LIMIT`."""
        self.elements += count
        if self.elements > ELEMENT_LIMIT:
            raise MalformedStruct(f"more than {ELEMENT_LIMIT} array elements", key, at)


class FieldCodec(Protocol):
    """The codec of one or more fields of a layout."""

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read values from `at` on into `out`; return the offset behind them.

        Raises `MalformedStruct`; `out` then has the values before the fault.
        """

    def encode(self, fields: Values, chunks: list[bytes], scopes: Scopes, context: Context) -> None:
        """Append the bytes of the fields to `chunks`."""


def bad_value(where: str, key: str, what: str) -> NoReturn:
    """Raise `StructValueError` with struct, field and fault; no `key` means all of `where`."""
    raise StructValueError(f"{where}.{key}: {what}" if key else f"{where}: {what}")


def shown(value: object) -> str:
    """Return a value as text for an error, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def raw_text(where: str, key: str, value: Any) -> bytes:
    """Return the bytes of a text with one character per byte."""
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
"""The `struct` letter of each type of fixed size, and how many numbers one value has."""
OVERSIZED_LETTERS: Final = {
    FieldType.INT16: ("B", "H"), FieldType.SINT16: ("b", "h"), FieldType.INT32: ("H", "I"),
    FieldType.SINT32: ("b", "i"), FieldType.FLOAT: ("b", "f"),
}  # fmt: skip
"""The `struct` letters of the short and the long form."""
SIZES: Final = {letter: struct.calcsize("<" + letter) for letter in "BHIQbhiqfd"}
# What `struct` raises for a value out of range or of a wrong type; it depends on the type.
_PACK_ERRORS = (struct.error, OverflowError, TypeError)


@dataclass(frozen=True, slots=True)
class Fixed:
    """One field of a run: its key, its `struct` letter, and the shape of its value."""

    key: str
    letter: str
    count: int = 1
    """All numbers of the field."""
    group: int = 1
    """The numbers of one value: 3 for a color, otherwise 1."""
    listed: bool = False
    """Whether the value is a list (Size above 1, or a color)."""
    default: int = 0

    def value_of(self, numbers: list[Any]) -> Any:
        """Return the field's value from its numbers."""
        if not self.listed:
            return numbers[0]
        # A single color and a list of plain numbers are flat; several colors are a list of lists.
        if self.group in (1, self.count):
            return numbers
        return [numbers[i : i + self.group] for i in range(0, self.count, self.group)]


def number_reader(fields: Sequence[Fixed], names: Sequence[str]) -> NumberReader:
    """Return a function that reads two or more numbers of a run, in the order of `names`."""
    kept = [entry.key for entry in fields if entry.key in names]
    letters = "".join(
        entry.letter if entry.key in names else f"{entry.count * SIZES[entry.letter]}x"
        for entry in fields
    )
    read = struct.Struct("<" + letters).unpack
    in_order = itemgetter(*map(kept.index, names))
    return lambda data: in_order(read(data))


class PlainRun:
    """Consecutive fields of fixed size with one number each; the fastest codec."""

    __slots__ = ("_keys", "_letters", "_pack", "_size", "_unpack", "_where", "fields")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self.fields = fields
        self._keys = tuple(entry.key for entry in fields)
        self._letters = "".join(entry.letter for entry in fields)
        whole = struct.Struct("<" + self._letters)
        # Bound once, because every message passes here.
        self._unpack, self._pack, self._size = whole.unpack_from, whole.pack, whole.size

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the whole run at once."""
        try:
            out.update(zip(self._keys, self._unpack(data, at), strict=True))
        except struct.error:
            # The bytes are too few for the run; the slow way finds the first missing field.
            return read_short(self.fields, data, at, out, context)
        return at + self._size

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the whole run at once."""
        get = fields.get
        values = [get(key, 0) for key in self._keys]
        try:
            chunks.append(self._pack(*values))
        except _PACK_ERRORS:
            # `struct` does not name the bad value, so each one is tried; only after a failure.
            for key, letter, value in zip(self._keys, self._letters, values, strict=True):
                check_number(self._where, key, letter, value)
            # No single value is at fault, so the original error is all there is.
            raise


class MixedRun:
    """Consecutive fields of fixed size, of which some are lists or colors."""

    __slots__ = ("_places", "_shares", "_struct", "_where", "_zeros", "fields")

    def __init__(self, where: str, fields: list[Fixed]) -> None:
        self._where = where
        self.fields = fields
        self._struct = struct.Struct("<" + "".join(f"{e.count}{e.letter}" for e in fields))
        self._shares: list[tuple[str, int, int, int]] = []
        self._places: dict[str, tuple[Fixed, int, int, int]] = {}
        """Of each field: where its numbers begin and end, and its length if it is a flat list."""
        self._zeros: list[Any] = []
        start = 0
        for entry in fields:
            # 0 means a single number, 1 a flat list, more the size of a group, such as a color.
            step = 0
            if entry.listed:
                step = 1 if entry.count == entry.group else entry.group
            self._shares.append((entry.key, start, start + entry.count, step))
            flat = entry.count if step == 1 else 0
            self._places[entry.key] = entry, start, start + entry.count, flat
            self._zeros += [entry.default] * entry.count
            start += entry.count

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read all numbers at once and assign them to the fields."""
        try:
            numbers = list(self._struct.unpack_from(data, at))
        except struct.error:
            return read_short(self.fields, data, at, out, context)
        for key, first, last, step in self._shares:
            if not step:
                out[key] = numbers[first]
            elif step == 1:
                out[key] = numbers[first:last]
            else:
                out[key] = [numbers[i : i + step] for i in range(first, last, step)]
        return at + self._struct.size

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Collect all numbers and write them at once."""
        numbers, places = self._zeros.copy(), self._places
        # The fewer are looked up among the more: a sheet has hundreds of fields, and few values.
        for key in fields if len(fields) < len(places) else places:
            value, found = fields.get(key), places.get(key)
            if value is None or found is None:
                continue
            entry, start, end, flat = found
            # The common case needs no check of the elements: `struct` itself finds bad numbers.
            if flat and type(value) is list and len(value) == flat:
                numbers[start:end] = value
            elif not entry.listed:
                numbers[start] = value
            else:
                numbers[start:end] = self._items(entry, value)
        try:
            chunks.append(self._struct.pack(*numbers))
        except _PACK_ERRORS:
            start = 0
            for entry in self.fields:
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
    """EQ2_EquipmentItem, once or several times: u16 model, color, highlight color."""

    __slots__ = ("_empty", "_key", "_listed", "_pack", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size, self._listed = where, key, size, size > 1
        self._empty = bytes(size * _EQUIPMENT.size)
        self._pack = struct.Struct("<" + "H6B" * size).pack

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read each item into a dict."""
        raw = data[at : at + len(self._empty)]
        stop = at + len(raw)
        if len(raw) < len(self._empty):
            # Whole items can be used; the error points at the first item that is cut.
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
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write each item."""
        value = fields.get(self._key)
        if value is None:
            chunks.append(self._empty)
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
            chunks.append(self._pack(*numbers))
        except (*_PACK_ERRORS, ValueError, AttributeError) as error:
            bad_value(self._where, self._key, f"is not an equipment item: {error}")


class OversizedInteger:
    """An integer with a short form for small values; a marker byte precedes the long form.

    EQ2Emulator reads an int32 otherwise than it writes it (docs/protocol/structs.md#oversized).
    Reading here follows its writing. EQ2Emulator also writes a small value that equals the marker
    in the short form, which cannot be read back. Such a value gets the long form here.
    """

    __slots__ = ("_key", "_long", "_low", "_marker", "_short", "_threshold", "_where")

    def __init__(self, where: str, key: str, kind: FieldType, oversized: Oversized) -> None:
        short, long = OVERSIZED_LETTERS[kind]
        self._where, self._key = where, key
        self._short, self._long = struct.Struct("<" + short), struct.Struct("<" + long)
        self._threshold = oversized.threshold
        # A signed short form has one byte, so no threshold can extend it beyond -128 to 127.
        self._low = max(-oversized.threshold, -129) if short == "b" else -1
        if short == "b":
            self._threshold = min(self._threshold, 128)
        self._marker = oversized.marker

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the short form, or the long form behind the marker."""
        try:
            if data[at] == self._marker:
                (out[self._key],) = self._long.unpack_from(data, at + 1)
                return at + 1 + self._long.size
            (out[self._key],) = self._short.unpack_from(data, at)
        # No byte is left for the marker, or too few for the number.
        except (struct.error, IndexError):
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at) from None
            out[self._key] = 0
            return context.limit
        return at + self._short.size

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the short form if the value is below the threshold."""
        value = fields.get(self._key, 0)
        try:
            whole = int(value) if self._low < value < self._threshold else None
            # A float with a fraction has no short form.
            if whole is not None and whole == value and whole & 0xFF != self._marker:
                chunks.append(self._short.pack(whole))
            else:
                chunks.append(bytes((self._marker,)) + self._long.pack(value))
        except _PACK_ERRORS:
            bad_value(self._where, self._key, f"does not fit its type: {shown(value)}")


def read_short(fields: Iterable[Fixed], data: bytes, at: int, out: Values, context: Context) -> int:
    """Read a run from a message that ends inside the run; return the offset behind it.

    The first value that does not fit, and all later ones, are zero; a color is one value. Raises
    `MalformedStruct` at that value unless the context is lenient.
    """
    # This slow way runs only for messages that end inside a run; it finds the first missing value.
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
    """Raise `StructValueError` if a number does not fit its type."""
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
"""Bytes of the little-endian length in front of a string."""


class Text:
    """A string behind a length of 1, 2 or 4 bytes."""

    __slots__ = ("_key", "_prefix", "_where")

    def __init__(self, where: str, key: str, prefix: int) -> None:
        self._where, self._key, self._prefix = where, key, prefix

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read one string; each byte becomes one character."""
        start = at + self._prefix
        stop = start + int.from_bytes(data[at:start], "little")
        # A cut length gives a wrong number; then `start` is beyond the limit as well.
        if stop > context.limit or start > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            out[self._key] = ""
            return context.limit
        out[self._key] = data[start:stop].decode("latin-1")
        return stop

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write one string with its length."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        try:
            chunks.append(len(raw).to_bytes(self._prefix, "little") + raw)
        except OverflowError:
            most = 256**self._prefix - 1
            bad_value(self._where, self._key, f"is longer than {most} bytes")


class FixedText:
    """Text of fixed size, padded with zeros."""

    __slots__ = ("_key", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size = where, key, size

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the text without its padding."""
        stop = at + self._size
        if stop > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            stop = context.limit
        # Only zeros at the end are padding; a zero inside the text is data and must survive
        # encoding.
        out[self._key] = data[at:stop].rstrip(b"\0").decode("latin-1")
        return stop

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the text and its padding."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        if len(raw) > self._size:
            bad_value(self._where, self._key, f"must have at most {self._size} bytes")
        chunks.append(raw.ljust(self._size, b"\0"))


class Again:
    """Bytes of the same level that come a second time, from `start` on; they have no value.

    `level` is the level's key in the context's `begins`.
    """

    __slots__ = ("_key", "_level", "_start", "_where")

    def __init__(self, where: str, key: str, level: object, start: int) -> None:
        self._where, self._key, self._level, self._start = where, key, level, start

    def decode(self, data: bytes, at: int, _out: Values, _scopes: Scopes, context: Context) -> int:
        """Compare the bytes with the earlier ones. Raises `MalformedStruct` if they differ."""
        first = data[context.begins[self._level] + self._start : at]
        stop = at + len(first)
        if data[at:stop] == first:
            return stop
        if context.lenient and stop > context.limit:
            return context.limit
        text = TOO_SHORT if stop > context.limit else "bytes that come again differ"
        raise MalformedStruct(text, self._key, at)

    def encode(
        self, _fields: Values, chunks: list[bytes], _scopes: Scopes, context: Context
    ) -> None:
        """Write the earlier bytes again."""
        chunks.append(b"".join(chunks[context.begins[self._level] :])[self._start :])


class Item:
    """An EQ2_Item: bytes that the caller has prepared, without a length.

    Reading takes all remaining bytes, so fields behind an item cannot be read back.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: str, key: str) -> None:
        self._where, self._key = where, key

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read all remaining bytes."""
        out[self._key] = data[at : context.limit].decode("latin-1")
        return max(at, context.limit)

    def encode(
        self, fields: Values, chunks: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the bytes as they are."""
        chunks.append(raw_text(self._where, self._key, fields.get(self._key, "")))
