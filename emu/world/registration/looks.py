"""What a create request says about a character's looks, coded as the world stores it.

The coding itself is in `emu.looks.coding`; both codings are kept, and a row says which it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.looks.coding import SLIDER_FIELDS, color_parts, slider
from emu.model import Color

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
        if name in SLIDER_FIELDS:
            first, second, third = (slider(part) for part in value)
            colors[name] = Color(first, second, third, signed=True)
        elif name in SIZES:
            appearance[name] = slider(value)
        elif name.endswith(MODEL_SUFFIX):
            if value:
                appearance[name] = str(value)
        elif isinstance(value, list) and len(value) == 3 and isinstance(value[0], float):
            colors[name] = Color(*color_parts(value, signed=signed), signed=signed)
    return Looks(appearance, colors)
