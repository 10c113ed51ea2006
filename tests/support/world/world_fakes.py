"""A world character store in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from emu.errors import DuplicateName, OutOfDate, StoreError
from emu.facts import PlacementFact
from emu.guilds import Guild, GuildChange, GuildSummary, changed
from emu.model import (
    CharacterStanding,
    SavedState,
    SpawnMemory,
    WorldCharacter,
)
from emu.processes.ports import ContentEdit
from emu.times import UNKNOWN, Moment
from emu.world.saving.saver import with_state


def world_character(char_id: int = 5, account_id: int = 101, **changes: object) -> WorldCharacter:
    """Return a character of the world with plain values."""
    plain = WorldCharacter(
        id=char_id, account_id=account_id, name=f"Name{char_id}", race=9, class_=1, gender=1,
        deity=0, level=1, starting_zone=4, zone_id=12, client_version=546, created=UNKNOWN,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def store_characters(database: Path, *names: str) -> None:
    """Add characters to the database of a running server, as if players had made them."""
    with closing(sqlite3.connect(database, timeout=10.0)) as connection, connection:
        connection.executemany(
            "INSERT INTO world_characters (account_id, name, name_key, race, class, gender, deity,"
            " level, starting_zone, zone_id, client_version, created)"
            " VALUES (900, ?, ?, 9, 1, 1, 0, 1, 4, 12, 546, 1.0)",
            [(name, name.casefold()) for name in names],
        )


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

    async def claim(self, account_id: int, char_id: int, holder: str) -> Sequence[WorldCharacter]:
        row = await self.find(char_id)
        if row is not None and row.account_id == account_id:
            self.rows[char_id] = replace(row, holder=holder, term=row.term + 1)
        return await self.of_account(account_id)

    async def delete(self, account_id: int, char_id: int) -> bool:
        self._check()
        row = await self.find(char_id)
        if row is None or row.account_id != account_id:
            return False
        self.rows[char_id] = replace(row, deleted=True)
        return True

    async def save_character(
        self, char_id: int, state: SavedState, *, is_awaited: bool = False
    ) -> None:
        self._check()
        row = self.rows.get(char_id)
        if row is None:
            return
        if row.term != state.term:
            raise OutOfDate(f"another process plays {state.name} now")
        if row.revision >= state.revision:
            raise OutOfDate("a newer state is stored")
        self.saves.append(state)
        self.rows[char_id] = replace(with_state(row, state), revision=state.revision)

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character by its name, also while the disk is full: nothing is written."""
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


async def no_pause(_seconds: float) -> None:
    """Wait for nothing."""


class PlacementFactsInMemory:
    """Implements `emu.processes.ports.PlacementFactStore`, for one kind of row."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int, int], Any] = {}
        self.saves = 0
        self.is_broken = False
        self.answers_to_lose = 0
        """How many of the next reads fail."""

    def _check(self) -> None:
        if self.is_broken:
            raise StoreError("the disk is full")

    async def of_zone(
        self, kind: type[Any], zone_id: int, instance: int, moment: Moment
    ) -> Sequence[Any]:
        self._check()
        if self.answers_to_lose:
            self.answers_to_lose -= 1
            raise StoreError("the answer was lost")
        ends = [row for key, row in sorted(self.rows.items()) if key[:2] == (zone_id, instance)]
        return [
            row for row in ends
            if not kind.ends
            or getattr(row, kind.ends) is None
            or getattr(row, kind.ends) > moment
        ]  # fmt: skip

    async def save(self, _kind: type[Any], rows: Sequence[PlacementFact], _moment: Moment) -> None:
        self._check()
        self.saves += 1
        for one in rows:
            self.rows.pop(one.key, None)
            if one.is_stored:
                self.rows[one.key] = one

    async def forget(self, _kind: type[Any], zone_id: int, instance: int) -> None:
        self._check()
        for key in [key for key in self.rows if key[:2] == (zone_id, instance)]:
            del self.rows[key]


class EditsInMemory:
    """Implements `emu.processes.ports.ContentEditStore`."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, int, str], ContentEdit] = {}
        self.is_broken = False

    def _check(self) -> None:
        if self.is_broken:
            raise StoreError("the disk is full")

    async def every(self) -> Sequence[ContentEdit]:
        self._check()
        return list(self.rows.values())

    async def save_edits(self, edits: Sequence[ContentEdit]) -> None:
        self._check()
        self.rows |= {one.key: one for one in edits}

    async def remove(self, subject: str, number: int, name: str = "") -> int:
        self._check()
        found = [key for key in self.rows if key[:2] == (subject, number) and name in ("", key[2])]
        for key in found:
            del self.rows[key]
        return len(found)


class MemoriesInMemory:
    """Implements `emu.processes.ports.MemoryStore`."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, str, int], SpawnMemory] = {}
        self.removed: dict[tuple[int, str], Moment | None] = {}
        self.broken = False

    def _check(self) -> None:
        if self.broken:
            raise StoreError("the disk is full")

    async def of_zone(self, zone_id: int, first: int, most: int) -> Sequence[SpawnMemory]:
        self._check()
        found = [row for row in self.rows.values() if row.zone_id == zone_id]
        return sorted(found, key=lambda row: row.changed)[first : first + most]

    async def save_memories(self, memories: Sequence[SpawnMemory]) -> None:
        self._check()
        for one in memories:
            self.rows.pop(one.key, None)
            if one.entries:
                self.rows[one.key] = one

    async def spawns(self) -> Sequence[tuple[int, str, Moment | None]]:
        self._check()
        return [(*row.key[:2], self.removed.get(row.key[:2])) for row in self.rows.values()]

    async def mark_removed(self, zone_id: int, spawn: str, moment: Moment | None) -> None:
        self.removed[zone_id, spawn] = moment

    async def forget(self, zone_id: int, spawn: str) -> None:
        self.rows = {key: row for key, row in self.rows.items() if key[:2] != (zone_id, spawn)}


class GuildsInMemory:
    """Implements `emu.processes.ports.GuildStore`; `reads` counts what it was asked."""

    def __init__(self) -> None:
        self.rows: dict[int, Guild] = {}
        self.broken = False
        self.reads = 0

    def _check(self) -> None:
        self.reads += 1
        if self.broken:
            raise StoreError("the disk is full")

    async def find(self, guild_id: int) -> Guild | None:
        self._check()
        return self.rows.get(guild_id)

    async def of_character(self, char_id: int) -> int:
        self._check()
        return next((one.id for one in self.rows.values() if char_id in one.members), 0)

    async def named(self, name: str) -> int:
        self._check()
        found = (one.id for one in self.rows.values() if one.name.lower() == name.lower())
        return next(found, 0)

    async def every(self) -> Sequence[GuildSummary]:
        self._check()
        return [
            GuildSummary(one.id, one.name, one.formed, len(one.members))
            for one in self.rows.values()
        ]

    async def revisions(self, guild_ids: Collection[int]) -> dict[int, int]:
        self._check()
        return {one: self.rows[one].revision for one in guild_ids if one in self.rows}

    async def create(self, guild: Guild) -> Guild:
        if await self.named(guild.name):
            raise DuplicateName(f"there is a guild {guild.name} already")
        made = replace(guild, id=max(self.rows, default=0) + 1)
        self.rows[made.id] = made
        return made

    async def save_change(self, guild_id: int, revision: int, change: GuildChange) -> None:
        self._check()
        guild = self.rows.get(guild_id)
        if guild is None or guild.revision != revision:
            raise OutOfDate("the guild has changed meanwhile")
        if change.name is not None and await self.named(change.name):
            raise DuplicateName(f"there is a guild {change.name} already")
        self.rows[guild_id] = changed(guild, change)

    async def delete(self, guild_id: int, revision: int = 0) -> bool:
        self._check()
        guild = self.rows.get(guild_id)
        if guild is not None and revision not in (0, guild.revision):
            raise OutOfDate("the guild has changed meanwhile")
        return self.rows.pop(guild_id, None) is not None


def no_storage() -> Any:
    """A `Storage` of a world without characters, accounts and models."""
    return SimpleNamespace(
        models=None,
        world_characters=None,
        account_gate=None,
        memories=MemoriesInMemory(),
        guilds=None,
        settings=None,
        ledger=None,
        things=None,
        mail=None,
        petitions=None,
        houses=None,
        placement_facts=None,
        content_edits=None,
    )


class SettingsInMemory:
    """`emu.processes.settings.SettingStore` in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], str] = {}

    async def of_source(self, source: str) -> dict[str, str]:
        return {name: value for (of, name), value in self.rows.items() if of == source}

    async def put(self, source: str, name: str, value: str) -> bool:
        before, self.rows[source, name] = self.rows.get((source, name)), value
        return before != value
