"""Colors and sliders between the create request, the stored row and the character list.

The coding itself is in `emu.looks.coding`. A row says by `Color.signed` how it was coded, so a
character made with one family of clients is shown rightly to the other (EQ2Emulator shows black).
"""

from __future__ import annotations

from collections.abc import Sequence

from emu.looks.coding import NEW_SCALE, OLD_SCALE, color_parts, slider
from emu.model import Color


def color_row(floats: Sequence[float], *, signed: bool) -> Color:
    """Code three floats of a create request as a color row; `signed` is the old family's way."""
    red, green, blue = color_parts(floats, signed=signed)
    return Color(red, green, blue, signed=signed)


def color_row_of_bytes(parts: Sequence[int]) -> Color:
    """Make a new-family color row of three components that are bytes already."""
    red, green, blue = (min(255, max(0, part)) for part in parts)
    return Color(red, green, blue)


def slider_row(floats: Sequence[float]) -> Color:
    """Code three floats of a create request as a slider row."""
    first, second, third = (slider(value) for value in floats)
    return Color(first, second, third, signed=True)


def color_bytes(color: Color, *, old_family: bool) -> tuple[int, int, int]:
    """Return a color row as the three unsigned bytes that a family of clients shows rightly."""
    parts = (color.red & 0xFF, color.green & 0xFF, color.blue & 0xFF)
    if color.signed == old_family:
        return parts
    have, want = (OLD_SCALE, NEW_SCALE) if color.signed else (NEW_SCALE, OLD_SCALE)
    red, green, blue = [min(255, (part * want + have // 2) // have) for part in parts]
    return red, green, blue


def signed_triple(parts: Sequence[int]) -> list[int]:
    """Return bytes as the signed numbers that a ``sint8[3]`` field takes."""
    return [((part + 128) & 0xFF) - 128 for part in parts]
