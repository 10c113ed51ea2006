"""Messages of entering a world: the login server asks, the world decides.

Source: docs/protocol/link.md#play.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from emu.link.fields import U8, U32, FixedMessage
from emu.link.opcodes import LinkOpcode

MAX_CLIENT_ADDRESS = 20
"""Characters of a client address that fit; every dotted IPv4 does, most IPv6 do not."""


@dataclass(frozen=True, slots=True)
class UsertoWorldReq(FixedMessage):
    """May this character come in? 41 bytes."""

    OPCODE = LinkOpcode.UsertoWorldReq

    account_id: U32
    char_id: U32
    world_id: U32
    from_id: U32 = 0
    """Comes back as the response's `to_id`."""
    to_id: U32 = 0
    client_address: Annotated[str, "21s"] = ""
    """Dotted IPv4 address of the client; empty when it is not known or does not fit."""


@dataclass(frozen=True, slots=True)
class UsertoWorldResp(FixedMessage):
    """A world's answer to `UsertoWorldReq`. 109 bytes."""

    OPCODE = LinkOpcode.UsertoWorldResp

    account_id: U32
    char_id: U32
    world_id: U32
    """Echo of the request; must be the id of the world that answers."""
    access_key: U32
    response: U8
    """A play reply code of docs/protocol/characters.md#play-reply; 1 lets the client in."""
    address: Annotated[str, "80s"]
    port: U32
    """The world's UDP port."""
    from_id: U32 = 0
    to_id: U32 = 0
