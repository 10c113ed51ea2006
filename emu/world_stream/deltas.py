"""Structs that a client keeps: each arrives packed, XORed with its previous value.

The character sheet comes so, and what a client predicts of itself. The base is all zeros when a
session begins, and moves on with everything that can be unpacked, whatever it says: its sender's
did, too (docs/protocol/structs.md#deltas).

Of the bytes behind count and length as many are packed as the records have; as many as stand beside
the records follow in the clear. In the skill book, whose odd byte stands before the records, the
byte in the clear is so the last one of the last record. A longer list is
XORed with the shorter one before it and zeros. Source: docs/protocol/world/entering.md#books.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emu.errors import LimitExceeded, MalformedMessage, UnknownBase
from emu.structs import StructLayout
from emu.structs.packed import DeltaBase, reverses_literals, unpack_counted, unpack_stream, xor
from emu.structs.reader import FieldType


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `after` that `before` does not have or has with another value.

    Both are as `Layout.decode` returns them. Of a struct inside only the changed fields are
    returned, of a list of structs only the changed elements, each under ``name[index]``; other
    lists are one value. Not-a-number is the same as not-a-number.
    """
    changed: dict[str, Any] = {}
    for name, new in after.items():
        old = before.get(name)
        if _same(old, new):
            continue
        if isinstance(new, dict) and isinstance(old, dict):
            changed[name] = changed_fields(old, new)
        elif _holds_structs(new) and isinstance(old, list):
            changed |= changed_elements(name, old, new)
        else:
            changed[name] = new
    return changed


def changed_elements(name: str, before: list[Any], after: list[Any]) -> dict[str, Any]:
    """Return the changed elements of a list of structs, each under ``name[index]``.

    Elements behind the end of `before` are returned whole.
    """
    changed: dict[str, Any] = {}
    for index, new in enumerate(after):
        old = before[index] if index < len(before) else {}
        if fields := changed_fields(old, new):
            changed[f"{name}[{index}]"] = fields
    return changed


def _holds_structs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)  # noqa: PLR0124
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)


class BaselinePair(NamedTuple):
    """A struct's bytes as they are now, and as they were told before (None the first time)."""

    before: bytes | None
    now: bytes


class StateReader:
    """What one session has told of one struct."""

    __slots__ = ("_base", "_reverse", "_told", "layout", "size")

    def __init__(self, layout: StructLayout, version: int) -> None:
        """Begin as a session does. `version` is the client's."""
        self.layout = layout
        self.size = layout.empty_size()
        """Bytes of the struct before it is packed."""
        self._reverse = reverses_literals(version)
        self._base: DeltaBase | None = DeltaBase(self.size)
        self._told = False

    def read(self, stream: bytes) -> BaselinePair:
        """Take one packed XOR, its length not in front.

        Raises `MalformedMessage`, which leaves the base as it was, and `UnknownBase`.
        """
        delta, end = unpack_stream(stream, self.size, reverse=self._reverse)
        if end != len(stream):
            raise MalformedMessage("bytes behind the packed stream")
        if self._base is None:
            raise UnknownBase(f"the {self.layout.name} that this one changes")
        before = self._base.last if self._told else None
        self._told = True
        return BaselinePair(before, self._base.decode(delta))

    def read_message(self, body: bytes) -> BaselinePair:
        """Take a message that is nothing but a u32 length and a packed XOR. Raises as `read`."""
        if len(body) < _LENGTH or int.from_bytes(body[:_LENGTH], "little") != len(body) - _LENGTH:
            raise MalformedMessage("packed stream of another length than it says")
        return self.read(body[_LENGTH:])

    def fields(self, told: BaselinePair) -> dict[str, Any]:
        """Return every field the first time, later those that changed."""
        now = self.layout.decode(told.now)
        return now if told.before is None else changed_fields(self.layout.decode(told.before), now)

    def miss(self) -> None:
        """Learn that something was told that will not be read: what follows cannot be, either."""
        self._base = None


_LENGTH = 4


COUNT_AND_LENGTH: Final = 6
"""Bytes of the u16 and the u32 in front."""
LIST_FIELD: Final = "equip_flag"
"""A field that says which of several lists this is; each has a base of its own."""
MOST_LISTS: Final = 8


class BaselineList(NamedTuple):
    """What was told of one list: the latest message in the clear, and the base of the next."""

    head: bytes
    base: bytes
    tail: bytes

    def message(self, size: int) -> bytes:
        """Return the message as it was before it was packed; `size` is that of its records."""
        return self.head + self.base[:size] + self.tail


class BookReader:
    """What one session has told of one kind of book."""

    __slots__ = ("_array", "_known", "_layout", "_lists", "_record", "_tail", "_version")

    def __init__(self, layout: StructLayout, version: int) -> None:
        """Begin as a session does. `layout` is the book's, `version` the client's."""
        self._layout = layout
        self._version = version
        array = next(one for one in layout.definition.fields if one.type is FieldType.ARRAY)
        self._array = array.name
        empty = layout.empty_size()
        self._tail = empty - COUNT_AND_LENGTH
        self._record = len(layout.encode({array.count_field: 1, array.name: [{}]})) - empty
        self._lists: dict[int, BaselineList] = {}
        self._known = True

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return sum(len(told.base) for told in self._lists.values())

    def read(self, body: bytes) -> dict[str, Any]:
        """Return the fields of one message; of records that were told before, what changed.

        Raises `MalformedMessage`, `LimitExceeded` for more lists than there are, and `UnknownBase`.
        """
        count, delta, tail = unpack_counted(body, self._record, self._tail, self._version)
        head, size = body[:COUNT_AND_LENGTH], len(delta)
        which = self._layout.decode(head + bytes(size) + tail).get(LIST_FIELD, 0)
        if count and not self._known:
            raise UnknownBase(f"the {self._layout.name} that this one changes")
        last = self._lists.get(which)
        if last is None and len(self._lists) == MOST_LISTS:
            raise LimitExceeded("too many lists of items")
        base = last.base if last is not None else b""
        records = xor(delta, base[:size].ljust(size, b"\0"))
        told = self._lists[which] = BaselineList(head, records + base[size:], tail)
        fields = self._layout.decode(told.message(size))
        return fields if last is None else self._changes(self._elements(last), fields)

    def miss(self) -> None:
        """Learn that something was told that will not be read: what follows cannot be, either."""
        self._known = False
        self._lists.clear()

    def _elements(self, told: BaselineList) -> list[Any]:
        count = int.from_bytes(told.head[:2], "little")
        elements: list[Any] = self._layout.decode(told.message(count * self._record))[self._array]
        return elements

    def _changes(self, before: list[Any], fields: dict[str, Any]) -> dict[str, Any]:
        """Return the plain fields whole and of the list what changed, in the order of the wire."""
        changed: dict[str, Any] = {}
        for name, value in fields.items():
            if name == self._array:
                changed |= changed_elements(name, before, value)
            else:
                changed[name] = value
        return changed
