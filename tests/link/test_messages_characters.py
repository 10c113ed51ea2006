from __future__ import annotations

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.link.messages import (
    DELETE,
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    CharacterPicture,
    CharTimeStamp,
    NameCharUpdate,
    RaceUpdate,
    ZoneUpdate,
)


def test_sizes_are_those_of_the_page() -> None:
    assert CharTimeStamp.LAYOUT.size == 12
    assert BasicCharUpdate.LAYOUT.size == 13
    assert CharacterCreateReply.LAYOUT.size == 9
    assert RaceUpdate.LAYOUT.size == 11
    assert ZoneUpdate.LAYOUT.size == 78


def test_the_delete_that_a_login_server_sends() -> None:
    raw = bytes.fromhex("65000000 07000000 80 01000000")
    assert BasicCharUpdate(101, 7, DELETE, 1).encode() == raw


def test_the_recorded_zone_update() -> None:
    raw = bytes.fromhex("6900000005000000a60000000a") + b"fprt_south".ljust(65, b"\0")
    update = ZoneUpdate(105, 5, 166, "fprt_south")
    assert update.encode() == raw
    assert ZoneUpdate.decode(raw) == update


def test_the_recorded_create_request_and_reply() -> None:
    raw = bytes.fromhex("2202 01 00000000 65000000 01000000 0600") + b"Aldana"
    assert CharacterCreateRequest.decode(raw) == CharacterCreateRequest(546, raw[2:])
    assert CharacterCreateRequest(546, raw[2:]).encode() == raw
    assert CharacterCreateReply(101, 1, 1).encode() == bytes.fromhex("650000000100000001")
    with pytest.raises(MalformedMessage):
        CharacterCreateRequest.decode(b"\1")
    with pytest.raises(StructValueError):
        CharacterCreateRequest(65536, b"").encode()


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        bytes(8) + b"\0",
        bytes(8) + b"\5abcd",
        bytes(8) + b"\3abcd",
        bytes(8) + b"\x40" + b"a" * 64,
        bytes(8) + b"\4ab\0d",
    ],
)
def test_a_name_update_whose_length_byte_lies_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage):
        NameCharUpdate.decode(payload)


def test_name_updates_keep_their_limits() -> None:
    name = "n" * 63
    assert NameCharUpdate.decode(NameCharUpdate(1, 2, name).encode()).name == name
    for bad in ("", "n" * 64, "a\0b"):
        with pytest.raises(StructValueError):
            NameCharUpdate(1, 2, bad).encode()
    with pytest.raises(StructValueError):
        NameCharUpdate(-1, 2, "abc").encode()


@pytest.mark.parametrize("payload", [bytes(77), bytes(79), bytes(12) + b"\x41" + bytes(65)])
def test_a_zone_update_of_another_size_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage, match="ZoneUpdate"):
        ZoneUpdate.decode(payload)


@pytest.mark.parametrize("payload", [bytes(9), bytes(8) + b"\2\0a", bytes(8) + b"\1\0ab"])
def test_a_portrait_of_another_size_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage, match="CharacterPicture"):
        CharacterPicture.decode(payload)


def test_values_that_do_not_fit_are_named() -> None:
    with pytest.raises(StructValueError, match="ZoneUpdate"):
        ZoneUpdate(-1, 1, 1, "zone").encode()
    with pytest.raises(StructValueError, match="CharacterPicture"):
        CharacterPicture(1, 1, bytes(65536)).encode()
