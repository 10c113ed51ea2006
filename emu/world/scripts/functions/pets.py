"""Functions of pets: who has one, summoning, charming and letting go.

Source: docs/guides/spells.md#pets.
"""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable, Handle
from emu.world.actors.spawn import SpawnKind
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.spells import acting
from emu.world.scripts.host import Scripts
from emu.world.spells.pets import PetKind

PETS: Final = FunctionTable()
ASIDE: Final = 2.0
"""How far beside its master a pet appears."""


def _summon(
    scripts: Scripts, body: Body | None, number: int, kind: PetKind, *, most_level: int = 0,
    place: tuple[float, float, float] | None = None,
) -> Body | None:  # fmt: skip
    """Make a creature of the content as somebody's pet, of the master's level."""
    if body is None or not body.spawn.is_living or body.spawn.hp_percent <= 0:
        return None
    at = body.spawn.position
    x, y, z = place if place is not None else (at.x + ASIDE, at.y, at.z)
    made = scripts.maker.one(body.home, number, (x, y, z, at.heading), is_private=False)
    if made is None:
        return None
    level = min(body.spawn.level, most_level) if most_level > 0 else body.spawn.level
    made.spawn.level = level
    made.spawn.set_info(level=level)
    scripts.spells.pets.take_pet(body.home.zone, body.spawn, made.spawn, kind, acting(scripts))
    return made


@PETS("SummonPet", "S master, u spawn, n most_level?")
def summon(scripts: Scripts, body: Body | None, number: int, most_level: int) -> Handle | None:
    """Summon a creature that fights for somebody; it goes with the spell."""
    made = _summon(scripts, body, number, PetKind.COMBAT, most_level=most_level)
    return None if made is None else made.handle


@PETS("SummonDeityPet", "S master, u spawn")
def summon_deity(scripts: Scripts, body: Body | None, number: int) -> Handle | None:
    """Summon the companion of a god."""
    made = _summon(scripts, body, number, PetKind.DEITY)
    return None if made is None else made.handle


@PETS("SummonCosmeticPet", "S master, u spawn")
def summon_cosmetic(scripts: Scripts, body: Body | None, number: int) -> Handle | None:
    """Summon a companion that only follows."""
    made = _summon(scripts, body, number, PetKind.COSMETIC)
    return None if made is None else made.handle


@PETS("SummonDumbFirePet", "S master, S target?, u spawn, f x?, f y?, f z?")
def summon_dumb_fire(
    scripts: Scripts, body: Body | None, target: Body | None, number: int, x: float, y: float,
    z: float,
) -> Handle | None:  # fmt: skip
    """Summon a creature that fights a target until its spell ends, and obeys nobody."""
    place = (x, y, z) if (x, y, z) != (0.0, 0.0, 0.0) else None
    made = _summon(scripts, body, number, PetKind.DUMB_FIRE, place=place)
    if made is None:
        return None
    if body is not None and target is not None and target.home is made.home:
        spells = scripts.spells
        if spells.may_harm(body.spawn, target.spawn):
            spells.amounts.hate(made.home.zone, made.spawn, target.spawn, 100)
    return made.handle


@PETS("Charm", "S master, N npc")
def charm(scripts: Scripts, body: Body | None, npc: Body | None) -> None:
    """Let a creature belong to a player while the spell lasts."""
    spell = acting(scripts)
    if spell is None or body is None or body.player is None or npc is None:
        return
    if npc.home is not body.home or npc.spawn.kind is not SpawnKind.NPC:
        return
    pets = scripts.spells.pets
    if pets.get(npc.spawn) is None and npc.spawn.hp_percent > 0:
        pets.take_pet(npc.home.zone, body.spawn, npc.spawn, PetKind.CHARMED, spell)


def _of(scripts: Scripts, body: Body | None, *kinds: PetKind) -> Handle | None:
    found = scripts.spells.pets.of(body.spawn, *kinds) if body is not None else None
    pet = scripts.homes.known(found, body.home.zone) if found is not None and body else None
    return None if pet is None else pet.handle


@PETS("GetPet", "S master")
def pet_of(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return the pet that fights for a spawn."""
    return _of(scripts, body, PetKind.COMBAT)


@PETS("GetCharmedPet", "S master")
def charmed_of(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return the creature that a spawn has charmed."""
    return _of(scripts, body, PetKind.CHARMED)


@PETS("GetDeityPet", "S master")
def deity_of(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return the companion of a god that a spawn has."""
    return _of(scripts, body, PetKind.DEITY)


@PETS("GetCosmeticPet", "S master")
def cosmetic_of(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return the companion of a spawn that only follows."""
    return _of(scripts, body, PetKind.COSMETIC)


@PETS("DismissPet", "S pet")
def dismiss(scripts: Scripts, body: Body | None) -> None:
    """Let a pet go; its spell ends with it."""
    if body is not None:
        scripts.spells.pets.dismiss(body.spawn)


@PETS("IsPet", "S spawn")
def is_pet(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn belongs to somebody."""
    return body is not None and scripts.spells.pets.get(body.spawn) is not None


@PETS("GetOwner", "N npc")
def owner(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return to whom a pet belongs."""
    pet = scripts.spells.pets.get(body.spawn) if body is not None else None
    found = scripts.homes.known(pet.master, pet.zone) if pet is not None else None
    return None if found is None else found.handle
