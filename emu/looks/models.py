"""Which number stands for which model: clients name bodies, hair and clothes by a path.

The bodies of players ship with the project (`data/looks/player-models.toml`); every other path is
asked of a `ModelSource`, which knows the table `appearances` if one was imported. A path that
nobody knows has no number, and clients are then told 0, as EQ2Emulator does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from emu.errors import FileFormatError
from emu.processes.stores import ModelSource
from emu.resources import data_file

LARGEST_MODEL = 0xFFFF
"""Messages carry a model's number in 16 bits."""


class Models:
    """Knows the shipped bodies, and whatever `source` knows besides."""

    __slots__ = ("_shipped", "_source")

    def __init__(self, source: ModelSource | None = None) -> None:
        self._shipped = shipped_models()
        self._source = source

    async def numbers(self, paths: Iterable[str]) -> dict[str, int]:
        """Return path -> number for the paths that are known. Raises what the source raises."""
        keys = {path: model_key(path) for path in paths}
        known = {key: self._shipped[key] for key in keys.values() if key in self._shipped}
        others = set(keys.values()) - set(known)
        if others and self._source is not None:
            known |= await self._source.model_numbers(others)
        return {path: known[key] for path, key in keys.items() if key in known}


def model_key(path: str) -> str:
    """Return what two paths have in common that mean the same model."""
    return path.strip().lower()


@cache
def shipped_models() -> Mapping[str, int]:
    """Return path -> number of the bodies that players can have."""
    return read_models(data_file("looks", "player-models.toml"))


def read_models(path: Path) -> dict[str, int]:
    """Read a file of bodies by race and gender. Raises `FileFormatError`."""
    try:
        races = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            f"ec/pc/{race}/{race}_{gender}": _number(number)
            for race, bodies in races.items()
            for gender, number in bodies.items()
        }
    except (OSError, ValueError, AttributeError) as error:
        raise FileFormatError(f"{path}: not a file of models: {error}") from None


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 < value <= LARGEST_MODEL:
        raise ValueError(f"{value!r} is no number of a model")
    return value
