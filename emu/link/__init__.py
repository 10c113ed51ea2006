"""EQ2Emulator's TCP link between login server and world servers, without any input or output.

`frames` cuts a byte stream into frames, the message modules turn their payloads into values, and
`LoginEnd` and `WorldEnd` are the two ends of one link: bytes in, bytes out, one timer, events.
Nothing here knows a socket, a clock or a store. Source: docs/protocol/link.md.
"""

from __future__ import annotations

from emu.link.end import LinkClosed, LinkLimits, MessageReceived
from emu.link.frames import Frame, FrameReader, encode_frame
from emu.link.login_end import LoginEnd, LoginEndConfig, WorldIntroduced
from emu.link.messages import LinkMessage, OpaqueMessage, from_login, from_world
from emu.link.opcodes import LinkOpcode
from emu.link.password import hash_link_password
from emu.link.world_end import LinkRefused, WorldEnd, WorldEndConfig

__all__ = [
    "Frame",
    "FrameReader",
    "LinkClosed",
    "LinkLimits",
    "LinkMessage",
    "LinkOpcode",
    "LinkRefused",
    "LoginEnd",
    "LoginEndConfig",
    "MessageReceived",
    "OpaqueMessage",
    "WorldEnd",
    "WorldEndConfig",
    "WorldIntroduced",
    "encode_frame",
    "from_login",
    "from_world",
    "hash_link_password",
]
