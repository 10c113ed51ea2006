"""Messages of entering a world: the login server asks, the world decides.

Source: docs/protocol/link.md#play.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from emu.link.fields import FixedLayout, FixedMessage
from emu.link.opcodes import LinkOpcode

MAX_CLIENT_ADDRESS = 20
"""Characters of a client address that fit; every dotted IPv4 does, most IPv6 do not."""


@dataclass(frozen=True, slots=True)
class UsertoWorldReq(FixedMessage):
    """May this character come in? 41 bytes."""

    OPCODE: ClassVar[int] = LinkOpcode.UsertoWorldReq
    LAYOUT: ClassVar[FixedLayout] = FixedLayout(
        "UsertoWorldReq", account_id="I", char_id="I", world_id="I", from_id="I", to_id="I",
        client_address="21s",
    )  # fmt: skip

    account_id: int
    char_id: int
    world_id: int
    from_id: int = 0
    """Comes back as the response's `to_id`."""
    to_id: int = 0
    client_address: str = ""
    """Dotted IPv4 address of the client; empty when it is not known or does not fit."""


@dataclass(frozen=True, slots=True)
class UsertoWorldResp(FixedMessage):
    """A world's answer to `UsertoWorldReq`. 109 bytes."""

    OPCODE: ClassVar[int] = LinkOpcode.UsertoWorldResp
    LAYOUT: ClassVar[FixedLayout] = FixedLayout(
        "UsertoWorldResp", account_id="I", char_id="I", world_id="I", access_key="I",
        response="B", address="80s", port="I", from_id="I", to_id="I",
    )  # fmt: skip

    account_id: int
    char_id: int
    world_id: int
    """Echo of the request; must be the id of the world that answers."""
    access_key: int
    response: int
    """A play reply code of docs/protocol/characters.md#play-reply; 1 lets the client in."""
    address: str
    port: int
    """The world's UDP port."""
    from_id: int = 0
    to_id: int = 0
