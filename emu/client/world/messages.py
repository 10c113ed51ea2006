"""The world's messages as one client version speaks them: requests to bytes, answers to events.

Source: docs/protocol/world/movement.md#prediction.

Opcode numbers and layouts come from the dialect. Keeps no state: what is told as changes of what
was told before (ghosts, predictions) is read and written elsewhere. Sources:
docs/protocol/world/entering.md, docs/protocol/world/chat.md, docs/protocol/world/leaving.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from emu.client import codes
from emu.client.events import Unexpected
from emu.client.world import events
from emu.dialects import Dialect
from emu.dialects.dialect import (
    AVATAR_READY,
    CLIENT_COMMAND,
    LOGIN_BY_NUMBER,
    NOT_SEEN,
    read_name,
    wire_texts,
)
from emu.dialects.rules import read_numbers
from emu.errors import CommandError, MalformedMessage, UnknownOpcode, UnknownStruct
from emu.model import LoginCode
from emu.structs import StructLayout
from emu.structs.packed import (
    EXAMINE_INFO,
    DeltaBase,
    each_client_cmd,
    pack_stream,
    reverses_literals,
)
from emu.world_stream.movement import CONTENT, ENVELOPE


class PredictionWriter:
    """One session's predictions: each is packed as the XOR with the one before."""

    __slots__ = ("_base", "_content", "_envelope", "_reverse")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a session does. Raises `UnknownStruct`."""
        self._envelope = dialect.layout(ENVELOPE)
        self._content = dialect.layout(CONTENT)
        self._reverse = reverses_literals(dialect.version)
        self._base = DeltaBase(self._content.empty_size())

    def write(self, fields: Mapping[str, object], time: int) -> bytes:
        """Return a message from fields of Player_Update and the client's time, milliseconds.

        Raises `StructValueError`.
        """
        delta = self._base.encode(self._content.encode(fields))
        packed = pack_stream(delta, reverse=self._reverse)
        return self._envelope.encode({"time": time, "packed": packed.decode("latin-1")})


Request = tuple[int, bytes]
"""An opcode number and the payload behind it."""
Reader = Callable[[Mapping[str, Any]], events.WorldEvent | None]
"""Makes an event of a message's fields."""

ZONE_LOADED: Final = "OP_DoneLoadingZoneResourcesMsg"
ENTITIES_SENT: Final = "OP_DoneSendingInitialEntitiesMsg"
ENTITIES_LOADED: Final = "OP_DoneLoadingEntityResourcesMsg"
INTERFACE_LOADED: Final = "OP_DoneLoadingUIResourcesMsg"
READY_TO_ZONE: Final = "OP_ReadyToZoneMsg"
STEPS: Final = (ZONE_LOADED, ENTITIES_SENT, ENTITIES_LOADED)
"""Without the numbers of these nobody can enter a zone."""
CHANNEL_ACTIONS: Final = ("you joined", "you left", "joined", "left")


class WorldMessages:
    """Messages of one client version. Raises `CommandError` when its way in is not known."""

    __slots__ = ("_examine_info", "_readers", "dialect")

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        missing = [name for name in STEPS if dialect.table.get(name) is None]
        if missing:
            raise CommandError(
                f"nobody knows how client version {dialect.version} enters a zone: the opcode"
                f" tables have no number for {missing[0]}"
            )
        self._examine_info = dialect.table.get(EXAMINE_INFO)
        readers: dict[str, Reader] = {
            "LS_LoginResponse": _login_reply,
            "WS_ZoneInfo": _plain(events.ZoneTold, "zone", "zone_desc", "char_name", "x", "y", "z"),
            "WS_HearChat": self._heard,
            "WS_DisplayText": self._line,
            "WS_OnScreenMsg": _plain(events.ScreenShown, "text"),
            "WS_WhoQueryReply": _who,
            "WS_ChatChannelUpdate": _channel_told,
            "WS_WhoChannelQueryReply": _channel_members,
            "WS_Camp": _plain(events.CampBegun, "seconds"),
            "WS_MoveClient": _plain(events.PutSomewhere, "x", "y", "z"),
            "WS_DialogOpen": _dialog,
            "WS_ServerDialogClose": _plain(events.DialogClosed, "conversation_id"),
        }
        self._readers = dict(self._known(readers))

    def _known(
        self, readers: Mapping[str, Reader]
    ) -> Iterator[tuple[str, tuple[StructLayout, Reader]]]:
        """Yield each message that this version has: its name, its layout, and who reads it."""
        for struct, reader in readers.items():
            try:
                layout = self.dialect.layout(struct)
            except UnknownStruct:
                continue
            definition = layout.definition
            yield definition.opcode_type or definition.opcode_name, (layout, reader)

    @property
    def version(self) -> int:
        """The client data version."""
        return self.dialect.version

    # wishes

    def login_by_number(self, account_id: int, key: int) -> Request:
        """Return the first message of all, in the layout of this version."""
        layout = self.dialect.layout("LoginByNumRequest")
        return LOGIN_BY_NUMBER, layout.encode(
            {"account_id": account_id, "access_code": key, "version": self.version}
        )

    def plain(self, name: str, payload: bytes = b"") -> Request:
        """Return a message by name or number, its payload encoded already.

        Raises `CommandError` for a name that this version has no number for.
        """
        if name.isdecimal():
            return int(name), payload
        try:
            return self.dialect.table.number(name), payload
        except UnknownOpcode:
            raise CommandError(f"client version {self.version} has no {name}") from None

    def has(self, name: str) -> bool:
        """Say whether this version has a number for a message."""
        return self.dialect.table.get(name) is not None

    def filled(self, struct: str, **values: object) -> Request:
        """Return the message that a struct is. Raises `CommandError`."""
        try:
            return self.dialect.message(struct, wire_texts(values))
        except (UnknownStruct, UnknownOpcode) as error:
            raise CommandError(f"client version {self.version} cannot say that: {error}") from None

    def avatar_ready(self) -> Request:
        """Return the signal that the avatar stands."""
        layout = self.dialect.layout("WS_Signal")
        return self.plain("OP_SignalMsg", layout.encode({"signal": AVATAR_READY}))

    # answers

    def unwrapped(self, opcode: int, payload: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield name and payload of a message, or of each command that it carries.

        What has no name is called by its number. Raises `MalformedMessage`.
        """
        table = self.dialect.table
        name = table.name(opcode) or str(opcode)
        if name != CLIENT_COMMAND:
            yield name, payload
            return
        for command in each_client_cmd(payload, self.version, examine_info=self._examine_info):
            yield table.name(command.opcode) or str(command.opcode), command.payload

    def read(self, name: str, payload: bytes) -> events.WorldEvent | None:
        """Return what a message says by itself, None for those that say nothing to people."""
        if name == "OP_CampAbortedMsg":
            return events.CampStopped()
        known = self._readers.get(name)
        if known is None:
            return None
        layout, reader = known
        try:
            return reader(layout.decode(payload))
        except MalformedMessage as error:
            return Unexpected(self.dialect.table.get(name) or 0, name, str(error))

    def commands(self, payload: bytes) -> tuple[str, ...]:
        """Return the names of the slash commands a client is given, in the order it counts them.

        Raises `MalformedMessage`.
        """
        fields = self.dialect.layout("WS_SetRemoteCmdsMsg").decode(payload)
        return tuple(read_name(row["name"]) for row in fields["commands_array"])

    def zone_change(self, payload: bytes) -> Mapping[str, Any]:
        """Return account_id, key, ip_address and port. Raises `MalformedMessage`."""
        return self.dialect.layout("WS_ZoneChangeMsg").decode(payload)

    def _heard(self, fields: Mapping[str, Any]) -> events.WorldEvent:
        index = fields["from_spawn_id"]
        return events.Heard(
            read_numbers().name(fields["channel"], self.version),
            read_name(fields["from"]),
            read_name(fields["to"]),
            read_name(fields["message"]),
            read_name(fields["channel_name"]),
            None if index == NOT_SEEN else index,
        )

    def _line(self, fields: Mapping[str, Any]) -> events.WorldEvent:
        color = read_numbers().name(fields["color"], self.version)
        return events.LineShown(color, read_name(fields["text"]))


def _plain(kind: Callable[..., events.WorldEvent], *names: str) -> Reader:
    """Return what makes an event of nothing but these fields, texts as people read them."""

    def read(fields: Mapping[str, Any]) -> events.WorldEvent:
        values = (fields[name] for name in names)
        return kind(*(read_name(one) if isinstance(one, str) else one for one in values))

    return read


def _login_reply(fields: Mapping[str, Any]) -> events.WorldEvent | None:
    code = fields["reply_code"]
    if code == LoginCode.ACCEPTED:
        return None
    return events.Refused(code, codes.text_of(codes.LOGIN_TEXTS, code))


def _who(fields: Mapping[str, Any]) -> events.WorldEvent:
    rows = fields["characters_array"]
    return events.WhoListed(
        tuple(
            (_padded(row["char_name"]), row["level"], _padded(row["zone"]))
            for row in rows
        )
    )  # fmt: skip


def _channel_told(fields: Mapping[str, Any]) -> events.WorldEvent:
    action = fields["action"]
    said = CHANNEL_ACTIONS[action] if action < len(CHANNEL_ACTIONS) else str(action)
    return events.ChannelTold(
        said, read_name(fields["channel_name"]), read_name(fields["player_name"])
    )


def _channel_members(fields: Mapping[str, Any]) -> events.WorldEvent:
    names = tuple(read_name(row["player_name"]) for row in fields["player_array"])
    return events.ChannelMembers(read_name(fields["channel_name"]), names)


def _dialog(fields: Mapping[str, Any]) -> events.WorldEvent:
    choices = tuple(read_name(row["response"]) for row in fields["response_array"])
    title, text = read_name(fields["title"]), read_name(fields["text"])
    return events.DialogOpened(fields["conversation_id"], title, text, choices)


def _padded(text: str) -> str:
    return read_name(text.partition("\0")[0])
