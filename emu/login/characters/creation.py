"""Create requests: reading them and making rows of them.

Owns what becomes of each field of a create request (docs/protocol/characters.md#create,
docs/protocol/characters.md#looks). Sends nothing and stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emu.dialects import Dialect
from emu.dialects.text import read_name
from emu.errors import MalformedMessage
from emu.login.characters.colors import color_row, color_row_of_bytes, slider_row
from emu.looks.coding import SLIDER_FIELDS, slider
from emu.model import Character, Color
from emu.times import Moment

_MODEL_FILES = {
    "race_file": "race_type",
    "hair_file": "hair_type",
    "face_file": "hair_face_type",
    "wing_file": "wing_type",
    "chest_file": "chest_type",
    "legs_file": "legs_type",
}
MODEL_FIELDS: Mapping[str, str] = {
    prefix + name: prefix + model
    for prefix in ("", "soga_")
    for name, model in _MODEL_FILES.items()
}
"""Model path fields of the request -> the profile field that holds the model's number."""


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """What the login service keeps of a create request; the world gets the client's own bytes."""

    world_id: int
    raw_name: str
    race: int
    class_: int
    gender: int
    deity: int
    version: int
    appearance: Mapping[str, int] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    """Profile field -> path of the model whose number belongs there."""

    @property
    def name(self) -> str:
        """The wanted name."""
        return read_name(self.raw_name)

    def with_models(self, numbers: Mapping[str, int]) -> CreateRequest:
        """Return the request with the numbers of its models; `numbers` has those that are known."""
        known = {name: numbers[path] for name, path in self.models.items() if path in numbers}
        return replace(self, appearance={**self.appearance, **known})

    def character(self, account_id: int, char_id: int, moment: Moment) -> Character:
        """Return the row of a character that its world has just made and nobody has played."""
        return Character(
            id=0,
            account_id=account_id,
            world_id=self.world_id,
            char_id=char_id,
            name=self.name,
            race=self.race,
            class_=self.class_,
            gender=self.gender,
            deity=self.deity,
            created=moment,
            client_version=self.version,
            appearance=self.appearance,
            colors=self.colors,
        )


def read_create_request(payload: bytes, dialect: Dialect) -> CreateRequest:
    """Read a create request in any of its layouts.

    Raises `MalformedMessage` when the fields before the appearance cannot be read.
    """
    values = _read(payload, dialect)
    return CreateRequest(
        world_id=values["server_id"],
        raw_name=values["name"],
        race=values["race"],
        class_=values["class"],
        gender=values["gender"],
        deity=values["deity"],
        version=dialect.version,
        appearance={"body_size": slider(values.get("body_size", 0.0))},
        colors=_colors(values, signed=dialect.rules.signed_colors),
        models={
            field: read_name(values[name])
            for name, field in MODEL_FIELDS.items()
            if values.get(name)
        },
    )


def _read(payload: bytes, dialect: Dialect) -> dict[str, Any]:
    """Read a request with the layout that fits it to the last byte, or else with the usual one."""
    if dialect.rules.bare_create_request:
        try:
            return dialect.layout("CreateCharacterBare").decode(payload)
        except MalformedMessage:
            pass
    return dialect.layout("CreateCharacter").decode_short(payload)


def _colors(values: Mapping[str, Any], *, signed: bool) -> dict[str, Color]:
    colors: dict[str, Color] = {}
    for name, value in values.items():
        if name in SLIDER_FIELDS:
            colors[SLIDER_FIELDS[name]] = slider_row(value)
        elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3:
            whole = all(isinstance(part, int) for part in value)
            colors[name] = color_row_of_bytes(value) if whole else color_row(value, signed=signed)
    return colors
