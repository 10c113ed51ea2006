"""Effects of worn things: the sheet, and what others see.

What things add is counted once for all of them. The sheet counts it together with what spells add.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.items.held import Where
from emu.items.inventory import Inventory
from emu.items.kinds import Ranged, Slot, Weapon
from emu.items.wearing import Bonuses, bonuses
from emu.rules.weights import carried_weight, most_weight
from emu.world.actors import looks
from emu.world.actors.bonus_types import (
    FIELDS,
    MORE_CONCENTRATION,
    POWER_SAVING,
    SKILL_KIND,
    SKILLS,
)
from emu.world.actors.options import Option
from emu.world.actors.player import Player
from emu.world.actors.sheet import FieldKind, Sheet
from emu.world.knowledge import Skill

WORN: Final = "worn"
"""The source of what worn things add to a sheet."""

RESISTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("heat", "cold"), 2: ("poison", "disease"), 3: ("magic", "mental", "divine"),
}  # fmt: skip
"""Fields of the sheet by the number of a statistic: elemental, noxious and arcane resistance."""
OTHERS, LATER_OTHERS = 600, 6000
"""What the subkind of a statistic of the kind 6 is added to, below 100 and from there on."""
FIST_DELAY: Final = 20
"""Tenths of a second between two strikes without a weapon."""

HIDING: Final[Mapping[Slot, tuple[Option, bool]]] = {
    Slot.HEAD: (Option.HIDE_HELM, True), Slot.CLOAK: (Option.SHOW_CLOAK, False),
}  # fmt: skip
"""The option that hides what is worn in a slot: while it is switched, or while it is not."""
_HANDS: Final = {Slot.PRIMARY: "primary", Slot.SECONDARY: "secondary", Slot.RANGE: "ranged"}
_WHITE: Final = (0, 0, 0)


def show_bonuses(player: Player, skills: Mapping[int, Skill]) -> None:
    """Let the sheet of a player have what its worn things add.

    `skills` are those of the world, by number.
    """
    inventory, sheet = player.holdings.inventory, player.spawn.sheet
    worn = bonuses(inventory)
    sheet.worn, sheet.worn_skills = _numbered(worn), _skills(worn, skills)
    sheet.put_bonuses(WORN, _added(worn, sheet.worn))
    player.spawn.show_pools()
    _set_weapons(sheet, inventory)
    set_weight(player)


def set_weight(player: Player) -> bool:
    """Let the sheet have the weight that a player carries; return whether that is another one."""
    sheet = player.spawn.sheet
    before = sheet.get("weight", FieldKind.UNSIGNED)
    weight = carried_weight(player.holdings.inventory.weight, player.character.coins)
    if weight != before:
        sheet.set("weight", FieldKind.UNSIGNED, weight)
    most = most_weight(sheet.attribute("str"))
    if most != sheet.get("max_weight", FieldKind.UNSIGNED):
        sheet.set("max_weight", FieldKind.UNSIGNED, most)
    return weight != before


def _numbered(worn: Bonuses) -> dict[int, float]:
    """Return what worn things add, by the types of bonuses: what no field of a sheet has."""
    found = {
        (LATER_OTHERS if kind >= SKILL_KIND else OTHERS) + kind: value
        for kind, value in worn.others.items()
    }
    if worn.concentration:
        found[MORE_CONCENTRATION] = float(worn.concentration)
    saving = worn.skills.get(POWER_SAVING, 0)
    if saving:
        found[SKILL_KIND + POWER_SAVING] = float(saving)
    return found


def _skills(worn: Bonuses, known: Mapping[int, Skill]) -> dict[int, float]:
    """Return what worn things add to skills, by the numbers of the skills."""
    if not worn.skills:
        return {}
    numbers = {one.name: number for number, one in known.items()}
    found: dict[int, float] = {}
    for kind, value in worn.skills.items():
        name = SKILLS[kind] if kind < len(SKILLS) else ""
        number = numbers.get(name)
        if number is not None:
            found[number] = found.get(number, 0.0) + value
    return found


def _added(worn: Bonuses, numbered: Mapping[int, float]) -> dict[str, float]:
    """Return what worn things add, by the names of a sheet; without what is 0."""
    values: dict[str, float] = {
        **worn.attributes, "cur_mitigation": worn.mitigation, "block": worn.shield,
        "health": worn.health, "power": worn.power,
    }  # fmt: skip
    for number, names in RESISTS.items():
        values |= dict.fromkeys(names, worn.resists.get(number, 0))
    for kind, value in numbered.items():
        for name, factor in FIELDS.get(kind, ()):
            values[name] = values.get(name, 0.0) + value * factor
    return {name: float(value) for name, value in values.items() if value}


def _set_weapons(sheet: Sheet, inventory: Inventory) -> None:
    for slot, hand in _HANDS.items():
        thing = inventory.worn(slot)
        part = inventory.kind(thing).part if thing is not None and thing.condition else None
        low, high, delay = 0, 0, FIST_DELAY
        if isinstance(part, Weapon | Ranged):
            (low, high), delay = part.base, part.delay
        sheet.set(f"{hand}_weapon_damage_low", FieldKind.UNSIGNED, low)
        sheet.set(f"{hand}_weapon_damage_high", FieldKind.UNSIGNED, high)
        sheet.set(f"{hand}_weapon_delay", FieldKind.UNSIGNED, delay)


def show_worn(player: Player) -> None:
    """Let others see what a player wears; appearances are seen above what is worn.

    Its options hide helmet and cloak.
    """
    inventory, shown = player.holdings.inventory, player.holdings.shown
    for slot in Slot:
        thing = inventory.worn(slot, Where.APPEARANCE) or inventory.worn(slot)
        if slot in HIDING:
            option, hides = HIDING[slot]
            thing = None if (option in player.options) == hides else thing
        look = inventory.kind(thing).look if thing is not None else None
        fresh = (look.model, look.color, look.highlight) if look else (0, _WHITE, _WHITE)
        if shown.get(slot, (0, _WHITE, _WHITE)) != fresh:
            shown[slot] = fresh
            looks.wear(player.spawn, slot, *fresh)
