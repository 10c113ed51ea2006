"""Colors and sliders between the create request, the stored row and the character list.

A client sends every component as a float. Clients up to 561 have colors stored as trunc(f * 250)
in a signed byte, later ones as trunc(f * 255) in an unsigned byte; sliders are trunc(f * 100) in
a signed byte for all (eq2-login.md 4.4). A row says by `Color.signed` how it was coded, so a
character made with one family of clients is shown rightly to the other (the peer shows black).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from emu.login.ports import Color

OLD_SCALE = 250
NEW_SCALE = 255
SLIDER_SCALE = 100

SLIDERS = frozenset(
    prefix + name
    for prefix in ("", "soga_")
    for name in (
        "eye_type", "ear_type", "eye_brow_type", "cheek_type", "lip_type", "chin_type", "nose_type",
    )
)  # fmt: skip
"""Fields of CharSelectProfile that hold slider triples; all other triples are colors."""


def color_row(floats: Sequence[float], *, signed: bool) -> Color:
    """Code three floats of a create request as a color row; `signed` is the old family's way."""
    scale = OLD_SCALE if signed else NEW_SCALE
    red, green, blue = (_scaled(value, scale, 0, 255) for value in floats)
    if signed:
        red, green, blue = _signed(red), _signed(green), _signed(blue)
    return Color(red, green, blue, signed=signed)


def color_row_of_bytes(parts: Sequence[int]) -> Color:
    """Make a new-family color row of three components that are bytes already."""
    red, green, blue = (min(255, max(0, part)) for part in parts)
    return Color(red, green, blue)


def slider_row(floats: Sequence[float]) -> Color:
    """Code three floats of a create request as a slider row."""
    first, second, third = (slider_value(value) for value in floats)
    return Color(first, second, third, signed=True)


def slider_value(value: float) -> int:
    """Code one float as a slider, a signed byte."""
    return _scaled(value, SLIDER_SCALE, -128, 127)


def color_bytes(color: Color, *, old_family: bool) -> tuple[int, int, int]:
    """Return a color row as the three unsigned bytes that a family of clients shows rightly."""
    parts = (color.red & 0xFF, color.green & 0xFF, color.blue & 0xFF)
    if color.signed == old_family:
        return parts
    have, want = (OLD_SCALE, NEW_SCALE) if color.signed else (NEW_SCALE, OLD_SCALE)
    red, green, blue = (min(255, (part * want + have // 2) // have) for part in parts)
    return red, green, blue


def signed_triple(parts: Sequence[int]) -> list[int]:
    """Return bytes as the signed numbers that a ``sint8[3]`` field takes."""
    return [_signed(part & 0xFF) for part in parts]


def _scaled(value: float, scale: int, lowest: int, highest: int) -> int:
    if math.isnan(value):
        return 0
    scaled = min(float(highest), max(float(lowest), value * scale))
    return math.trunc(scaled)


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
