"""The death of players: the window with places to return to, the way back, and the debt.

A dead player lies where it died until it chooses a place. Source:
docs/protocol/world/fights.md#death.
"""

from __future__ import annotations

import math
from typing import Final

from emu.errors import CommandError
from emu.model import SavedKind
from emu.rules.experience import debt_after_death
from emu.times import Monotonic
from emu.world.actors.player import DEAD, IN_ZONE, Player
from emu.world.actors.spawn import Destination
from emu.world.combat.blows import show_death
from emu.world.combat.fights import Fights
from emu.world.combat.shards import Shards
from emu.world.events import Died, Entered, LeftZone, MayUse, Order, Revived
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
        self, world: World, fights: Fights, shards: Shards, chat: Chat, *,
        travel: Travel, sheets: CharacterSheets,
    ) -> None:  # fmt: skip
        """Listen to deaths."""
        self._world = world
        self._fights = fights
        self._travel = travel
        self._sheets = sheets
        self._chat = chat
        self._shards = shards
        self._dead: dict[Player, list[_Way]] = {}
        world.events.subscribe(Died, self._died, Order.OWNER)
        world.events.subscribe(Entered, self._entered, Order.OWNER)
        world.events.subscribe(LeftZone, self._left)
        world.events.subscribe(MayUse, self._may_use, Order.OWNER)

    def is_dead(self, player: Player) -> bool:
        """Return whether a player is dead."""
        return player in self._dead

    def _may_use(self, event: MayUse) -> None:
        """Refuse a dead player all that is used by a verb."""
        if event.player in self._dead:
            self._chat.line(event.player, DEAD, "error")
            event.refusals.append("death")

    def _died(self, event: Died) -> None:
        player = self._fights.players.get(event.victim)
        if player is None:
            return
        self._lie_down(player)
        show_death(event.zone, event.killer, event.victim, event.kind)
        before = player.character.experience_debt
        cost = self._world.rules.in_zone(player.zone.zone_id).death_debt
        debt = round(debt_after_death(before / 1000, cost) * 1000)
        self._world.saves.set_facts(player, self._world.clock.now(), experience_debt=debt)
        self._shards.leave(player, debt - before)
        self._sheets.send(player)

    def _lie_down(self, player: Player) -> None:
        """Hold the client of a dead player, and show it where it can return to."""
        ways = self._dead[player] = self._ways(player)
        for flag in (HELD, SILENCED):
            set_control_flags(player, 1, flag, 1)
        player.set_target(None)
        player.client.send("WS_ServerUpdateTarget", {"spawn_id": NO_POINT})
        self._show_window(player, ways)

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
        definition = self._world.zones.table.get(way.to.zone_id)
        if definition is not None:
            self._chat.line(
                player, REVIVING.format(zone=definition.description, place=way.name), "narrative"
            )
        if not self._travel.journeys.send(
            player, way.to, now, failed=lambda: self._to_safety(player)
        ):
            self._to_safety(player)

    def _to_safety(self, player: Player) -> None:
        """Put a player whose place to return to is closed by now at the safe place of its zone.

        Otherwise it would live again where it has died.
        """
        if player.state in IN_ZONE:
            player.teleport(player.zone.definition.safe, self._world.clock.now())

    def resurrect(self, player: Player, *, health: float, power: float) -> None:
        """Let a dead player live where it lies, with percentages of its health and power."""
        if player in self._dead:
            self._wake(player, health=health, power=power)
            self._chat.line(player, AWAKE, "narrative")
            player.client.send("WS_Resurrected", {})

    def send_revived(self, player: Player, to: Destination) -> None:
        """Put a player that lives again somewhere else."""
        self._travel.journeys.send(player, to, self._world.clock.now())

    def _wake(self, player: Player, *, health: float = 100.0, power: float = 100.0) -> None:
        """Let a dead player live."""
        del self._dead[player]
        spawn = player.spawn
        sheet = spawn.sheet
        sheet.health.restore(health)
        sheet.health.set_current(max(1, sheet.health.current))
        sheet.power.restore(power)
        spawn.set_word(CORPSE, on=False)
        spawn.show_pools()
        self._world.saves.changed(player, SavedKind.VITALS, self._world.clock.now())
        for flag in (HELD, SILENCED):
            set_control_flags(player, 1, flag, 0)
        self._world.events.publish(Revived(player))
        self._sheets.send(player)

    def _entered(self, event: Entered) -> None:
        """Let a player who has left dead lie where it comes: only the window leads back."""
        player = event.player
        self._dead.pop(player, None)
        if player.spawn.hp_percent <= 0:
            player.spawn.set_word(CORPSE, on=True)
            self._lie_down(player)

    def _left(self, event: LeftZone) -> None:
        self._dead.pop(event.player, None)
