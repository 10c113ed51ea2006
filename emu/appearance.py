"""Appearance: the encoding of colors and sliders, model numbers, names of races and classes.

The login server and the world share this module. A create request has floats, rows have bytes.
Colors of clients up to 561 are trunc(f * 250) in a signed byte, colors of later clients
trunc(f * 255) in an unsigned byte. Sliders and sizes are trunc(f * 100) in a signed byte
(docs/protocol/characters.md#looks).

Clients name bodies, hair and clothes by a path; a model number stands for a path. The bodies of
players are shipped (`data/looks/player-models.toml`). A `ModelSource` has the other paths, if the
table `appearances` was imported. An unknown path is sent as model 0, as in EQ2Emulator.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from emu.errors import FileFormatError
from emu.files import data_file, read_document
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
"""Fields of the create request that are three sliders, with their names in profiles and ghosts.

All other triples are colors (docs/protocol/characters.md#looks).
"""

_SINGLE = struct.Struct("<f")


def color_components(floats: Sequence[float], *, signed: bool) -> tuple[int, int, int]:
    """Return a color's three components; `signed` selects the encoding of clients up to 561."""
    scale = OLD_SCALE if signed else NEW_SCALE
    red, green, blue = (_scaled(value, scale, 0, 255) for value in floats)
    if signed:
        return signed_byte(red), signed_byte(green), signed_byte(blue)
    return red, green, blue


def slider(value: float) -> int:
    """Return a slider or a size as a number from -128 to 127."""
    return _scaled(value, SLIDER_SCALE, -128, 127)


def signed_byte(byte: int) -> int:
    """Return a byte of 0 to 255 as a number from -128 to 127."""
    return byte - 256 if byte > 127 else byte


def _scaled(value: float, scale: int, lowest: int, highest: int) -> int:
    """Return the whole part of ``value * scale`` in 32-bit arithmetic, clamped to the limits."""
    # NaN compares with nothing, so it would pass the limits below.
    if math.isnan(value):
        return 0
    # Clients and EQ2Emulator multiply in 32 bits: 0.78 * 250 is 195 there, but 194.99... in 64
    # bits. The 64-bit product of a 32-bit value and a small integer is exact, so rounding it once
    # to 32 bits gives their result.
    product = min(float(highest), max(float(lowest), value * scale))
    (rounded,) = _SINGLE.unpack(_SINGLE.pack(product))
    return int(rounded)


LARGEST_MODEL = 0xFFFF
"""The largest model number; messages have 16 bits for it."""


class Models:
    """Model numbers by path: the shipped bodies, and those of `source`."""

    __slots__ = ("_shipped", "_source")

    def __init__(self, source: ModelSource | None = None) -> None:
        self._shipped = shipped_models()
        self._source = source

    async def numbers(self, paths: Iterable[str]) -> dict[str, int]:
        """Return the numbers of the known ones of these paths. Raises what the source raises."""
        # Paths of the same model have one key; the answer has the caller's own paths.
        keys = {path: model_key(path) for path in paths}
        known = {key: self._shipped[key] for key in keys.values() if key in self._shipped}
        others = set(keys.values()) - set(known)
        # The source is asked only for what is not shipped.
        if others and self._source is not None:
            known |= await self._source.model_numbers(others)
        return {path: known[key] for path, key in keys.items() if key in known}


def model_key(path: str) -> str:
    """Return the key of a path: equal for two paths of the same model."""
    return path.strip().lower()


@cache
def shipped_models() -> Mapping[str, int]:
    """Return the model numbers of player bodies, by path."""
    return read_models(data_file("looks", "player-models.toml"))


def read_models(path: Path) -> dict[str, int]:
    """Read a file of bodies by race and gender. Raises `FileFormatError`."""
    try:
        races = read_document(path)
        return {
            f"ec/pc/{race}/{race}_{gender}": _number(number)
            for race, bodies in races.items()
            for gender, number in bodies.items()
        }
    except (ValueError, AttributeError) as error:
        raise FileFormatError(f"{path}: not a file of models: {error}") from None


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 < value <= LARGEST_MODEL:
        raise ValueError(f"{value!r} is no number of a model")
    return value


def race_name(number: int) -> str:
    """Return the name of a race; ``race 99`` for an unknown number."""
    return _name("races", "race", number)


def class_name(number: int) -> str:
    """Return the name of an adventurer class; ``class 99`` for an unknown number."""
    return _name("classes", "class", number)


def tradeskill_name(number: int) -> str:
    """Return the name of a tradeskill class; ``tradeskill 99`` for an unknown number."""
    return _name("tradeskills", "tradeskill", number)


def is_race(number: int) -> bool:
    """Return whether clients know a race of this number."""
    return 0 <= number < len(_names()["races"])


def is_class(number: int) -> bool:
    """Return whether clients know an adventurer class of this number."""
    return 0 <= number < len(_names()["classes"])


def _name(kind: str, word: str, number: int) -> str:
    names = _names()[kind]
    return names[number] if 0 <= number < len(names) else f"{word} {number}"


@cache
def _names() -> dict[str, Sequence[str]]:
    return read_document(data_file("looks", "names.toml"))
