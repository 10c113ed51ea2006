"""A character's looks as its ghost has them."""

from __future__ import annotations

import pytest

from emu.appearance import Models
from emu.model import Color
from emu.world.actors.spawn import MODEL_FIELDS, TRIPLE_FIELDS, spawn_appearance, with_models
from tests.support.coroutines import finish
from tests.support.login.login_fakes import KnownModels
from tests.support.world.ghost_views import dialect
from tests.support.world.world_fakes import world_character


def test_race_class_and_colors_become_fields() -> None:
    row = world_character(5, colors={"skin_color": Color(125, 100, 90, signed=True)})
    looks = spawn_appearance(row)
    assert (looks["race"], looks["class"], looks["gender"]) == (9, 1, 1)
    assert looks["skin_color"] == [125, 100, 90]


def test_colors_of_old_clients_are_bytes_and_sliders_keep_their_sign() -> None:
    row = world_character(
        5,
        appearance={"race_file": "ec/pc/human/human_male", "body_size": -20},
        colors={
            "shirt_color": Color(-61, 0, 122, signed=True),
            "soga_pants_color": Color(1, 2, 3),
            "eyes2": Color(-25, 0, 50, signed=True),
        },
    )
    looks = spawn_appearance(row)
    assert looks["chest_type_color"] == [195, 0, 122]
    assert looks["soga_legs_type_color"] == [1, 2, 3]
    assert looks["eye_type"] == [-25, 0, 50]
    assert looks["body_size"] == -20
    assert "model_type" not in looks


def test_models_have_their_numbers_and_stand_in_for_alternates() -> None:
    models = Models(KnownModels({"hair": 2500, "other hair": 2600}))
    row = world_character(
        5,
        appearance={
            "race_file": "ec/pc/human/human_male",
            "hair_file": "hair",
            "soga_hair_file": "other hair",
            "face_file": "no such thing",
        },
    )
    looks = spawn_appearance(finish(with_models(row, models)))
    assert (looks["model_type"], looks["soga_model_type"]) == (134, 134)
    assert (looks["hair_type_id"], looks["soga_hair_type_id"]) == (2500, 2600)
    assert "facial_hair_type_id" not in looks


@pytest.mark.parametrize("version", [546, 561])
def test_a_ghost_takes_every_field(version: int) -> None:
    layout = dialect(version).layout("Substruct_SpawnInfoStruct")
    fields = set(layout.decode(bytes(layout.empty_size())))
    assert set(MODEL_FIELDS.values()) <= fields
    assert set(TRIPLE_FIELDS.values()) - {
        "soga_chest_type_color", "soga_chest_type_highlight_color",
        "soga_legs_type_color", "soga_legs_type_highlight_color",
    } <= fields  # fmt: skip
