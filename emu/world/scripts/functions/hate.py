"""Functions for a creature's mind: hate, its encounter, its way back, its spells.

Source: docs/guides/lua.md#hate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from emu.scripts.signatures import FunctionTable, Handle, single
from emu.world.actors.mind import SHORTEST_TICK, WIDEST, Mind
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Hated
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.movement import can_move
from emu.world.scripts.functions.spells import current
from emu.world.scripts.host import Scripts
from emu.world.spells.shows import show_threat

HATE: Final = FunctionTable()
ATTACK_HATE: Final = 100
"""The hate with which a creature begins an attack."""


# -- hate -----------------------------------------------------------------------------------------


def _bodies(scripts: Scripts, npc: Body, spawns: Iterable[Spawn]) -> list[Body]:
    """Return those of some spawns that are still here; the creature forgets all others."""
    here = []
    for spawn in list(spawns):
        body = scripts.body_of(spawn, npc.home.zone) if spawn.hp_percent > 0 else None
        if body is None or body.is_gone:
            npc.spawn.mind.forget(spawn)
        else:
            here.append(body)
    return here


def _hated(scripts: Scripts, npc: Body) -> list[Body]:
    return _bodies(scripts, npc, npc.spawn.mind.order())


def _add_hate(scripts: Scripts, npc: Body | None, other: Body | None, amount: int) -> None:
    if npc is None or other is None or other is npc or other.home is not npc.home:
        return
    if not other.spawn.is_living or min(npc.spawn.hp_percent, other.spawn.hp_percent) <= 0:
        return
    _hated(scripts, npc)
    npc.spawn.mind.add_hate(other.spawn, amount, npc.spawn.position)
    scripts.world.events.publish(Hated(zone=npc.home.zone, spawn=npc.spawn, foe=other.spawn))


@HATE("Attack", "N npc, S other")
def attack(scripts: Scripts, npc: Body | None, other: Body | None) -> None:
    """Let a creature hate a spawn by 100 more."""
    _add_hate(scripts, npc, other, ATTACK_HATE)


@HATE("AddHate", "S spawn, N npc, n amount, 1 packet?")
def add_hate(
    scripts: Scripts, other: Body | None, npc: Body | None, amount: int, packet: bool
) -> None:
    """Let a creature hate a spawn more, or less; whom it hates, it hates by at least 1.

    In a spell all creatures among its targets hate the spawn, and the named one if there are none:
    a proc of a spell that lasts on players names its victim. `packet` shows it to newer clients.
    """
    spell = current(scripts)
    if spell is None:
        _add_hate(scripts, npc, other, amount)
        return
    if other is None or spell.is_resisted:
        return
    name = spell.kind.name
    hating = [one for one in spell.targets if one.kind is SpawnKind.NPC]
    if not hating and npc is not None and npc.home is other.home:
        hating = [npc.spawn]
    for one in hating:
        scripts.spells.amounts.hate(spell.zone, one, other.spawn, amount)
    if packet and npc is not None and npc.home is other.home:
        show_threat(spell.zone, (other.spawn, npc.spawn), name, amount)


@HATE("ClearHate", "N npc, S other?")
def clear_hate(_scripts: Scripts, npc: Body | None, other: Body | None) -> None:
    """Let a creature hate a spawn no more; without one, nobody."""
    if npc is not None and other is not None:
        npc.spawn.mind.hates.pop(other.spawn, None)
    elif npc is not None:
        npc.spawn.mind.hates.clear()


@HATE("AdjustHatePosition", "S spawn, N npc, b up?")
def shift_hate(_scripts: Scripts, other: Body | None, npc: Body | None, up: bool) -> None:
    """Let a spawn change places with the next one of those whom a creature hates."""
    if npc is not None and other is not None:
        npc.spawn.mind.shift(other.spawn, up=up)


@HATE("GetMostHated", "N npc")
def most_hated(scripts: Scripts, npc: Body | None) -> Handle | None:
    """Return the spawn that a creature hates most."""
    hated = _hated(scripts, npc) if npc is not None else []
    return hated[0].handle if hated else None


@HATE("GetHateList", "N npc")
def hate_list(scripts: Scripts, npc: Body | None) -> Any:
    """Return the spawns that a creature hates, the most hated first; nothing without any."""
    hated = _hated(scripts, npc) if npc is not None else []
    return scripts.table([one.handle for one in hated] or None)


# -- the encounter --------------------------------------------------------------------------------


@HATE("ClearEncounter", "N npc")
def clear_encounter(_scripts: Scripts, npc: Body | None) -> None:
    """Forget the players who fight a creature."""
    if npc is not None:
        npc.spawn.mind.fighters.clear()


@HATE("GetEncounter", "N npc")
def encounter(scripts: Scripts, npc: Body | None) -> Any:
    """Return the players who fight a creature; nothing without any."""
    found = _bodies(scripts, npc, npc.spawn.mind.fighters) if npc is not None else []
    return scripts.table([one.handle for one in found] or None)


@HATE("GetEncounterSize", "N npc")
def encounter_size(scripts: Scripts, npc: Body | None) -> int:
    """Return how many players fight a creature."""
    return len(_bodies(scripts, npc, npc.spawn.mind.fighters)) if npc is not None else 0


# -- the way back ---------------------------------------------------------------------------------


@HATE("GetRunbackDistance", "N npc")
def way_back(scripts: Scripts, npc: Body | None) -> float | None:
    """Return how far a creature has come from where it began to hate; 0 if it hates nobody."""
    if npc is None:
        return None
    mind = npc.spawn.mind
    if not _hated(scripts, npc) and not scripts.mover(npc).is_running:
        mind.left_from = None
    if mind.left_from is None:
        return 0.0
    scripts.mover(npc).refresh()
    return single(math.dist(npc.spawn.position[:3], mind.left_from[:3]))


@HATE("Runback", "N npc")
def run_back(scripts: Scripts, npc: Body | None) -> None:
    """Let a creature go back to where it began to hate."""
    if npc is not None and npc.spawn.mind.left_from is not None and can_move(npc):
        scripts.mover(npc).return_to(npc.spawn.mind.left_from)


@HATE("ClearRunback", "N npc")
def clear_way_back(_scripts: Scripts, npc: Body | None) -> None:
    """Forget where a creature goes back to."""
    if npc is not None:
        npc.spawn.mind.left_from = None


# -- what it does in a fight ----------------------------------------------------------------------


@HATE("SetSpellList", "N npc, u list, u second?")
def set_spell_list(_scripts: Scripts, npc: Body | None, first: int, second: int) -> None:
    """Set the numbers of the lists of spells that a creature casts."""
    if npc is not None:
        npc.spawn.mind.spell_list = first
        npc.spawn.mind.second_spell_list = second


@HATE("SetLuaBrain", "N npc")
def set_brain(_scripts: Scripts, npc: Body | None) -> None:
    """Let a creature's function `Think` decide what it does in a fight."""
    if npc is not None:
        npc.spawn.mind.thinks_by_script = True


@HATE("SetBrainTick", "N npc, n milliseconds")
def set_tick(_scripts: Scripts, npc: Body | None, milliseconds: int) -> None:
    """Set the time between two thoughts of a creature, at least 20 milliseconds."""
    if npc is not None:
        npc.spawn.mind.tick = max(SHORTEST_TICK, milliseconds)


def _row_radius(npc: Body) -> float:
    if npc.standing is None or npc.spawn.kind is not SpawnKind.NPC:
        return 0.0
    return float(npc.standing.template.own.get("aggro_radius") or 0.0)


def _base_radius(npc: Body, mind: Mind[Spawn]) -> float:
    return _row_radius(npc) if mind.base_aggro_radius is None else mind.base_aggro_radius


@HATE("SetAggroRadius", "N npc, f radius, b is_base?")
def set_radius(_scripts: Scripts, npc: Body | None, radius: float, is_base: bool) -> bool:
    """Set the radius in which a creature attacks, also the one that it returns to."""
    if npc is None:
        return False
    mind = npc.spawn.mind
    mind.aggro_radius = max(0.0, min(radius, WIDEST))
    if is_base:
        mind.base_aggro_radius = mind.aggro_radius
    return True


@HATE("GetAggroRadius", "N npc")
def get_radius(_scripts: Scripts, npc: Body | None) -> float | None:
    """Return the radius in which a creature attacks."""
    if npc is None:
        return None
    mind = npc.spawn.mind
    return single(_base_radius(npc, mind) if mind.aggro_radius is None else mind.aggro_radius)


@HATE("GetBaseAggroRadius", "N npc")
def get_base_radius(_scripts: Scripts, npc: Body | None) -> float | None:
    """Return the radius in which a creature attacks when nothing changes it."""
    return None if npc is None else single(_base_radius(npc, npc.spawn.mind))
