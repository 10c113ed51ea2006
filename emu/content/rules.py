"""The rules of a content file: sets of named values, one of them for all zones.

The variable `default_ruleset_id` names the set that is in force; without it the active sets count
in the order of their numbers. A zone with a set of its own (`rule_set`) takes from it what the set
has, and the rest from the set in force. A set that is not active has no effect.
Source: docs/guides/content.md#rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from emu.content.file import ContentFile

RuleName = tuple[str, str]
"""Category and name of a rule, such as ``("R_World", "MaxPlayers")``."""
STARTING_ZONES: Final[RuleName] = ("R_World", "StartingZoneRuleFlag")
"""The rule that chooses among the starting places: bits, of which a place's flag must have one."""
ZONE_POPULATION: Final[RuleName] = ("R_Zone", "MaxPlayers")
"""The rule with the most players of one copy of a zone; 0 for any number."""
BY_PROGRAM: Final[Mapping[RuleName, str]] = {
    ("R_Combat", "DeathExperienceDebt"): "50",
    ("R_Combat", "ShardDebtRecoveryPercent"): "25",
    ("R_Combat", "ShardLifetime"): "86400",
    ("R_Combat", "ShardRecoveryByRadius"): "1",
    ("R_Player", "ForceCommonerFarJourney"): "1",
}
"""Values of EQ2Emulator's program that are not 0, of the rules that the scripts ask for.

A set need not have these rules (EQ2Emulator, Rules.cpp; real-entry-1208-start-fighter-priest). That
a shard is recovered by walking near it is recorded (fight-*-death-a, at 546, 1208 and 60114).
"""
_CHOICE: Final = "default_ruleset_id"
"""The variable with the number of the set that is in force."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """One set of rules; texts, as the database has them."""

    id: int
    name: str
    values: Mapping[RuleName, str]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one content file; empty without one."""

    in_force: Mapping[RuleName, str] = field(default_factory=dict)
    """What counts in every zone without a set of its own."""
    zones: Mapping[int, RuleSet] = field(default_factory=dict)
    """The sets of zones with one of their own, by the zone's number."""

    def of_zone(self, zone_id: int) -> Mapping[RuleName, str]:
        """Return the rules that count in a zone."""
        own = self.zones.get(zone_id)
        return self.in_force if own is None else {**self.in_force, **own.values}


def read_rules(file: ContentFile) -> Rules:
    """Read the rules of a content file. Raises `FileFormatError`."""
    sets = _active_sets(file)
    own = {row["id"]: row["rule_set"] for row in file.zones()}
    return Rules(
        _in_force(file, sets),
        {zone: sets[number] for zone, number in own.items() if number in sets},
    )


def rules_in_force(file: ContentFile) -> dict[RuleName, str]:
    """Return the rules that count in zones without a set of their own.

    Raises `FileFormatError`.
    """
    return _in_force(file, _active_sets(file))


def _active_sets(file: ContentFile) -> dict[int, RuleSet]:
    values: dict[int, dict[RuleName, str]] = {}
    for row in file.table("rules"):
        values.setdefault(row["set_id"], {})[row["category"], row["name"]] = row["value"]
    named = {row["id"]: row for row in file.table("rule_sets")}
    # Without an active set, all rules count.
    active = [number for number, row in named.items() if row["is_active"]] or sorted(values)
    return {
        number: RuleSet(
            number, named[number]["name"] if number in named else "", values.get(number, {})
        )
        for number in active
    }


def _in_force(file: ContentFile, sets: Mapping[int, RuleSet]) -> dict[RuleName, str]:
    chosen = next((row["value"] for row in file.table("variables") if row["name"] == _CHOICE), "")
    number = int(chosen) if chosen.isdecimal() else 0
    in_force = [sets[number]] if number in sets else list(sets.values())
    return {rule: value for one in in_force for rule, value in one.values.items()}
