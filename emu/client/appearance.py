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
    "hair_file": "accessories/hair/hair_01",
    "face_file": "accessories/hair/face_01",
    "wing_file": "",
    "chest_file": "accessories/chest/shirt_01",
    "legs_file": "accessories/legs/pants_01",
    "eye_color": _EYES,
    "body_size": 0.5,
    "body_age": 0.25,
    **dict.fromkeys(("skin_color", "skin_color2", "unknown_skin_color2"), _SKIN),
    **dict.fromkeys(
        ("hair_color1", "hair_color2", "hair_highlight", "hair_type_color",
         "hair_type_highlight_color", "hair_face_color", "hair_face_highlight_color"),
        _HAIR,
    ),
    **dict.fromkeys(
        ("shirt_color", "unknown_chest_color", "pants_color", "unknown_legs_color", "unknown9"),
        _CLOTH,
    ),
    **dict.fromkeys(
        ("eyes2", "ears", "eye_brows", "cheeks", "lips", "chin", "nose"), _SLIDER
    ),
}  # fmt: skip
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
