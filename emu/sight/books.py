"""Books and inventories: a count, and that many records, packed as the XOR with those before.

Of the bytes behind count and length as many are packed as the records have; as many as stand beside
the records follow in the clear. In the skill book, whose odd byte stands before the records, the
byte in the clear is so the last one of the last record. A longer list is
XORed with the shorter one before it and zeros. Source: docs/protocol/world/entering.md#books.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from emu.errors import LimitExceeded, UnknownBase
from emu.sight.changes import changed_elements
from emu.structs import Layout
from emu.structs.definitions import FieldType
from emu.structs.packed import unpack_counted, xor

COUNT_AND_LENGTH: Final = 6
"""Bytes of the u16 and the u32 in front."""
LIST_FIELD: Final = "equip_flag"
"""A field that says which of several lists this is; each has a base of its own."""
MOST_LISTS: Final = 8


class ToldList(NamedTuple):
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

    def __init__(self, layout: Layout, version: int) -> None:
        """Begin as a session does. `layout` is the book's, `version` the client's."""
        self._layout = layout
        self._version = version
        array = next(one for one in layout.definition.fields if one.type is FieldType.ARRAY)
        self._array = array.name
        empty = layout.empty_size()
        self._tail = empty - COUNT_AND_LENGTH
        self._record = len(layout.encode({array.count_field: 1, array.name: [{}]})) - empty
        self._lists: dict[int, ToldList] = {}
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
        told = self._lists[which] = ToldList(head, records + base[size:], tail)
        fields = self._layout.decode(told.message(size))
        return fields if last is None else self._changes(self._elements(last), fields)

    def miss(self) -> None:
        """Learn that something was told that will not be read: what follows cannot be, either."""
        self._known = False
        self._lists.clear()

    def _elements(self, told: ToldList) -> list[Any]:
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
