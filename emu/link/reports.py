"""Messages for people rather than for the game: bug reports and texts.

Source: docs/protocol/link.md#opcodes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

from emu.errors import MalformedMessage, StructValueError
from emu.link.fields import FixedLayout, FixedMessage, from_bytes, to_bytes
from emu.link.opcodes import LinkOpcode

MAX_EMOTE_TEXT = 65_536


@dataclass(frozen=True, slots=True)
class BugReport(FixedMessage):
    """A player's bug report, relayed by a world. 2556 bytes."""

    OPCODE: ClassVar[int] = LinkOpcode.BugReport
    LAYOUT: ClassVar[FixedLayout] = FixedLayout(
        "BugReport", category="64s", subcategory="64s", causes_crash="64s", reproducible="64s",
        summary="128s", description="2000s", version="32s", player="64s", account_id="I",
        spawn_name="64s", spawn_id="I", zone_id="I",
    )  # fmt: skip

    category: str
    subcategory: str
    causes_crash: str
    reproducible: str
    summary: str
    description: str
    version: str
    player: str
    account_id: int
    spawn_name: str
    spawn_id: int
    zone_id: int


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
        try:
            head = struct.pack("<64sIhI", to, self.guild_id, self.min_status, self.type)
        except struct.error as error:
            raise StructValueError(f"EmoteMessage: {error}") from None
        return head + text + b"\0"

    @classmethod
    def decode(cls, payload: bytes) -> EmoteMessage:
        """Read a payload; raises `MalformedMessage` when it is too short or too long."""
        if not 74 <= len(payload) <= 75 + MAX_EMOTE_TEXT:
            raise MalformedMessage("wrong size of EmoteMessage")
        to, guild_id, min_status, kind = struct.unpack_from("<64sIhI", payload)
        return cls(from_bytes(to), guild_id, min_status, kind, from_bytes(payload[74:]))
