"""Defaults of settings that are rules of the content file.

A rule counts while the operator has not given the setting, in the file or by ``--set``. Rules that
mean the same as no setting are kept in the content file for scripts, and have no effect here.
Source: docs/guides/content.md#rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emu.config.model import Config
from emu.config.setting import SETTINGS, Setting, settings_of
from emu.errors import FileFormatError
from emu.world.rules import WorldRules

if TYPE_CHECKING:
    from emu.content.rules import RuleName

HIGHEST_LEVEL: Final = 255
"""The most that `world.max_level` takes; the rule has 0 for "no cap"."""


def _level(value: str) -> str:
    """Return the value of `world.max_level` for the rule."""
    return str(HIGHEST_LEVEL) if float(value) == 0 else _whole(value)


def _whole(value: str) -> str:
    number = float(value)
    if not number.is_integer():
        raise ValueError("must be a whole number")
    return str(int(number))


def _flag(value: str) -> str:
    return "false" if _whole(value) == "0" else "true"


def _milliseconds(value: str) -> str:
    return str(float(value) / 1000)


def _hundredth(value: str) -> str:
    return str(float(value) / 100)


def _chase(value: str) -> str:
    """Return the value of `world.leash` for the rule, which has 0 for the server's own."""
    return str(float(value) or WorldRules("").leash)


class Same(NamedTuple):
    """A setting of ``[world]`` with the meaning of a rule, and how its text is made."""

    setting: str
    convert: Callable[[str], str]
    in_zones: bool = False
    """Whether the set of a single zone changes it there; else the setting is one for the world."""


SAME: Final[Mapping[RuleName, Same]] = {
    ("R_Player", "MaxLevel"): Same("max_level", _level, in_zones=True),
    ("R_Player", "XPMultiplier"): Same("experience_rate", str, in_zones=True),
    ("R_Player", "VitalityAmount"): Same("vitality_gain", str),
    ("R_Player", "VitalityFrequency"): Same("vitality_seconds", str),
    ("R_Player", "TemporaryItemLogoutTime"): Same("temporary_seconds", str),
    ("R_Player", "AllowPlayerEquipCombat"): Same("equip_in_fights", _flag, in_zones=True),
    ("R_Combat", "DeathExperienceDebt"): Same("death_debt", _hundredth, in_zones=True),
    ("R_Combat", "ExperienceDebtRecoveryPercent"): Same("debt_recovery", str),
    ("R_Combat", "ExperienceDebtRecoveryPeriod"): Same("debt_seconds", str),
    ("R_Combat", "EnableSpiritShards"): Same("spirit_shards", _flag, in_zones=True),
    ("R_Combat", "ShardDebtRecoveryPercent"): Same("shard_recovery", str, in_zones=True),
    ("R_Combat", "MaxCombatRange"): Same("reach", str, in_zones=True),
    ("R_Combat", "MaxChaseDistance"): Same("leash", _chase, in_zones=True),
    ("R_Spells", "UseClassicSpellLevel"): Same("classic_spell_levels", _flag),
    ("R_Spells", "NoInterruptBaseChance"): Same("kept_casts", str, in_zones=True),
    ("R_Spells", "EnableFizzleSpells"): Same("fizzles", _flag, in_zones=True),
    ("R_Spells", "DefaultFizzleChance"): Same("fizzle_percent", str, in_zones=True),
    ("R_Spells", "FizzleMaxSkill"): Same("fizzle_skill", str, in_zones=True),
    ("R_Spells", "FizzleDefaultSkill"): Same("fizzle_least", str, in_zones=True),
    ("R_Spells", "MasterSkillReduceSpellResist"): Same("mastery_points", _whole, in_zones=True),
    ("R_Loot", "LootRadius"): Same("loot_reach", str, in_zones=True),
    ("R_Combat", "StrengthOther"): Same("strength_points", _whole, in_zones=True),
    ("R_Combat", "StrengthNPC"): Same("creature_strength_points", _whole, in_zones=True),
    ("R_Faction", "AllowFactionBasedCombat"): Same("faction_fights", _flag, in_zones=True),
    ("R_World", "MaxPlayers"): Same("max_players", _whole),
    ("R_World", "ServerLocked"): Same("locked", _flag),
    ("R_World", "LinkDeadTimer"): Same("link_dead", _milliseconds, in_zones=True),
    ("R_World", "PlayerCampTimer"): Same("camp_seconds", str, in_zones=True),
    ("R_Expansion", "GlobalExpansionFlag"): Same("expansions", _whole, in_zones=True),
    ("R_Expansion", "GlobalHolidayFlag"): Same("holidays", _whole, in_zones=True),
}
"""The rules that are settings here: a subject with new settings adds its rows."""


class RuleDefault(NamedTuple):
    """The default that a rule gives a setting of ``[world]``."""

    rule: RuleName
    setting: Setting
    value: Any
    """None if the setting does not take the value."""
    problem: str = ""
    """Why it does not."""


@cache
def _settings() -> Mapping[str, Setting]:
    return {one.name: one for one in settings_of(Config) if one.table == "world"}


def rule_defaults(rules: Mapping[RuleName, str]) -> Iterator[RuleDefault]:
    """Yield the defaults of settings that some rules give."""
    for rule, same in SAME.items():
        if rule not in rules:
            continue
        setting = _settings()[same.setting]
        try:
            value = SETTINGS.reader(setting.attribute)(same.convert(rules[rule].strip()))
        except (ValueError, OverflowError) as error:
            yield RuleDefault(rule, setting, None, str(error))
        else:
            yield RuleDefault(rule, setting, value)


class ContentDefaults(NamedTuple):
    """The settings of ``[world]`` that the rules of a content file give, by their keys."""

    world: Mapping[str, Any]
    zones: Mapping[int, Mapping[str, Any]]
    """Those that differ in a zone with rules of its own, by the zone's number."""


NO_DEFAULTS: Final = ContentDefaults({}, {})


def defaults_of_content(path: Path | None, given: Collection[str]) -> ContentDefaults:
    """Return the settings of ``[world]`` that the rules of a content file give.

    `given` are the keys that the operator has given. A file that cannot be read gives none: who
    serves it reports the fault.
    """
    if path is None:
        return NO_DEFAULTS
    # Most commands have no content file, and need not import what reads one.
    from emu.content.file import ContentFile  # noqa: PLC0415
    from emu.content.rules import read_rules  # noqa: PLC0415

    try:
        with ContentFile(path) as file:
            rules = read_rules(file)
    except FileFormatError:
        return NO_DEFAULTS
    world = _values(rules.in_force, given)
    sets = {one.id: _values(one.values, given, of_zone=True) for one in rules.zones.values()}
    return ContentDefaults(
        world, {zone: sets[one.id] for zone, one in rules.zones.items() if sets[one.id]}
    )


def _values(
    rules: Mapping[RuleName, str], given: Collection[str], *, of_zone: bool = False
) -> dict[str, Any]:
    return {
        one.setting.name: one.value
        for one in rule_defaults(rules)
        if one.value is not None
        and one.setting.name not in given
        and (SAME[one.rule].in_zones or not of_zone)
    }
