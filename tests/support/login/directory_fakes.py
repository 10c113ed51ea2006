"""Stores, links and an observer that record their calls, and a loop that a test drives."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from emu.errors import DuplicateName, StoreError
from emu.link.messages import LinkMessage
from emu.login.directory import WorldDirectory
from emu.login.settings import DirectoryConfig
from emu.model import Character, CreateResponse, Equipment, PlayResponse
from emu.structs import shipped_catalog
from emu.times import Clock, Moment, Monotonic
from emu.worlds import RegisteredWorld, WorldEntry, ZoneDescription


class _Turn:
    def __await__(self) -> Generator[None, None, None]:
        yield


class Loop:
    """Runs coroutines until each of them waits for a held store."""

    def __init__(self) -> None:
        self.running: list[Coroutine[Any, Any, None]] = []

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self.running.append(coroutine)
        self._step(coroutine)

    def run(self) -> None:
        for coroutine in list(self.running):
            self._step(coroutine)

    def _step(self, coroutine: Coroutine[Any, Any, None]) -> None:
        try:
            coroutine.send(None)
        except StopIteration:
            self.running.remove(coroutine)


class Stores:
    """All stores of the login service that the directory uses; `held` makes them wait."""

    def __init__(self, *worlds: RegisteredWorld) -> None:
        self.worlds = {world.account: world for world in worlds}
        self.calls: list[tuple[Any, ...]] = []
        self.banned: set[str] = set()
        self.held = False
        self.broken = False

    async def _turn(self) -> None:
        while self.held:
            await _Turn()
        if self.broken:
            raise StoreError("the disk is full")

    async def find_world_by_account(self, account: str) -> RegisteredWorld | None:
        await self._turn()
        return self.worlds.get(account)

    async def add_world(self, world: RegisteredWorld, created: Moment) -> RegisteredWorld:
        await self._turn()
        if any(known.name == world.name for known in self.worlds.values()):
            raise DuplicateName(world.name)
        added = replace(world, id=100 + len(self.worlds))
        self.worlds[world.account] = added
        return added

    async def is_address_banned(self, address: str, moment: Moment) -> bool:
        await self._turn()
        return any(address.startswith(prefix) for prefix in self.banned)

    async def world_connected(
        self, world_id: int, address: str, version: str, moment: Moment
    ) -> None:
        await self._turn()
        self.calls.append(("connected", world_id, address, version, moment))

    async def record_status(
        self, world_id: int, status: int, players: int, zones: int, moment: Moment
    ) -> None:
        await self._turn()
        self.calls.append(("status", world_id, status, players, zones, moment))

    async def set_zones(self, world_id: int, zones: Sequence[ZoneDescription]) -> None:
        await self._turn()
        self.calls.append(("zones", world_id, *zones))

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        await self._turn()
        return ()

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        await self._turn()
        return ()

    async def add_character(self, character: Character) -> Character:
        await self._turn()
        return character

    async def delete_character(
        self, account_id: int, world_id: int, char_id: int, name: str
    ) -> bool:
        await self._turn()
        return False

    async def update_character(
        self, account_id: int, world_id: int, char_id: int, changes: Mapping[str, int | str | float]
    ) -> bool:
        await self._turn()
        self.calls.append(("character", account_id, world_id, char_id, dict(changes)))
        return True

    async def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        await self._turn()
        self.calls.append(("equipment", world_id, *items))

    async def add_client_log(self, log: object) -> None:
        await self._turn()

    async def add_bug_report(
        self, world_id: int, account_id: int, fields: Mapping[str, str | int], received: Moment
    ) -> None:
        await self._turn()
        self.calls.append(("bug", world_id, account_id, dict(fields), received))


class Link:
    """A link to a world that remembers what became of it."""

    def __init__(self, address: str = "192.0.2.7") -> None:
        self.address = address
        self.closed = False
        self.accepted = 0
        self.sent: list[LinkMessage] = []
        self.refused: tuple[str, str] | None = None
        self.reason: str | None = None

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        if not self.closed:
            self.sent.append(message)

    def accept(self, now: Monotonic) -> None:
        self.accepted += 1

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        if not self.closed:
            self.refused = (text, reason)
        self.close(reason, now)

    def close(self, reason: str, now: Monotonic) -> None:
        if not self.closed:
            self.closed = True
            self.reason = reason


class Observer:
    """Remembers what the client side of the login service would hear."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def take(self) -> list[Any]:
        heard, self.heard = self.heard, []
        return heard

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        self.heard.append(entry)

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        self.heard.append(("gone", world_id))

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:
        self.heard.append(answer)

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:
        self.heard.append(answer)


def world_directory(
    stores: Stores,
    observer: Observer,
    *,
    spawn: Callable[[Coroutine[Any, Any, None]], None],
    clock: Clock,
    config: DirectoryConfig | None = None,
    **more: Any,
) -> WorldDirectory:
    """Return a directory over these stores, observed; events go nowhere, when not to `report`."""
    directory = WorldDirectory(
        config or DirectoryConfig(),
        worlds=stores,
        is_address_banned=stores.is_address_banned,
        characters=stores,
        logs=stores,
        catalog=shipped_catalog(),
        spawn=spawn,
        clock=clock,
        **{"report": lambda _event: None} | more,
    )
    directory.observe(observer)
    return directory
