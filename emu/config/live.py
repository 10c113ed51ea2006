"""What a reload changes: the settings that are declared `live`. Others need a restart."""

from __future__ import annotations

from typing import Any, Final

from emu.config.model import Config
from emu.config.setting import Setting, settings_of, with_settings

LIVE: Final = frozenset(one.key for one in settings_of(Config) if one.rule.live)
"""Keys of the settings that a reload applies, as ``table.key``."""


def differences(old: Config, new: Config) -> list[Setting]:
    """Return the settings whose values differ, sorted by key."""
    changed = [one for one in settings_of(Config) if one.value(old) != one.value(new)]
    return sorted(changed, key=lambda one: one.key)


def merged(old: Config, new: Config) -> Config:
    """Return the old configuration with the live settings of the new one."""
    tables: dict[str, dict[str, Any]] = {}
    for one in settings_of(Config):
        if one.rule.live:
            tables.setdefault(one.table, {})[one.name] = one.value(new)
    return with_settings(old, tables)
