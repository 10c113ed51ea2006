"""The rules of a content file, and the settings whose defaults they are, for `emu content info`."""

from __future__ import annotations

import click

from emu.cli.tables import Row, print_rows
from emu.config import Config
from emu.config.content_rules import RuleDefault, rule_defaults
from emu.content.file import ContentFile
from emu.content.rules import STARTING_ZONES, RuleName, read_rules
from emu.texts import counted

NO_SETTING = "no setting"
OTHERWISE = {STARTING_ZONES: "chooses the starting places"}
"""Rules that are no settings, and count nevertheless."""
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
        values = rules.zones[zones[0]].values
        text = " ".join(map(str, zones))
        rows += [
            {"rule": ".".join(rule), "zones": text, "value": value, "setting": NO_SETTING,
             "effect": ""}
            for rule, value in sorted(values.items())
        ]  # fmt: skip
    print_rows(rows, style, _COLUMNS)


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
