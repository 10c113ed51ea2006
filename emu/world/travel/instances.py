"""Copies of zones that belong to a player, a group or a raid, and who may enter them when.

A player has the same copy for the lockout time of the zone, also after a restart. Members of a
group, or of a raid, follow each other into one copy. A script ends a copy by success or failure;
then the player may not enter for a while.
Source: docs/guides/travel.md#instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from emu.houses import FIRST_HOUSE
from emu.model import WorldCharacter
from emu.times import UNKNOWN, Moment
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.events import Entered
from emu.world.travel.records import InstanceLock, read_record
from emu.world.travel.returning import Returning
from emu.world.world import World
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.zone import Zone

FIRST_COPY: Final = 1_000_000
"""Smaller numbers are those of zones that all players share."""
COPIES: Final = 2_000_000_000
MINUTE: Final = 60.0


class Instances:
    """The private copies of one world's zones."""

    def __init__(self, world: World, returning: Returning, roll: Callable[[int], int]) -> None:
        """`roll` returns a random number from 0 to one below its argument."""
        self._world = world
        self._roll = roll
        self._returning = returning
        self._levels: dict[tuple[int, int], tuple[int, ...]] = {}
        """The levels of those who opened a copy, the first one's first, by zone and number."""
        world.events.subscribe(Entered, self._standing)

    def refusal(self, player: Player, definition: ZoneDefinition) -> str | None:
        """Return why a player may not enter a zone yet, None if it may."""
        lock = read_record(player.character.travels).instances.get(definition.id)
        now = self._world.clock.moment()
        if not definition.instance or lock is None or lock.reenters <= now:
            return None
        minutes = max(1, round((lock.reenters - now) / MINUTE))
        return f"You may enter {definition.description} again in {minutes} minutes."

    def copy_of(self, character: WorldCharacter, definition: ZoneDefinition) -> int:
        """Return the number of the copy of a zone that a character enters; 0 if all share it.

        It is the house that it has entered last, or the copy in which a member of its group or
        raid is, or its own, or a new one.
        """
        lock = read_record(character.travels).instances.get(definition.id)
        if lock is not None and lock.number > FIRST_HOUSE:
            return lock.number
        if not definition.instance:
            return 0
        for mate in self._mates(character.id, definition.instance):
            if mate.zone.zone_id == definition.id and mate.zone.instance >= FIRST_COPY:
                return mate.zone.instance
        now = self._world.clock.moment()
        if lock is not None and lock.number >= FIRST_COPY and lock.opens > now:
            return lock.number
        return FIRST_COPY + self._roll(COPIES)

    def sent_back(
        self, character: WorldCharacter, definition: ZoneDefinition
    ) -> Destination | None:
        """Return where a character enters the world that may not enter its zone yet.

        It has left the world in a copy that was finished then, and has ended since. None if it
        enters where it was.
        """
        lock = read_record(character.travels).instances.get(definition.id)
        world = self._world
        is_master = character.admin_status >= world.rules.game_master
        if not definition.instance or lock is None or is_master:
            return None
        if lock.reenters <= world.clock.moment():
            return None
        if lock.number and world.zones.find(definition.id, lock.number) is not None:
            return None
        return self._returning.bound_of(character, besides=definition.id)

    def levels(self, zone: Zone) -> tuple[int, ...]:
        """Return the levels of those who opened a copy, the first one's first."""
        return self._levels.get((zone.zone_id, zone.instance), ())

    def finish(self, player: Player, *, success: bool) -> None:
        """End the player's copy of its zone: after a success for longer than after a failure."""
        definition = player.zone.definition
        if not definition.instance:
            return
        seconds = definition.lockout if success else definition.reenter
        moment = Moment(self._world.clock.moment() + seconds)
        # With its number: whoever stands in it may lose the link and come back while it lasts.
        lock = InstanceLock(player.zone.instance, moment, moment)
        self._lock(player, definition.id, lock)

    def assign(self, player: Player, zone_id: int, number: int) -> None:
        """Let a player come to a copy of a zone whenever it enters that zone from now on."""
        self._lock(player, zone_id, InstanceLock(number, UNKNOWN, UNKNOWN))

    def seconds_left(self, player: Player, zone_id: int) -> float:
        """Return the seconds until a player may enter a zone again; 0 if it may now."""
        lock = read_record(player.character.travels).instances.get(zone_id)
        return max(0.0, lock.reenters - self._world.clock.moment()) if lock is not None else 0.0

    # -- internals --------------------------------------------------------------------------------

    def _mates(self, char_id: int, kind: str) -> Iterator[Player]:
        """Yield the players here who share the copies of a character."""
        group = self._world.groups.table.of(char_id) if kind != "solo" else None
        if group is None:
            return
        members = group.raid.members if kind == "raid" and group.raid is not None else group.members
        for member in members:
            player = self._world.players.get(member)
            if player is not None and member != char_id:
                yield player

    def _standing(self, event: Entered) -> None:
        """Give a player who stands in a copy a lock of its own, and note who opened the copy."""
        player = event.player
        zone = player.zone
        if not FIRST_COPY <= zone.instance <= FIRST_HOUSE:
            return
        moment = self._world.clock.moment()
        record = self._returning.record(player)
        lock = record.instances.get(zone.zone_id)
        if lock is None or lock.number != zone.instance or lock.opens <= moment:
            opens = Moment(moment + zone.definition.lockout)
            self._lock(player, zone.zone_id, InstanceLock(zone.instance, UNKNOWN, opens))
        levels = [one.character.level for one in self._mates(player.id, zone.definition.instance)]
        own = player.character.level
        self._levels.setdefault((zone.zone_id, zone.instance), (own, *levels))

    def ended(self, zone: Zone) -> None:
        """Forget a copy that ends."""
        self._levels.pop((zone.zone_id, zone.instance), None)

    def _lock(self, player: Player, zone_id: int, lock: InstanceLock) -> None:
        record = self._returning.record(player)
        # The newest last: the oldest goes when there are too many.
        record.instances.pop(zone_id, None)
        record.instances[zone_id] = lock
        self._returning.keep(player, record, self._world.clock.now())
