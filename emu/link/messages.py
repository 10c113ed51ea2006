"""Which opcode means which message, in each direction; one place to decode any payload.

The same opcode may mean different things depending on who sends it, so there are two tables.
An opcode without a layout of its own is data, not an error: it becomes an `OpaqueMessage`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from emu.link.batches import (
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.characters import (
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    CharacterPicture,
    CharTimeStamp,
    NameCharUpdate,
    RaceUpdate,
    ZoneUpdate,
)
from emu.link.frames import Frame, encode_frame
from emu.link.play import UsertoWorldReq, UsertoWorldResp
from emu.link.registration import LSFatalError, LSInfo, LSStatus
from emu.link.reports import BugReport, EmoteMessage


class LinkMessage(Protocol):
    """Anything that can travel over the link: has an opcode and can be encoded."""

    @property
    def OPCODE(self) -> int:  # noqa: N802  # a constant of the class in every implementation
        """The frame's opcode."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""


@dataclass(frozen=True, slots=True)
class OpaqueMessage:
    """A message whose payload has no layout here: keep-alives, chat and mesh traffic, unknowns."""

    OPCODE: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """Return the payload as it came."""
        return self.payload


_Decoder = Callable[[bytes], LinkMessage]

FROM_WORLD: Mapping[int, _Decoder] = {
    kind.OPCODE: kind.decode
    for kind in (
        LSInfo, LSStatus, UsertoWorldResp, CharTimeStamp, BasicCharUpdate, CharacterCreateReply,
        NameCharUpdate, RaceUpdate, ZoneUpdate, BugReport, ZoneUpdates, LoginEquipment,
        CharacterPicture,
    )
}  # fmt: skip
"""Decoders of what a world sends."""

FROM_LOGIN: Mapping[int, _Decoder] = {
    kind.OPCODE: kind.decode
    for kind in (
        LSFatalError, UsertoWorldReq, CharTimeStamp, BasicCharUpdate, CharacterCreateRequest,
        ZoneUpdatesRequest, LoginEquipmentRequest, EmoteMessage,
    )
}  # fmt: skip
"""Decoders of what a login server sends."""


def from_world(frame: Frame) -> LinkMessage:
    """Decode a frame that a world sent; raises `MalformedMessage` or `LimitExceeded`."""
    return _decode(FROM_WORLD, frame)


def from_login(frame: Frame) -> LinkMessage:
    """Decode a frame that a login server sent; raises `MalformedMessage` or `LimitExceeded`."""
    return _decode(FROM_LOGIN, frame)


def to_frame(message: LinkMessage) -> bytes:
    """Return the whole frame of a message."""
    return encode_frame(message.OPCODE, message.encode())


def _decode(table: Mapping[int, _Decoder], frame: Frame) -> LinkMessage:
    decoder = table.get(frame.opcode)
    if decoder is None:
        return OpaqueMessage(frame.opcode, frame.payload)
    return decoder(frame.payload)
