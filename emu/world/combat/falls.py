"""The death of players: the window with places to return to, the way back, and the debt.

A dead player lies where it died until it chooses a place. Source:
docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

import math
from typing import Final

from emu.errors import CommandError
from emu.rules.experience import debt_after_death
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.combat.blows import show_death
from emu.world.combat.fights import Fights
from emu.world.events import Died, Entered, LeftZone, Order
from emu.world.minds.harm import CORPSE
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import Chat
from emu.world.speech.windows import set_control_flags
from emu.world.travel.returning import Returning
from emu.world.travel.travel import Travel
from emu.world.world import World

HELD, SILENCED = 8, 16
"""Control flags of a dead player: it cannot move, and does nothing."""
SAFE_POINT: Final = "Zone Safe Point"
NO_POINT: Final = 0xFFFFFFFF
AWAKE: Final = "You regain consciousness!"
REVIVING: Final = "Reviving in {zone} at {place}."


class _Way:
    """One place of the window."""

    __slots__ = ("name", "number", "to")

    def __init__(self, number: int, name: str, to: Destination) -> None:
        self.number, self.name, self.to = number, name, to


class Falls:
    """Dead players of one world, and their way back."""

    def __init__(
        self, world: World, fights: Fights, travel: Travel, sheets: CharacterSheets, chat: Chat
    ) -> None:
        """Listen to deaths."""
        self._world = world
        self._fights = fights
        self._travel = travel
        self._sheets = sheets
        self._chat = chat
        self._dead: dict[Player, list[_Way]] = {}
        world.events.subscribe(Died, self._died, Order.OWNER)
        world.events.subscribe(Entered, self._entered, Order.OWNER)
        world.events.subscribe(LeftZone, self._left)

    def is_dead(self, player: Player) -> bool:
        """Return whether a player is dead."""
        return player in self._dead

    def _died(self, event: Died) -> None:
        player = self._fights.players.get(event.victim)
        if player is None:
            return
        ways = self._dead[player] = self._ways(player)
        for flag in (HELD, SILENCED):
            set_control_flags(player, 1, flag, 1)
        player.set_target(None)
        player.client.send("WS_ServerUpdateTarget", {"spawn_id": NO_POINT})
        self._show_window(player, ways)
        show_death(event.zone, event.killer, event.victim)
        debt = debt_after_death(player.character.experience_debt / 1000)
        self._world.saves.set_facts(
            player, self._world.clock.now(), experience_debt=round(debt * 1000)
        )
        self._sheets.send(player)

    def _ways(self, player: Player) -> list[_Way]:
        returning: Returning = self._travel.returning
        table = self._world.zones.table
        points = [one for one in returning.points(player) if table.get(one.to.zone_id) is not None]
        if points:
            return [_Way(one.id, one.name, one.to) for one in points]
        zone = player.zone
        return [_Way(NO_POINT, SAFE_POINT, Destination(zone.zone_id, zone.definition.safe))]

    def _show_window(self, player: Player, ways: list[_Way]) -> None:
        rows = []
        for way in ways:
            definition = self._world.zones.definition(way.to.zone_id)
            place = way.to.position or definition.safe
            rows.append(
                {
                    "location_id": way.number,
                    "zone_name": definition.description,
                    "location_name": way.name,
                    "distance": math.dist(place[:3], player.position[:3]),
                }
            )
        player.client.send("WS_DeathWindow", {"location_count": len(rows), "location_array": rows})

    def revive(self, player: Player, number: int | None, now: Monotonic) -> None:
        """Let a dead player return to a place of its window; None is the first.

        Raises `CommandError` if it lives, or if its window has no such place.
        """
        ways = self._dead.get(player)
        if ways is None:
            raise CommandError("you are not dead")
        way = next((one for one in ways if number is None or one.number == number), None)
        if way is None:
            raise CommandError("there is no such place to return to")
        self._wake(player)
        self._chat.line(player, AWAKE, "narrative")
        player.client.send("WS_Resurrected", {})
        definition = self._world.zones.definition(way.to.zone_id)
        self._chat.line(
            player, REVIVING.format(zone=definition.description, place=way.name), "narrative"
        )
        self._travel.journeys.send(player, way.to, now)

    def _wake(self, player: Player) -> None:
        """Let a dead player live, with full health and power."""
        del self._dead[player]
        spawn = player.spawn
        spawn.sheet.health.fill(spawn.sheet.health.most)
        spawn.sheet.power.fill(spawn.sheet.power.most)
        spawn.set_word(CORPSE, on=False)
        spawn.show_pools()
        for flag in (HELD, SILENCED):
            set_control_flags(player, 1, flag, 0)
        self._sheets.send(player)

    def _entered(self, event: Entered) -> None:
        # A client that came back in another way than by the window lives.
        if event.player in self._dead:
            self._wake(event.player)

    def _left(self, event: LeftZone) -> None:
        ways = self._dead.pop(event.player, None)
        if ways is not None:
            spawn = event.player.spawn
            spawn.sheet.health.fill(spawn.sheet.health.most)
            spawn.sheet.power.fill(spawn.sheet.power.most)
            spawn.set_word(CORPSE, on=False)
            spawn.show_pools()
