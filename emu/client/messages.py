"""The login messages of one client version: requests to bytes, replies to events.

Opcode numbers come from the opcode tables and layouts from the struct catalog. This module has what
neither contains: forms of one message that differ by length alone (world status, delete reply, play
failure, account info), the end of the login request and the client log, and the default appearance
of a new character. The default character is a plain human with a value in every field of every
layout, so that a server's conversions are exercised; fields that a layout lacks are omitted.

Sources: docs/protocol/login.md, docs/protocol/login.md#request (with the 2006 client's own bytes,
which end at the version), docs/protocol/login.md#client-logs, docs/protocol/login.md#client-546,
docs/protocol/characters.md#create.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from emu.client import codes, events
from emu.errors import CommandError, MalformedMessage
from emu.opcodes import OpcodeTables, shipped_tables
from emu.reply_codes import LoginCode
from emu.structs import StructCatalog, StructLayout, shipped_catalog

_RACE_FILE = "ec/pc/human/human_male"
_SKIN = [0.78, 0.60, 0.49]
_HAIR = [0.32, 0.20, 0.10]
_EYES = [0.20, 0.35, 0.55]
_CLOTH = [0.45, 0.45, 0.40]
_SLIDER = [0.25, -0.50, 0.75]
_COMMON: dict[str, object] = {
    "race": 9,
    "gender": 1,
    "deity": 0,
    "class": 25,
    "level": 1,
    "starting_zone": 1,
    "version": 4,
}
_LOOK: dict[str, object] = {
    "race_file": _RACE_FILE,
    "hair_file": "accessories/hair/hair_01",
    "face_file": "accessories/hair/face_01",
    "wing_file": "",
    "chest_file": "accessories/chest/shirt_01",
    "legs_file": "accessories/legs/pants_01",
    "eye_color": _EYES,
    "body_size": 0.5,
    "body_age": 0.25,
    **dict.fromkeys(("skin_color", "skin_color2", "unknown_skin_color2"), _SKIN),
    **dict.fromkeys(
        ("hair_color1", "hair_color2", "hair_highlight", "hair_type_color",
         "hair_type_highlight_color", "hair_face_color", "hair_face_highlight_color"),
        _HAIR,
    ),
    **dict.fromkeys(
        ("shirt_color", "unknown_chest_color", "pants_color", "unknown_legs_color", "unknown9"),
        _CLOTH,
    ),
    **dict.fromkeys(
        ("eyes2", "ears", "eye_brows", "cheeks", "lips", "chin", "nose"), _SLIDER
    ),
}  # fmt: skip
_SOGA = {f"soga_{name}": value for name, value in _LOOK.items()} | {"soga_version": 4}
"""The alternate appearance that clients from 562 send too."""


def field_names(layout: StructLayout) -> set[str]:
    """Return the names of a layout's top-level fields."""
    return {field.name for field in layout.definition.fields}


def create_fields(layout: StructLayout, world_id: int, name: str) -> dict[str, object]:
    """Return the fields of a create request for this name on this world."""
    have = field_names(layout)
    known = {key: value for key, value in (_COMMON | _LOOK | _SOGA).items() if key in have}
    return known | {"server_id": world_id, "name": name}


BUILD_STAMP = 0x2E_0000_2E00
"""The bits of a build stamp around its version word.

Byte 4 is 2E, the value that adds nothing to the version. The low word must not be a client version,
because a server would read it as one.
"""

LOG_SIZE = 4095
"""Inflated size of the recorded alert log (docs/protocol/login.md#client-546)."""


def _str16(text: str) -> bytes:
    raw = text.encode("latin-1")
    return struct.pack("<H", len(raw)) + raw


def _word(version: int) -> bytes:
    """Return the version as older clients send it: a u16 after the pass code."""
    return struct.pack("<H", version)


def _stamp(version: int) -> bytes:
    """Return the version as clients from 1212 send it: bits 16 to 31 of a u64 build stamp."""
    return struct.pack("<Q", BUILD_STAMP | (version & 0xFFFF) << 16)


_TEXTS = _str16("") * 2 + struct.pack("<IBH", 0, 0, 2681)
"""Two empty strings, a u32, the full-screen flag, the SOE build."""

_STATION = _str16("STATION")

_MACHINE = (
    _str16("") * 2
    + struct.pack("<Q", 0)
    + _str16("emu-client")
    + struct.pack("<5i", 0, 0, 0, 0, 0)
    + _str16("none")
    + _str16("none")
)
"""Two strings, a u64, computer name, five numbers, names of GPU and CPU."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The end of a login request of clients from version `first` on."""

    first: int
    version: Callable[[int], bytes]
    tail: bytes


REQUEST_FORMS = (
    RequestForm(57015, _stamp, _TEXTS + _STATION + _MACHINE),
    RequestForm(1212, _stamp, _TEXTS + _STATION),
    RequestForm(1169, _word, _TEXTS + _STATION),
    RequestForm(547, _word, _TEXTS),
    RequestForm(0, _word, b""),
)
"""Newest first; the first whose `first` is not above the client's version applies."""


def login_request(version: int, user: str, password: str) -> bytes:
    """Return the payload of an OP_LoginRequestMsg.

    Raises `CommandError` when name or password cannot be encoded in the client's character set or
    are longer than a string field.
    """
    # `REQUEST_FORMS` has the newest first, so the first match is the right one.
    form = next(form for form in REQUEST_FORMS if form.first <= version)
    for what, text in (("user name", user), ("password", password)):
        try:
            size = len(text.encode("latin-1"))
        except UnicodeEncodeError:
            raise CommandError(f"the {what} has characters that no client can send") from None
        if size > 0xFFFF:
            raise CommandError(f"the {what} is longer than 65535 characters")
    return (
        _str16("")
        + _str16("")
        + _str16(user)
        + _str16(password)
        + bytes(8)
        + form.version(version)
        + form.tail
    )


@cache
def alert_log(version: int) -> bytes:
    """Return the payload of the alert log that a client sends right after its login.

    From 546 on: u32 compressed length, u32 inflated length, zlib stream of the best level. Before:
    a u16 length and the stream. The text is filled with NUL bytes up to `LOG_SIZE`.
    """
    lines = (
        f"Alert {number:03}: client {version}, no fault, mark {number * 7919 % 10007:04}\n"
        for number in range(100)
    )
    # At least one zero byte follows the text.
    text = "".join(lines).encode("ascii")[: LOG_SIZE - 1]
    packed = zlib.compress(text.ljust(LOG_SIZE, b"\0"), 9)
    if version < 546:
        return struct.pack("<H", len(packed)) + packed
    return struct.pack("<II", len(packed), LOG_SIZE) + packed


KEYMAP_LIMIT = 0x8000
"""The largest keymap of a client in bytes (docs/protocol/login.md#client-546)."""

Request = tuple[int, bytes]
"""An opcode number and its payload."""


class ClientLoginMessages:
    """The login messages of one client version. Raises `UnknownVersion` without opcodes for it."""

    __slots__ = (
        "_catalog",
        "_create",
        "_login_reply",
        "_numbers",
        "_profile",
        "_readers",
        "_world_list",
        "version",
    )

    def __init__(self, version: int, tables: OpcodeTables, catalog: StructCatalog) -> None:
        self.version = version
        table = tables.for_version(version)
        self._numbers = table.number
        self._catalog = catalog
        # An EQ2_Color is sent as three floats (docs/protocol/characters.md#create).
        self._create = catalog.layout("CreateCharacter", version, create_color=True)
        self._login_reply = self._layout("LS_LoginReplyMsg")
        self._profile = self._layout("CharSelectProfile")
        self._world_list = self._layout("LS_WorldList")
        readers: dict[str, Callable[[bytes], events.Event]] = {
            "OP_LoginReplyMsg": self._read_login_reply,
            "OP_WorldListMsg": self._read_world_list,
            "OP_WorldStatusChangeMsg": self._read_world_status,
            "OP_AllCharactersDescReplyMsg": self._read_characters,
            "OP_CreateCharacterReplyMsg": self._read_created,
            "OP_DeleteCharacterReplyMsg": self._read_deleted,
            "OP_PlayCharacterReplyMsg": self._read_play,
            "OP_KeymapNoneMsg": self._read_keymap_none,
            "OP_KeymapDataMsg": self._read_keymap,
        }
        self._readers: dict[int, tuple[str, Callable[[bytes], events.Event]]] = {}
        for name, reader in readers.items():
            number = table.get(name)
            # A version may lack some of these messages; then their numbers never arrive.
            if number is not None:
                self._readers[number] = (name, reader)

    def _layout(self, name: str) -> StructLayout:
        return self._catalog.layout(name, self.version)

    # Requests.

    def login(self, user: str, password: str) -> Request:
        """Return the login request. Raises `CommandError` for a text that no client can send."""
        return self._numbers("OP_LoginRequestMsg"), login_request(self.version, user, password)

    def alert_log(self) -> Request:
        """Return the client log that follows an accepted login."""
        return self._numbers("OP_LsClientAlertlogReplyMsg"), alert_log(self.version)

    def worlds(self) -> Request:
        """Return the request for the world list."""
        return self._numbers("OP_AllWSDescRequestMsg"), b""

    def keymap_load(self) -> Request:
        """Return the request for the keymap."""
        return self._numbers("OP_KeymapLoadMsg"), b""

    def create(self, world_id: int, name: str, choices: Mapping[str, object]) -> Request:
        """Return a create request; `choices` are CreateCharacter fields over the defaults.

        Raises `StructValueError` for a field that this version does not have.
        """
        fields = create_fields(self._create, world_id, name) | dict(choices)
        payload = self._create.encode(fields, strict=True)
        return self._numbers("OP_CreateCharacterRequestMsg"), payload

    def delete(self, character: events.ListedCharacter) -> Request:
        """Return a delete request."""
        payload = self._layout("LS_DeleteCharacterRequest").encode(
            {"char_id": character.id, "server_id": character.world_id, "name": character.name},
            strict=True,
        )
        return self._numbers("OP_DeleteCharacterRequestMsg"), payload

    def play(self, character: events.ListedCharacter) -> Request:
        """Return a play request."""
        layout = self._layout("LS_PlayRequest")
        fields: dict[str, object] = {"char_id": character.id}
        if "server_id" in field_names(layout):
            fields["server_id"] = character.world_id
        else:  # Clients up to 283 name the character, not its world.
            fields["name"] = character.name
        return self._numbers("OP_PlayCharacterRequestMsg"), layout.encode(fields, strict=True)

    # Replies.

    def read_message(self, opcode: int, payload: bytes) -> events.Event:
        """Return the event of a server's message; never raises for its bytes."""
        known = self._readers.get(opcode)
        if known is None:
            return events.Unexpected(opcode, "", "a message that means nothing at login")
        name, reader = known
        try:
            return reader(payload)
        except MalformedMessage as error:
            return events.Unexpected(opcode, name, error.reason)

    def _read_login_reply(self, payload: bytes) -> events.Event:
        if not payload:
            raise MalformedMessage("login reply without a code")
        code = payload[0]
        # Only these two codes promise the whole layout; a refusal is read by its code alone.
        if code not in (LoginCode.ACCEPTED, LoginCode.FLAGS):
            return events.LoginDenied(code, codes.text_of(codes.LOGIN_TEXTS, code))
        fields = self._login_reply.decode(payload)
        return (
            events.LoginFlags(fields) if code == LoginCode.FLAGS else events.LoginAccepted(fields)
        )

    def _read_world_list(self, payload: bytes) -> events.Event:
        entries = self._world_list.decode(payload).get("world_list", [])
        return events.WorldList(tuple(_world(entry) for entry in entries))

    def _read_world_status(self, payload: bytes) -> events.Event:
        # EQ2Emulator sends 7 bytes, other servers 8; the first six are the same.
        if len(payload) not in (7, 8):
            raise MalformedMessage("world status of another length")
        world_id, up, locked = struct.unpack_from("<IBB", payload)
        return events.WorldStatus(world_id, bool(up), bool(locked))

    def _read_characters(self, payload: bytes) -> events.Event:
        if not payload:
            raise MalformedMessage("character list without a count")
        characters, at = [], 1
        for _ in range(payload[0]):
            # Entries have no length: each one ends where its layout ends.
            fields, at = self._profile.decode_prefix(payload, at)
            characters.append(_character(fields))
        return events.Characters(tuple(characters), _account_info(payload[at:]))

    def _read_created(self, payload: bytes) -> events.Event:
        fields = self._layout("LS_CreateCharacterReply").decode(payload)
        return _answer(events.Created, codes.CREATE_TEXTS, fields, "name", "account_id")

    def _read_deleted(self, payload: bytes) -> events.Event:
        try:
            fields = self._layout("LS_DeleteCharacterResponse").decode(payload)
        except MalformedMessage:
            fields = _other_delete_reply(payload)
        names = ("server_id", "char_id", "name")
        return _answer(events.Deleted, codes.DELETE_TEXTS, fields, *names)

    def _read_play(self, payload: bytes) -> events.Event:
        if len(payload) == 1 and payload[0] != 1:
            # The 2006 client reads a failure as this one byte.
            code = payload[0]
            return events.PlayAnswer(code, codes.text_of(codes.PLAY_TEXTS, code), "", 0, 0, 0)
        fields = self._layout("LS_PlayResponse").decode(payload)
        names = ("server", "port", "access_code", "account_id")
        return _answer(events.PlayAnswer, codes.PLAY_TEXTS, fields, *names)

    def _read_keymap_none(self, payload: bytes) -> events.Event:  # noqa: ARG002
        return events.Keymap(None)

    def _read_keymap(self, payload: bytes) -> events.Event:
        if len(payload) < 4 or struct.unpack_from("<I", payload)[0] != len(payload) - 4:
            raise MalformedMessage("keymap of another length than it says")
        if len(payload) - 4 > KEYMAP_LIMIT:
            raise MalformedMessage("keymap larger than a client keeps")
        return events.Keymap(payload[4:])


@cache
def shipped_messages(version: int) -> ClientLoginMessages:
    """Return the messages of a version from the tables and structs that ship with the package.

    Raises `UnknownVersion`.
    """
    return ClientLoginMessages(version, shipped_tables(), shipped_catalog())


def _answer(
    kind: Callable[..., events.Event], texts: Mapping[int, str], fields: Mapping[str, Any],
    *names: str,
) -> events.Event:  # fmt: skip
    code = fields["response"]
    return kind(code, codes.text_of(texts, code), *(fields[name] for name in names))


def _world(entry: Mapping[str, Any]) -> events.ListedWorld:
    return events.ListedWorld(
        entry["id"],
        entry["name"],
        up=bool(entry.get("tag", entry.get("online"))),
        locked=bool(entry["locked"]),
        players=entry.get("num_players", 0),
        load=entry["load"],
        allowed_races=entry.get("allowed_races", 0xFFFFFFFF),
    )


def _character(fields: Mapping[str, Any]) -> events.ListedCharacter:
    return events.ListedCharacter(
        fields["charid"],
        fields["server_id"],
        fields["name"],
        fields["level"],
        fields["race"],
        fields["class"],
        fields,
    )


def _account_info(data: bytes) -> events.AccountInfo:
    """Read the data after the list: 15 bytes up to 561, 33 above; 31 without the bonuses."""
    if len(data) not in (15, 31, 33):
        raise MalformedMessage("account info of another length")
    account_id, _, _, most, _ = struct.unpack_from("<IIHIB", data)
    adventure, tradeskill = data[31:33] if len(data) == 33 else (0, 0)
    return events.AccountInfo(account_id, most, adventure, tradeskill)


_DELETE_HEAD = struct.Struct("<BII")


def _other_delete_reply(payload: bytes) -> dict[str, Any]:
    """Read a reply with or without an account id before the name and a maximum behind it.

    The 2006 client reads neither; EQ2Emulator sends both to every client.
    """
    for at in (_DELETE_HEAD.size, _DELETE_HEAD.size + 4):
        length = int.from_bytes(payload[at : at + 2], "little")
        if len(payload) - (at + 2 + length) in (0, 4):
            break
    else:
        raise MalformedMessage("delete reply of another length")
    code, world_id, char_id = _DELETE_HEAD.unpack_from(payload)
    name = payload[at + 2 : at + 2 + length].decode("latin-1")
    return {"response": code, "server_id": world_id, "char_id": char_id, "name": name}
