"""The stored form of a character's appearance: one JSON text in its row.

Both tables of characters have it, in their column ``appearance``: models and sizes by field, colors
by field as ``[red, green, blue, signed]``, and the login server's list also the equipment as
``[slot, model, red, green, blue, highlight red, green, blue]``. One text instead of rows of their
own, because a character list is then one statement on every database engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from emu.model import Color, Equipment


class Appearance(NamedTuple):
    """Models, colors and equipment of a character."""

    fields: Mapping[str, Any]
    """Models and sizes, by field."""
    colors: Mapping[str, Color]
    equipment: tuple[Equipment, ...]
    """By slot."""


def appearance_text(
    fields: Mapping[str, Any], colors: Mapping[str, Color], equipment: Sequence[Equipment] = ()
) -> str:
    """Return the text of an appearance. It is ASCII: every engine can store it, whatever is in it.

    Of two items in one slot, the later one is kept.
    """
    kinds: dict[str, Any] = {
        "appearance": dict(fields),
        "colors": {
            name: [color.red, color.green, color.blue, int(color.signed)]
            for name, color in colors.items()
        },
    }
    if equipment:
        slots = {item.slot: item for item in equipment}
        kinds["equipment"] = [
            [slot, slots[slot].model, *slots[slot].color, *slots[slot].highlight]
            for slot in sorted(slots)
        ]
    return json.dumps(kinds, separators=(",", ":"))


def read_appearance(text: str) -> Appearance:
    """Return the appearance that a text contains; never raise.

    A value of a wrong form is returned as one that `emu.usable` reports and replaces.
    """
    try:
        kinds = json.loads(text)
    except (ValueError, RecursionError):
        kinds = None
    if not isinstance(kinds, dict):
        return Appearance({"text": [text]}, {}, ())
    fields, colors = kinds.get("appearance", {}), kinds.get("colors", {})
    items = kinds.get("equipment", [])
    wrong: dict[str, Any] = {}
    if not isinstance(fields, dict):
        fields, wrong["fields"] = {}, [fields]
    if not isinstance(colors, dict):
        colors, wrong["colors"] = {}, [colors]
    if not isinstance(items, list):
        items, wrong["equipment"] = [], [items]
    return Appearance(
        fields | wrong if wrong else fields,
        {name: _color(parts) for name, parts in colors.items()},
        tuple([_equipment(parts) for parts in items]),
    )


def _color(parts: Any) -> Color:
    try:
        red, green, blue, signed = parts
    except (TypeError, ValueError):
        return Color([parts], 0, 0)  # type: ignore[arg-type]  # unusable, and reported as it is
    return Color(red, green, blue, bool(signed))


def _equipment(parts: Any) -> Equipment:
    try:
        slot, model, red, green, blue, *highlight = parts
        high_red, high_green, high_blue = highlight
    except (TypeError, ValueError):
        return Equipment([parts], 0)  # type: ignore[arg-type]  # unusable, and reported as it is
    return Equipment(slot, model, (red, green, blue), (high_red, high_green, high_blue))
