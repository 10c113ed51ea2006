"""The players of one process, and what happens to each of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from emu.model import ANYBODY, may_see
from emu.times import Moment, Monotonic
from emu.world.actors.player import IN_ZONE, Player, PlayerDeadline
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.deadlines import Deadlines, Timetable
from emu.world.reports import Faults
from emu.world.zones.zone import Zone

PlayerHandler = Callable[[Player, Monotonic], object]


class PlayerDeadlines:
    """The deadlines of players. The component that a deadline belongs to handles it (`on`)."""

    def __init__(self, timetable: Timetable, faults: Faults) -> None:
        self._deadlines: Deadlines[Player, PlayerDeadline] = timetable.deadlines(
            "players' deadlines", self._handle
        )
        self._faults = faults
        self._handlers: dict[PlayerDeadline, PlayerHandler] = {}

    def on(self, name: PlayerDeadline, handler: PlayerHandler) -> None:
        """Let a function handle the deadlines of a name; no two may have the same one."""
        if name in self._handlers:
            raise ValueError(f"the deadline {name.value} has a handler already")
        self._handlers[name] = handler

    def set(self, player: Player, name: PlayerDeadline, due: Monotonic) -> None:
        """Set or move a deadline of a player."""
        self._deadlines.set(player, name, due)

    def get(self, player: Player, name: PlayerDeadline) -> Monotonic | None:
        """Return the time of a deadline, None if there is none."""
        return self._deadlines.get(player, name)

    def clear(self, player: Player, name: PlayerDeadline) -> bool:
        """Remove a deadline; return whether there was one."""
        return self._deadlines.clear(player, name)

    def forget(
        self, player: Player, names: Iterable[PlayerDeadline] = tuple(PlayerDeadline)
    ) -> None:
        """Remove the deadlines of a player that have one of these names."""
        self._deadlines.forget(player, names)

    def _handle(self, player: Player, name: PlayerDeadline, now: Monotonic) -> None:
        task = f"a player's deadline ({name.value})"
        self._faults.attempt(task, player, self._handlers[name], player, now)


class Players:
    """The players in the world, by character id and by name."""

    def __init__(self, deadlines: PlayerDeadlines) -> None:
        self.deadlines = deadlines
        self.pending_mutes: dict[int, Moment] = {}
        """Ends of mutes that are not stored yet, by account id."""
        self._by_id: dict[int, Player] = {}
        self._by_name: dict[str, Player] = {}

    def __iter__(self) -> Iterator[Player]:
        """Iterate over a snapshot of all players, link-dead ones too."""
        return iter(list(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def add_player(self, player: Player) -> None:
        """Add a player."""
        self._by_id[player.id] = player
        self._by_name[player.name.casefold()] = player

    def remove(self, player: Player) -> None:
        """Remove a player; do nothing if it is not present."""
        # The same character may have entered again meanwhile, as another player object.
        if self._by_id.get(player.id) is player:
            del self._by_id[player.id]
        name = player.name.casefold()
        if self._by_name.get(name) is player:
            del self._by_name[name]

    def discard(self, player: Player) -> None:
        """Remove a player under whatever id or name it is here."""
        # For a player whose removal has failed: neither its id nor its name can be trusted any
        # more.
        if player in self._by_id.values() or player in self._by_name.values():
            self._by_id = {key: one for key, one in self._by_id.items() if one is not player}
            self._by_name = {key: one for key, one in self._by_name.items() if one is not player}

    def renamed(self, player: Player, before: str) -> None:
        """Replace the name `before` of a player by its new name."""
        # Two characters can swap their names between two reviews; the other one may have taken this
        # name first.
        if self._by_name.get(before.casefold()) is player:
            del self._by_name[before.casefold()]
        self._by_name[player.name.casefold()] = player

    def get(self, char_id: int) -> Player | None:
        """Return a player by character id."""
        return self._by_id.get(char_id)

    def named(self, name: str) -> Player | None:
        """Return a player by name, without regard to case."""
        return self._by_name.get(name.casefold())

    def of_spawn(self, spawn: Spawn | None) -> Player | None:
        """Return the player of a spawn; None if it is no player's."""
        if spawn is None or spawn.kind is not SpawnKind.PLAYER:
            return None
        return next((one for one in self._by_id.values() if one.spawn is spawn), None)

    def standing_in(self, zone: Zone) -> list[Player]:
        """Return the players who stand in a zone."""
        # The values and not the snapshot of `__iter__`: this runs for everything that is said.
        players = self._by_id.values()
        return [player for player in players if player.zone is zone and player.state in IN_ZONE]

    def count_in(self, zone: Zone) -> int:
        """Return how many players are in a zone."""
        return sum(player.zone is zone for player in self._by_id.values())

    def count_seen_in(self, zone: Zone) -> int:
        """Return how many visible players are in a zone."""
        players = self._by_id.values()
        return sum(one.zone is zone and may_see(ANYBODY, one.spawn) for one in players)
