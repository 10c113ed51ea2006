"""The world as GGMP's actors see it: spawns by their number, whatever zone they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from emu.admin.ggmp.ports import ActorState, Place
from emu.admin.status import ServerStatus
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.chat import Chat
from emu.world.players.player import IN_ZONE
from emu.world.spawns import Position, Spawn, SpawnKind
from emu.world.world import World
from emu.world.zone import Zone


class WorldStage:
    """A `emu.admin.ggmp.ports.Stage`."""

    def __init__(
        self, world: World, chat: Chat, status: Callable[[Monotonic], ServerStatus]
    ) -> None:
        self._world = world
        self._chat = chat
        self.status = status

    def find(self, actor: int) -> ActorState | None:
        """Return an actor by its number."""
        found = self._find(actor)
        return None if found is None else _state(*found)

    def named(self, name: str) -> ActorState | None:
        """Return an actor by its name, without regard to case; a player before all others."""
        player = self._world.players.named(name)
        if player is not None and player.state in IN_ZONE:
            return _state(player.zone, player.spawn)
        wanted = name.casefold()
        for zone, spawn in self._every():
            if spawn.name.casefold() == wanted:
                return _state(zone, spawn)
        return None

    def inside(self, zone: int) -> Sequence[int]:
        """Return the actors of all running instances of a zone."""
        return [spawn.id for running, spawn in self._every() if running.zone_id == zone]

    def move(self, actor: int, place: Place) -> None:
        """Put an actor elsewhere. Raises `CommandError` for a player or nobody."""
        _, spawn = self._own(actor)
        spawn.move(Position(*place[:3], place.heading % 360, spawn.position.grid))

    def say(self, actor: int, text: str) -> None:
        """Let an actor speak. Raises `CommandError` for a player or nobody."""
        zone, spawn = self._own(actor)
        hearers = [
            player
            for player in self._world.players
            if player.zone is zone and player.state in IN_ZONE
        ]
        self._chat.spawn_says(spawn, hearers, text)

    def _every(self) -> Iterator[tuple[Zone, Spawn]]:
        for zone in self._world.zones:
            for spawn in zone:
                yield zone, spawn

    def _find(self, actor: int) -> tuple[Zone, Spawn] | None:
        for zone in self._world.zones:
            spawn = zone.spawn(actor)
            if spawn is not None:
                return zone, spawn
        return None

    def _own(self, actor: int) -> tuple[Zone, Spawn]:
        """Return an actor that is the server's, and so does what it is told."""
        found = self._find(actor)
        if found is None:
            raise CommandError(f"there is no actor {actor}")
        if found[1].kind is SpawnKind.PLAYER:
            raise CommandError(f"{found[1].name} is a player and acts for itself")
        return found


def _state(zone: Zone, spawn: Spawn) -> ActorState:
    at = spawn.position
    return ActorState(spawn.id, spawn.name, zone.zone_id, Place(at.x, at.y, at.z, at.heading))
