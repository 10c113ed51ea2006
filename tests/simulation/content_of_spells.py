"""Spells of our own for the content of the simulation: some last, one has a pet."""

from __future__ import annotations

from typing import Any

from tests.simulation.content_of_things import SCROLL, Tables

HEAL, STING, COURAGE, CALL = 801, 802, 803, 804
"""Healing over time, harm over time, a bonus until it is canceled, and a pet."""
SPELLS = (HEAL, STING, COURAGE, CALL)
PUP = 3_250_001
"""The kind of creature that is called."""
CLASSES = range(45)
_SCRIPTS = {
    HEAL: """
function cast(Caster, Target) SpellHeal("Heal", 2, 4, Target) end
function tick(Caster, Target) SpellHeal("Heal", 1, 2, Target) end
""",
    STING: """
function cast(Caster, Target) SpellDamage(Target, 5, 1, 3) end
function tick(Caster, Target) SpellDamage(Target, 5, 1, 2) end
""",
    COURAGE: """
function cast(Caster, Target) AddSpellBonus(Target, 1, 12) end
function remove(Caster, Target) RemoveSpellBonus(Target) end
""",
    CALL: f"""
function cast(Caster, Target) SummonPet(Caster, {PUP}) end
""",
}
_ROWS: dict[int, dict[str, Any]] = {
    HEAL: {"name": "Healing", "target_type": 1, "friendly_spell": 1},
    STING: {"name": "Sting", "target_type": 1},
    COURAGE: {"name": "Courage", "target_type": 1, "friendly_spell": 1,
              "duration_until_cancel": 1},
    CALL: {"name": "Call of the Pup", "target_type": 0, "friendly_spell": 1,
           "duration_until_cancel": 1},
}  # fmt: skip
_TIER: dict[int, dict[str, Any]] = {
    HEAL: {"duration1": 200, "duration2": 200, "call_frequency": 30},
    STING: {"duration1": 120, "duration2": 120, "call_frequency": 30},
    COURAGE: {"req_concentration": 1},
    CALL: {"req_concentration": 2},
}


def _path(spell: int) -> str:
    return f"Spells/Simulation/{spell}.lua"


def scripts() -> dict[str, str]:
    """Return the scripts by their paths."""
    return {_path(spell): source for spell, source in _SCRIPTS.items()}


def tables() -> Tables:
    """Return the spells, which all classes have from level 1 on, and the creature of one."""
    tiers = [(spell, 1) for spell in SPELLS] + [(HEAL, 2)]
    return {
        "spells": [
            {"id": spell, "lua_script": _path(spell), "is_active": 1, "interruptable": 1,
             "soe_spell_crc": 1000 + spell, **_ROWS[spell]}
            for spell in SPELLS
        ],
        "spell_tiers": [
            {"id": number, "spell_id": spell, "tier": tier, "power_req": 1, "cast_time": 150,
             "recast": 4, "range": 30, **_TIER[spell]}
            for number, (spell, tier) in enumerate(tiers, 1)
        ],
        "spell_classes": [
            {"id": number, "spell_id": spell, "adventure_class_id": one,
             "tradeskill_class_id": 255, "level": 1, "classic_level": 1}
            for number, (spell, one) in enumerate(
                ((spell, one) for spell in SPELLS for one in CLASSES), 1
            )
        ],
        "item_details_skill": [{"id": 1, "item_id": SCROLL, "spell_id": HEAL, "spell_tier": 2}],
        "spawn": [
            {"id": PUP, "name": "a pup", "race": 9, "model_type": 134, "size": 32,
             "targetable": 1, "show_name": 1, "hp": 30, "power": 10},
        ],
        "spawn_npcs": [{"id": PUP, "spawn_id": PUP, "min_level": 1, "max_level": 1}],
    }  # fmt: skip
