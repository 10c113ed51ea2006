"""How the parts of a character's looks are coded: floats in requests, bytes in rows.

A client sends every component as a float. Colors of clients up to 561 are kept as trunc(f * 250)
in a signed byte, of later ones as trunc(f * 255) in an unsigned byte; sliders and sizes as
trunc(f * 100) in a signed byte for all (docs/protocol/characters.md#looks). The product is one of
32 bits, as clients and EQ2Emulator have it: 0.78 is 195 of 250, which 64 bits would make 194.
Numbers only: login server and world each make their own rows of them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Final

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
