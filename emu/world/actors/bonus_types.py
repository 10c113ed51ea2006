"""Types of bonuses: the numbers that things and spells add to an actor, and the fields they change.

The number of a statistic of a thing is 100 x its kind + its subkind, as that of a spell's bonus.
Source: docs/guides/spells.md#bonuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HEALTH_BONUS, POWER_BONUS, MORE_CONCENTRATION = 500, 501, 502
HEALTH_PERCENT, POWER_PERCENT = 607, 620
SPEED, SLOWNESS, MOUNT_SPEED, MOUNT_AIR_SPEED, FIGHT_SPEED = 609, 610, 611, 612, 616
COMBAT_EXPERIENCE: Final = 625
"""Percent of more experience for kills."""
HIDDEN_SPEED: Final = 676
"""Speed of somebody hidden."""
FALL_SAVING: Final = 668
"""Percent of less damage by falls."""
AVOIDANCE: Final = 696
"""Percent by which parrying, blocking and dodging grow."""
SPELL_DAMAGE, HEALING, SPELLS_AND_HEALS = 700, 701, 702
ARTS, SPELLS_AND_ARTS, TAUNTS, TAUNTS_AND_ARTS = 703, 704, 705, 706
SKILLS: Final = (
    "Adorning", "Aggression", "Artificing", "Artistry", "Chemistry", "Crushing", "Defense",
    "Deflection", "Disruption", "Fishing", "Fletching", "Focus", "Foresting", "Gathering",
    "Metal Shaping", "Metalworking", "Mining", "Ministration", "Ordination", "Parry", "Piercing",
    "Ranged", "Safe Fall", "Scribing", "Sculpting", "Slashing", "Subjugation", "Swimming",
    "Tailoring", "Tinkering", "Transmuting", "Trapping", "Weapon Skills", "Power Cost Reduction",
    "Spell Avoidance",
)  # fmt: skip
"""The names of the skills that statistics of the kind 1 add to, by subkind (EQ2Emulator)."""
POWER_SAVING: Final = SKILLS.index("Power Cost Reduction")
"""The subkind of the statistic that takes percent off the power of a spell; it is no skill."""
SKILL_KIND: Final = 100
"""The number of the first bonus that adds to a skill."""
FIELDS: Final[Mapping[int, tuple[tuple[str, float], ...]]] = {
    0: (("str", 1.0),),
    1: (("sta", 1.0),),
    2: (("agi", 1.0),),
    3: (("wis", 1.0),),
    4: (("intel", 1.0),),
    200: (("cur_mitigation", 1.0),),
    201: (("heat", 1.0), ("cold", 1.0)),
    202: (("poison", 1.0), ("disease", 1.0)),
    203: (("magic", 1.0), ("mental", 1.0), ("divine", 1.0)),
    207: (("cold", 1.0),),
    208: (("mental", 1.0),),
    209: (("divine", 1.0),),
    214: (("disease", 1.0),),
    HEALTH_BONUS: (("health", 1.0),),
    POWER_BONUS: (("power", 1.0),),
    MORE_CONCENTRATION: (("max_concentration", 1.0),),
    606: (("health", 1.0),),
    HEALTH_PERCENT: (("health_percent", 1.0),),
    617: (("haste", 1.0),),
    619: (("power", 1.0),),
    POWER_PERCENT: (("power_percent", 1.0),),
    624: (("hate_mod", 1.0),),
    629: (("dps", 1.0),),
    637: (("parry", 1.0),),
    638: (("cur_avoidance", 1.0),),
    641: (("multi_attack", 1.0),),
    651: (("block", 10.0),),
    654: (("crit_chance", 1.0),),
    657: (("crit_bonus", 1.0),),
    659: (("potency", 1.0),),
    662: (("reuse_speed", 1.0),),
    663: (("recovery_speed", 1.0),),
    664: (("casting_speed", 1.0),),
    707: (("ability_modifier", 1.0),),
}
"""The fields of the sheet that a type of bonus changes, with a factor. All others are only added
up: who needs one asks `Sheet.bonus`."""
