"""What the world service needs of the outside, stated as protocols; see `emu.login.ports`.

The world's characters are its own: the login server only keeps a copy for its list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from emu.login.ports import Color
from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class WorldCharacter:
    """One character as its world stores it."""

    id: int
    """0 for a row that is not stored yet; given by the store."""
    account_id: int
    name: str
    race: int
    class_: int
    gender: int
    deity: int
    level: int
    starting_zone: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment = UNKNOWN
    admin_status: int = 0
    """-2 banned for ever, -1 banned, 0 player, 100 and up game master."""
    deleted: bool = False
    appearance: Mapping[str, int | str] = field(default_factory=dict)
    """Model file names and numbers of the create request, by field name."""
    colors: Mapping[str, Color] = field(default_factory=dict)


class WorldCharacterStore(Protocol):
    """The world's characters."""

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a new character and return it with its id.

        Raises `DuplicateName` when the name is taken, without regard to case, deleted rows
        included.
        """

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""

    async def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted; True when that row was there and not deleted."""

    async def played(self, char_id: int, moment: Moment) -> None:
        """Remember when a character was played last."""
