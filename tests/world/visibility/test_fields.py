"""Values of a ghost that follow from numbers."""

from __future__ import annotations

from typing import Any

import pytest

from emu.world.actors.spawn import Footer, Spawn, SpawnKind
from emu.world.visibility.fields import heading_units, info_fields, position_fields
from emu.world.visibility.forms import GhostForm
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import form


@pytest.mark.parametrize(("degrees", "units"), [(92, -5632), (0, -11520), (180.5, 32), (270, 5760)])
def test_headings_count_from_the_opposite(degrees: float, units: int) -> None:
    """docs/protocol/world/spawns.md#units."""
    assert heading_units(degrees) == units


@pytest.mark.parametrize(
    ("activity", "state"), [(128, 16512), (0, 1024), (1024, 1024), (6336, 16512)]
)
def test_state_follows_the_activity(activity: int, state: int) -> None:
    """docs/protocol/world/spawns.md#units."""
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    player.move(player.position, activity=activity)
    assert position_fields(player)["pos_state"] == state


def test_speeds_are_cut_to_what_their_fields_hold() -> None:
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    player.move(player.position, speed=4.5, side_speed=1e9, vert_speed=-1e9)
    fields = position_fields(player)
    assert fields["pos_speed"] == 1152
    assert (fields["pos_side_speed"], fields["pos_vert_speed"]) == (0x7FFF, -0x8000)


def test_what_hovers_has_a_mode_of_its_own() -> None:
    """docs/protocol/world/spawns.md#position."""
    fish = Spawn(1, SpawnKind.NPC, "a fish", Position(0, 0, 0), position_state=49156)
    assert position_fields(fish)["pos_state"] == 49156
    assert position_fields(fish)["pos_movement_mode"] == 2
    crab = Spawn(1, SpawnKind.NPC, "a crab", Position(0, 0, 0), position_state=16516)
    assert "pos_movement_mode" not in position_fields(crab)


def test_a_sign_may_take_place_and_heading_from_the_model() -> None:
    """docs/protocol/world/spawns.md#position."""
    footer = Footer(7, 1.0, 2.0, 3.0, with_heading=False, with_place=False)
    sign = Spawn(1, SpawnKind.SIGN, "a sign", Position(5, 6, 7, 90.0), footer=footer)
    fields = position_fields(sign)
    assert (fields["pos_heading1"], fields["pos_x"], fields["pos_y"]) == (0, 0.0, 0.0)
    assert "pos_sign" not in fields
    sign.footer = footer._replace(with_heading=True, with_place=True)
    fields = position_fields(sign)
    assert (fields["pos_heading1"], fields["pos_x"], fields["pos_sign"]) == (-5760, 5, 3)


@pytest.mark.parametrize(
    ("values", "version", "icon"),
    [({}, 1096, 4), ({}, 1208, 8), ({"attackable": True}, 1208, 0), ({"hand_icon": 1}, 1096, 6),
     ({"icon": 38}, 1096, 38), ({"icon": 38}, 1208, 76), ({"icon": 28}, 1208, 28)],
)  # fmt: skip
def test_icons_have_moved(values: dict[str, Any], version: int, icon: int) -> None:
    """docs/protocol/world/newer.md#info; 4, 8, 38 and 76 are recorded."""
    spawn = Spawn(1, SpawnKind.NPC, "a guard", Position(0, 0, 0), **values)
    assert info_fields(spawn, form(version))["icon"] == icon


@pytest.mark.parametrize(
    ("kind", "values", "status"),
    [(SpawnKind.GROUND, {}, 0x402), (SpawnKind.OBJECT, {}, 0x800002),
     (SpawnKind.OBJECT, {"hand_icon": 1}, 0x800402), (SpawnKind.WIDGET, {"icon": 28}, 0x801000),
     (SpawnKind.NPC, {}, 2)],
)  # fmt: skip
def test_the_activity_says_what_it_is(kind: SpawnKind, values: dict[str, Any], status: int) -> None:
    """docs/protocol/world/spawns.md#activity; all but the transport are recorded."""
    spawn = Spawn(1, kind, "it", Position(0, 0, 0), **values)
    assert info_fields(spawn, form(1208))["activity_status"] == status


def test_a_version_without_a_model_is_sent_its_stand_in() -> None:
    """docs/guides/content.md#stand-ins."""
    goblin = Spawn(1, SpawnKind.NPC, "a goblin", Position(0, 0, 0), appearance={"model_type": 7039})
    one = form(561)
    old = GhostForm(one.dialect, one.rules, {7039: 145})
    assert info_fields(goblin, one)["model_type"] == 7039
    shown = info_fields(goblin, old)
    assert (shown["model_type"], shown["soga_model_type"]) == (145, 145)
    goblin.set_info(appearance={"model_type": 40, "soga_model_type": 7039})
    shown = info_fields(goblin, old)
    assert (shown["model_type"], shown["soga_model_type"]) == (40, 145)
