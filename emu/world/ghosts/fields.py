"""What a client is told of a spawn, as the values of the three parts of its ghost.

One function for each part; the names are those of `data/structs/SpawnStructs.xml`, the constants
those that EQ2Emulator was recorded to send (docs/protocol/world/spawns.md,
docs/protocol/world/recorded.md#own-ghost).
"""

from __future__ import annotations

from typing import Any, Final

from emu.sight.forms import HEADING_UNIT, SIGN_FOOTER, WIDGET_FOOTER
from emu.sight.position import HALF_TURN
from emu.world.ghosts.forms import GhostForm
from emu.world.spawns import Footer, Spawn, SpawnKind

NO_SPAWN: Final = 0xFFFFFFFF
NO_ANIMATION: Final = 0xFFFF
SPEED_UNIT: Final = 256
"""World units a second times this is what clients are told.

Source: docs/protocol/world/spawns.md#units.
"""
LIVING_STATE: Final = 16512
FALLING_STATE: Final = 1024
THING_STATE: Final = 1
IN_THE_AIR: Final = frozenset((0, 1024))
"""Activities of a client that falls or jumps."""
LIVING_MOVE: Final = 25
FIXED_MOVE: Final = 11
LYING_MODE: Final = 2
PLAYER_SWIM: Final = 200
DIFFICULTY: Final = 6
WHITE: Final = [255, 255, 255]
PAINTED: Final = ("skin_color", "eye_color", "soga_eye_color", "soga_skin_color")
HOSTILE_ARROW: Final = 4
FRIENDLY_ARROW: Final = 3

NO_FOOTER: Final = Footer(0, 0.0, 0.0, 0.0)

SELF, COMMAND, TARGETABLE, NAME, LEVEL, ATTACKABLE = 1, 2, 4, 16, 32, 64
"""Bits of vis_flags."""


def position_fields(spawn: Spawn) -> dict[str, Any]:
    """Return the values of Substruct_SpawnPositionStruct."""
    at = spawn.position
    heading = heading_units(at.heading)
    fields = {
        "pos_grid_id": at.grid,
        "pos_heading1": heading,
        "pos_heading2": heading,
        "pos_x": at.x,
        "pos_y": at.y,
        "pos_z": at.z,
        "pos_collision_radius": spawn.collision_radius,
        "pos_size": spawn.size,
        "face_actor_id": NO_SPAWN,
    }
    if not spawn.is_living:
        fields["pos_state"] = THING_STATE
        if spawn.kind is SpawnKind.OBJECT:
            fields["pos_movement_mode"] = LYING_MODE
        else:
            fields["pos_move_type"] = FIXED_MOVE
        return fields
    pitch = _short(spawn.pitch)
    fields |= {
        "pos_speed": _short(spawn.speed * SPEED_UNIT),
        "pos_side_speed": _short(spawn.side_speed * SPEED_UNIT),
        "pos_vert_speed": _short(spawn.vert_speed * SPEED_UNIT),
        "pos_state": FALLING_STATE if spawn.activity in IN_THE_AIR else LIVING_STATE,
        "pos_move_type": LIVING_MOVE,
        "pos_pitch1": pitch,
        "pos_pitch2": pitch,
    }
    if spawn.kind is SpawnKind.PLAYER:
        fields["pos_swim_speed_modifier"] = PLAYER_SWIM
    return fields


def visibility_fields(spawn: Spawn, form: GhostForm, *, own: bool) -> dict[str, Any]:
    """Return the values of Substruct_SpawnVisualizationInfoStruct; `own`: of the viewer itself."""
    if spawn.kind is SpawnKind.WIDGET and not spawn.verbs:
        return {}
    if spawn.kind in _FLAGGED:
        return {"vis_flags": min(COMMAND, form.rules.vis_flags_limit)}
    flags = (
        (SELF if own else 0)
        | (COMMAND if spawn.verbs or spawn.kind in _COMMANDED else 0)
        | (TARGETABLE if spawn.targetable else 0)
        | (NAME if spawn.show_name else 0)
        | (LEVEL if spawn.is_living else 0)
        | (ATTACKABLE if spawn.attackable else 0)
    )
    return {
        "arrow_color": HOSTILE_ARROW if spawn.attackable else FRIENDLY_ARROW,
        "locked_no_loot": 1,
        "vis_flags": min(flags, form.rules.vis_flags_limit),
        "targetable": int(spawn.targetable),
        "show_name": int(spawn.show_name),
        "attackable": int(spawn.attackable),
        "attackable_icon": int(spawn.attackable),
        "guild": spawn.guild,
    }


_FLAGGED: Final = frozenset((SpawnKind.SIGN, SpawnKind.WIDGET))
"""Kinds of which a client is only told that something can be done with them."""
_COMMANDED: Final = frozenset((SpawnKind.PLAYER,))
"""Kinds that always have commands (invite, trade, inspect), so nobody has to list them."""


def info_fields(spawn: Spawn, form: GhostForm) -> dict[str, Any]:
    """Return the values of Substruct_SpawnInfoStruct."""
    fields: dict[str, Any] = {
        "target_id": NO_SPAWN,
        "unknown6": 1,
        "name": spawn.name,
        "last_name": spawn.last_name,
        "prefix": spawn.prefix,
        "suffix": spawn.suffix,
        "guild": spawn.guild,
        "action_state": spawn.action_state,
        "visual_state": spawn.visual_state,
        "mood_state": spawn.mood_state,
        "emote_state": spawn.emote_state,
    }
    words = spawn.words
    if spawn.is_living:
        fields |= {
            "hp_remaining": 100 ^ spawn.hp_percent,
            "power_percent": spawn.power_percent,
            "effective_level": spawn.level,
            "level": spawn.level,
            "difficulty": DIFFICULTY,
        }
        if form.rules.level_field:
            fields[form.rules.level_field] = [spawn.level]
    else:
        fields |= dict.fromkeys(PAINTED, WHITE)
    if spawn.kind is SpawnKind.PLAYER:
        fields["follow_target"] = NO_SPAWN
    else:
        words |= {"npc" if spawn.is_living else "thing"}
    return fields | dict(spawn.looks) | form.status(words)


def header_fields(spawn: Spawn, index: int, time_stamp: int) -> dict[str, Any]:
    """Return the values of WS_SpawnStruct_Header; `time_stamp` is the milliseconds clock.

    One verb alone is only named as the default; a list is sent when there are more.
    """
    verbs = spawn.verbs
    listed = [
        {
            "command_list_name": verb.name,
            "command_list_max_distance": verb.distance,
            "command_list_command": verb.command,
        }
        for verb in (verbs if len(verbs) > 1 else ())
    ]
    return {
        "index": index,
        "spawn_id": index,
        "spawn_anim": NO_ANIMATION,
        "command_list": len(listed),
        "command_list_array": listed,
        "default_command": verbs[0].name if verbs else "",
        "max_distance": verbs[0].distance if verbs else 0.0,
        "time_stamp": time_stamp,
    }


def footer_of(spawn: Spawn, form: GhostForm) -> bytes:
    """Return what follows the packed parts of a sign or a widget, nothing for others.

    Clients read it whether or not there is anything to say, so it is zeros when there is not.
    """
    if spawn.kind not in (SpawnKind.SIGN, SpawnKind.WIDGET):
        return b""
    footer = spawn.footer or NO_FOOTER
    fields: dict[str, Any] = {
        "widget_id": footer.id,
        "widget_x": footer.x,
        "widget_y": footer.y,
        "widget_z": footer.z,
    }
    if spawn.kind is SpawnKind.WIDGET:
        return form.encode(WIDGET_FOOTER, fields)
    fields |= {
        "title": footer.title,
        "description": footer.description,
        "sign_distance": footer.distance,
        "show": int(footer.show),
        "language": footer.language,
    }
    return form.encode(SIGN_FOOTER, fields)


def heading_units(degrees: float) -> int:
    """Return a heading as ghosts have it: 1/64 degrees from the opposite of the database's zero."""
    return _short((degrees - HALF_TURN) * HEADING_UNIT)


def _short(value: float) -> int:
    """Return a number cut to what an i16 holds, rounded toward zero as clients expect."""
    return max(-0x8000, min(0x7FFF, int(value)))
