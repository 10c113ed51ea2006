"""Readers of structs that are sent repeatedly: packed, each XORed with its previous value.

`StateReader` reads one struct, such as the character sheet. `PredictionReader` reads what a client
predicts of its own movement. `BookReader` reads lists of records, such as the spell book.
Source: docs/protocol/structs.md#deltas, docs/protocol/world/entering.md#books,
docs/protocol/world/movement.md#prediction.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

from emu.errors import LimitExceeded, MalformedMessage, UnknownBase, UnknownStruct
from emu.structs import StructLayout
from emu.structs.definitions import FieldType
from emu.structs.packed import DeltaBase, reverses_literals, unpack_counted, unpack_stream, xor


class Layouts(Protocol):
    """The layouts of one client version; `emu.dialects.Dialect` implements it."""

    @property
    def version(self) -> int:
        """The client version."""

    def layout(self, name: str) -> StructLayout:
        """Return the layout of a struct. Raises `UnknownStruct`."""


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `after` that `before` does not have or has with another value.

    Both are results of `StructLayout.decode`. For an inner struct, only its changed fields are
    returned; for a list of structs, only the changed elements, each under ``name[index]``. Any
    other list is one value. NaN equals NaN.
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
            # A list of plain values, such as a color, is short and clearer as a whole than by
            # index.
            changed[name] = new
    return changed


def changed_elements(name: str, before: list[Any], after: list[Any]) -> dict[str, Any]:
    """Return the changed elements of a list of structs, each under ``name[index]``.

    An element behind the end of `before` is returned whole.
    """
    changed: dict[str, Any] = {}
    # Elements that `after` no longer has are not reported: the count field shows how many are
    # left.
    for index, new in enumerate(after):
        old = before[index] if index < len(before) else {}
        if fields := changed_fields(old, new):
            changed[f"{name}[{index}]"] = fields
    return changed


def _holds_structs(value: Any) -> bool:
    # All elements of a decoded list have one shape, so the first one decides.
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _same(one: Any, other: Any) -> bool:
    # Most values are equal, and `==` compares whole lists and dictionaries at once.
    if one == other:
        return True
    if isinstance(one, float) and isinstance(other, float):
        # NaN differs from itself; without this test it would be reported as changed in every
        # message.
        return one != one and other != other  # noqa: PLR0124
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return False


class BaselinePair(NamedTuple):
    """A struct's bytes now, and as they were sent before (None for the first message)."""

    before: bytes | None
    now: bytes


class StateReader:
    """The baseline of one struct in one session."""

    __slots__ = ("_base", "_has_previous", "_reverse", "layout", "size")

    def __init__(self, layout: StructLayout, version: int) -> None:
        """Start with a baseline of zeros, as a session does. `version` is the client's."""
        self.layout = layout
        self.size = layout.empty_size()
        """Bytes of the struct before it is packed."""
        self._reverse = reverses_literals(version)
        self._base: DeltaBase | None = DeltaBase(self.size)
        """None after a missed message: then no later message can be decoded."""
        self._has_previous = False

    def read(self, stream: bytes) -> BaselinePair:
        """Decode one packed XOR without a length in front, and move the baseline.

        Raises `MalformedMessage`, which leaves the baseline as it was, and `UnknownBase`.
        """
        delta, end = unpack_stream(stream, self.size, reverse=self._reverse)
        # The sender's stream covers the struct exactly, so further bytes mean damage or another
        # layout.
        if end != len(stream):
            raise MalformedMessage("bytes behind the packed stream")
        if self._base is None:
            raise UnknownBase(f"the {self.layout.name} that this one changes")
        # The first message has no earlier state to compare with; `fields` then returns
        # everything.
        before = self._base.last if self._has_previous else None
        self._has_previous = True
        # The baseline moves even if a caller rejects the values: the sender's has moved, too.
        return BaselinePair(before, self._base.decode(delta))

    def read_message(self, body: bytes) -> BaselinePair:
        """Decode a message that is a u32 length and a packed XOR. Raises as `read`."""
        if len(body) < _LENGTH or int.from_bytes(body[:_LENGTH], "little") != len(body) - _LENGTH:
            raise MalformedMessage("length of the packed stream does not match the message")
        return self.read(body[_LENGTH:])

    def fields(self, pair: BaselinePair) -> dict[str, Any]:
        """Return all fields of the first message, the changed fields of a later one."""
        now = self.layout.decode(pair.now)
        return now if pair.before is None else changed_fields(self.layout.decode(pair.before), now)

    def miss(self) -> None:
        """Note that a message was not read; later messages then raise `UnknownBase`."""
        self._base = None


_LENGTH = 4


ENVELOPE: Final = "WS_PredictionUpdateMsg"
NEWER_ENVELOPE: Final = "WS_UpdatePosition"
"""The envelope of clients that have this struct: they send OP_UpdatePositionMsg."""
CONTENT: Final = "Player_Update"
OTHER_CONTENT: Final = "Player_Update_Long"
"""What clients of a version may send instead, where sources differ."""
LARGEST: Final = 0x400
"""The most bytes of packed content that a client sends."""


class Prediction(NamedTuple):
    """One message: the type and time of its envelope, and the bytes of the position struct."""

    type: int
    time: int
    position: BaselinePair


class PredictionReader:
    """The predictions of one session."""

    __slots__ = ("_crc", "_envelope", "_other", "positions")

    def __init__(self, layouts: Layouts) -> None:
        """Start with a baseline of zeros. Raises `UnknownStruct`."""
        self._envelope = envelope_of(layouts)
        self._crc = 0
        self.positions = StateReader(layouts.layout(CONTENT), layouts.version)
        self._other: StateReader | None = None
        """Tried until the first message has decided which layout the client has."""
        with suppress(UnknownStruct):
            self._other = StateReader(layouts.layout(OTHER_CONTENT), layouts.version)

    @property
    def size(self) -> int:
        """The memory that the baseline uses, in bytes."""
        return self.positions.size

    def read(self, body: bytes) -> Prediction | None:
        """Decode one message; return None if it repeats the one before, or has no content.

        Raises as `StateReader.read`.
        """
        envelope = self._envelope.decode(body)
        # A string field has one character per byte, so latin-1 gives the bytes back.
        packed = envelope["packed"].encode("latin-1")
        if "crc" in envelope:
            # A client that repeats itself must not be XORed twice. Zero is no check.
            last, self._crc = self._crc, envelope["crc"]
            if not packed or (last and last == self._crc):
                return None
        # No client sends more, so a longer stream is no prediction.
        if len(packed) > LARGEST:
            raise MalformedMessage("prediction too long")
        return Prediction(envelope["type"], envelope["time"], self._read(packed))

    def _read(self, packed: bytes) -> BaselinePair:
        other = self._other
        if other is not None:
            # A stream ends at most six bytes behind its struct, so it never fits both layouts.
            with suppress(MalformedMessage):
                pair = other.read(packed)
                self.positions, self._other = other, None
                return pair
        pair = self.positions.read(packed)
        self._other = None
        return pair

    def fields(self, prediction: Prediction) -> dict[str, Any]:
        """Return the envelope's fields, and in `position` the changed fields."""
        position = self.positions.fields(prediction.position)
        return {"type": prediction.type, "time": prediction.time, "position": position}

    def miss(self) -> None:
        """Note that a prediction was not read."""
        self.positions.miss()


def envelope_of(layouts: Layouts) -> StructLayout:
    """Return the layout around a client's packed position. Raises `UnknownStruct`."""
    # The newer struct is asked for first: a struct has no last version, so newer clients have the
    # old layout as well.
    try:
        return layouts.layout(NEWER_ENVELOPE)
    except UnknownStruct:
        return layouts.layout(ENVELOPE)


COUNT_AND_LENGTH: Final = 6
"""Bytes in front of the records: a u16 count and a u32 length."""
LIST_FIELD: Final = "equip_flag"
"""The field that distinguishes several lists of one struct; each list has its own baseline."""
MOST_LISTS: Final = 8
"""Lists of one struct for which a baseline is kept."""
KEEPS_REST: Final = "WS_UpdateSkillBook"
"""The struct whose records stay a baseline while the list is shorter (recorded in
real-entry-1208-start-fighter-priest). Records of other lists begin anew with zeros (recorded for
things that wait for a place: items-546-carry, 128.87 s)."""


class BaselineList(NamedTuple):
    """One list: the plain bytes around its records, and the records as the next baseline."""

    head: bytes
    base: bytes
    tail: bytes

    def message(self, size: int) -> bytes:
        """Return the unpacked message; `size` is the length of its records in bytes."""
        return self.head + self.base[:size] + self.tail


class BookReader:
    """The baselines of one kind of book in one session."""

    __slots__ = ("_array", "_known", "_layout", "_lead", "_lists", "_record", "_tail", "_version")

    def __init__(self, layout: StructLayout, version: int) -> None:
        """Start without a baseline, as a session does. `version` is the client's."""
        self._layout = layout
        self._version = version
        # The last byte of a message whose layout has fields beside the records is plain, all others
        # are packed. The skill book has a byte before its records, so up to 864 the plain byte on
        # the wire is the last byte of the last record; later layouts have one more byte behind.
        array = next(one for one in layout.definition.fields if one.type is FieldType.ARRAY)
        self._array = array.name
        # The sizes follow from the layout: an empty message has the count, the length and the
        # tail.
        empty = layout.empty_size()
        self._tail = min(1, empty - COUNT_AND_LENGTH)
        self._lead = empty - COUNT_AND_LENGTH - self._tail
        self._record = len(layout.encode({array.count_field: 1, array.name: [{}]})) - empty
        self._lists: dict[int, BaselineList] = {}
        self._known = True

    @property
    def size(self) -> int:
        """The memory that the baselines use, in bytes."""
        return sum(len(known.base) for known in self._lists.values())

    def read(self, body: bytes) -> dict[str, Any]:
        """Return the fields of one message; for known records only the changed fields.

        Raises `MalformedMessage`, `LimitExceeded` for more than `MOST_LISTS`, and `UnknownBase`.
        """
        count, delta, tail = unpack_counted(
            body, self._record, self._tail, self._version, lead=self._lead
        )
        if not count:
            delta = bytes(self._lead)
        head, size = body[:COUNT_AND_LENGTH], len(delta)
        which = self._layout.decode(head + bytes(size) + tail).get(LIST_FIELD, 0)
        # An empty list needs no baseline, so it can be read even after a missed message.
        if count and not self._known:
            raise UnknownBase(f"the {self._layout.name} that this one changes")
        last = self._lists.get(which)
        # The peer chooses the value of the list field; without a limit each value adds a
        # baseline.
        if last is None and len(self._lists) == MOST_LISTS:
            raise LimitExceeded("too many lists of items")
        # A list that has grown is XORed with the shorter list and zeros, also if it was longer
        # before (docs/protocol/world/items.md#lists).
        base = last.base if last is not None else b""
        records = xor(delta, base[:size].ljust(size, b"\0"))
        if self._layout.name == KEEPS_REST:
            records += base[size:]
        now = self._lists[which] = BaselineList(head, records, tail)
        fields = self._layout.decode(now.message(size))
        return fields if last is None else self._changes(self._elements(last), fields)

    def miss(self) -> None:
        """Note that a message was not read; later messages then raise `UnknownBase`."""
        self._known = False
        # The old baselines can never be used again, so their memory is freed at once.
        self._lists.clear()

    def elements(self, which: int = 0) -> list[Any]:
        """Return all records of a list as they are now; none for a list that was not read."""
        known = self._lists.get(which)
        return self._elements(known) if known is not None else []

    def _elements(self, known: BaselineList) -> list[Any]:
        count = int.from_bytes(known.head[:2], "little")
        size = count * self._record + self._lead
        elements: list[Any] = self._layout.decode(known.message(size))[self._array]
        return elements

    def _changes(self, before: list[Any], fields: dict[str, Any]) -> dict[str, Any]:
        """Return all plain fields and the changed elements of the list, in wire order."""
        changed: dict[str, Any] = {}
        for name, value in fields.items():
            if name == self._array:
                changed |= changed_elements(name, before, value)
            else:
                changed[name] = value
        return changed
