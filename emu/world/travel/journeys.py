"""Sends players to places: who may enter a zone, a jump within a zone, a change of the zone.

Signs, transporters, triggers, scripts and commands all travel by `Journeys`.
Source: docs/guides/travel.md#access.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.errors import EmuError
from emu.rules.levels import ZoneLimits, zone_refusal
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Destination
from emu.world.deadlines import Deadlines
from emu.world.entry.leaving import Departures
from emu.world.world import World
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.directory import NoSuchZone

CHANGE: Final = "change"
CLOSED: Final = "This way is closed."
CROWDED: Final = "This way is crowded. Try again in a moment."


class Journeys:
    """Sends the players of one world to places."""

    def __init__(self, world: World, departures: Departures) -> None:
        self.locked: Callable[[Player, ZoneDefinition], str | None] = lambda *_player: None
        """Returns why a player may not enter a zone again yet."""
        self._world = world
        self._departures = departures
        self._waiting: dict[Player, tuple[Destination, Callable[[], object]]] = {}
        """Changes of the zone that begin in the next turn."""
        self._deadlines: Deadlines[Player, str] = world.timetable.deadlines(
            "players who wait for a zone", self._begin
        )

    def refusal(self, player: Player, definition: ZoneDefinition) -> str | None:
        """Return why a player may not enter a zone, None if it may."""
        limits = ZoneLimits(
            definition.description, definition.min_status,
            definition.min_level, definition.max_level,
        )  # fmt: skip
        is_master = player.rank >= self._world.rules.game_master
        level = player.character.level
        refusal = zone_refusal(limits, rank=player.rank, level=level, is_master=is_master)
        if refusal is not None or is_master:
            return refusal
        return self.locked(player, definition)

    def send(
        self,
        player: Player,
        to: Destination,
        now: Monotonic,
        *,
        reloads: bool = False,
        failed: Callable[[], object] = lambda: None,
    ) -> bool:
        """Send a player to a place; return False, and say why, if it may not go there.

        `failed` is called if it turns out later that the player cannot go there.

        Within its zone the player jumps, unless `reloads`. Another zone is entered after the
        present call: whoever sends a player, for instance a script, may still need it here.
        """
        world = self._world
        if player.state not in IN_ZONE or player.journey.is_travelling:
            return False
        try:
            definition = world.zones.definition(to.zone_id)
        except NoSuchZone:
            world.count("way leads nowhere")
            send_text(player.client, CLOSED, ERROR_COLOR)
            return False
        if to.zone_id == player.zone.zone_id and not reloads:
            player.teleport(to.position or definition.safe, now)
            return True
        refusal = self.refusal(player, definition)
        if refusal is not None:
            send_text(player.client, refusal, ERROR_COLOR)
            return False
        if player in self._waiting:
            failed()
        else:
            self._waiting[player] = to, failed
            self._deadlines.set(player, CHANGE, now)
        return True

    def _begin(self, player: Player, _what: str, _now: Monotonic) -> None:
        """Begin the change of the zone that a player waits for."""
        to, failed = self._waiting.pop(player)
        if player.state in IN_ZONE:
            self._world.start(self._change_zone(player, to, failed))
        else:
            failed()

    async def _change_zone(
        self, player: Player, to: Destination, failed: Callable[[], object]
    ) -> None:
        try:
            await self._departures.change_zone(player, to)
        except EmuError as error:
            send_text(player.client, CROWDED, ERROR_COLOR)
            self._world.refused(player, f"way: {error}")
            failed()
