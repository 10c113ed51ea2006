"""The world's messages of one client version: requests to bytes, messages to events.

Opcode numbers and layouts come from the dialect. This module keeps no state, except
`PredictionWriter`; the deltas of ghosts are decoded elsewhere. Sources:
docs/protocol/world/entering.md, docs/protocol/world/chat.md, docs/protocol/world/leaving.md,
docs/protocol/world/movement.md#prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from emu.client import codes
from emu.client.events import Unexpected
from emu.client.world import events, windows
from emu.dialects import Dialect
from emu.dialects.dialect import (
    AVATAR_READY,
    CLIENT_COMMAND,
    LOGIN_BY_NUMBER,
    NOT_SEEN,
    read_name,
    read_numbers,
    wire_texts,
)
from emu.errors import CommandError, MalformedMessage, UnknownOpcode, UnknownStruct
from emu.reply_codes import LoginCode
from emu.structs import StructLayout
from emu.structs.packed import (
    EXAMINE_INFO,
    DeltaBase,
    each_client_cmd,
    pack_stream,
    reverses_literals,
)
from emu.world_stream.deltas import CONTENT, envelope_of


class PredictionWriter:
    """The predictions of one session: each is packed, XORed with the previous one."""

    __slots__ = ("_base", "_content", "_envelope", "_reverse")

    def __init__(self, dialect: Dialect) -> None:
        """Begin with the baseline of a new session. Raises `UnknownStruct`."""
        self._envelope = envelope_of(dialect)
        self._content = dialect.layout(CONTENT)
        self._reverse = reverses_literals(dialect.version)
        self._base = DeltaBase(self._content.empty_size())

    def write(self, fields: Mapping[str, object], time: int) -> bytes:
        """Return a message with fields of Player_Update and the client's time in milliseconds.

        Raises `StructValueError`.
        """
        delta = self._base.encode(self._content.encode(fields))
        packed = pack_stream(delta, reverse=self._reverse)
        return self._envelope.encode({"time": time, "packed": packed.decode("latin-1")})


Request = tuple[int, bytes]
"""An opcode number and its payload."""
Reader = Callable[[Mapping[str, Any]], events.WorldEvent | None]
"""Converts a message's fields into an event."""

ZONE_LOADED: Final = "OP_DoneLoadingZoneResourcesMsg"
ENTITIES_SENT: Final = "OP_DoneSendingInitialEntitiesMsg"
ENTITIES_LOADED: Final = "OP_DoneLoadingEntityResourcesMsg"
INTERFACE_LOADED: Final = "OP_DoneLoadingUIResourcesMsg"
READY_TO_ZONE: Final = "OP_ReadyToZoneMsg"
STEPS: Final = (ZONE_LOADED, ENTITIES_SENT, ENTITIES_LOADED)
"""A version without numbers for these messages cannot enter a zone."""
CHANNEL_ACTIONS: Final = ("you joined", "you left", "joined", "left")


class ClientWorldMessages:
    """The messages of one client version. Raises `CommandError` if it cannot enter a zone."""

    __slots__ = ("_commands", "_examine_info", "_readers", "dialect")

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
            "WS_ZoneInfo": _plain(
                events.ZoneToLoad, "zone", "zone_desc", "char_name", "x", "y", "z"
            ),
            "WS_HearChat": self._heard,
            "WS_CannedEmote": _plain(events.Emoted, "spawn_id", "emote_msg", "anim_type"),
            "WS_HearSimpleDamage": _blow,
            "WS_DisplaySpellFailed": _plain(events.CastRefused, "error_code"),
            "WS_StartCastSpell": _plain(events.CastBegun, "spell_name", "cast_time"),
            "WS_HearDeath": _plain(events.DeathSeen, "attacker", "defender"),
            "WS_DeathWindow": _ways_back,
            "WS_ServerControlFlags": _control,
            "WS_DisplayText": self._line,
            "WS_OnScreenMsg": _plain(events.ScreenShown, "text"),
            "WS_WhoQueryReply": _who,
            "WS_ChatChannelUpdate": _channel_changed,
            "WS_WhoChannelQueryReply": _channel_members,
            "WS_GetMailHeader": _mailbox,
            "WS_MailGetMessage": _letter,
            "WS_UpdatePlayerMail": lambda fields: events.MailCoins(_coins(fields)),
            "WS_MailSendMessageReply": _plain(events.MailSent, "reply_type", "player_to"),
            "WS_Camp": _plain(events.CampBegun, "seconds"),
            "WS_MoveClient": _plain(events.PutSomewhere, "x", "y", "z", "heading"),
            "WS_DialogOpen": _dialog,
            "WS_TeleportList": _ways,
            "WS_SelectOption": _options,
            "WS_ServerDialogClose": _plain(events.DialogClosed, "conversation_id"),
            "WS_ReceiveOffer": _offer,
            "WS_GuildUpdate": _guild,
            "WS_GuildMembershipResponse": _guild_members,
            "WS_JoinGuildNotify": lambda fields: events.GuildMemberChanged(_guild_member(fields)),
            "WS_LeaveGuildNotify": _plain(events.GuildMemberLeft, "character_id"),
            **windows.READERS,
        }
        self._readers = dict(self._known(readers))
        self._commands: tuple[bytes, Mapping[str, int]] = b"", {}
        """The last table of commands, and what it says."""

    def _known(
        self, readers: Mapping[str, Reader]
    ) -> Iterator[tuple[str, tuple[StructLayout, Reader]]]:
        """Yield each message that this version has: its name, its layout, and its reader."""
        for struct, reader in readers.items():
            try:
                layout = self.dialect.layout(struct)
            except UnknownStruct:
                continue
            definition = layout.definition
            # A command is named by its own opcode; the message of all commands is
            # OP_ClientCmdMsg.
            yield definition.opcode_type or definition.opcode_name, (layout, reader)

    @property
    def version(self) -> int:
        """The client data version."""
        return self.dialect.version

    # Requests.

    def login_by_number(self, account_id: int, key: int) -> Request:
        """Return the first message of a session, in the layout of this version."""
        layout = self.dialect.layout("LoginByNumRequest")
        # This number is the same in all versions, so it needs no opcode table.
        return LOGIN_BY_NUMBER, layout.encode(
            {"account_id": account_id, "access_code": key, "version": self.version}
        )

    def plain(self, name: str, payload: bytes = b"") -> Request:
        """Return a message by name or number with an encoded payload.

        Raises `CommandError` for a name without a number in this version.
        """
        if name.isdecimal():
            return int(name), payload
        try:
            return self.dialect.table.number(name), payload
        except UnknownOpcode:
            raise CommandError(f"client version {self.version} has no {name}") from None

    @property
    def step_name(self) -> str:
        """The message with which this version says its place."""
        return envelope_of(self.dialect).definition.opcode_name

    def has(self, name: str) -> bool:
        """Return whether this version has a number for a message."""
        return self.dialect.table.get(name) is not None

    def filled(self, struct: str, **values: object) -> Request:
        """Return the message of a struct with these values. Raises `CommandError`."""
        try:
            return self.dialect.message(struct, wire_texts(values))
        except (UnknownStruct, UnknownOpcode) as error:
            raise CommandError(f"client version {self.version} cannot say that: {error}") from None

    def avatar_ready(self) -> Request:
        """Return the signal that the avatar is ready."""
        layout = self.dialect.layout("WS_Signal")
        return self.plain("OP_SignalMsg", layout.encode({"signal": AVATAR_READY}))

    # Messages of the world.

    def unwrapped(self, opcode: int, payload: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield name and payload of a message, or of each command in it.

        A message without a name is named by its number. Raises `MalformedMessage`.
        """
        table = self.dialect.table
        name = table.name(opcode) or str(opcode)
        if name != CLIENT_COMMAND:
            yield name, payload
            return
        for command in each_client_cmd(payload, self.version, examine_info=self._examine_info):
            yield table.name(command.opcode) or str(command.opcode), command.payload

    def read_message(self, name: str, payload: bytes) -> events.WorldEvent | None:
        """Return the event of a message, or None for one without an event."""
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

    def commands(self, payload: bytes) -> Mapping[str, int]:
        """Return the positions of the client's slash commands by name. Raises `MalformedMessage`.

        A position without a name is a gap of the table.
        """
        # Hundreds of names, and the same ones for nearly all players of a version.
        if payload != self._commands[0]:
            fields = self.dialect.layout("WS_SetRemoteCmdsMsg").decode(payload)
            names = (read_name(row["name"]) for row in fields["commands_array"])
            found = {name: position for position, name in enumerate(names) if name}
            self._commands = payload, found
        return self._commands[1]

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
    """Return a reader that makes an event of exactly these fields, with padding removed."""

    def read(fields: Mapping[str, Any]) -> events.WorldEvent:
        values = (fields[name] for name in names)
        return kind(*(read_name(one) if isinstance(one, str) else one for one in values))

    return read


def _blow(fields: Mapping[str, Any]) -> events.WorldEvent:
    # Several damages, and those of old clients, are a list.
    damages = fields.get("dmg_array") or [fields]
    damage = sum(int(one.get("damage") or 0) for one in damages)
    return events.BlowSeen(fields["attacker"], fields["defender"], damage)


def _ways_back(fields: Mapping[str, Any]) -> events.WorldEvent:
    places = fields["location_array"]
    return events.RevivalOffered(
        tuple((one["location_id"], read_name(one["location_name"])) for one in places)
    )


GROUP_OFFER: Final = 1
"""The type of an offer: a place in a group."""


def _offer(fields: Mapping[str, Any]) -> events.WorldEvent:
    inviter = read_name(fields["name"])
    if fields["type"] == GROUP_OFFER:
        return events.GroupOffered(inviter)
    return events.GuildOffered(inviter, read_name(fields["guild_name"]))


def _login_reply(fields: Mapping[str, Any]) -> events.WorldEvent | None:
    code = fields["reply_code"]
    # An accepted login has no event of its own, because the zone message follows.
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


def _channel_changed(fields: Mapping[str, Any]) -> events.WorldEvent:
    action = fields["action"]
    said = CHANNEL_ACTIONS[action] if action < len(CHANNEL_ACTIONS) else str(action)
    return events.ChannelChanged(
        said, read_name(fields["channel_name"]), read_name(fields.get("player_name", ""))
    )


def _channel_members(fields: Mapping[str, Any]) -> events.WorldEvent:
    names = tuple(read_name(row["player_name"]) for row in fields["player_array"])
    return events.ChannelMembers(read_name(fields["channel_name"]), names)


def _guild(fields: Mapping[str, Any]) -> events.WorldEvent:
    return events.GuildShown(
        fields["guild_id"],
        read_name(fields["guild_name"]),
        read_name(fields["guild_motd"]),
        tuple(read_name(rank["name"]) for rank in fields["ranks"]),
    )


def _guild_members(fields: Mapping[str, Any]) -> events.WorldEvent:
    return events.GuildMembersListed(tuple(map(_guild_member, fields["member_array"])))


def _guild_member(fields: Mapping[str, Any]) -> events.GuildMemberRow:
    return events.GuildMemberRow(
        fields["character_id"],
        read_name(fields["name"]),
        fields["adventure_level"],
        fields["rank"],
        *(read_name(fields[name]) for name in ("zone", "note", "officer_note")),
    )


def _coins(fields: Mapping[str, Any]) -> int:
    """Return copper, silver, gold and platinum as copper."""
    names = ("copper", "silver", "gold", "plat")
    return sum(int(fields[f"coin_{name}"]) * 100**power for power, name in enumerate(names))


def _mailbox(fields: Mapping[str, Any]) -> events.WorldEvent:
    letters = tuple(
        events.MailHeader(
            row["mail_id"],
            read_name(row["player_from"]),
            read_name(row["subject"]),
            bool(row["already_read"]),
            _coins(row),
        )
        for row in fields["message_array"]
    )
    return events.MailboxShown(letters, fields["postage_cost"])


def _letter(fields: Mapping[str, Any]) -> events.WorldEvent:
    sender, subject, text = (
        read_name(fields[name]) for name in ("player_from", "subject", "mail_body")
    )
    return events.LetterShown(fields["mail_id"], sender, subject, text, _coins(fields))


def _control(fields: Mapping[str, Any]) -> events.WorldEvent:
    # Clients up to 561 have one number, later ones five bytes.
    parameters = fields.get("parameters") or [fields.get("parameter", 0)]
    return events.ControlChanged(parameters[0] & 0xFF, bool(fields["value"]))


def _ways(fields: Mapping[str, Any]) -> events.WorldEvent:
    rows = fields["destination_array"]
    return events.WaysShown(
        fields["spawn_id"],
        tuple(
            events.WayRow(
                row["unique_id"], read_name(row["display_name"]), read_name(row["zone_name"]),
                row["cost"],
            )
            for row in rows
        ),
    )  # fmt: skip


def _options(fields: Mapping[str, Any]) -> events.WorldEvent:
    rows = tuple(
        events.OptionRow(*(read_name(row[name]) for name in ("name", "text", "command")))
        for row in fields["options"]
    )
    return events.OptionsShown(
        read_name(fields["title"]), rows, read_name(fields["cancel_command"])
    )


def _dialog(fields: Mapping[str, Any]) -> events.WorldEvent:
    choices = tuple(read_name(row["response"]) for row in fields["response_array"])
    # Newer clients are sent no title: they write the name of the speaker.
    title, text = read_name(fields.get("title", "")), read_name(fields["text"])
    return events.DialogOpened(fields["conversation_id"], title, text, choices)


def _padded(text: str) -> str:
    # The text ends at its first zero byte; what follows is padding.
    return read_name(text.partition("\0")[0])
