"""Ports of what is stored once for all processes of a world: characters, what they have, models.

The world's characters are its own: the login server only keeps a copy for its list. Every call
raises `StoreError`; that it may, is not said with each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from emu.model import Hotkey, Membership, Place, Title, WorldCharacter
from emu.times import Moment


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

    async def save_place(self, char_id: int, zone_id: int, place: Place) -> None:
        """Remember where a character is: its zone, and the place there."""

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""

    async def save_mute(self, char_id: int, until: Moment) -> None:
        """Remember until when a character may not speak."""


class BelongingsStore(Protocol):
    """What the world's characters have; each call replaces a whole list of one of them."""

    async def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored ones."""

    async def save_titles(
        self, char_id: int, titles: Sequence[Title], prefix: str, suffix: str
    ) -> None:
        """Replace a character's titles and those of them that it bears."""

    async def save_hotkeys(self, char_id: int, hotkeys: Sequence[Hotkey]) -> None:
        """Replace what stands on a character's hotbars."""

    async def save_channels(self, char_id: int, channels: Sequence[Membership]) -> None:
        """Replace the channels a character is in."""


class ModelSource(Protocol):
    """Where the numbers of models come from that do not ship with the project."""

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of those paths that are known.

        Paths are as `emu.looks.models.model_key` has them.
        """
