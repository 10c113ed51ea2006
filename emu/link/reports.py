"""Messages for people rather than for the game: bug reports and texts.

Source: docs/protocol/link.md#opcodes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Annotated, ClassVar

from emu.errors import MalformedMessage
from emu.link.fields import U32, FixedMessage, from_bytes, pack, to_bytes
from emu.link.opcodes import LinkOpcode

MAX_EMOTE_TEXT = 65_536


@dataclass(frozen=True, slots=True)
class BugReport(FixedMessage):
    """A player's bug report, relayed by a world. 2556 bytes."""

    OPCODE = LinkOpcode.BugReport

    category: Annotated[str, "64s"]
    subcategory: Annotated[str, "64s"]
    causes_crash: Annotated[str, "64s"]
    reproducible: Annotated[str, "64s"]
    summary: Annotated[str, "128s"]
    description: Annotated[str, "2000s"]
    version: Annotated[str, "32s"]
    player: Annotated[str, "64s"]
    account_id: U32
    spawn_name: Annotated[str, "64s"]
    spawn_id: U32
    zone_id: U32


@dataclass(frozen=True, slots=True)
class EmoteMessage:
    """Text from the login server for somebody on a world: 74 bytes and text with a zero byte."""

    OPCODE: ClassVar[int] = LinkOpcode.EmoteMessage

    to: str
    guild_id: int
    min_status: int
    type: int
    text: str

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        to = to_bytes(self.to, 63, "EmoteMessage.to")
        text = to_bytes(self.text, MAX_EMOTE_TEXT, "EmoteMessage.text")
        head = pack("EmoteMessage", "<64sIhI", to, self.guild_id, self.min_status, self.type)
        return head + text + b"\0"

    @classmethod
    def decode(cls, payload: bytes) -> EmoteMessage:
        """Read a payload; raises `MalformedMessage` when it is too short or too long."""
        if not 74 <= len(payload) <= 75 + MAX_EMOTE_TEXT:
            raise MalformedMessage("wrong size of EmoteMessage")
        to, guild_id, min_status, kind = struct.unpack_from("<64sIhI", payload)
        return cls(from_bytes(to), guild_id, min_status, kind, from_bytes(payload[74:]))
