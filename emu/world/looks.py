"""What a create request says about a character's looks, coded as the world stores it.

Every component comes as a float. Sliders and sizes are kept as trunc(f * 100) in a signed byte;
colors of clients up to a version as trunc(f * 250) cast to a signed byte, of later ones as
trunc(f * 255) unsigned (eq2-login.md 4.4). Both codings are kept: a row says which it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from emu.login.ports import Color

SLIDERS = frozenset(
    prefix + name
    for prefix in ("", "soga_")
    for name in ("eyes2", "ears", "eye_brows", "cheeks", "lips", "chin", "nose")
)
"""Fields of the create request that are three sliders, not a color."""
SIZES = frozenset({"body_size", "body_age", "soga_body_size", "soga_body_age"})
MODEL_SUFFIX = "_file"


@dataclass(frozen=True, slots=True)
class Looks:
    """Model files and sizes by field name, and rows of colors and sliders by field name."""

    appearance: Mapping[str, int | str] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)


def read_looks(request: Mapping[str, Any], *, signed: bool) -> Looks:
    """Take the looks out of a decoded create request; `signed` is the old clients' color coding.

    Every triple of floats is a color or three sliders; triples of whole numbers are neither.
    """
    appearance: dict[str, int | str] = {}
    colors: dict[str, Color] = {}
    for name, value in request.items():
        if name in SLIDERS:
            first, second, third = (_slider(part) for part in value)
            colors[name] = Color(first, second, third, signed=True)
        elif name in SIZES:
            appearance[name] = _slider(value)
        elif name.endswith(MODEL_SUFFIX):
            if value:
                appearance[name] = str(value)
        elif isinstance(value, list) and len(value) == 3 and isinstance(value[0], float):
            colors[name] = _color(value, signed=signed)
    return Looks(appearance, colors)


def _color(parts: Sequence[float], *, signed: bool) -> Color:
    scale = 250 if signed else 255
    red, green, blue = (_scaled(part, scale, 0, 255) for part in parts)
    if signed:
        return Color(_signed(red), _signed(green), _signed(blue), signed=True)
    return Color(red, green, blue)


def _slider(value: float) -> int:
    return _scaled(value, 100, -128, 127)


def _scaled(value: float, scale: int, lowest: int, highest: int) -> int:
    if math.isnan(value):
        return 0
    return math.trunc(min(float(highest), max(float(lowest), value * scale)))


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
