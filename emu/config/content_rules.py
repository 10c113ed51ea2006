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


class _Same(NamedTuple):
    """A setting of ``[world]`` with the meaning of a rule, and how its text is made."""

    setting: str
    convert: Callable[[str], str]


SAME: Final[Mapping[RuleName, _Same]] = {
    ("R_Player", "MaxLevel"): _Same("max_level", _level),
    ("R_World", "MaxPlayers"): _Same("max_players", _whole),
    ("R_World", "ServerLocked"): _Same("locked", _flag),
    ("R_World", "LinkDeadTimer"): _Same("link_dead", _milliseconds),
    ("R_World", "PlayerCampTimer"): _Same("camp_seconds", str),
    ("R_Expansion", "GlobalExpansionFlag"): _Same("expansions", _whole),
    ("R_Expansion", "GlobalHolidayFlag"): _Same("holidays", _whole),
}
"""The rules that are settings here."""


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
    for rule, (name, convert) in SAME.items():
        if rule not in rules:
            continue
        setting = _settings()[name]
        try:
            value = SETTINGS.reader(setting.attribute)(convert(rules[rule].strip()))
        except (ValueError, OverflowError) as error:
            yield RuleDefault(rule, setting, None, str(error))
        else:
            yield RuleDefault(rule, setting, value)


def defaults_of_content(path: Path | None, given: Collection[str]) -> dict[str, Any]:
    """Return the settings of ``[world]`` that the rules of a content file give.

    `given` are the keys that the operator has given. A file that cannot be read gives none: who
    serves it reports the fault.
    """
    if path is None:
        return {}
    # Most commands have no content file, and need not import what reads one.
    from emu.content.file import ContentFile  # noqa: PLC0415
    from emu.content.rules import rules_in_force  # noqa: PLC0415

    try:
        with ContentFile(path) as file:
            rules = rules_in_force(file)
    except FileFormatError:
        return {}
    return {
        one.setting.name: one.value
        for one in rule_defaults(rules)
        if one.value is not None and one.setting.name not in given
    }
