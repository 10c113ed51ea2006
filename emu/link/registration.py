"""Messages of a link's beginning: who the world is, how it is, and why it may not stay.

Source: docs/protocol/link.md#registration, docs/protocol/link.md#status, and the recorded link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from emu.errors import MalformedMessage
from emu.link.fields import I32, U8, U32, FixedMessage, from_bytes, to_bytes
from emu.link.opcodes import LinkOpcode

PROTOCOL_VERSION = "0.5.0"
SERVER_VERSION = "0.9.9-Nebula"
"""What the worlds of today's EQ2Emulator call themselves; ours says the same to be let in."""
DATABASE_VERSION = 73043
MAX_ERROR_TEXT = 1024

TYPE_WORLD, TYPE_CHAT, TYPE_LOGIN, TYPE_MESH_LOGIN, TYPE_DEVELOPMENT = range(5)

STATUS_UP = 1
STATUS_LOCKED = -2
STATUS_FULL = -3
STATUS_GONE = -4
"""Never on the wire; what the login server records once the link is down."""


@dataclass(frozen=True, slots=True)
class LSInfo(FixedMessage):
    """A world introduces itself; must be the first message of a link. 832 bytes."""

    OPCODE = LinkOpcode.LSInfo

    name: Annotated[str, "201s"]
    """The wanted name; players see the one that the login server has stored."""
    address: Annotated[str, "250s"]
    account: Annotated[str, "31s"]
    password: Annotated[str, "256s"]
    """SHA-512 of the link password as 128 lower-case hex digits."""
    protocol_version: Annotated[str, "25s"] = PROTOCOL_VERSION
    server_version: Annotated[str, "64s"] = SERVER_VERSION
    server_type: U8 = TYPE_WORLD
    """One of the TYPE constants."""
    database_version: U32 = DATABASE_VERSION

    def __repr__(self) -> str:
        return f"LSInfo(name={self.name!r}, account={self.account!r}, address={self.address!r})"


@dataclass(frozen=True, slots=True)
class LSStatus(FixedMessage):
    """How a world is; sent right after `LSInfo` and then every 15 seconds. 13 bytes."""

    OPCODE = LinkOpcode.LSStatus

    status: I32
    """One of the STATUS constants."""
    players: I32 = 0
    zones: I32 = 0
    max_level: U8 = 0


@dataclass(frozen=True, slots=True)
class LSFatalError:
    """Why the login server ends the link; text ended by a zero byte."""

    OPCODE: ClassVar[int] = LinkOpcode.LSFatalError

    reason: str

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the text is too long."""
        return to_bytes(self.reason, MAX_ERROR_TEXT, "LSFatalError.reason") + b"\0"

    @classmethod
    def decode(cls, payload: bytes) -> LSFatalError:
        """Read a payload; the zero byte may be missing. Raises `MalformedMessage`."""
        if len(payload) > MAX_ERROR_TEXT + 1:
            raise MalformedMessage("LSFatalError too long")
        return cls(from_bytes(payload))
