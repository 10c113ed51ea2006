"""`Feathers`: the marks over spawns that have a quest for a player, or that a quest wants dead.

A script or a file says which spawn provides which quest. A player is sent the marks that have
changed, no others. Source: docs/guides/quests.md#marks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.quests.plans import FeatherColor
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.events import (
    Entered,
    LeftZone,
)
from emu.world.quest_events import (
    QuestAccepted,
    QuestCompleted,
    QuestDropped,
    QuestStepChanged,
)
from emu.world.quests.quests import Quests
from emu.world.quests.victims import Victims
from emu.world.zones.zone import Zone

NONE, OFFERS, WAITS = 0, 1, 2
"""The mark of old clients: none, the spawn has a quest, the spawn waits for the player."""
COLORS: Final = {
    FeatherColor.GOLD: OFFERS, FeatherColor.PURPLE: 16, FeatherColor.GREEN: 32,
    FeatherColor.BLUE: 64,
}  # fmt: skip
LARGEST_MARK: Final = 0xFF
MOST_QUESTS: Final = 50
"""Quests of one spawn."""


class Feathers:
    """The marks that the players of one world see."""

    def __init__(self, quests: Quests, victims: Callable[[Player], Victims | None]) -> None:
        """`victims` returns the spawns that a player's open steps want dead."""
        self._quests = quests
        self._victims = victims
        self._world = quests.world
        self._given: dict[Zone, dict[int, tuple[Spawn, list[int]]]] = {}
        """The spawns of a zone that provide quests, by number."""
        self._shown: dict[int, dict[int, int]] = {}
        """The marks that a player sees, by character and spawn."""
        self._due: Deadlines[Player, str] = self._world.timetable.deadlines(
            "marks of quests", self._update
        )
        events = self._world.events
        for kind in (Entered, QuestAccepted, QuestStepChanged, QuestCompleted, QuestDropped):
            events.subscribe(kind, lambda event: self.changed(event.player))
        events.subscribe(LeftZone, lambda event: self._left(event.player))

    def provide(self, zone: Zone, spawn: Spawn, quest: int) -> None:
        """Let a spawn show a mark to all players who may take a quest."""
        spawns = self._given.setdefault(zone, {})
        _, quests = spawns.setdefault(spawn.id, (spawn, []))
        if quest not in quests and len(quests) < MOST_QUESTS:
            quests.append(quest)
            for player in self._world.players.standing_in(zone):
                self.changed(player)

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that has left its zone."""
        spawns = self._given.get(zone)
        if spawns is not None and spawns.pop(spawn.id, None) is not None:
            for marks in self._shown.values():
                marks.pop(spawn.id, None)
            if not spawns:
                del self._given[zone]

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._given.pop(zone, None)

    def changed(self, player: Player) -> None:
        """Look at the marks of a player in its next turn."""
        if self._due.get(player, "") is None:
            self._due.set(player, "", self._world.clock.now())

    def mark(self, player: Player, spawn: Spawn) -> int:
        """Return the mark that a player is shown over a spawn."""
        return self._shown.get(player.id, {}).get(spawn.id, NONE)

    def _update(self, player: Player, _name: str, _now: Monotonic) -> None:
        marks = self._shown.setdefault(player.id, {})
        known: dict[int, int] = {}
        fresh = {
            number: mark
            for number, (spawn, quests) in self._given.get(player.zone, {}).items()
            if (mark := self._mark(player, spawn, quests, known))
        }
        changed = {
            number for number in fresh.keys() | marks.keys()
            if fresh.get(number) != marks.get(number)
        }  # fmt: skip
        self._shown[player.id] = fresh
        if player.viewer is not None and (changed or player.viewer.interest.marks != fresh):
            player.zone.mark(player.viewer, fresh, changed)
        self._seek(player)

    def _seek(self, player: Player) -> None:
        """Show a player which spawns its steps want dead, if its version has an icon for that."""
        viewer = player.viewer
        if viewer is None or viewer.form.sought_at is None:
            return
        sought = self._victims(player)
        if sought != viewer.interest.sought:
            viewer.interest.sought = sought
            player.zone.look_again(viewer)

    def _mark(
        self, player: Player, spawn: Spawn, quests: list[int], known: dict[int, int]
    ) -> int:  # fmt: skip
        """Return the mark of the first quest that has one; `known` are those looked at."""
        for quest in quests:
            if self._is_returner(player, spawn, quest):
                return WAITS
            mark = known.get(quest)
            if mark is None:
                mark = known[quest] = self._mark_of(player, quest)
            if mark:
                return mark
        return NONE

    def _is_returner(self, player: Player, spawn: Spawn, quest: int) -> bool:
        """Return whether a player has done all of a quest and a spawn takes it back."""
        taken = self._quests.journal(player).open.get(quest)
        if taken is None or taken.plan is None or not taken.has_all_done:
            return False
        return 0 < taken.plan.returner == spawn.look.dealing.number

    def _mark_of(self, player: Player, quest: int) -> int:
        wanted = self._quests.criteria(player, quest)
        if wanted == 0:
            return NONE
        if not player.client.dialect.world_rules.feather_colors:
            return OFFERS
        if wanted is not None:
            return wanted & LARGEST_MARK
        plan = self._quests.journals.plan(quest)
        return COLORS[FeatherColor(plan.feather if plan is not None else 0)]

    def _left(self, player: Player) -> None:
        self._shown.pop(player.id, None)
        self._due.clear(player, "")
