"""Rules that depend on the client version: switches of the services, and numbers of chat channels.

The rules come from `data/login/versions.toml`, the channel numbers from `data/world/chat.toml`.
Differences in layouts and opcode numbers are in the struct and opcode tables instead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.schema import field, read_table


@dataclass(frozen=True, slots=True)
class VersionRules:
    """The rules of one client version; `data/login/versions.toml` describes each."""

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
    """The checked steps of every rule: the client versions at which its value changes."""

    def __init__(self, steps: Mapping[str, Sequence[Any]]) -> None:
        """`steps` has [version, value] pairs by rule. Raises `FileFormatError` with the rule."""
        kinds = {item.name: _KINDS[str(item.type)] for item in fields(VersionRules)}
        for name in set(steps) ^ set(kinds):
            fault = "unknown rule" if name in steps else "the rule is missing"
            raise FileFormatError(fault, place=name)
        self._steps: dict[str, tuple[list[int], list[Any]]] = {}
        for name, kind in kinds.items():
            self._steps[name] = _checked(name, steps[name], kind)

    def for_version(self, version: int) -> VersionRules:
        """Return the rules of a client version."""
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
    """Return the shipped table."""
    return RuleTable(read_document(data_file("login", "versions.toml")))


def _step(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list) or [type(one) for one in value] != [int, int, int]:
        raise ValueError("must be [first, last, change]")
    first, last, change = value
    return first, last, change


def _channel_numbers(value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(one) is int for one in value.values()):
        raise ValueError("must be a table of numbers")
    return value


@frozen
class Older:
    """The channel numbers of older clients: one ``[[older]]`` of `data/world/chat.toml`."""

    first_version: int = field()
    last_version: int = field()
    steps: tuple[tuple[int, int, int], ...] = field(form=_step)
    """First and last number, and the change of the numbers between them."""
    other: int = field()
    """The number that stands for all others."""


@frozen
class ChatTable:
    """The tables of `data/world/chat.toml`."""

    channels: Mapping[str, int] = field(form=_channel_numbers)
    colors: Mapping[str, int] = field(form=_channel_numbers)
    older: tuple[Older, ...] = field()


class ChannelNumbers:
    """The numbers of channels and text colors, by name and client version."""

    def __init__(self, numbers: Mapping[str, int], older: Sequence[Older]) -> None:
        self._numbers = dict(numbers)
        self._older = tuple(older)

    def number(self, name: str, version: int) -> int:
        """Return a channel's number for a client version. Raises `KeyError` for an unknown name."""
        newest = self._numbers[name]
        for older in self._older:
            if older.first_version <= version <= older.last_version:
                for first, last, change in older.steps:
                    if first <= newest <= last:
                        return newest + change
                return older.other
        return newest

    def name(self, number: int, version: int) -> str:
        """Return the name of a number in a client version; the number as text if it has none."""
        for name in self._numbers:
            if self.number(name, version) == number:
                return name
        return str(number)


@cache
def read_numbers(path: Path | None = None) -> ChannelNumbers:
    """Read a table of channels, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "chat.toml")
    table = read_table(ChatTable, read_document(path), path)
    return ChannelNumbers({**table.channels, **table.colors}, table.older)
