"""Messages about single characters. docs/protocol/link.md; ZoneUpdate as recorded."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar

from emu.errors import MalformedMessage, StructValueError
from emu.link.fields import U8, U16, U32, FixedMessage, from_bytes, pack, to_bytes
from emu.link.opcodes import LinkOpcode

LEVEL, RACE, CLASS, GENDER, ZONE, ARMOR, NAME, DELETE = 1, 2, 4, 8, 16, 32, 64, 128
"""Values of `BasicCharUpdate.field`."""

MAX_NAME = 63
"""Bytes of a character's name that messages have room for."""
MAX_ZONE_FILE = 64


@dataclass(frozen=True, slots=True)
class CharTimeStamp(FixedMessage):
    """When a character was changed last. 12 bytes.

    EQ2Emulator's world answers any of these with a delete, so a login server must not send it.
    """

    OPCODE = LinkOpcode.CharTimeStamp

    char_id: U32
    account_id: U32
    unix_timestamp: U32


@dataclass(frozen=True, slots=True)
class BasicCharUpdate(FixedMessage):
    """One number of a character changed. 13 bytes."""

    OPCODE = LinkOpcode.BasicCharUpdate

    account_id: U32
    char_id: U32
    field: U8
    """LEVEL, CLASS, GENDER from a world; DELETE (with data 1) from a login server."""
    data: U32


@dataclass(frozen=True, slots=True)
class CharacterCreateRequest:
    """Login to world: make a character. u16 client version, then the client's own request."""

    OPCODE: ClassVar[int] = LinkOpcode.CharacterCreate

    client_version: int
    request: bytes
    """Body of OP_CreateCharacterRequestMsg with the real account id in it.

    Source: docs/protocol/characters.md#create.
    """

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the version is no u16."""
        return pack("CharacterCreate.client_version", "<H", self.client_version) + self.request

    @classmethod
    def decode(cls, payload: bytes) -> CharacterCreateRequest:
        """Read a payload; raises `MalformedMessage` when not even the version is there."""
        if len(payload) < 2:
            raise MalformedMessage("wrong size of CharacterCreate")
        return cls(int.from_bytes(payload[:2], "little"), payload[2:])


@dataclass(frozen=True, slots=True)
class CharacterCreateReply(FixedMessage):
    """World to login: how a `CharacterCreateRequest` went. 9 bytes."""

    OPCODE = LinkOpcode.CharacterCreate

    account_id: U32
    """0 when the world could not read the request."""
    char_id: U32
    response: U8
    """A create reply code of docs/protocol/characters.md#create-reply; 1 is success."""


@dataclass(frozen=True, slots=True)
class NameCharUpdate:
    """A character has a new name. 9 bytes and the name."""

    OPCODE: ClassVar[int] = LinkOpcode.NameCharUpdate

    account_id: int
    char_id: int
    name: str
    """1 to 63 bytes of UTF-8."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the name does not fit."""
        name = to_bytes(self.name, MAX_NAME, "NameCharUpdate.name")
        if not name or 0 in name:
            raise StructValueError("NameCharUpdate.name: must not be empty or hold a zero byte")
        return pack("NameCharUpdate", "<IIB", self.account_id, self.char_id, len(name)) + name

    @classmethod
    def decode(cls, payload: bytes) -> NameCharUpdate:
        """Read a payload; raises `MalformedMessage` unless size and length byte agree."""
        if len(payload) < 10 or len(payload) != 9 + payload[8] or payload[8] > MAX_NAME:
            raise MalformedMessage("wrong size of NameCharUpdate")
        account_id, char_id = struct.unpack_from("<II", payload)
        if 0 in payload[9:]:
            raise MalformedMessage("zero byte in NameCharUpdate")
        return cls(account_id, char_id, from_bytes(payload[9:]))


@dataclass(frozen=True, slots=True)
class RaceUpdate(FixedMessage):
    """A character has another race and model. 11 bytes."""

    OPCODE = LinkOpcode.RaceUpdate

    account_id: U32
    char_id: U32
    model: U16
    """Model id, the character list's field race_type."""
    race: U8


@dataclass(frozen=True, slots=True)
class ZoneUpdate:
    """A character is in another zone; a world sends it twice. Always 78 bytes."""

    OPCODE: ClassVar[int] = LinkOpcode.ZoneUpdate
    SIZE: ClassVar[int] = 13 + MAX_ZONE_FILE + 1

    account_id: int
    char_id: int
    zone_id: int
    zone_name: str
    """The zone's file name, at most 64 characters."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        name = to_bytes(self.zone_name, MAX_ZONE_FILE, "ZoneUpdate.zone_name")
        ids = (self.account_id, self.char_id, self.zone_id)
        return pack("ZoneUpdate", "<IIIB65s", *ids, len(name), name)

    @classmethod
    def decode(cls, payload: bytes) -> ZoneUpdate:
        """Read a payload; raises `MalformedMessage` unless size and length byte agree."""
        if len(payload) != cls.SIZE or payload[12] > MAX_ZONE_FILE:
            raise MalformedMessage("wrong size of ZoneUpdate")
        account_id, char_id, zone_id = struct.unpack_from("<III", payload)
        return cls(account_id, char_id, zone_id, from_bytes(payload[13 : 13 + payload[12]]))


@dataclass(frozen=True, slots=True)
class CharacterPicture:
    """A character's portrait, as the client made it. 10 bytes and the picture."""

    OPCODE: ClassVar[int] = LinkOpcode.CharacterPicture

    account_id: int
    char_id: int
    picture: bytes

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        ids = (self.account_id, self.char_id)
        return pack("CharacterPicture", "<IIH", *ids, len(self.picture)) + self.picture

    @classmethod
    def decode(cls, payload: bytes) -> CharacterPicture:
        """Read a payload; raises `MalformedMessage` unless its size is the announced one."""
        if len(payload) < 10:
            raise MalformedMessage("wrong size of CharacterPicture")
        account_id, char_id, size = struct.unpack_from("<IIH", payload)
        if len(payload) != 10 + size:
            raise MalformedMessage("wrong size of CharacterPicture")
        return cls(account_id, char_id, payload[10:])
