"""`QuestCounting`: what happens in the world, as the steps of quests count it.

Each kind of step has one subscription. Places are looked at when a player moves.
Source: docs/guides/quests.md#steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from emu.items.held import Where
from emu.quests.journal import TakenQuest
from emu.quests.plans import KILLS, PLACES, Step, StepKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Cast, Died, Entered, Order
from emu.world.item_events import BagsChanged, Crafted, Harvested, ItemObtained
from emu.world.quest_events import QuestAccepted, QuestStepChanged
from emu.world.quests.quests import Quests
from emu.world.quests.victims import Victims

CERTAIN: Final = 100.0
_SHARES: Final = 10_000
"""Steps of a chance in percent."""


class QuestCounting:
    """Counts the steps of the players of one world."""

    def __init__(
        self, quests: Quests, *, roll: Callable[[int], int],
        sharers: Callable[[Died], list[Player]], number_of: Callable[[Spawn], int],
        race_of: Callable[[Spawn], int], near: Callable[[Player], list[Player]],
    ) -> None:  # fmt: skip
        """`sharers` are the players for whom a death counts.

        `number_of` returns the kind of a spawn in the content file, `race_of` its race; 0 without.
        `near` are the others of a player's group.
        """
        self._quests = quests
        self._world = quests.world
        self._roll = roll
        self._sharers = sharers
        self._number_of = number_of
        self._race_of = race_of
        self._near = near
        events = self._world.events
        # Before experience, as it was recorded.
        events.subscribe(Died, self._died, Order.OWNER)
        events.subscribe(ItemObtained, self._obtained)
        events.subscribe(BagsChanged, lambda event: self.looked_at_bags(event.player))
        events.subscribe(Harvested, self._harvested)
        events.subscribe(Crafted, self._crafted)
        events.subscribe(Cast, self._cast)
        events.subscribe(Entered, lambda event: self.moved(event.player))
        # Its first steps, or the next ones, may ask for what is there already.
        for kind in (QuestAccepted, QuestStepChanged):
            events.subscribe(kind, lambda event: self._goes_on(event.player))

    # -- counting -------------------------------------------------------------------------------

    def count(
        self, player: Player, kind: StepKind, number: int, amount: int = 1, name: str = ""
    ) -> None:
        """Count what has happened to a player: all open steps that it concerns.

        `number` is that of the spell, the thing or the race.
        """
        for taken, step in self._open(player, (kind,)):
            if number in step.ids:
                self._try(player, taken, step, amount, name)

    def _open(
        self, player: Player, kinds: Iterable[StepKind]
    ) -> list[tuple[TakenQuest, Step]]:  # fmt: skip
        """Return the open steps of a player of some kinds; a snapshot."""
        journal = player.journal
        if not journal.open:
            return []
        wanted = frozenset(kinds)
        return [
            (taken, step)
            for taken in self._quests.journal(player).open.values()
            for step in taken.open_steps()
            if step.kind in wanted
        ]

    def _try(
        self, player: Player, taken: TakenQuest, step: Step, amount: int, name: str
    ) -> None:  # fmt: skip
        """Count a step if its chance hits."""
        # An earlier step of the same event may have ended this one.
        if not taken.is_open(step.number) or not player.journal.has(taken.number):
            return
        if step.players > 1 and self._company(player, taken.number) < step.players:
            return
        if step.percent < CERTAIN and self._roll(_SHARES) >= step.percent * _SHARES / CERTAIN:
            self._quests.missed(player, taken, step.number)
            return
        self._quests.progress(player, taken, step.number, amount, name)

    def _company(self, player: Player, quest: int) -> int:
        """Return how many of a player's group are near and have a quest, with the player."""
        return 1 + sum(one.journal.has(quest) for one in self._near(player))

    # -- kills ----------------------------------------------------------------------------------

    def _died(self, event: Died) -> None:
        victim = event.victim
        if victim.kind is SpawnKind.PLAYER:
            return
        players = self._sharers(event)
        # A script or a game master can kill what nobody has fought. A fight that was given up
        # counts for nobody.
        if event.is_rewarded and event.player is not None and event.player not in players:
            players = [*players, event.player]
        for player in players:
            if player.journal.open:
                self._killed(player, victim, is_killer=player is event.player)

    def _killed(self, player: Player, victim: Spawn, *, is_killer: bool) -> None:
        found = self._open(player, KILLS)
        victims = self._victims_of(found)
        for taken, step in found:
            is_counted = is_killer or step.kind is not StepKind.KILL_SELF
            if is_counted and victims.fits(step, victim):
                self._try(player, taken, step, 1, victim.name)

    def victims(self, player: Player) -> Victims | None:
        """Return the spawns that the open steps of a player want dead; None without such steps."""
        found = self._open(player, KILLS)
        return self._victims_of(found) if found else None

    def _victims_of(self, found: list[tuple[TakenQuest, Step]]) -> Victims:
        steps = frozenset(step for _, step in found)
        return Victims(steps, self._number_of, self._race_of)

    # -- things ---------------------------------------------------------------------------------

    def _obtained(self, event: ItemObtained) -> None:
        """Compare steps of obtaining with what is in the bags."""
        player, item = event.player, event.thing.item_id
        for taken, step in self._open(player, (StepKind.OBTAIN,)):
            if item in step.ids:
                self._carries(player, taken, step)

    def _carries(self, player: Player, taken: TakenQuest, step: Step) -> None:
        held = self._held(player, step)
        more = held - taken.count(step.number)
        if more > 0:
            self._try(player, taken, step, more, "")

    def _held(self, player: Player, step: Step) -> int:
        inventory = player.holdings.inventory
        return sum(
            one.count for item in step.ids for one in inventory.of_kind(item, (Where.BAGS,))
        )  # fmt: skip

    def _goes_on(self, player: Player) -> None:
        """Count the things in the bags and the place for steps that have begun now."""
        self.looked_at_bags(player)
        self.moved(player)

    def looked_at_bags(self, player: Player) -> None:
        """Count things that came another way: out of the bank, or before their step began."""
        for taken, step in self._open(player, (StepKind.OBTAIN,)):
            self._carries(player, taken, step)

    def _harvested(self, event: Harvested) -> None:
        self.count(event.player, StepKind.HARVEST, event.kind.id, event.count, event.kind.name)

    def _crafted(self, event: Crafted) -> None:
        self.count(event.player, StepKind.CRAFT, event.kind.id, event.count, event.kind.name)

    # -- spells ---------------------------------------------------------------------------------

    def _cast(self, event: Cast) -> None:
        """Count a cast that a player has finished."""
        if event.player is not None:
            self.count(event.player, StepKind.SPELL, event.spell_id)

    # -- places ---------------------------------------------------------------------------------

    def moved(self, player: Player) -> None:
        """Compare steps of places with where a player is."""
        if not player.journal.open:
            return
        at, zone = player.position, player.zone.zone_id
        for taken, step in self._open(player, PLACES):
            if step.is_at(at.x, at.y, at.z, zone):
                self._try(player, taken, step, 1, "")
