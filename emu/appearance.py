"""A character's appearance, as far as the login server and the world must agree on it.

Requests carry floats, rows carry bytes. Clients name bodies, hair and clothes by a path; models map
each path to a number. Races and classes are numbers everywhere except in texts for people.

How colors and sliders are coded (`coding`), and which number stands for which body (`models`).

A client sends every component as a float. Colors of clients up to 561 are kept as trunc(f * 250)
in a signed byte, of later ones as trunc(f * 255) in an unsigned byte; sliders and sizes as
trunc(f * 100) in a signed byte for all (docs/protocol/characters.md#looks). The product is one of
32 bits, as clients and EQ2Emulator have it: 0.78 is 195 of 250, which 64 bits would make 194.
Numbers only: login server and world each make their own rows of them.

The bodies of players ship with the project (`data/looks/player-models.toml`); every other path is
asked of a `ModelSource`, which knows the table `appearances` if one was imported. A path that
nobody knows has no number, and clients are then told 0, as EQ2Emulator does.
"""

from __future__ import annotations

import math
import struct
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from emu.errors import FileFormatError
from emu.files import data_file
from emu.processes.ports import ModelSource

OLD_SCALE = 250
NEW_SCALE = 255
SLIDER_SCALE = 100

SLIDER_FIELDS: Final[Mapping[str, str]] = {
    prefix + name: prefix + field
    for prefix in ("", "soga_")
    for name, field in (
        ("eyes2", "eye_type"),
        ("ears", "ear_type"),
        ("eye_brows", "eye_brow_type"),
        ("cheeks", "cheek_type"),
        ("lips", "lip_type"),
        ("chin", "chin_type"),
        ("nose", "nose_type"),
    )
}
"""Field of the create request that is three sliders -> the field that profiles and ghosts have.

All other triples are colors (docs/protocol/characters.md#looks).
"""

_SINGLE = struct.Struct("<f")


def color_parts(floats: Sequence[float], *, signed: bool) -> tuple[int, int, int]:
    """Return a color's three components; `signed` is the way of clients up to 561."""
    scale = OLD_SCALE if signed else NEW_SCALE
    red, green, blue = (_scaled(value, scale, 0, 255) for value in floats)
    if signed:
        return signed_byte(red), signed_byte(green), signed_byte(blue)
    return red, green, blue


def slider(value: float) -> int:
    """Return a slider or a size as the number of a signed byte."""
    return _scaled(value, SLIDER_SCALE, -128, 127)


def signed_byte(byte: int) -> int:
    """Return the number from -128 to 127 that a byte of 0 to 255 stands for."""
    return byte - 256 if byte > 127 else byte


def _scaled(value: float, scale: int, lowest: int, highest: int) -> int:
    """Return the whole part of ``value * scale`` as it is in 32 bits, kept within its limits.

    A value that came in 32 bits, times so small a number, is exact in 64: it is rounded only once.
    """
    if math.isnan(value):
        return 0
    product = min(float(highest), max(float(lowest), value * scale))
    (rounded,) = _SINGLE.unpack(_SINGLE.pack(product))
    return int(rounded)


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


def race_name(number: int) -> str:
    """Return a race's name; ``race 99`` for a number that none has."""
    return _name("races", "race", number)


def class_name(number: int) -> str:
    """Return an adventurer class's name; ``class 99`` for a number that none has."""
    return _name("classes", "class", number)


def _name(kind: str, word: str, number: int) -> str:
    names = _names()[kind]
    return names[number] if 0 <= number < len(names) else f"{word} {number}"


@cache
def _names() -> dict[str, Sequence[str]]:
    text = data_file("looks", "names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
