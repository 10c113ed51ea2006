"""Harvest, collections and crafting: their commands, messages and functions for scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.content.population import Standing
from emu.rules.loot import Chance
from emu.scripts.signatures import FunctionTable
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.crafting.giving import ActChances, Crafts, SkillUse
from emu.world.crafting.harvesting import Harvesting
from emu.world.items.items import Items
from emu.world.scripts.bodies import Body
from emu.world.subjects.subject import Subject
from emu.world.zones.zone import Zone


class Crafting(Subject):
    """The harvest, the collections and the crafting of one world."""

    def __init__(
        self,
        items: Items,
        crafts: Crafts,
        skills: SkillUse,
        *,
        roll: Callable[[int], int],
        seeded: Callable[[str], Chance],
        despawn: Callable[[Zone, Spawn], None],
    ) -> None:
        """`roll` returns a random number below its argument, and `seeded` numbers of a seed.

        `despawn` removes a spawn, which returns as its zone says.
        """
        self._chances = ActChances(roll, seeded)
        self.harvesting = Harvesting(items, crafts, skills, self._chances, despawn)

    # The spawns of zones.

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note nothing: a node begins with its first harvest."""

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that was removed from its zone."""
        self.harvesting.vanished(spawn)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._chances.ended(zone)


FUNCTIONS: Final = FunctionTable()


def _player(body: Body | None) -> Player | None:
    return body.player if body is not None else None


@FUNCTIONS("CanHarvest", "P player, S node")
def can_harvest(crafting: Crafting, body: Body | None, node: Body | None) -> bool:
    """Return whether a player has the skill for a node; the player reads so if not."""
    player = _player(body)
    return (
        player is not None and node is not None
        and crafting.harvesting.may_harvest(player, node.spawn)
    )  # fmt: skip


@FUNCTIONS("Harvest", "P player, S node")
def harvest(crafting: Crafting, body: Body | None, node: Body | None) -> None:
    """Let a player harvest a node once, at once; a node that is used up goes."""
    player = _player(body)
    if player is not None and node is not None:
        crafting.harvesting.harvest(player, node.spawn)


Crafting.FUNCTIONS = FUNCTIONS
