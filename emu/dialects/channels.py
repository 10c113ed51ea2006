"""Which number a channel has for a client version, read from `data/world/chat.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emu.errors import FileFormatError
from emu.resources import data_file


@dataclass(frozen=True, slots=True)
class Older:
    """How clients of some versions count."""

    first_version: int
    last_version: int
    steps: Sequence[Sequence[int]]
    other: int


class ChannelNumbers:
    """Numbers of channels and colours by name and client version."""

    def __init__(self, numbers: Mapping[str, int], older: Sequence[Older]) -> None:
        self._numbers = dict(numbers)
        self._older = tuple(older)

    def number(self, name: str, version: int) -> int:
        """Return a channel's number for a client version. Raises `KeyError` for no such name."""
        newest = self._numbers[name]
        for older in self._older:
            if older.first_version <= version <= older.last_version:
                for first, last, change in older.steps:
                    if first <= newest <= last:
                        return newest + change
                return older.other
        return newest

    def name(self, number: int, version: int) -> str:
        """Return what a client version means by a number, the number itself when by nothing."""
        for name in self._numbers:
            if self.number(name, version) == number:
                return name
        return str(number)


@cache
def read_numbers(path: Path | None = None) -> ChannelNumbers:
    """Read a table of channels, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "chat.toml")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        older = [Older(**row) for row in document["older"]]
        return ChannelNumbers(document["channels"] | document["colors"], older)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: not a table of channels: {error!r}") from None
