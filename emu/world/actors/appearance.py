"""A character's appearance: its fields of Substruct_SpawnInfoStruct.

What is stored has the names of the create request (docs/protocol/characters.md#create); ghosts have
names of their own for the same bodies, sliders and clothes. How colors are coded is
`emu.appearance`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from emu.appearance import SLIDER_FIELDS, Models
from emu.model import WorldCharacter

MODEL_FIELDS: Final[Mapping[str, str]] = {
    "race_file": "model_type",
    "hair_file": "hair_type_id",
    "face_file": "facial_hair_type_id",
    "chest_file": "chest_type_id",
    "legs_file": "legs_type_id",
    "soga_race_file": "soga_model_type",
    "soga_hair_file": "soga_hair_type_id",
    "soga_face_file": "soga_facial_hair_type_id",
}
"""Field of the create request that names a model -> field of a ghost that holds its number."""
ALTERNATES: Final[Mapping[str, str]] = {
    "soga_model_type": "model_type",
    "soga_hair_type_id": "hair_type_id",
    "soga_facial_hair_type_id": "facial_hair_type_id",
}
"""Field of the alternate appearance -> the usual field, which replaces it where it is missing."""
_COLORS: Final[Mapping[str, str]] = {
    "shirt_color": "chest_type_color",
    "unknown_chest_color": "chest_type_highlight_color",
    "pants_color": "legs_type_color",
    "unknown_legs_color": "legs_type_highlight_color",
}
TRIPLE_FIELDS: Final[Mapping[str, str]] = {
    **SLIDER_FIELDS,
    **{
        prefix + name: prefix + field for prefix in ("", "soga_") for name, field in _COLORS.items()
    },
}
"""Sliders and colors of the create request that ghosts have under another name."""


async def with_models(character: WorldCharacter, models: Models) -> WorldCharacter:
    """Add the numbers of a character's models to its appearance, under the names of ghosts.

    Raises what the source of models raises.
    """
    paths = {
        field: str(character.appearance[name])
        for name, field in MODEL_FIELDS.items()
        if name in character.appearance
    }
    numbers = await models.numbers(paths.values())
    known = {field: numbers[path] for field, path in paths.items() if path in numbers}
    return replace(character, appearance={**character.appearance, **known})


def spawn_appearance(character: WorldCharacter) -> dict[str, Any]:
    """Return the info fields of a character's appearance; models only after `with_models`."""
    fields: dict[str, Any] = {
        "class": character.class_,
        "race": character.race,
        "gender": character.gender,
    }
    for name in (*MODEL_FIELDS.values(), "body_size"):
        if name in character.appearance:
            fields[name] = character.appearance[name]
    for name, usual in ALTERNATES.items():
        if usual in fields:
            fields.setdefault(name, fields[usual])
    for name, color in character.colors.items():
        channels = [color.red, color.green, color.blue]
        field = TRIPLE_FIELDS.get(name, name)
        fields[field] = channels if name in SLIDER_FIELDS else [value & 0xFF for value in channels]
    return fields
