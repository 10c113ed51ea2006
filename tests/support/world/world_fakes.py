"""A world character store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emu.errors import DuplicateName, OutOfDate, StoreError
from emu.model import CharacterStanding, SavedState, WorldCharacter
from emu.times import UNKNOWN, Moment
from emu.world.entry.saver import with_state


def world_character(char_id: int = 5, account_id: int = 101, **changes: object) -> WorldCharacter:
    """Return a character of the world with plain values."""
    plain = WorldCharacter(
        id=char_id, account_id=account_id, name=f"Name{char_id}", race=9, class_=1, gender=1,
        deity=0, level=1, starting_zone=4, zone_id=12, client_version=546, created=UNKNOWN,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


class CharactersInMemory:
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    def __init__(self, *rows: WorldCharacter) -> None:
        self.rows = {row.id: row for row in rows}
        self.broken = False
        self.saves: list[SavedState] = []
        """What was saved, in order."""

    def _check(self) -> None:
        if self.broken:
            raise StoreError("the disk is full")

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        self._check()
        if any(row.name.lower() == character.name.lower() for row in self.rows.values()):
            raise DuplicateName(character.name)
        own = [row for row in self.rows.values() if row.account_id == character.account_id]
        until = max([character.muted_until, *(row.muted_until for row in own)])
        made = replace(character, id=max(self.rows, default=0) + 1, muted_until=until)
        self.rows[made.id] = made
        return made

    async def find(self, char_id: int) -> WorldCharacter | None:
        self._check()
        row = self.rows.get(char_id)
        return row if row is not None and not row.deleted else None

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        self._check()
        rows = self.rows.values()
        return [row for row in rows if row.account_id == account_id and not row.deleted]

    async def delete(self, account_id: int, char_id: int) -> bool:
        self._check()
        row = await self.find(char_id)
        if row is None or row.account_id != account_id:
            return False
        self.rows[char_id] = replace(row, deleted=True)
        return True

    async def save_character(self, char_id: int, state: SavedState) -> None:
        self._check()
        row = self.rows.get(char_id)
        if row is None:
            return
        if row.revision >= state.revision:
            raise OutOfDate("a newer state is stored")
        self.saves.append(state)
        self.rows[char_id] = replace(with_state(row, state), revision=state.revision)

    async def find_named(self, name: str) -> WorldCharacter | None:
        self._check()
        rows = [row for row in self.rows.values() if row.name.lower() == name.lower()]
        return rows[0] if rows and not rows[0].deleted else None

    async def set_admin_status(self, char_id: int, status: int) -> None:
        self._change(char_id, admin_status=status)

    async def mute_account(self, account_id: int, until: Moment) -> None:
        self._check()
        for row in list(self.rows.values()):
            if row.account_id == account_id:
                self._change(row.id, muted_until=until)

    async def standings(self, char_ids: Sequence[int]) -> Sequence[CharacterStanding]:
        self._check()
        rows = [self.rows[char_id] for char_id in char_ids if char_id in self.rows]
        return [
            CharacterStanding(row.id, row.name, row.admin_status, row.muted_until)
            for row in rows
            if not row.deleted
        ]

    def _change(self, char_id: int, **changes: object) -> None:
        self._check()
        if char_id in self.rows:
            self.rows[char_id] = replace(self.rows[char_id], **changes)  # type: ignore[arg-type]
