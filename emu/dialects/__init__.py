"""Dialects: the opcode numbers, struct layouts and rules of one client version.

Start with `Dialects(shipped_tables, shipped_catalog(), shipped_rules()).for_version(546)`.
"""

from __future__ import annotations

from emu.dialects.dialect import (
    BEFORE_LOGIN,
    MOST_DIALECTS,
    Dialect,
    Dialects,
    RuleTable,
    VersionRules,
    WorldVersionRules,
    fit,
    shipped_rules,
    world_rules,
)

__all__ = [
    "BEFORE_LOGIN",
    "MOST_DIALECTS",
    "Dialect",
    "Dialects",
    "RuleTable",
    "VersionRules",
    "WorldVersionRules",
    "fit",
    "shipped_rules",
    "world_rules",
]
