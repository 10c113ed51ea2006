"""Rules of the services that change with the client version, read from a table of steps.

Owns the reading of `data/login/versions.toml` and the lookup; knows nothing of what a rule is for.
What differs in layout or number is in the struct and opcode tables instead.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from emu.errors import FileFormatError
from emu.resources import data_file


@dataclass(frozen=True, slots=True)
class VersionRules:
    """One client version's rules; `data/login/versions.toml` says what each means."""

    is_known: bool
    entry_format: int
    world_position: bool
    allowed_races: int
    told_max_characters: int
    keep_deleted_entries: bool
    play_after_create: bool
    signed_colors: bool
    zone_by_name: bool
    long_log_header: bool
    play_by_name: bool
    bare_create_request: bool
    equipment_slots: int


class RuleTable:
    """Every rule's steps, checked once."""

    def __init__(self, steps: Mapping[str, Sequence[Any]]) -> None:
        """Take the steps of each rule; raises `FileFormatError` naming the rule that is wrong."""
        kinds = {item.name: _KINDS[str(item.type)] for item in fields(VersionRules)}
        for name in set(steps) ^ set(kinds):
            known = "unknown rule" if name in steps else "rule missing"
            raise FileFormatError(known, place=name)
        self._steps: dict[str, tuple[list[int], list[Any]]] = {}
        for name, kind in kinds.items():
            self._steps[name] = _checked(name, steps[name], kind)

    def for_version(self, version: int) -> VersionRules:
        """Return the rules that a client of this data version follows."""
        found: dict[str, Any] = {}
        for name, (versions, values) in self._steps.items():
            found[name] = values[bisect_right(versions, version) - 1]
        return VersionRules(**found)


_KINDS: dict[str, type] = {"int": int, "bool": bool}


def _checked(name: str, steps: Any, kind: type) -> tuple[list[int], list[Any]]:
    versions: list[int] = []
    values: list[Any] = []
    if not isinstance(steps, list):
        raise FileFormatError("expected a list of steps", place=name)
    for step in steps:
        match step:
            case [int() as version, value] if type(value) is kind:
                versions.append(version)
                values.append(value)
            case _:
                raise FileFormatError(f"expected [version, {kind.__name__}]: {step!r}", place=name)
    if not versions or versions[0] != 0 or versions != sorted(set(versions)):
        raise FileFormatError("steps must start at version 0 and ascend", place=name)
    return versions, values


@cache
def shipped_rules() -> RuleTable:
    """Return the table that comes with the program."""
    with data_file("login", "versions.toml").open("rb") as stream:
        return RuleTable(tomllib.load(stream))
