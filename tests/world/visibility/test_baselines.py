"""What a spawn looks like on the wire, against what EQ2Emulator was recorded to send."""

from __future__ import annotations

import pytest

from emu.structs.packed import unpack_stream, xor
from emu.world.actors.spawn import Footer, GhostPart, Spawn, SpawnKind, Verb
from emu.world.visibility.baselines import BaselineCache, GhostBaseline
from emu.world.visibility.fields import info_fields, position_fields, visibility_fields
from emu.world.visibility.forms import GhostForm
from emu.world_stream.ghosts import PARTS
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import View, form

GUARD = {
    "pos_grid_id": 1234, "pos_heading1": -5760, "pos_heading2": -5760, "pos_state": 16512,
    "pos_move_type": 25, "pos_x": 5.5, "pos_y": -7.5, "pos_z": 240.25,
    "pos_collision_radius": 32, "pos_size": 32, "face_actor_id": 0xFFFFFFFF,
}  # fmt: skip
"""docs/protocol/world/recorded.md#own-ghost, the guard of the recorded zone; its height is the true
one here.
"""


def guard() -> Spawn:
    return Spawn(
        7, SpawnKind.NPC, "Guard Vexel", Position(5.5, -7.5, 240.25, 90.0, 1234), level=10,
        appearance={"class": 1, "model_type": 85, "soga_model_type": 85, "race": 12, "gender": 1},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "more"),
    [
        (546, {"vis_flags": 1, "show_name": 1, "npc": 1, "activity_status": 255}),
        (561, {"vis_flags": 52, "activity_status": 2, "unknown4": [10, 0, 0, 0, 0, 0, 0]}),
    ],
)
def test_an_npc(version: int, more: dict[str, object]) -> None:
    view = View(version)
    header = view.create(GhostBaseline(guard(), form(version), own=False).create(2, 219065))
    assert (header["index"], header["spawn_id"], header["spawn_anim"]) == (2, 2, 0xFFFF)
    assert header["time_stamp"] == 219065
    assert header["default_command"] == ""
    assert view.fields(2) == GUARD | more | {
        "arrow_color": 3, "locked_no_loot": 1, "targetable": 1, "power_percent": 100,
        "target_id": 0xFFFFFFFF, "class": 1, "effective_level": 10, "level": 10, "difficulty": 6,
        "unknown6": 1, "model_type": 85, "soga_model_type": 85, "name": "Guard Vexel", "race": 12,
        "gender": 1,
    }  # fmt: skip
    assert view.footers[2] == b""


@pytest.mark.parametrize(("version", "flags", "status"), [(546, 1, 64), (561, 20, 0x400002)])
def test_an_object(version: int, flags: int, status: int) -> None:
    appearance = {"model_type": 1469, "soga_model_type": 1469, "race": 255}
    place = Position(0.0, -7.5, 235.0, 270.0, 1234)
    crate = Spawn(3, SpawnKind.OBJECT, "a wooden crate", place, appearance=appearance)
    view = View(version)
    view.create(GhostBaseline(crate, form(version), own=False).create(6, 1))
    fields = view.fields(6)
    assert (fields["pos_state"], fields["pos_movement_mode"]) == (1, 2)
    assert "pos_move_type" not in fields
    assert fields["pos_heading1"] == 5760
    assert (fields["vis_flags"], fields["activity_status"]) == (flags, status)
    assert fields["skin_color"] == fields["soga_eye_color"] == [255, 255, 255]
    assert "power_percent" not in fields


def test_a_sign_has_its_texts_behind_it() -> None:
    """The footer that was recorded, with texts of our own.

    Source: docs/protocol/world/recorded.md#own-ghost.
    """
    sign = Spawn(4, SpawnKind.SIGN, "To the docks", Position(3.0, -7.5, 230.0, 180.0, 1234),
                 targetable=False, show_name=False, show_commands=True,
                 footer=Footer(0, 0.0, 0.0, 0.0, "To the docks", "Mind the gap.", 7.0))  # fmt: skip
    view = View(546)
    view.create(GhostBaseline(sign, form(546), own=False).create(5, 1))
    assert view.footers[5] == (
        bytes(16) + b"\x0c\0To the docks" + b"\x0d\0Mind the gap." + bytes.fromhex("0000e040010000")
    )
    fields = view.fields(5)
    assert (fields["vis_flags"], fields["pos_move_type"]) == (1, 11)
    assert not {"arrow_color", "targetable", "show_name", "locked_no_loot"} & fields.keys()


def test_a_widget_has_its_number_and_place_behind_it() -> None:
    place = (5.260600090026855, -12.738800048828125, -71.85990142822266)
    listener = Spawn(5, SpawnKind.WIDGET, "a stone door", Position(*place, 0.0, 1234),
                 targetable=False, show_name=False,
                 footer=Footer(0xD58F1056, *place))  # fmt: skip
    view = View(546)
    view.create(GhostBaseline(listener, form(546), own=False).create(7, 1))
    assert view.footers[7].hex() == "56108fd5d656a84020d24bc145b88fc2"
    assert "vis_flags" not in view.fields(7)


def test_one_verb_is_the_default_command_and_more_are_listed() -> None:
    merchant = guard()
    merchant.verbs = (Verb("Dig Grave", 10.0, "dig"),)
    view = View(546)
    header = view.create(GhostBaseline(merchant, form(546), own=False).create(4, 1))
    assert (header["default_command"], header["max_distance"]) == ("Dig Grave", 10.0)
    assert header["command_list"] == 0
    merchant.verbs += (Verb("Leave", 5.0, "leave"),)
    header = view.create(GhostBaseline(merchant, form(546), own=False).create(4, 1))
    assert [row["command_list_command"] for row in header["command_list_array"]] == ["dig", "leave"]


@pytest.mark.parametrize(("own", "flags"), [(True, 55), (False, 54)])
def test_a_player_of_561_knows_itself(own: bool, flags: int) -> None:
    player = Spawn(6, SpawnKind.PLAYER, "Cestra", Position(1.56, -7.97, 243.45, 92.0))
    view = View(561)
    view.create(GhostBaseline(player, form(561), own=own).create(1, 1))
    fields = view.fields(1)
    assert fields["vis_flags"] == flags
    assert fields["follow_target"] == 0xFFFFFFFF
    assert fields["pos_swim_speed_modifier"] == 200
    assert fields["pos_heading1"] == -5632
    assert "activity_status" not in fields


@pytest.mark.parametrize(
    ("word", "in_546", "in_561"),
    [("afk", ("afk", 32768), 32768), ("camping", ("camping", 8), 524288),
     ("linkdead", ("linkdead", 4), 262144)],
)  # fmt: skip
def test_words_become_fields_or_bits(word: str, in_546: tuple[str, int], in_561: int) -> None:
    player = Spawn(6, SpawnKind.PLAYER, "Aldana", Position(0, 0, 0), words=frozenset((word,)))
    view = View(546)
    view.create(GhostBaseline(player, form(546), own=False).create(9, 1))
    assert view.fields(9)[in_546[0]] == 1
    assert view.fields(9)["activity_status"] == in_546[1]
    view = View(561)
    view.create(GhostBaseline(player, form(561), own=False).create(9, 1))
    assert view.fields(9)["activity_status"] == in_561


def test_a_step_is_made_once_for_all_who_were_left_in_the_same_state() -> None:
    spawn = guard()
    baseline = GhostBaseline(spawn, form(546), own=False)
    first = baseline.now
    spawn.move(spawn.position._replace(x=6.0))
    baseline.changed(GhostPart.POSITION)
    assert baseline.now is first, "it was not looked at"
    second = baseline.refresh()
    step = baseline.step_from(first)
    assert baseline.step_from(first) is baseline.step is step
    assert (step.visibility, step.info, step.size) == (b"", b"", len(step.position))
    made, _ = unpack_stream(step.position, 88, reverse=True)
    assert xor(made, first[0]) == second[0]
    spawn.set_info(level=11)
    baseline.changed(GhostPart.INFO)
    baseline.refresh()
    assert baseline.step.position == b""
    late = baseline.step_from(first)
    assert baseline.step_from(first) is late
    assert (late.position, late.info) == (step.position, baseline.step.info)


def test_what_did_not_change_keeps_its_state() -> None:
    baseline = GhostBaseline(guard(), form(546), own=False)
    before = baseline.now
    baseline.changed(GhostPart.INFO | GhostPart.POSITION)
    assert baseline.refresh() is before


def test_an_own_baseline_stands_where_its_ghost_was_made() -> None:
    baselines, spawn = (
        BaselineCache(),
        Spawn(6, SpawnKind.PLAYER, "Cestra", Position(1.0, 2.0, 3.0)),
    )
    own = baselines.get(spawn, form(546), own=True)
    before = own.now
    spawn.position = Position(9.0, 2.0, 3.0)
    baselines.changed(spawn, GhostPart.POSITION)
    baselines.refresh(spawn.id)
    assert own.now is before
    again = baselines.get(spawn, form(546), own=True)
    assert again.now != before


def test_a_cache_keeps_a_baseline_for_each_form_and_forgets() -> None:
    baselines, spawn = BaselineCache(), guard()
    one = form(546)
    assert baselines.get(spawn, one) is baselines.get(spawn, one)
    assert baselines.get(spawn, one) is not baselines.get(spawn, one, own=True)
    assert baselines.get(spawn, form(561)) is not baselines.get(spawn, one)
    again = GhostForm(one.dialect, one.rules)
    assert baselines.get(spawn, again) is not baselines.get(spawn, one), (
        "made after a reload of tables"
    )
    spawn.set_info(level=20)
    baselines.changed(spawn, GhostPart.INFO)
    view = View(546)
    view.create(baselines.get(spawn, one).create(2, 0))
    assert view.fields(2)["level"] == 20
    baselines.forget(spawn)
    assert len(baselines) == 0


@pytest.mark.parametrize(("kind", "size"), [(SpawnKind.SIGN, 27), (SpawnKind.WIDGET, 16)])
def test_a_sign_or_widget_without_a_footer_has_an_empty_one(kind: SpawnKind, size: int) -> None:
    view = View(546)
    spawn = Spawn(5, kind, "", Position(1.0, 2.0, 3.0))
    view.create(GhostBaseline(spawn, form(546), own=False).create(5, 1))
    assert len(view.footers[5]) == size


@pytest.mark.parametrize("version", [546, 561])
@pytest.mark.parametrize("kind", list(SpawnKind))
def test_each_byte_is_that_of_a_field_that_was_set(version: int, kind: SpawnKind) -> None:
    spawn = Spawn(
        7, kind, "Aldana", Position(-3.5, 1.25, 250.0, 90.0, 77), level=3,
        words=frozenset(("afk", "camping")), appearance={"race": 9, "hair_color": [1, 2, 3]},
    )  # fmt: skip
    baseline = GhostBaseline(spawn, form(version), own=False)
    fields = (
        position_fields(spawn, thing_mode=form(version).dialect.world_rules.ghost_thing_mode),
        visibility_fields(spawn, form(version), own=False),
        info_fields(spawn, form(version)),
    )
    for part, struct in enumerate(PARTS):
        assert not any(form(version).encode(struct, {}))
        made = [form(version).encode(struct, {name: value}) for name, value in fields[part].items()]
        meant = {at for one in made for at, byte in enumerate(one) if byte}
        assert {at for at, byte in enumerate(baseline.refresh()[part]) if byte} == meant


def test_the_earlier_state_is_kept_for_a_round_only() -> None:
    spawn = guard()
    baseline = GhostBaseline(spawn, form(546), own=False)
    first = baseline.now
    spawn.level = 9
    baseline.changed(GhostPart.INFO)
    second = baseline.refresh()
    step = baseline.step
    assert baseline.before is first
    baseline.settle()
    assert baseline.before is None
    # A viewer with a full link has the first state still, and is sent the same step later.
    assert baseline.step_from(first) == step
    assert baseline.refresh() is second
