"""How a character looks as a ghost: the fields of Substruct_SpawnInfoStruct for its looks.

Which body a race and gender have, and what color rows become, is `emu.looks`' business.
"""

from __future__ import annotations

from typing import Any

from emu.model import WorldCharacter


def spawn_looks(character: WorldCharacter) -> dict[str, Any]:
    """Return the info fields that a character's looks set."""
    looks: dict[str, Any] = {
        "class": character.class_,
        "race": character.race,
        "gender": character.gender,
    }
    looks |= {
        name: [color.red, color.green, color.blue] for name, color in character.colors.items()
    }
    return looks
