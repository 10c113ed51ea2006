"""All functions of this server for scripts, by subject: one place for the server and its tools."""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable
from emu.world.scripts.functions.abilities import ABILITIES
from emu.world.scripts.functions.effects import EFFECTS
from emu.world.scripts.functions.facts import FACTS
from emu.world.scripts.functions.hate import HATE
from emu.world.scripts.functions.houses import HOUSES
from emu.world.scripts.functions.items import ITEMS
from emu.world.scripts.functions.knowledge import KNOWLEDGE
from emu.world.scripts.functions.later import LATER
from emu.world.scripts.functions.looks import LOOKS
from emu.world.scripts.functions.loot import LOOT
from emu.world.scripts.functions.maps import MAPS
from emu.world.scripts.functions.movement import MOVEMENT
from emu.world.scripts.functions.pets import PETS
from emu.world.scripts.functions.progress import PROGRESS
from emu.world.scripts.functions.quest_plans import PLANS
from emu.world.scripts.functions.quests import QUESTS
from emu.world.scripts.functions.shards import SHARDS
from emu.world.scripts.functions.sheet import SHEET
from emu.world.scripts.functions.shows import SHOWS
from emu.world.scripts.functions.spawns import SPAWNS
from emu.world.scripts.functions.spells import SPELLS
from emu.world.scripts.functions.talk import TALK
from emu.world.scripts.functions.travel import TRAVEL
from emu.world.scripts.functions.verbs import VERBS
from emu.world.scripts.functions.who import WHO

EVERY: Final[tuple[FunctionTable, ...]] = (
    TALK,
    SHOWS,
    WHO,
    LATER,
    MOVEMENT,
    TRAVEL,
    SHEET,
    LOOKS,
    SPAWNS,
    KNOWLEDGE,
    PROGRESS,
    VERBS,
    FACTS,
    HATE,
    MAPS,
    QUESTS,
    PLANS,
    ITEMS,
    LOOT,
    SPELLS,
    EFFECTS,
    PETS,
    ABILITIES,
    SHARDS,
    HOUSES,
)
