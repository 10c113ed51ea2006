"""EQ2Emulator's TCP link between login server and world servers, without input and output.

`codec` splits a byte stream into frames, and `messages` converts their payloads.
`LoginLinkProtocol` and `WorldLinkProtocol` are the two sides of a link: bytes in, bytes out, one
timer, events. The package uses no socket, clock or store. Source: docs/protocol/link.md.
"""

from __future__ import annotations

from emu.link.codec import LinkFrame, LinkFrameReader, LinkOpcode, encode_frame
from emu.link.connection import (
    LinkClosed,
    LinkLimits,
    LinkRefused,
    LoginLinkConfig,
    LoginLinkProtocol,
    MessageReceived,
    WorldIntroduced,
    WorldLinkProtocol,
    WorldLinkTimes,
)
from emu.link.messages import LinkMessage, OpaqueMessage, from_login, from_world
from emu.link.settings import hash_link_password

__all__ = [
    "LinkClosed",
    "LinkFrame",
    "LinkFrameReader",
    "LinkLimits",
    "LinkMessage",
    "LinkOpcode",
    "LinkRefused",
    "LoginLinkConfig",
    "LoginLinkProtocol",
    "MessageReceived",
    "OpaqueMessage",
    "WorldIntroduced",
    "WorldLinkProtocol",
    "WorldLinkTimes",
    "encode_frame",
    "from_login",
    "from_world",
    "hash_link_password",
]
