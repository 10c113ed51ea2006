"""Values of a ghost that follow from numbers."""

from __future__ import annotations

from typing import Any

import pytest

from emu.world.actors.sheet import EffectIcon
from emu.world.actors.spawn import Footer, Spawn, SpawnKind, Verb
from emu.world.visibility.fields import (
    followed,
    footer_of,
    header_fields,
    heading_units,
    info_fields,
    position_fields,
    shows_arrow,
    visibility_fields,
)
from emu.world.visibility.forms import GhostForm
from emu.world_stream.ghosts import FOOTER
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
    ("kind", "values", "version", "icon"),
    [(SpawnKind.PLAYER, {}, 1096, 0x44), (SpawnKind.PLAYER, {}, 1208, 0x88),
     (SpawnKind.NPC, {"attackable": True}, 1096, 0x40),
     (SpawnKind.NPC, {"attackable": True}, 1208, 0x80)],
)  # fmt: skip
def test_who_fights_has_a_bit_more_in_its_icon(
    kind: SpawnKind, values: dict[str, Any], version: int, icon: int
) -> None:
    """Recorded in fight-1096-melee-a and fight-1208-melee-a: 4 to 44h and 0 to 40h at 1096."""
    spawn = Spawn(1, kind, "a fighter", Position(0, 0, 0), **values)
    before = info_fields(spawn, form(version))["icon"]
    spawn.set_word("combat", on=True)
    assert info_fields(spawn, form(version))["icon"] == icon
    spawn.set_word("combat", on=False)
    assert info_fields(spawn, form(version))["icon"] == before


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


def npc(**values: Any) -> Spawn:
    return Spawn(1, SpawnKind.NPC, "a guard", Position(1.0, 2.0, 3.0), **values)


def test_a_creature_shows_the_next_two_points_of_its_walk() -> None:
    """docs/protocol/world/spawns.md#walks."""
    guard = npc()
    assert "pos_x3" not in position_fields(guard)
    guard.ahead = (Position(2.0, 2.5, 1.0), Position(4.0, 2.0, 3.0))
    fields = position_fields(guard)
    assert [fields[f"pos_next_{axis}"] for axis in "xyz"] == [2.0, 2.5, 1.0]
    assert [fields[f"pos_{axis}3"] for axis in "xyz"] == [4.0, 2.0, 3.0]
    assert [fields[f"pos_dest_loc_offset[{axis}]"] for axis in range(3)] == [32, 16, -64]
    assert [fields[f"pos_dest_loc_offset2[{axis}]"] for axis in range(3)] == [96, 0, 0]
    guard.ahead, guard.hovers = (), True
    fields = position_fields(guard)
    assert [fields[f"pos_{axis}3"] for axis in "xyz"] == [1.0, 2.0, 3.0]
    assert fields["pos_movement_mode"] == 2


def test_what_does_not_live_has_a_state_of_its_own() -> None:
    """docs/protocol/world/spawns.md#position."""
    found = {}
    for kind in (SpawnKind.OBJECT, SpawnKind.GROUND, SpawnKind.SIGN, SpawnKind.WIDGET):
        fields = position_fields(Spawn(1, kind, "it", Position(0, 0, 0)), thing_mode=7)
        found[kind] = fields["pos_state"], fields["pos_move_type"]
        assert fields["pos_movement_mode"] == 7
        assert not fields.keys() & {"pos_speed", "pos_swim_speed_modifier", "pos_sign"}
    assert found == {
        SpawnKind.OBJECT: (1, 0), SpawnKind.GROUND: (129, 16), SpawnKind.SIGN: (1, 11),
        SpawnKind.WIDGET: (1, 11),
    }  # fmt: skip
    placed = Spawn(1, SpawnKind.OBJECT, "it", Position(0, 0, 0), position_state=5)
    assert position_fields(placed)["pos_state"] == 5


def test_only_players_have_a_speed_of_swimming() -> None:
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0), size=32)
    fields = position_fields(player, size_unit=8)
    assert (fields["pos_swim_speed_modifier"], fields["pos_move_type"]) == (200, 25)
    assert (fields["pos_size"], fields["pos_size_ratio"]) == (4.0, 1.0)
    assert position_fields(player)["pos_size"] == 32
    assert "pos_swim_speed_modifier" not in position_fields(npc())


def test_a_heading_of_a_client_is_within_a_circle() -> None:
    """docs/protocol/world/recorded.md#own-ghost."""
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0, 92.0))
    assert position_fields(player)["pos_heading1"] == -5632
    player.is_led_by_client = True
    assert position_fields(player)["pos_heading1"] == 360 * 64 - 5632


@pytest.mark.parametrize(
    ("kind", "values", "own", "flags"),
    [
        (SpawnKind.NPC, {}, False, 4 | 16 | 32),
        (SpawnKind.NPC, {"attackable": True}, False, 4 | 16 | 32 | 64),
        (SpawnKind.NPC, {"targetable": False}, False, 16 | 32),
        (SpawnKind.NPC, {"show_name": False}, False, 4 | 32),
        (SpawnKind.NPC, {"show_level": False}, False, 4 | 16),
        (SpawnKind.NPC, {"verbs": (Verb("Hail", 10.0, "hail"),)}, False, 2 | 4 | 16 | 32),
        (SpawnKind.NPC, {"show_commands": True}, False, 2 | 4 | 16 | 32),
        (SpawnKind.PLAYER, {}, True, 1 | 2 | 4 | 16 | 32),
        (SpawnKind.PLAYER, {}, False, 2 | 4 | 16 | 32),
        (SpawnKind.PLAYER, {"show_commands": False}, False, 4 | 16 | 32),
        (SpawnKind.WIDGET, {}, False, 4 | 16),
    ],
)
def test_visibility_is_a_sum_of_bits(
    kind: SpawnKind, values: dict[str, Any], own: bool, flags: int
) -> None:
    """docs/protocol/world/spawns.md#vis."""
    spawn = Spawn(1, kind, "it", Position(0, 0, 0), **values)
    fields = visibility_fields(spawn, form(1208), own=own)
    assert fields["vis_flags"] == flags
    assert fields["attackable"] == fields["attackable_icon"] == int(flags & 64 > 0)
    assert (fields["targetable"], fields["show_name"]) == (int(flags & 4 > 0), int(flags & 16 > 0))
    assert visibility_fields(spawn, form(546), own=own)["vis_flags"] == 1


def test_an_arrow_is_drawn_at_what_is_targeted_named_or_has_a_level() -> None:
    hidden = {"targetable": False, "show_name": False}
    shown = [
        npc(**hidden), npc(**hidden, show_level=False),
        npc(targetable=False, show_level=False), npc(show_name=False, show_level=False),
        Spawn(1, SpawnKind.GROUND, "ore", Position(0, 0, 0)),
    ]  # fmt: skip
    assert [shows_arrow(one) for one in shown] == [True, False, True, True, False]
    arrows = ["arrow_color" in visibility_fields(one, form(561), own=False) for one in shown]
    assert arrows == [True, False, True, True, False]


def test_vitals_are_those_of_the_living() -> None:
    """docs/protocol/world/spawns.md#info: clients invert the health."""
    guard = npc(level=7, difficulty=6, heroic=2)
    guard.set_info(hp_percent=75, power_percent=40)
    fields = info_fields(guard, form(1208))
    assert (fields["hp_remaining"], fields["power_percent"]) == (100 ^ 75, 40)
    assert (fields["level"], fields["effective_level"]) == (7, 7)
    assert (fields["difficulty"], fields["heroic_flag"], fields["hide_health"]) == (6, 2, 0)
    thing = info_fields(Spawn(1, SpawnKind.OBJECT, "it", Position(0, 0, 0)), form(1208))
    assert not thing.keys() & {"hp_remaining", "level", "heroic_flag"}
    assert (thing["skin_color"], thing["hide_health"]) == ([255, 255, 255], 1)
    assert "skin_color" not in fields


def test_icons_of_spells_are_inverted() -> None:
    """Recorded: fight-546-priest-a."""
    guard = npc()
    assert "spell_effects" not in info_fields(guard, form(546))
    guard.set_info(effect_icons=(EffectIcon(110012, 158, 316, 2), EffectIcon(1, 0xFFFF, 0xFFFF)))
    assert info_fields(guard, form(546))["spell_effects"] == [
        {"spell_id": 0xFFFFFFFF - 110012, "spell_icon": 0xFFFF - 158,
         "spell_icon_backdrop": 316 + 0x8000, "spell_triggercount": 2},
        {"spell_id": 0xFFFFFFFE, "spell_icon": 0, "spell_icon_backdrop": 0x7FFF,
         "spell_triggercount": 0},
    ]  # fmt: skip


def test_the_header_lists_two_verbs_or_more() -> None:
    hail, ask = Verb("Hail", 10.0, "hail"), Verb("Ask", 5.0, "ask", "too far")
    one = header_fields(npc(verbs=(hail,)), form(546), 7, 1234)
    assert (one["index"], one["spawn_id"], one["time_stamp"], one["crc"]) == (7, 7, 1234, 1)
    assert (one["command_list"], one["command_list_array"]) == (0, [])
    assert (one["default_command"], one["max_distance"]) in [("Hail", 10.0), ("hail", 10.0)]
    two = header_fields(npc(verbs=(hail, ask)), form(546), 7, 1234)
    assert two["command_list"] == 2
    assert two["command_list_array"] == [
        {"command_list_name": "Hail", "command_list_max_distance": 10.0,
         "command_list_command": "hail"},
        {"command_list_name": "Ask", "command_list_max_distance": 5.0,
         "command_list_command": "ask", "command_list_has_error_text": 1,
         "command_list_error": "too far"},
    ]  # fmt: skip
    none = header_fields(npc(), form(546), 7, 1234)
    assert (none["default_command"], none["max_distance"]) == ("", 0.0)


def test_later_clients_read_the_names_of_every_spawn_in_a_footer() -> None:
    """docs/protocol/world/newer.md#footer."""
    later, guard = form(1208), npc()
    layout = later.dialect.layout(FOOTER)
    kinds = []
    for spawn in (npc(attackable=True), guard, Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0)),
                  Spawn(1, SpawnKind.OBJECT, "it", Position(0, 0, 0))):  # fmt: skip
        fields = layout.decode(footer_of(spawn, later))
        kinds.append((fields["name"], fields["is_player"], fields["spawn_type"]))
    assert kinds == [("a guard", 0, 3), ("a guard", 0, 1), ("A", 1, 1), ("it", 0, 6)]
    assert footer_of(guard, form(561)) == b""
    widget = Spawn(1, SpawnKind.WIDGET, "a gate", Position(0, 0, 0))
    assert set(footer_of(widget, form(561))) == {0}
    widget.footer = Footer(7, 1.0, 2.0, 3.0)
    assert footer_of(widget, form(561)).startswith(bytes.fromhex("07000000 0000803f"))


def test_the_index_of_what_is_followed_counts_from_the_end_for_some() -> None:
    """docs/protocol/world/commands.md#follow."""
    assert [followed(5, form(version)) for version in (546, 561)] == [5, 5]
    later = {followed(5, form(version)) for version in (1096, 1208, 60114)}
    assert later == {0xFFFFFFFF - 5}
