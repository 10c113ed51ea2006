"""Encounters: who strikes a creature first has it with its group, until it calls for help.

Source: docs/guides/fights.md#creatures.
"""

from __future__ import annotations

from typing import Final

from emu.rules.stance import Encounter
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.combat.fights import COMBAT, Fights
from emu.world.social.chat import Chat
from emu.world.world import World

YELLED: Final = "You yell for help!"
HAS_YELLED: Final = "{name} yelled for help!"
NOTHING_TO_YELL: Final = "You are not fighting anything."


class Encounters:
    """To whom the fights of creatures belong."""

    def __init__(self, world: World, fights: Fights) -> None:
        self._world = world
        self._fights = fights
        self._last: frozenset[int] = frozenset()
        """The owners of the last fight: creatures of one group of players share them."""

    def joined(self, creature: Spawn, foe: Spawn) -> None:
        """Note that a player fights a creature, and lock it for the first one."""
        creature.mind.fighters[foe] = None
        self.lock(creature)

    def lock(self, creature: Spawn) -> None:
        """Lock a creature for the players who fight it, unless one of them has called for help."""
        mind = creature.mind
        if mind.fighters and mind.encounter is not Encounter.BROKEN:
            creature.set_encounter(Encounter.LOCKED, self._owners(creature))

    def _owners(self, creature: Spawn) -> frozenset[int]:
        """Return the numbers of the spawns of all who fight a creature, with their groups."""
        found: set[int] = set()
        for fighter in creature.mind.fighters:
            found.add(fighter.id)
            player = self._fights.players.get(fighter)
            group = self._world.groups.table.of(player.id) if player is not None else None
            for member in group.members if group is not None else ():
                other = self._world.players.get(member)
                if other is not None:
                    found.add(other.spawn.id)
        if found != self._last:
            self._last = frozenset(found)
        return self._last

    def yell(self, player: Player, chat: Chat) -> None:
        """Call for help: all may strike what a player fights, and nobody is rewarded for it."""
        broken = [
            one for one in player.zone.near(player.position, self._world.rules.hear * 2)
            if COMBAT in one.words and one.hp_percent > 0
            and (player.spawn in one.mind.fighters or player.spawn in one.mind.hates)
        ]  # fmt: skip
        if not broken:
            chat.line(player, NOTHING_TO_YELL, "error")
            return
        for creature in broken:
            creature.set_encounter(Encounter.BROKEN, frozenset())
        chat.line(player, YELLED, "system")
        text = HAS_YELLED.format(name=player.name)
        for other in self._world.players.standing_in(player.zone):
            if other.state not in IN_ZONE or not self._hears(other, player):
                continue
            if other is not player:
                chat.line(other, text, "error")
            other.client.send("WS_EncounterBroken", {"message": text})

    def _hears(self, other: Player, player: Player) -> bool:
        return other.position.distance_to(player.position) <= self._world.rules.hear * 2
