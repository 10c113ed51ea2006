"""The messages of the login-world link, by opcode and direction.

One opcode may have two meanings, depending on the sender, so there are two tables. An opcode
without a layout is not an error; its message is an `OpaqueMessage`.

Source: docs/protocol/link.md#opcodes, docs/protocol/link.md#registration,
docs/protocol/link.md#status, docs/protocol/link.md#play, and the recorded link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

from emu.binary import (
    I16,
    I32,
    LITTLE,
    U8,
    U16,
    U32,
    BytesField,
    RecordLayout,
    TextField,
    text_bytes,
    zero_ended,
)
from emu.errors import MalformedMessage, StructValueError
from emu.link.batches import (
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.codec import FixedMessage, LinkFrame, LinkOpcode, encode_frame

PROTOCOL_VERSION = "0.5.0"
SERVER_VERSION = "0.9.9-Nebula"
"""The version that today's EQ2Emulator worlds send.

This server's worlds send the same to be accepted.
"""
# 730 x 100 + 43; login servers do not check it.
DATABASE_VERSION = 73043
MAX_ERROR_TEXT = 1024

TYPE_WORLD, TYPE_CHAT, TYPE_LOGIN, TYPE_MESH_LOGIN, TYPE_DEVELOPMENT = range(5)

# The numbers of EQ2Emulator, on the wire as i32.
STATUS_UP = 1
STATUS_LOCKED = -2
STATUS_FULL = -3
STATUS_GONE = -4
"""Never on the wire; the login server records it when the link is down."""


@dataclass(frozen=True, slots=True)
class LSInfo(FixedMessage):
    """A world's introduction; must be the first message of a link. 832 bytes."""

    OPCODE = LinkOpcode.LSInfo

    name: Annotated[str, TextField(201)]
    """The requested name; players see the one that the login server has stored."""
    address: Annotated[str, TextField(250)]
    account: Annotated[str, TextField(31)]
    password: Annotated[str, TextField(256)]
    """SHA-512 of the link password as 128 lower-case hex digits."""
    protocol_version: Annotated[str, TextField(25)] = PROTOCOL_VERSION
    server_version: Annotated[str, TextField(64)] = SERVER_VERSION
    server_type: U8 = TYPE_WORLD
    """One of the TYPE constants."""
    database_version: U32 = DATABASE_VERSION

    # Without the password: a log or a traceback may show the message.
    def __repr__(self) -> str:
        return f"LSInfo(name={self.name!r}, account={self.account!r}, address={self.address!r})"


@dataclass(frozen=True, slots=True)
class LSStatus(FixedMessage):
    """A world's status; sent right after `LSInfo` and then every 15 seconds. 13 bytes."""

    OPCODE = LinkOpcode.LSStatus

    status: I32
    """One of the STATUS constants."""
    players: I32 = 0
    zones: I32 = 0
    max_level: U8 = 0


@dataclass(frozen=True, slots=True)
class LSFatalError:
    """The reason why the login server closes the link; a text ended by a zero byte."""

    OPCODE: ClassVar[int] = LinkOpcode.LSFatalError

    reason: str

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the text is too long."""
        return text_bytes(self.reason, MAX_ERROR_TEXT, "LSFatalError.reason") + b"\0"

    @classmethod
    def decode(cls, payload: bytes) -> LSFatalError:
        """Read a payload; the zero byte may be missing. Raises `MalformedMessage`."""
        if len(payload) > MAX_ERROR_TEXT + 1:
            raise MalformedMessage("LSFatalError too long")
        return cls(zero_ended(payload))


# One less than the field, which ends with a zero byte.
MAX_CLIENT_ADDRESS = 20
"""Longest client address in characters; every dotted IPv4 address fits, most IPv6 do not."""


@dataclass(frozen=True, slots=True)
class UsertoWorldReq(FixedMessage):
    """Login to world: a request to let a character in. 41 bytes."""

    OPCODE = LinkOpcode.UsertoWorldReq

    account_id: U32
    char_id: U32
    world_id: U32
    from_id: U32 = 0
    """The response repeats it as `to_id`."""
    to_id: U32 = 0
    client_address: Annotated[str, TextField(21)] = ""
    """Dotted IPv4 address of the client; empty when it is unknown or does not fit."""


@dataclass(frozen=True, slots=True)
class UsertoWorldResp(FixedMessage):
    """A world's answer to `UsertoWorldReq`. 109 bytes."""

    OPCODE = LinkOpcode.UsertoWorldResp

    # The login server finds the waiting client by this number alone.
    account_id: U32
    char_id: U32
    world_id: U32
    """Repeats the request; must be the id of the world that answers."""
    access_key: U32
    response: U8
    """A play reply code of docs/protocol/characters.md#play-reply; 1 is success."""
    address: Annotated[str, TextField(80)]
    port: U32
    """The world's UDP port."""
    from_id: U32 = 0
    to_id: U32 = 0


MAX_EMOTE_TEXT = 65_536


@dataclass(frozen=True, slots=True)
class BugReport(FixedMessage):
    """A player's bug report, relayed by a world. 2556 bytes."""

    OPCODE = LinkOpcode.BugReport

    category: Annotated[str, TextField(64)]
    subcategory: Annotated[str, TextField(64)]
    causes_crash: Annotated[str, TextField(64)]
    reproducible: Annotated[str, TextField(64)]
    summary: Annotated[str, TextField(128)]
    description: Annotated[str, TextField(2000)]
    version: Annotated[str, TextField(32)]
    player: Annotated[str, TextField(64)]
    account_id: U32
    spawn_name: Annotated[str, TextField(64)]
    spawn_id: U32
    zone_id: U32


@dataclass(frozen=True, slots=True)
class EmoteMessage:
    """A text from the login server for a player or everyone on a world: 74 bytes and the text."""

    OPCODE: ClassVar[int] = LinkOpcode.EmoteMessage
    HEAD: ClassVar = RecordLayout(
        "EmoteMessage", LITTLE, to=TextField(64), guild_id=U32, min_status=I16, type=U32
    )

    to: str
    guild_id: int
    min_status: int
    type: int
    text: str

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        text = text_bytes(self.text, MAX_EMOTE_TEXT, "EmoteMessage.text")
        return self.HEAD.pack_from(self) + text + b"\0"

    @classmethod
    def decode(cls, payload: bytes) -> EmoteMessage:
        """Read a payload; raises `MalformedMessage` when it is too short or too long."""
        if len(payload) > cls.HEAD.size + MAX_EMOTE_TEXT + 1:
            raise MalformedMessage("wrong size of EmoteMessage")
        to, guild_id, min_status, kind = cls.HEAD.unpack(payload)
        return cls(to, guild_id, min_status, kind, zero_ended(payload[cls.HEAD.size :]))


LEVEL, RACE, CLASS, GENDER, ZONE, ARMOR, NAME, DELETE = 1, 2, 4, 8, 16, 32, 64, 128
"""Values of `BasicCharUpdate.field`."""

MAX_NAME = 63
"""Longest character name in a message, in bytes."""
MAX_ZONE_FILE = 64


@dataclass(frozen=True, slots=True)
class CharTimeStamp(FixedMessage):
    """When a character was changed last. 12 bytes.

    EQ2Emulator's world answers each of these with a delete, so a login server must not send it.
    """

    OPCODE = LinkOpcode.CharTimeStamp

    char_id: U32
    account_id: U32
    unix_timestamp: U32


@dataclass(frozen=True, slots=True)
class BasicCharUpdate(FixedMessage):
    """One number of a character has changed. 13 bytes."""

    OPCODE = LinkOpcode.BasicCharUpdate

    account_id: U32
    char_id: U32
    field: U8
    """LEVEL, CLASS, GENDER from a world; DELETE (with data 1) from a login server."""
    data: U32


@dataclass(frozen=True, slots=True)
class CharacterCreateRequest:
    """Login to world: a create request. u16 client version, then the client's own request."""

    OPCODE: ClassVar[int] = LinkOpcode.CharacterCreate
    HEAD: ClassVar = RecordLayout("CharacterCreate", LITTLE, client_version=U16)

    client_version: int
    request: bytes
    """Body of OP_CreateCharacterRequestMsg with the real account id in it.

    Source: docs/protocol/characters.md#create.
    """

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the version is not a u16."""
        return self.HEAD.pack_from(self) + self.request

    @classmethod
    def decode(cls, payload: bytes) -> CharacterCreateRequest:
        """Read a payload; raises `MalformedMessage` when the version is cut off."""
        (client_version,) = cls.HEAD.unpack(payload)
        return cls(client_version, payload[cls.HEAD.size :])


@dataclass(frozen=True, slots=True)
class CharacterCreateReply(FixedMessage):
    """World to login: the answer to a `CharacterCreateRequest`. 9 bytes."""

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
    HEAD: ClassVar = RecordLayout(
        "NameCharUpdate", LITTLE, account_id=U32, char_id=U32, name_size=U8
    )

    account_id: int
    char_id: int
    name: str
    """1 to 63 bytes of UTF-8."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when the name does not fit."""
        name = text_bytes(self.name, MAX_NAME, "NameCharUpdate.name")
        # Names end at a zero byte elsewhere, so another name than the sent one would be stored.
        if not name or 0 in name:
            raise StructValueError("NameCharUpdate.name: must not be empty or hold a zero byte")
        return self.HEAD.pack(self.account_id, self.char_id, len(name)) + name

    @classmethod
    def decode(cls, payload: bytes) -> NameCharUpdate:
        """Read a payload; raises `MalformedMessage` unless size and length byte agree."""
        account_id, char_id, size = cls.HEAD.unpack(payload)
        name = payload[cls.HEAD.size :]
        # The size stands twice on the wire; if the two differ, one of them is wrong.
        if not 1 <= size <= MAX_NAME or len(name) != size:
            raise MalformedMessage("wrong size of NameCharUpdate")
        if 0 in name:
            raise MalformedMessage("zero byte in NameCharUpdate")
        return cls(account_id, char_id, zero_ended(name))


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
    """A character is in another zone; EQ2Emulator's worlds send it twice. Always 78 bytes."""

    OPCODE: ClassVar[int] = LinkOpcode.ZoneUpdate
    LAYOUT: ClassVar = RecordLayout(
        "ZoneUpdate", LITTLE, account_id=U32, char_id=U32, zone_id=U32, name_size=U8,
        zone_name=BytesField(MAX_ZONE_FILE + 1),
    )  # fmt: skip

    account_id: int
    char_id: int
    zone_id: int
    zone_name: str
    """The zone's file name, at most 64 characters."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        name = text_bytes(self.zone_name, MAX_ZONE_FILE, "ZoneUpdate.zone_name")
        return self.LAYOUT.pack(self.account_id, self.char_id, self.zone_id, len(name), name)

    @classmethod
    def decode(cls, payload: bytes) -> ZoneUpdate:
        """Read a payload; raises `MalformedMessage` unless size and length byte agree."""
        account_id, char_id, zone_id, size, name = cls.LAYOUT.unpack_whole(payload)
        # The field has 65 bytes, but its last one is the zero byte at the end.
        if size > MAX_ZONE_FILE:
            raise MalformedMessage("wrong size of ZoneUpdate")
        return cls(account_id, char_id, zone_id, zero_ended(name[:size]))


@dataclass(frozen=True, slots=True)
class CharacterPicture:
    """A character's portrait, as the client made it. 10 bytes and the image."""

    OPCODE: ClassVar[int] = LinkOpcode.CharacterPicture
    HEAD: ClassVar = RecordLayout(
        "CharacterPicture", LITTLE, account_id=U32, char_id=U32, picture_size=U16
    )

    account_id: int
    char_id: int
    picture: bytes

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        return self.HEAD.pack(self.account_id, self.char_id, len(self.picture)) + self.picture

    @classmethod
    def decode(cls, payload: bytes) -> CharacterPicture:
        """Read a payload; raises `MalformedMessage` unless its size is the stated one."""
        account_id, char_id, size = cls.HEAD.unpack(payload)
        picture = payload[cls.HEAD.size :]
        if len(picture) != size:
            raise MalformedMessage("wrong size of CharacterPicture")
        return cls(account_id, char_id, picture)


class LinkMessage(Protocol):
    """Any message of the link: it has an opcode and can be encoded."""

    @property
    def OPCODE(self) -> int:  # noqa: N802  # a constant of the class in every implementation
        """The frame's opcode."""

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""


@dataclass(frozen=True, slots=True)
class OpaqueMessage:
    """A message without a layout here: keep-alives, chat, mesh messages, unknown opcodes."""

    OPCODE: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """Return the payload unchanged."""
        return self.payload


_Decoder = Callable[[bytes], LinkMessage]

# Two tables, because an opcode such as CharacterCreate has another layout in each direction.
FROM_WORLD: Mapping[int, _Decoder] = {
    kind.OPCODE: kind.decode
    for kind in (
        LSInfo, LSStatus, UsertoWorldResp, CharTimeStamp, BasicCharUpdate, CharacterCreateReply,
        NameCharUpdate, RaceUpdate, ZoneUpdate, BugReport, ZoneUpdates, LoginEquipment,
        CharacterPicture,
    )
}  # fmt: skip
"""Decoders of the messages that a world sends."""

FROM_LOGIN: Mapping[int, _Decoder] = {
    kind.OPCODE: kind.decode
    for kind in (
        LSFatalError, UsertoWorldReq, CharTimeStamp, BasicCharUpdate, CharacterCreateRequest,
        ZoneUpdatesRequest, LoginEquipmentRequest, EmoteMessage,
    )
}  # fmt: skip
"""Decoders of the messages that a login server sends."""


def from_world(frame: LinkFrame) -> LinkMessage:
    """Decode a frame that a world sent; raises `MalformedMessage` or `LimitExceeded`."""
    return _decode(FROM_WORLD, frame)


def from_login(frame: LinkFrame) -> LinkMessage:
    """Decode a frame that a login server sent; raises `MalformedMessage` or `LimitExceeded`."""
    return _decode(FROM_LOGIN, frame)


def to_frame(message: LinkMessage) -> bytes:
    """Return the whole frame of a message."""
    return encode_frame(message.OPCODE, message.encode())


def _decode(table: Mapping[int, _Decoder], frame: LinkFrame) -> LinkMessage:
    decoder = table.get(frame.opcode)
    if decoder is None:
        return OpaqueMessage(frame.opcode, frame.payload)
    return decoder(frame.payload)
