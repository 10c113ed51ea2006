"""Batches: the login server requests changes, and the world answers.

A request is a u16, the most items the answer may have. An answer has a count, the items, and five
zero bytes; a reader accepts any number of zero bytes there. Source: docs/protocol/link.md#batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from emu.binary import LITTLE, U8, U16, U32, RecordLayout, text_bytes
from emu.errors import LimitExceeded, MalformedMessage, StructValueError
from emu.link.codec import FixedMessage, LinkOpcode
from emu.texts import read_text

ZONES_PER_BATCH = 20
EQUIPMENT_PER_BATCH = 100
PADDING = bytes(5)

_COUNT = RecordLayout("batch", LITTLE, count=U16)
_ZONE = RecordLayout("ZoneUpdates", LITTLE, zone_id=U32, name_size=U8, description_size=U8)
_EQUIPMENT = RecordLayout(
    "LoginEquipment", LITTLE,
    id=U32, char_id=U32, model=U16,
    red=U8, green=U8, blue=U8, highlight_red=U8, highlight_green=U8, highlight_blue=U8, slot=U32,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ZoneUpdatesRequest(FixedMessage):
    """Login to world: a request for zone descriptions. 2 bytes."""

    OPCODE = LinkOpcode.ZoneUpdates

    max_per_batch: U16 = ZONES_PER_BATCH


@dataclass(frozen=True, slots=True)
class LoginEquipmentRequest(FixedMessage):
    """Login to world: a request for the equipment of characters. 2 bytes."""

    OPCODE = LinkOpcode.LoginEquipment

    max_per_batch: U16 = EQUIPMENT_PER_BATCH


@dataclass(frozen=True, slots=True)
class ZoneItem:
    """One zone: name and description have at most 255 characters."""

    zone_id: int
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class ZoneUpdates:
    """World to login: zones, at most `ZONES_PER_BATCH`."""

    OPCODE: ClassVar[int] = LinkOpcode.ZoneUpdates

    zones: tuple[ZoneItem, ...]

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        # A login server refuses a larger batch and ends the link.
        if len(self.zones) > ZONES_PER_BATCH:
            raise StructValueError(f"ZoneUpdates: more than {ZONES_PER_BATCH} zones")
        parts = [_COUNT.pack(len(self.zones))]
        for zone in self.zones:
            # The size of each text is one byte.
            name = text_bytes(zone.name, 255, "ZoneUpdates.name")
            description = text_bytes(zone.description, 255, "ZoneUpdates.description")
            head = _ZONE.pack(zone.zone_id, len(name), len(description))
            parts += (head, name, description)
        return b"".join((*parts, PADDING))

    @classmethod
    def decode(cls, payload: bytes) -> ZoneUpdates:
        """Read a payload; raises `MalformedMessage`, `LimitExceeded` above 20 zones."""
        # The count is checked first: a peer may announce 65,535 items.
        count = _count(payload, ZONES_PER_BATCH, "ZoneUpdates")
        place = _COUNT.size
        zones: list[ZoneItem] = []
        for _ in range(count):
            zone_id, name, description = _ZONE.unpack(payload, place)
            place += _ZONE.size
            end = place + name + description
            # A slice would silently shorten the last text.
            if end > len(payload):
                raise MalformedMessage("wrong size of ZoneUpdates")
            texts = payload[place:end]
            zones.append(ZoneItem(zone_id, read_text(texts[:name]), read_text(texts[name:])))
            place = end
        _expect_padding(payload, place, "ZoneUpdates")
        return cls(tuple(zones))


@dataclass(frozen=True, slots=True)
class EquipmentItem:
    """The appearance of one equipment slot of one character. 20 bytes."""

    id: int
    """The world's own number of the change; has no meaning for the login server."""
    char_id: int
    model: int
    color: tuple[int, int, int]
    highlight: tuple[int, int, int]
    slot: int


@dataclass(frozen=True, slots=True)
class LoginEquipment:
    """World to login: equipment that changed, at most `EQUIPMENT_PER_BATCH` slots."""

    OPCODE: ClassVar[int] = LinkOpcode.LoginEquipment

    items: tuple[EquipmentItem, ...]

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        if len(self.items) > EQUIPMENT_PER_BATCH:
            raise StructValueError(f"LoginEquipment: more than {EQUIPMENT_PER_BATCH} items")
        parts = [_COUNT.pack(len(self.items))]
        for item in self.items:
            values = (item.id, item.char_id, item.model, *item.color, *item.highlight, item.slot)
            parts.append(_EQUIPMENT.pack(*values))
        return b"".join((*parts, PADDING))

    @classmethod
    def decode(cls, payload: bytes) -> LoginEquipment:
        """Read a payload; raises `MalformedMessage`, `LimitExceeded` above 100 items."""
        count = _count(payload, EQUIPMENT_PER_BATCH, "LoginEquipment")
        end = _COUNT.size + count * _EQUIPMENT.size
        if end > len(payload):
            raise MalformedMessage("wrong size of LoginEquipment")
        _expect_padding(payload, end, "LoginEquipment")
        return cls(
            tuple(
                EquipmentItem(row[0], row[1], row[2], row[3:6], row[6:9], row[9])
                for row in _EQUIPMENT.codec.iter_unpack(payload[_COUNT.size : end])
            )
        )


def _count(payload: bytes, most: int, name: str) -> int:
    if len(payload) < _COUNT.size:
        raise MalformedMessage(f"wrong size of {name}")
    (count,) = _COUNT.unpack(payload)
    if count > most:
        raise LimitExceeded(f"too many items in {name}")
    return int(count)


def _expect_padding(payload: bytes, place: int, name: str) -> None:
    # EQ2Emulator sends five zero bytes. Any number of them is read; another byte is a fault.
    if payload.count(0, place) != len(payload) - place:
        raise MalformedMessage(f"wrong size of {name}")
