"""Bytes that no honest end of a link sends: each is dropped with a reason or ends that one link."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from emu.errors import PeerError
from emu.link.codec import encode_frame
from emu.link.connection import LinkClosed, LinkProtocol, LoginLinkProtocol, WorldLinkProtocol
from emu.link.messages import LSInfo, LSStatus, to_frame
from emu.link.settings import LoginLinkConfig, WorldLinkTimes
from emu.times import Monotonic

INFO = to_frame(LSInfo("Name", "host", "account", ""))
STATUS = to_frame(LSStatus(1))
NOW = Monotonic(1.0)


def raw(size: int, flags: int, opcode: int, rest: bytes = b"") -> bytes:
    return struct.pack("<IBH", size, flags, opcode) + rest


BOMB = zlib.compress(bytes(4_000_000), 9)
HOSTILE = {
    "a size of zero": raw(0, 0, 0x1001),
    "a size below the header": raw(6, 0, 0x1001),
    "a size beyond all bounds": raw(0xFFFFFFFF, 0, 0x1001),
    "a compressed frame without its size": raw(7, 1, 0x1001),
    "a compressed frame of garbage": raw(21, 1, 0x1001, struct.pack("<I", 50) + b"garbagegar"),
    "a compressed frame that says too little": encode_frame(0x1001, b"")[:0]
    + raw(11 + len(zlib.compress(b"x" * 99)), 1, 0x1001,
          struct.pack("<I", 5) + zlib.compress(b"x" * 99)),
    "a compressed frame that grows a thousandfold": raw(
        11 + len(BOMB), 1, 0x1001, struct.pack("<I", 4_000_000) + BOMB
    ),
    "a destination without its number": raw(7, 2, 0x1001),
    "all flags": raw(7, 0xFF, 0x1001),
    "a status cut short": encode_frame(0x1001, bytes(5)),
    "a status that goes on": encode_frame(0x1001, bytes(500)),
    "a zone list that counts more than it has": encode_frame(
        0x201C, struct.pack("<I", 0xFFFFFFFF) + bytes(8)
    ),
    "an equipment list that counts more than it has": encode_frame(
        0x201D, struct.pack("<I", 0x7FFFFFFF) + bytes(8)
    ),
    "a play answer of nothing": encode_frame(0xAB01, b""),
    "a play answer with an address without end": encode_frame(0xAB01, b"\xff" * 109),
    "a create answer of another length": encode_frame(0x2013, bytes(3)),
    "an opcode that nobody knows": encode_frame(0xFFFE, bytes(64)),
    "an introduction again": INFO,
    "a fatal error from the wrong side": encode_frame(0x1003, b"\xff" * 300),
    "a reset of the database": encode_frame(0x201B, b""),
}  # fmt: skip


def accepted() -> LoginLinkProtocol:
    end = LoginLinkProtocol(LoginLinkConfig(), Monotonic(0.0))
    end.receive_data(INFO, NOW)
    end.accept(NOW)
    assert end.next_event() is not None
    return end


def outcome(end: LinkProtocol) -> list[str]:
    reasons = []
    while (event := end.next_event()) is not None:
        if isinstance(event, LinkClosed):
            reasons.append(event.reason)
    return reasons


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("accept", [False, True])
def test_the_login_end_answers_or_ends(name: str, accept: bool) -> None:
    end = accepted() if accept else LoginLinkProtocol(LoginLinkConfig(), Monotonic(0.0))
    end.receive_data(HOSTILE[name], NOW)
    assert sum(map(len, end.data_to_send())) < 2_000
    reasons = outcome(end)
    assert len(reasons) <= 1
    assert all(reason.isprintable() and len(reason) < 120 for reason in reasons)
    if end.closed:
        end.receive_data(STATUS, NOW)
        assert outcome(end) == []


@pytest.mark.parametrize("name", HOSTILE)
def test_the_world_end_answers_or_ends(name: str) -> None:
    end = WorldLinkProtocol(
        WorldLinkTimes(), LSInfo("Name", "host", "account", ""), LSStatus(1), NOW
    )
    end.data_to_send()
    end.receive_data(HOSTILE[name], NOW)
    assert sum(map(len, end.data_to_send())) < 2_000
    assert len([one for one in outcome(end) if not one.isprintable()]) == 0


def test_mutations_of_honest_frames_never_raise() -> None:
    chance = random.Random(7)
    honest = [INFO, STATUS, *HOSTILE.values()]
    for _ in range(3_000):
        data = bytearray(chance.choice(honest)[:2_000])
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        end = (
            accepted()
            if chance.random() < 0.5
            else LoginLinkProtocol(LoginLinkConfig(), Monotonic(0.0))
        )
        try:
            for at in range(0, len(data), 300):
                end.receive_data(bytes(data[at : at + 300]), NOW)
        except PeerError as error:  # pragma: no cover
            pytest.fail(f"{error!r} left the link")
        outcome(end)
