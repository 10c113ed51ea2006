"""State and ports that all components of spells share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from emu.content.spells import SpellKinds
from emu.rules.combat import FightChance
from emu.world.actors.spawn import Spawn
from emu.world.minds.shared import Minds
from emu.world.social.chat import Chat
from emu.world.spells.company import Company
from emu.world.spells.ports import SpellScripts
from emu.world.spells.states import SpellStates
from emu.world.world import World
from emu.world.zones.zone import Zone


@dataclass(frozen=True, kw_only=True, slots=True)
class SpellCore:
    """State, chance and ports that the components of spells share."""

    world: World
    minds: Minds
    chat: Chat
    kinds: SpellKinds
    states: SpellStates
    company: Company
    scripts: Callable[[], SpellScripts]
    """Returns what runs the scripts of spells."""
    chance: Callable[[Zone], FightChance]
    """Returns the random numbers of a zone."""
    skill_of: Callable[[Spawn, int], int]
    """Returns the value of a skill of a spawn by its number; 0 for none."""
