"""The events of a test client, as frozen values; `LoginClient.next_event` returns them.

Codes and their texts are in `emu.client.codes`. All ids are the unsigned numbers of the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.dialects.dialect import DELETED_NAME

NO_ID = 0xFFFFFFFF
"""The id of an entry that was deleted in this session, as clients up to 561 receive it.

Source: docs/protocol/characters.md#list.
"""


@dataclass(frozen=True, slots=True)
class SessionUp:
    """The server answered the session request."""

    session_id: int


@dataclass(frozen=True, slots=True)
class StatisticsAnswered:
    """The server answered the statistics request that follows the session set-up."""


@dataclass(frozen=True, slots=True)
class KeySent:
    """The server requested the key; key block and login request are queued."""


@dataclass(frozen=True, slots=True)
class LoginAccepted:
    """The account was accepted; `fields` is the whole LS_LoginReplyMsg."""

    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoginFlags:
    """The second login reply, code 10, which only sets flags.

    Source: docs/protocol/login.md#reply-codes.
    """

    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoginDenied:
    """The account was refused; `text` is the real client's text for `code`."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class ListedWorld:
    """One entry of the world list (docs/protocol/login.md#world-list)."""

    id: int
    name: str
    up: bool
    locked: bool
    players: int
    load: int
    """0 normal, 1 development world, 2 locked or not ready."""
    allowed_races: int


@dataclass(frozen=True, slots=True)
class WorldList:
    """The list of worlds, by ascending id."""

    worlds: tuple[ListedWorld, ...]


@dataclass(frozen=True, slots=True)
class WorldStatus:
    """A world's status changed (7- and 8-byte form, docs/protocol/login.md#world-status)."""

    world_id: int
    up: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class ListedCharacter:
    """One entry of the character list; `fields` is the whole CharSelectProfile."""

    id: int
    world_id: int
    name: str
    level: int
    race: int
    class_: int
    # The whole profile would fill a log line; entries are compared by the fields above.
    fields: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def deleted(self) -> bool:
        """Whether the entry is the remainder of a character deleted in this session."""
        return self.id == NO_ID or self.name == DELETED_NAME


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """The data after the character list: 15, 31 or 33 bytes.

    Source: docs/protocol/characters.md#list.
    """

    account_id: int
    max_characters: int
    veteran_adventure_bonus: int
    veteran_tradeskill_bonus: int


@dataclass(frozen=True, slots=True)
class Characters:
    """The whole character list; sent after the world list and after every change."""

    characters: tuple[ListedCharacter, ...]
    account: AccountInfo


@dataclass(frozen=True, slots=True)
class Answer:
    """The server's answer to a request; `text` is the real client's text for `code`."""

    code: int
    text: str

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return self.code == 1


@dataclass(frozen=True, slots=True)
class Created(Answer):
    """The answer to a create request (docs/protocol/characters.md#create-reply)."""

    name: str
    account_id: int


@dataclass(frozen=True, slots=True)
class Deleted(Answer):
    """The answer to a delete request (docs/protocol/characters.md#delete)."""

    world_id: int
    char_id: int
    name: str


@dataclass(frozen=True, slots=True)
class PlayAnswer(Answer):
    """The answer to a play request, or after a create up to 561 without one.

    Source: docs/protocol/characters.md#play-reply.
    """

    address: str
    port: int
    access_code: int
    account_id: int


@dataclass(frozen=True, slots=True)
class Keymap:
    """The account's keymap, or None when the server has none."""

    data: bytes | None


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A message that could not be used; `reason` is a fixed text."""

    opcode: int
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The session is over; the last event."""

    reason: str


Event = (
    SessionUp
    | StatisticsAnswered
    | KeySent
    | LoginAccepted
    | LoginFlags
    | LoginDenied
    | WorldList
    | WorldStatus
    | Characters
    | Created
    | Deleted
    | PlayAnswer
    | Keymap
    | Unexpected
    | Closed
)
