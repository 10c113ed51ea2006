"""Fields of spawns that are set by name, clothes, mounts and other shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.looks import (
    FIELDS,
    copy_looks,
    number_in,
    paint_mount,
    ride,
    set_field,
    take_shape,
    three_in,
    wear,
)
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.files import check_appearance
from emu.world_stream.movement import Position


def spawn(kind: SpawnKind = SpawnKind.NPC) -> Spawn:
    return Spawn(1, kind, "Guard", Position(1.0, 2.0, 3.0, 90.0))


@given(st.sampled_from(sorted(FIELDS)), st.text(max_size=80))
def test_no_value_breaks_a_client(name: str, value: str) -> None:
    guard = spawn()
    set_field(guard, name, value)
    check_appearance(guard.appearance)
    check_appearance({
        "name": guard.name, "prefix": guard.prefix, "suffix": guard.suffix, "guild": guard.guild,
        "last_name": guard.last_name, "level": guard.level, "visual_state": guard.visual_state,
    })  # fmt: skip


@pytest.mark.parametrize("name", sorted(FIELDS))
@pytest.mark.parametrize("value", ["-99999999999 0 0", "99999999999 999 -999", "1 2 3"])
def test_the_ends_of_every_range_fit(name: str, value: str) -> None:
    guard = spawn()
    assert set_field(guard, name, value) or name in ("hp", "power")
    check_appearance(guard.appearance)


def test_values_of_fields() -> None:
    guard = spawn()
    for name, value in (
        ("level", "12"), ("size", "40.7"), ("name", "Rat"), ("skin_color", "10 20 300"),
        ("cheek_type", "-5 6 7"), ("hair_type", "1112"), ("attackable", "1"), ("hp", "180"),
        ("visual_state", "540"), ("heading", "-90"), ("sub_title", "of Qeynos"), ("LEVEL", "13"),
    ):  # fmt: skip
        assert set_field(guard, name, value)
    assert (guard.level, guard.size, guard.name, guard.guild) == (13, 40, "Rat", "of Qeynos")
    assert guard.appearance["skin_color"] == [10, 20, 255]
    assert guard.appearance["cheek_type"] == [-5, 6, 7]
    assert guard.appearance["hair_type_id"] == 1112
    assert (guard.attackable, guard.visual_state, guard.position.heading) == (True, 540, 270.0)
    assert (guard.sheet.health.current, guard.sheet.health.most) == (180, 180)


def test_unknown_fields_and_empty_values_do_nothing() -> None:
    guard = spawn()
    assert not set_field(guard, "hair_face_highlight_color", "1 2 3")
    assert not set_field(guard, "name", "")
    assert not set_field(guard, "skin_color", "12")
    assert guard.name == "Guard"


def test_players_change_only_their_looks() -> None:
    player = spawn(SpawnKind.PLAYER)
    assert not set_field(player, "name", "King")
    assert not set_field(player, "level", "90")
    assert set_field(player, "hair_type", "5")


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), (" -3.5x", -3.5), ("", 0), ("x", 0), ("1e5", 1)]
)
def test_numbers_are_read_as_c_reads_them(text: str, number: float) -> None:
    assert number_in(text) == number


def test_three_numbers() -> None:
    assert three_in("1 2 3 4") == [1, 2, 3]
    assert three_in("1,2,3") is None


def test_clothes() -> None:
    guard = spawn()
    assert wear(guard, 2, 5460, (1, 2, 300), (4, 5, 6))
    assert guard.appearance["equipment_types"] == [0, 0, 5460, *[0] * 22]
    assert guard.appearance["equipment_colors"][2] == [1, 2, 255]
    assert guard.appearance["equipment_highlights"][2] == [4, 5, 6]
    assert wear(guard, 2, 0, (0, 0, 0), (0, 0, 0))
    assert not any(guard.appearance["equipment_types"])
    check_appearance(guard.appearance)
    assert not wear(guard, 25, 1, (0, 0, 0), (0, 0, 0))
    assert not wear(spawn(SpawnKind.OBJECT), 2, 1, (0, 0, 0), (0, 0, 0))


def test_mounts() -> None:
    guard = spawn()
    paint_mount(guard, (1, 2, 3), (4, 5, 6))
    assert "mount_color" not in guard.appearance
    ride(guard, 3400)
    assert guard.appearance["mount_color"] == [255, 255, 255]
    paint_mount(guard, (1, 2, 3), (4, 5, 6))
    assert guard.appearance["mount_saddle_color"] == [4, 5, 6]
    check_appearance(guard.appearance)
    ride(guard, 0)
    assert guard.appearance == {}


def test_an_illusion_ends_with_the_own_model() -> None:
    guard = spawn()
    guard.appearance = {"model_type": 130}
    take_shape(guard, 0)
    take_shape(guard, 40)
    take_shape(guard, 50)
    assert guard.appearance["model_type"] == 50
    take_shape(guard, 0)
    assert guard.appearance["model_type"] == 130


def test_another_ones_looks() -> None:
    guard, other = spawn(), spawn()
    guard.appearance = {"race": 3, "model_type": 1}
    other.appearance = {"race": 9, "model_type": 2, "skin_color": [1, 2, 3]}
    other.size = 50
    copy_looks(guard, other)
    assert guard.appearance == {"race": 3, "model_type": 2, "skin_color": [1, 2, 3]}
    assert guard.size == 50
