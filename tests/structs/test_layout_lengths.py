"""Lengths and places of fields in the shipped structs, as the spec's tables have them."""

from __future__ import annotations

import pytest

from emu.structs import StructLayout, shipped_catalog

EMPTY_LENGTHS = [
    # docs/protocol/login.md
    ("LS_LoginDenied", 546, 34), ("LS_LoginReplyMsg", 1, 20),
    # docs/protocol/characters.md#list, docs/protocol/characters.md#entry
    ("LS_WorldStatusChanged", 546, 7), ("LS_CharSelectAccountInfo", 546, 15),
    ("CharSelectProfile", 546, 388), ("CharSelectProfile", 561, 388),
    ("CharSelectProfile", 562, 369), ("CharSelectProfile", 887, 441),
    ("CharSelectProfile", 64753, 441),
    # docs/protocol/characters.md#create
    ("CreateCharacter", 546, 319), ("CreateCharacter", 561, 318),
    # docs/protocol/world/entering.md
    ("LoginByNumRequest", 546, 30), ("LoginByNumRequest", 562, 34),
    ("LoginByNumRequest", 1208, 40), ("LS_LoginResponse", 1, 34), ("LS_LoginResponse", 546, 24),
    ("LS_LoginResponse", 561, 63), ("LS_LoginResponse", 1208, 69),
    # docs/protocol/world/entering.md, docs/protocol/world/recorded.md
    ("WS_ZoneInfo", 546, 69), ("WS_ZoneInfo", 561, 79), ("WS_GameWorldTime", 546, 7),
    ("WS_GameWorldTime", 1208, 15), ("WS_CharacterSheet", 546, 4897),
    ("WS_CharacterSheet", 561, 4908), ("WS_SetControlGhost", 546, 13),
    ("WS_SetControlGhost", 1208, 30), ("WS_MoveClient", 546, 17), ("WS_MoveClient", 869, 21),
    ("WS_DefaultGroupOptions", 546, 6), ("WS_ServerControlFlags", 546, 8),
    ("Substruct_SpellEffects", 546, 19), ("Substruct_MaintainedEffects", 546, 87),
    ("Substruct_GroupMember", 546, 137),
    # docs/protocol/world/mail.md#messages
    ("WS_GetMailHeader", 546, 19), ("WS_GetMailHeader", 1193, 20),
    ("WS_MailGetMessage", 546, 63), ("WS_MailGetMessage", 1193, 57),
    ("WS_MailSendMessageReply", 546, 24), ("WS_UpdatePlayerMail", 546, 35),
    ("WS_GlowPath", 546, 14), ("WS_GlowPath", 562, 17),
    # docs/protocol/world/travel.md
    ("WS_TeleportList", 546, 8), ("WS_TeleportList", 1045, 12), ("WS_TeleportList", 1096, 26),
    ("WS_TeleportList", 57048, 26), ("WS_TeleportDestination", 546, 14),
    ("WS_WaypointUpdate", 546, 9), ("WS_WaypointUpdate", 562, 4), ("WS_WaypointSelect", 546, 4),
    ("WS_WaypointSelect", 562, 8),
    # docs/protocol/world/movement.md#prediction, docs/protocol/world/spawns.md#create-ghost
    ("Player_Update", 546, 152), ("Player_Update", 561, 152), ("Player_Update", 1096, 156),
    ("Player_Update", 1144, 172), ("Substruct_SpawnPositionStruct", 546, 88),
    ("Substruct_SpawnVisualizationInfoStruct", 546, 78),
    ("Substruct_SpawnVisualizationInfoStruct", 561, 72), ("Substruct_SpawnInfoStruct", 546, 1089),
    ("Substruct_SpawnInfoStruct", 561, 1070), ("WS_SpawnStruct", 546, 1255),
    ("WS_SpawnStruct", 561, 1230),
]  # fmt: skip

CREATE_LENGTHS = {1096: 692, 1208: 692, 57080: 694, 60114: 694, 64659: 697, 64753: 697}
"""With three floats a color (docs/protocol/characters.md#create)."""

REPLY_LENGTHS = {
    546: 36, 561: 36, 1096: 64, 1188: 70, 57048: 70, 57080: 95, 60114: 85, 63181: 89, 64753: 89,
    65534: 77,
}  # fmt: skip
"""With unknown10 set, which brings the count of class items (docs/protocol/login.md#accepted)."""

RECORD_LENGTHS = [
    ("WS_UpdateSpellBook", 546, {"spell_array": [{}] * 10}, 6 + 27 * 10),
    ("WS_UpdateInventory", 546, {"item_array": [{}] * 22}, 7 + 2420),
    # The C++ server's records, recorded at 1096, 1208, 57080, 60114, 64659 and 64753.
    *(
        ("WS_UpdateSpellBook", version, {"spell_array": [{}] * 10}, 6 + record * 10)
        for version, record in (
            (562, 30),
            (1096, 37),
            (1144, 42),
            (1188, 46),
            (1208, 48),
            (57080, 53),
            (60114, 57),
            (64753, 59),
        )
    ),
    *(
        ("WS_UpdateInventory", version, {"item_array": [{}] * 25}, 7 + record * 25)
        for version, record in (
            (562, 110),
            (1096, 114),
            (1193, 115),
            (1208, 116),
            (57080, 119),
            (60114, 127),
            (63119, 128),
            (64753, 127),
        )
    ),
    ("WS_UpdateSkillBook", 546, {"skill_array": [{}] * 27}, 7 + 27 * 21),
    ("WS_WhoQueryReply", 546, {"characters_array": [{}] * 4}, 651),
]

SHEET = {
    546: {
        "race": 41, "class1": 43, "tradeskill_class1": 55, "level": 67, "gm_level": 73,
        "account_age_base": 77, "last_name": 101, "current_hp": 125, "current_power": 137,
        "conc_used": 149, "attack": 151, "str": 181, "exp_yellow": 262, "exp_blue": 264,
        "adventure_exp_vitality": 274, "adventure_exp_vitality_2": 280, "coins_copper": 296,
        "weight": 312, "max_weight": 316, "trauma": 910, "breath": 3524,
        "breathe_underwater": 3528, "auto_attack": 3532, "max_level": 3536,
        "flags_anonymous": 3540, "group_leader_id": 4696, "pet_id": 4700, "pet_name": 4704,
        "rain": 4756, "rain2": 4760, "status_points": 4764, "vault_slots": 4774,
        "house_zone": 4775, "bind_zone": 4836,
    },
    561: {
        "last_name": 101, "current_hp": 122, "coins_copper": 328, "max_weight": 348,
        "breath": 3556, "flags": 3564, "auto_attack": 3568, "max_level": 3572, "rain": 4015,
        "pet_id": 4713, "status_points": 4769, "vault_slots": 4785, "house_zone": 4786,
        "bind_zone": 4847,
    },
}  # fmt: skip
"""docs/protocol/world/entering.md#character-sheet."""

SUBSTRUCTS = [
    ("WS_CharacterSheet", 546, "spell_effects", "spell_id", 340),
    ("WS_CharacterSheet", 546, "maintained_effects", "name", 914),
    ("WS_CharacterSheet", 546, "group_members", "zone_status", 4011),
    ("WS_CharacterSheet", 561, "spell_effects", "spell_id", 353),
    ("WS_CharacterSheet", 561, "maintained_effects", "name", 946),
    ("WS_CharacterSheet", 561, "group_members", "zone_status", 4024),
    ("Substruct_SpawnInfoStruct", 546, "spell_effects", "spell_id", 8),
]

POSITION = {
    "pos_grid_id": 0, "pos_x_velocity": 10, "pos_heading1": 16, "pos_heading2": 18,
    "pos_speed": 20, "pos_state": 22, "pos_movement_mode": 26, "pos_heading_speed": 40,
    "pos_move_type": 42, "pos_swim_speed_modifier": 44, "pos_side_speed": 46,
    "pos_vert_speed": 48, "pos_pitch1": 50, "pos_x": 60, "pos_y": 64, "pos_z": 68,
    "pos_pitch2": 72, "pos_collision_radius": 74, "pos_size": 76, "pos_size_multiplier": 78,
    "face_actor_id": 80, "actor_stop_range": 84, "pos_roll": 86,
}  # fmt: skip
INFO = {
    546: {
        "hp_remaining": 0, "power_percent": 4, "target_id": 278, "follow_target": 282,
        "corpse": 294, "class": 295, "effective_level": 296, "level": 297, "difficulty": 298,
        "unknown6": 299, "npc": 301, "merchant": 303, "hand_icon": 309, "hide_health": 310,
        "is_transport": 311, "afk": 315, "linkdead": 318, "camping": 319, "solid_object": 322,
        "activity_status": 327, "model_type": 331, "soga_model_type": 333, "hair_type_id": 393,
        "mount_type": 631, "body_size": 603, "combat_voice": 657, "emote_voice": 659,
        "flags": 663, "temporary_scale": 667, "name": 671, "action_state": 1079,
        "visual_state": 1081, "race": 1087, "gender": 1088,
    },
    561: {
        "target_id": 278, "corpse": 293, "difficulty": 297, "activity_status": 300,
        "model_type": 312, "soga_model_type": 314, "hair_type_id": 374, "mount_type": 612,
        "flags": 644, "temporary_scale": 648, "name": 652, "action_state": 1060, "race": 1068,
        "gender": 1069,
    },
}  # fmt: skip
MOVEMENT = {
    "activity": 0, "direction1": 8, "speed": 44, "side_speed": 48, "vert_speed": 52, "orig_x": 56,
    "orig_x2": 68, "grid_location": 112, "x": 116, "direction2": 128, "pitch": 132, "speed_x": 140,
}  # fmt: skip
PLACES = [
    (name, version, field, offset)
    for name, version, fields in (
        ("WS_CharacterSheet", 546, SHEET[546]),
        ("WS_CharacterSheet", 561, SHEET[561]),
        ("Substruct_SpawnPositionStruct", 546, POSITION),
        ("Substruct_SpawnVisualizationInfoStruct", 546, {"quest_flag": 3, "vis_flags": 5}),
        ("Substruct_SpawnVisualizationInfoStruct", 561, {"quest_flag": 3, "vis_flags": 4}),
        ("Substruct_SpawnInfoStruct", 546, INFO[546]),
        ("Substruct_SpawnInfoStruct", 561, INFO[561]),
        ("Player_Update", 546, MOVEMENT),
    )
    for field, offset in fields.items()
]


def first_difference(layout: StructLayout, fields: dict[str, object]) -> int:
    """Return the first byte that these fields change."""
    pairs = zip(layout.encode({}), layout.encode(fields), strict=True)
    return next(at for at, (before, after) in enumerate(pairs) if before != after)


def mark(value: object) -> object:
    """Return a value whose first byte on the wire is above zero."""
    return {str: "\x01", float: 1.401298464324817e-45, int: 1}[type(value)]


@pytest.mark.parametrize(("name", "version", "length"), EMPTY_LENGTHS)
def test_length_with_all_strings_empty(name: str, version: int, length: int) -> None:
    assert shipped_catalog().layout(name, version).empty_size() == length


@pytest.mark.parametrize(("version", "length"), REPLY_LENGTHS.items())
def test_length_of_login_replies(version: int, length: int) -> None:
    layout = shipped_catalog().layout("LS_LoginReplyMsg", version)
    assert len(layout.encode({"unknown10": 255})) == length


@pytest.mark.parametrize(("version", "length"), CREATE_LENGTHS.items())
def test_length_of_create_requests_with_float_colors(version: int, length: int) -> None:
    layout = shipped_catalog().layout("CreateCharacter", version, create_color=True)
    assert layout.empty_size() == length


@pytest.mark.parametrize(("name", "version", "fields", "length"), RECORD_LENGTHS)
def test_length_of_records(name: str, version: int, fields: dict[str, object], length: int) -> None:
    assert len(shipped_catalog().layout(name, version).encode(fields)) == length


@pytest.mark.parametrize(("name", "version", "field", "offset"), PLACES)
def test_a_field_stands_at_its_offset(name: str, version: int, field: str, offset: int) -> None:
    layout = shipped_catalog().layout(name, version)
    empty = layout.decode(bytes(layout.empty_size()))[field]
    assert first_difference(layout, {field: mark(empty)}) == offset


@pytest.mark.parametrize(("name", "version", "field", "inner", "offset"), SUBSTRUCTS)
def test_a_substruct_stands_at_its_offset(
    name: str, version: int, field: str, inner: str, offset: int
) -> None:
    layout = shipped_catalog().layout(name, version)
    empty = layout.decode(bytes(layout.empty_size()))[field]
    given = [{inner: mark(empty[0][inner])}, *[{}] * (len(empty) - 1)]
    assert first_difference(layout, {field: given}) == offset


def test_colors_and_equipment_of_a_spawn_stand_at_their_offsets() -> None:
    layout = shipped_catalog().layout("Substruct_SpawnInfoStruct", 546)
    assert first_difference(layout, {"equipment_types": [1, *[0] * 22]}) == 347
    assert first_difference(layout, {"equipment_colors": [[1, 0, 0], *[[0, 0, 0]] * 22]}) == 405
    assert first_difference(layout, {"equipment_highlights": [[1, 0, 0], *[[0, 0, 0]] * 22]}) == 486
    assert first_difference(layout, {"skin_color": [1, 0, 0]}) == 335
    assert first_difference(layout, {"skull_type": [1, 0, 0]}) == 579
