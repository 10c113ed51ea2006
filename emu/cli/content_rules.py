"""The rules of a content file, and the settings whose defaults they are, for `emu content info`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from emu.cli.tables import Row, print_rows
from emu.config import Config
from emu.config.content_rules import SAME, RuleDefault, rule_defaults
from emu.content.file import ContentFile
from emu.content.rules import STARTING_ZONES, ZONE_POPULATION, RuleName, RuleSet, read_rules
from emu.texts import counted

NO_SETTING = "no setting"
OTHERWISE = {
    STARTING_ZONES: "chooses the starting places",
    ZONE_POPULATION: "`population` of the zones, where no zone file sets it",
}
"""Rules that are no settings, and count nevertheless."""
FOR_ALL_ZONES = "none: the setting is one for all zones"
_COLUMNS = ("rule", "zones", "value", "setting", "effect")


def print_rules(file: ContentFile, config: Config, style: str) -> None:
    """Print each rule with its setting, and whether it counts.

    The rules in force in all zones come first, then those of the sets that single zones have.
    """
    rules = read_rules(file)
    defaults = {one.rule: one for one in rule_defaults(rules.in_force)}
    is_served = config.world.content == file.path.absolute()
    rows: list[Row] = [
        _row(rule, "all", value, defaults.get(rule), config, is_served=is_served)
        for rule, value in sorted(rules.in_force.items())
    ]
    for number in sorted({one.id for one in rules.zones.values()}):
        zones = [zone for zone, one in rules.zones.items() if one.id == number]
        rows += _zone_rows(rules.zones[zones[0]], zones, config, is_served=is_served)
    print_rows(rows, style, _COLUMNS)


def _zone_rows(
    own: RuleSet, zones: Sequence[int], config: Config, *, is_served: bool
) -> Iterator[Row]:
    """Yield the rules of a set that some zones have."""
    defaults = {one.rule: one for one in rule_defaults(own.values)}
    for rule, value in sorted(own.values.items()):
        default = defaults.get(rule)
        row = _row(rule, " ".join(map(str, zones)), value, default, config, is_served=is_served)
        effect = "" if rule == STARTING_ZONES else row["effect"]
        if default is not None and is_served and not default.problem:
            is_here = default.setting.name in config.zone_settings.get(zones[0], {})
            effect = "in force" if is_here else f"none: {default.setting.key} is set"
            if not SAME[rule].in_zones:
                effect = FOR_ALL_ZONES
        yield {**row, "effect": effect}


def _row(
    rule: RuleName,
    zones: str,
    value: str,
    default: RuleDefault | None,
    config: Config,
    *,
    is_served: bool,
) -> Row:
    if default is None:
        setting, effect = NO_SETTING, OTHERWISE.get(rule, "")
    else:
        setting = default.setting.key
        effect = _effect(default, config) if is_served else "not served"
    return {
        "rule": ".".join(rule), "zones": zones, "value": value, "setting": setting,
        "effect": effect,
    }  # fmt: skip


def _effect(default: RuleDefault, config: Config) -> str:
    if default.problem:
        return f"none: {default.problem}"
    now = default.setting.value(config)
    return "in force" if now == default.value else f"none: the setting is {now}"


def print_rule_count(file: ContentFile) -> None:
    """Print on standard error how many rules there are, and how many are settings."""
    rules = read_rules(file)
    if rules.in_force:
        some = sum(one.value is not None for one in rule_defaults(rules.in_force))
        click.echo(
            f"{counted(len(rules.in_force), 'rule')}, {some} of them defaults of settings;"
            " `emu content info --rules` shows them",
            err=True,
        )
