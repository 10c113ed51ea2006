"""The world: its players, its running zones, and what its handlers share.

The handlers of messages (`emu.world.entry`, `emu.world.handlers.interaction`, commands, behaviors)
read and change this state; `emu.world.service` calls them. Times named `now` are monotonic seconds,
moments are UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from emu.errors import OutOfDate, StoreError
from emu.model import WorldCharacter
from emu.processes.ports import Processes
from emu.processes.settings import MOTD, SharedSettings
from emu.times import Clock, Monotonic, lies_ahead
from emu.world.actors.player import Player
from emu.world.deadlines import Timetable
from emu.world.events import CharacterClaimed, Events, PlayedElsewhere
from emu.world.groups.changes import GroupChanges
from emu.world.knowledge import Knowledge
from emu.world.players import Players
from emu.world.reports import Faults, NotSaved, PlayerRefused
from emu.world.rules import WorldRules
from emu.world.saving.saves import PlayerSaves
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone


@dataclass(kw_only=True, eq=False, repr=False)
class World:
    """The state that the components of one world share."""

    rules: WorldRules
    zones: Zones
    players: Players
    groups: GroupChanges
    saves: PlayerSaves
    events: Events
    faults: Faults
    knowledge: Knowledge
    processes: Processes
    settings: SharedSettings
    """What operators change while the server runs."""
    clock: Clock
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Runs a coroutine that nobody awaits."""

    def __post_init__(self) -> None:
        self.settings.follow(MOTD, self.rules.motd, self._motd_changed)

    @property
    def timetable(self) -> Timetable:
        """The deadlines of everything in this world."""
        return self.zones.timetable

    def is_muted(self, player: Player) -> bool:
        """Return whether the account of a player is muted now."""
        return lies_ahead(player.limits.muted_until, self.clock.moment())

    def left_zone(self, zone: Zone, now: Monotonic) -> None:
        """Note that a player has left a zone; an empty zone ends after a while."""
        self.zones.left(zone, self.players.count_in(zone), now)
        self.list_zone(zone)

    def list_zone(self, zone: Zone) -> None:
        """List a zone in public, unless it runs only for hidden players."""
        if self.players.count_seen_in(zone):
            zone.is_listed = True
        elif self.players.count_in(zone):
            zone.is_listed = False

    def configure(self, rules: WorldRules) -> None:
        """Apply other rules; the message of the day stays what an operator has set last."""
        self.rules = replace(rules, motd=self.rules.motd)

    def _motd_changed(self, text: str) -> None:
        self.rules = replace(self.rules, motd=text)

    def not_saved(self, character: WorldCharacter, error: StoreError) -> None:
        """Report to operators that a player could not be saved; it may play elsewhere by now."""
        self.faults.report(NotSaved(character.name, str(error)))
        if not isinstance(error, OutOfDate):
            self.count("save failed")
            return
        player = self.players.get(character.id)
        if player is not None and player.character.term == character.term:
            self.events.publish(PlayedElsewhere(player))

    def claimed(self, row: WorldCharacter) -> None:
        """Note the term with which this process has just let a character in.

        A player who is still here from the term before keeps playing it. One from an earlier term
        is taken out: another process has played the character since.
        """
        player = self.players.get(row.id)
        if player is not None and player.character.term + 1 == row.term:
            player.character = replace(player.character, holder=row.holder, term=row.term)
        elif player is not None and player.character.term < row.term:
            self.events.publish(PlayedElsewhere(player))
        self.saves.saver.claimed(row)
        self.events.publish(CharacterClaimed(character=row))

    def refused(self, player: Player, reason: str) -> None:
        """Report to operators that a player's message was refused."""
        self.faults.report(PlayerRefused(player.name, player.client.address, reason))

    def count(self, reason: str) -> None:
        """Count a message or call that had no effect."""
        self.faults.drops[reason] += 1
