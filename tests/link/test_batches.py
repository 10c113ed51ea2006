from __future__ import annotations

import struct

import pytest

from emu.errors import LimitExceeded, MalformedMessage, StructValueError
from emu.link.batches import (
    EquipmentItem,
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneItem,
    ZoneUpdates,
    ZoneUpdatesRequest,
)

ITEM = EquipmentItem(9, 5, 300, (1, 2, 3), (4, 5, 6), 19)


def test_requests_carry_the_most_items() -> None:
    assert ZoneUpdatesRequest().encode() == b"\x14\0"
    assert LoginEquipmentRequest().encode() == b"\x64\0"


def test_zones_are_written_as_the_page_says() -> None:
    raw = b"\1\0" + struct.pack("<IBB", 12, 8, 5) + b"antonica" + b"Ants." + bytes(5)
    zones = ZoneUpdates((ZoneItem(12, "antonica", "Ants."),))
    assert zones.encode() == raw
    assert ZoneUpdates.decode(raw) == zones
    assert ZoneUpdates.decode(raw[:-5]) == zones


def test_equipment_is_written_as_the_page_says() -> None:
    raw = b"\1\0" + struct.pack("<IIH6BI", 9, 5, 300, 1, 2, 3, 4, 5, 6, 19) + bytes(5)
    assert len(raw) == 2 + 20 + 5
    assert LoginEquipment((ITEM,)).encode() == raw
    assert LoginEquipment.decode(raw) == LoginEquipment((ITEM,))


def test_more_than_the_limit_is_refused_in_both_directions() -> None:
    zones = tuple(ZoneItem(number, "a", "b") for number in range(21))
    assert len(ZoneUpdates.decode(ZoneUpdates(zones[:20]).encode()).zones) == 20
    assert len(LoginEquipment.decode(LoginEquipment((ITEM,) * 100).encode()).items) == 100
    with pytest.raises(StructValueError):
        ZoneUpdates(zones).encode()
    with pytest.raises(StructValueError):
        LoginEquipment((ITEM,) * 101).encode()
    with pytest.raises(LimitExceeded, match="ZoneUpdates"):
        ZoneUpdates.decode(b"\x15\0" + bytes(300))
    with pytest.raises(LimitExceeded, match="LoginEquipment"):
        LoginEquipment.decode(b"\x65\0" + bytes(3000))
    with pytest.raises(LimitExceeded):
        LoginEquipment.decode(b"\xff\xff")


@pytest.mark.parametrize(
    "payload",
    [b"", b"\1", b"\1\0", b"\1\0" + bytes(5), b"\1\0\0\0\0\0\2\2abc", b"\0\0\0\1"],
)
def test_zones_cut_short_or_followed_by_something_are_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage, match="wrong size of ZoneUpdates"):
        ZoneUpdates.decode(payload)


@pytest.mark.parametrize("payload", [b"", b"\1", b"\1\0" + bytes(19), b"\1\0" + bytes(20) + b"\1"])
def test_equipment_cut_short_or_followed_by_something_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage, match="wrong size of LoginEquipment"):
        LoginEquipment.decode(payload)


def test_values_that_do_not_fit_are_named() -> None:
    with pytest.raises(StructValueError, match=r"ZoneUpdates\.name"):
        ZoneUpdates((ZoneItem(1, "n" * 256, ""),)).encode()
    with pytest.raises(StructValueError, match="ZoneUpdates"):
        ZoneUpdates((ZoneItem(-1, "n", ""),)).encode()
    with pytest.raises(StructValueError, match="LoginEquipment"):
        LoginEquipment((EquipmentItem(1, 1, 70000, (0, 0, 0), (0, 0, 0), 0),)).encode()


def test_names_of_zones_are_utf_8() -> None:
    zones = ZoneUpdates((ZoneItem(12, "freeport", "Freihafen Süd"),))
    assert "Freihafen Süd".encode() in zones.encode()
    assert ZoneUpdates.decode(zones.encode()) == zones
