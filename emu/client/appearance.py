"""The default look of a character that the test client creates.

Source: docs/protocol/characters.md#create.

A plain human: every field of every create layout has a value of the kind a real client sends, so
that a server's conversions have something to do. What a layout does not have is left out.
"""

from __future__ import annotations

from emu.structs import Layout

_RACE_FILE = "ec/pc/human/human_male"
_SKIN = [0.78, 0.60, 0.49]
_HAIR = [0.32, 0.20, 0.10]
_EYES = [0.20, 0.35, 0.55]
_CLOTH = [0.45, 0.45, 0.40]
_SLIDER = [0.25, -0.50, 0.75]
_COMMON: dict[str, object] = {
    "race": 9,
    "gender": 1,
    "deity": 0,
    "class": 25,
    "level": 1,
    "starting_zone": 1,
    "version": 4,
}
_LOOK: dict[str, object] = {
    "race_file": _RACE_FILE,
    "skin_color": _SKIN,
    "skin_color2": _SKIN,
    "unknown_skin_color2": _SKIN,
    "eye_color": _EYES,
    "hair_color1": _HAIR,
    "hair_color2": _HAIR,
    "hair_highlight": _HAIR,
    "hair_file": "accessories/hair/hair_01",
    "hair_type_color": _HAIR,
    "hair_type_highlight_color": _HAIR,
    "face_file": "accessories/hair/face_01",
    "hair_face_color": _HAIR,
    "hair_face_highlight_color": _HAIR,
    "wing_file": "",
    "chest_file": "accessories/chest/shirt_01",
    "shirt_color": _CLOTH,
    "unknown_chest_color": _CLOTH,
    "legs_file": "accessories/legs/pants_01",
    "pants_color": _CLOTH,
    "unknown_legs_color": _CLOTH,
    "unknown9": _CLOTH,
    "eyes2": _SLIDER,
    "ears": _SLIDER,
    "eye_brows": _SLIDER,
    "cheeks": _SLIDER,
    "lips": _SLIDER,
    "chin": _SLIDER,
    "nose": _SLIDER,
    "body_size": 0.5,
    "body_age": 0.25,
}
_SOGA = {f"soga_{name}": value for name, value in _LOOK.items()} | {"soga_version": 4}
"""The alternate look that clients from 562 send as well."""


def field_names(layout: Layout) -> set[str]:
    """Return the names of the outermost fields of a layout."""
    return {field.name for field in layout.definition.fields}


def create_fields(layout: Layout, world_id: int, name: str) -> dict[str, object]:
    """Return the fields of a create request for a character of this name on this world."""
    have = field_names(layout)
    known = {key: value for key, value in (_COMMON | _LOOK | _SOGA).items() if key in have}
    return known | {"server_id": world_id, "name": name}
