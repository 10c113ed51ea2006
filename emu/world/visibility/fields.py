"""Values of a ghost's parts: what clients are sent for what a spawn is.

There is one function for the values of each part. The field names are those of
`data/structs/SpawnStructs.xml`. The constants are those that EQ2Emulator was recorded to send.
Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/recorded.md#own-ghost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emu.rules.stance import NEUTRAL
from emu.world.actors.spawn import Footer, Spawn, SpawnKind
from emu.world.visibility.forms import NO_SPAWN, GhostForm
from emu.world_stream.ghosts import (
    FOOTER,
    HEADING_UNIT,
    SIGN_FOOTER,
    UPDATE_TITLE,
    WIDGET_FOOTER,
)
from emu.world_stream.movement import FULL_TURN, Position, to_client

# The values below that clients do not explain were recorded from EQ2Emulator. They are sent to
# every client, so they are constants and not data.
SPEED_UNIT: Final = 256
"""Speeds on the wire are units per second times this (docs/protocol/world/spawns.md#units)."""
OFFSET_UNIT: Final = 32
"""Distances from a ghost's place are units times this."""
LIVING_STATE: Final = 16512
FALLING_STATE: Final = 1024
THING_STATE: Final = 1
GROUND_STATE: Final = 129
HOVERING: Final = 0x4000
WALKING: Final = 0x80
"""Bits of a creature's state: what has the first and not the second flies or swims."""
IN_THE_AIR: Final = frozenset((0, 1024))
"""The activities of a player that falls or jumps."""
LIVING_MOVE: Final = 25
FIXED_MOVE: Final = 11
GROUND_MOVE: Final = 16
PLACED_SIGN: Final = 3
HOVERING_MODE: Final = 2
PLAYER_SWIM: Final = 200
WHITE: Final = [255, 255, 255]
PAINTED: Final = (
    "skin_color", "eye_color", "soga_eye_color", "soga_skin_color", "model_color",
    "soga_model_color",
)  # fmt: skip
TRANSPORTS: Final = frozenset((12, 28))
"""Icons of means of transport."""
HAND: Final = 6
"""Bits of the icon of what has a cursor of its own."""
FIGHTS: Final = "combat"
"""The word of a spawn that fights."""
FIGHT: Final = 64
"""The bit of the icon of a spawn that fights."""
TRANSPORT: Final = "transport"
"""The word of a spawn that carries who stands on it, whatever its icon is."""

PASSABLE: Final = "passable"
"""The word of a thing that is not an obstacle, for instance an open gate."""

NO_FOOTER: Final = Footer(0, 0.0, 0.0, 0.0)

SELF, COMMAND, TARGETABLE, NAME, LEVEL, ATTACKABLE = 1, 2, 4, 16, 32, 64
"""Bits of vis_flags."""


def position_fields(spawn: Spawn, size_unit: int = 1, thing_mode: int = 0) -> dict[str, Any]:
    """Return the values of Substruct_SpawnPositionStruct.

    `size_unit` divides the size; `thing_mode` is the movement mode of what does not live.
    """
    at = spawn.position
    heading = heading_units(at.heading)
    if spawn.is_led_by_client:
        heading %= FULL_CIRCLE
    footer = spawn.footer
    if footer is not None and not footer.with_heading:
        heading = 0
    if footer is not None and not footer.with_place:
        at = at._replace(x=0.0, y=0.0, z=0.0)
    pitch = _short(spawn.pitch)
    fields: dict[str, Any] = {
        "pos_grid_id": at.grid,
        # The struct has two headings and two pitches. EQ2Emulator fills both fields with one value.
        "pos_heading1": heading,
        "pos_heading2": heading,
        "pos_x": at.x,
        "pos_y": at.y,
        "pos_z": at.z,
        "pos_collision_radius": spawn.collision_radius,
        "pos_size": spawn.size if size_unit == 1 else spawn.size / size_unit,
        "pos_size_ratio": 1.0,
        "face_actor_id": NO_SPAWN,
        "pos_pitch1": pitch,
        "pos_pitch2": pitch,
        "pos_roll": _short(spawn.roll),
    }
    # EQ2Emulator leaves the speed of a thing at 0, and gives it a state of its own.
    if not spawn.is_living:
        state, move = _STILL[spawn.kind]
        fields["pos_state"] = state if spawn.position_state is None else spawn.position_state
        fields["pos_move_type"] = move
        fields["pos_movement_mode"] = thing_mode
        if spawn.kind is SpawnKind.SIGN and footer is not None and footer.with_place:
            fields["pos_sign"] = PLACED_SIGN
        return fields
    state = _living_state(spawn)
    fields |= {
        # Clients extrapolate from these speeds until the next update.
        "pos_speed": _short(spawn.speed * SPEED_UNIT),
        "pos_side_speed": _short(spawn.side_speed * SPEED_UNIT),
        "pos_vert_speed": _short(spawn.vert_speed * SPEED_UNIT),
        "pos_state": state,
        "pos_move_type": LIVING_MOVE,
    }
    if spawn.kind is SpawnKind.PLAYER:
        fields["pos_swim_speed_modifier"] = PLAYER_SWIM
        return fields
    if is_above := hovers(spawn):
        fields["pos_movement_mode"] = HOVERING_MODE
    return fields | _ahead(spawn, hovers=is_above)


def _ahead(spawn: Spawn, *, hovers: bool) -> dict[str, Any]:
    """Return the next two points of a creature's walk: none of one that stands.

    Source: docs/protocol/world/spawns.md#walks.
    """
    at = spawn.position
    if not spawn.ahead:
        return {"pos_x3": at.x, "pos_y3": at.y, "pos_z3": at.z} if hovers else {}
    goal, after = spawn.ahead
    return {
        "pos_next_x": goal.x, "pos_next_y": goal.y, "pos_next_z": goal.z,
        "pos_x3": after.x, "pos_y3": after.y, "pos_z3": after.z,
        **_offsets("pos_dest_loc_offset", at, goal), **_offsets("pos_dest_loc_offset2", at, after),
    }  # fmt: skip


def _offsets(name: str, at: Position, goal: Position) -> dict[str, int]:
    return {f"{name}[{axis}]": _short((goal[axis] - at[axis]) * OFFSET_UNIT) for axis in range(3)}


_STILL: Final = {
    SpawnKind.OBJECT: (THING_STATE, 0),
    SpawnKind.GROUND: (GROUND_STATE, GROUND_MOVE),
    SpawnKind.SIGN: (THING_STATE, FIXED_MOVE),
    SpawnKind.WIDGET: (THING_STATE, FIXED_MOVE),
}
"""State and move type of what does not live."""


def _living_state(spawn: Spawn) -> int:
    if spawn.position_state is not None:
        return spawn.position_state
    # The moving client reports that it falls by its activity
    # (docs/protocol/world/spawns.md#units).
    return FALLING_STATE if spawn.activity in IN_THE_AIR else LIVING_STATE


def hovers(spawn: Spawn) -> bool:
    """Return whether a creature flies or swims."""
    state = _living_state(spawn)
    return spawn.hovers or bool(state & HOVERING and not state & WALKING)


def shows_arrow(spawn: Spawn) -> bool:
    """Return whether clients draw an arrow and an attitude at a spawn's name."""
    # Source: docs/protocol/world/spawns.md#vis.
    return spawn.kind is not SpawnKind.GROUND and (
        spawn.targetable or spawn.show_name or _shows_level(spawn)
    )


def _shows_level(spawn: Spawn) -> bool:
    return spawn.is_living if spawn.show_level is None else spawn.show_level


def visibility_fields(spawn: Spawn, form: GhostForm, *, own: bool) -> dict[str, Any]:
    """Return the values of Substruct_SpawnVisualizationInfoStruct, with a neutral arrow.

    `own` means that the spawn is the viewer's own player.
    """
    commands = spawn.show_commands
    if commands is None:
        # Clients let players click everything with the command flag, so a widget without verbs must
        # not have it.
        commands = bool(spawn.verbs) or spawn.kind in _COMMANDED
    flags = (
        (SELF if own else 0)
        | (COMMAND if commands else 0)
        | (TARGETABLE if spawn.targetable else 0)
        | (NAME if spawn.show_name else 0)
        | (LEVEL if _shows_level(spawn) else 0)
        | (ATTACKABLE if spawn.attackable else 0)
    )
    fields: dict[str, Any] = {
        # 546 reads the flags as a yes or no: its rules limit them to 1
        # (docs/protocol/world/spawns.md#vis).
        "vis_flags": min(flags, form.rules.vis_flags_limit),
        "hand_flag": spawn.hand_icon,
        "targetable": int(spawn.targetable),
        "show_name": int(spawn.show_name),
        "attackable": int(spawn.attackable),
        "attackable_icon": int(spawn.attackable),
        "guild": spawn.guild,
    }
    if shows_arrow(spawn):
        fields |= {"arrow_color": NEUTRAL.arrow, "locked_no_loot": 1}
    return fields


_COMMANDED: Final = frozenset((SpawnKind.PLAYER,))
"""Kinds that always have commands (invite, trade, inspect), whatever their verbs."""


_U32: Final = 0xFFFFFFFF
_U16: Final = 0xFFFF
_BACKDROP: Final = 0x8000
"""Is added to the backdrop of an icon of a ghost (recorded)."""


def _effect_fields(spawn: Spawn) -> dict[str, Any]:
    """Return the icons of the spells on a spawn, whose numbers are inverted (recorded)."""
    icons = spawn.vitals.effect_icons
    if not icons:
        return {}
    return {
        "spell_effects": [
            {
                "spell_id": _U32 - one.spell_id,
                "spell_icon": (_U16 - one.icon) & _U16,
                "spell_icon_backdrop": (one.backdrop + _BACKDROP) & _U16,
                "spell_triggercount": one.triggers,
            }
            for one in icons
        ]
    }


def info_fields(spawn: Spawn, form: GhostForm) -> dict[str, Any]:
    """Return the values of Substruct_SpawnInfoStruct."""
    fields: dict[str, Any] = {
        "target_id": NO_SPAWN,
        "unknown6": 1,
        **name_fields(spawn),
        "action_state": _action_state(spawn, form.dialect.version),
        "visual_state": spawn.visual_state,
        "mood_state": spawn.mood_state,
        "emote_state": spawn.emote_state,
        "icon": _icon(spawn, moves_up=form.dialect.world_rules.wide_icons),
        "hand_icon": spawn.hand_icon,
        "hide_health": int(not _shows_level(spawn)),
    }
    words = spawn.words | _kind_words(spawn)
    if spawn.is_living:
        fields |= {
            # Clients invert this field: 0 is full health (docs/protocol/world/spawns.md#info).
            "hp_remaining": 100 ^ spawn.hp_percent,
            "power_percent": spawn.power_percent,
            **_effect_fields(spawn),
            # Both levels are equal: mentoring, which would lower the effective one, is not served.
            "effective_level": spawn.level,
            "level": spawn.level,
            "difficulty": spawn.difficulty,
            "heroic_flag": spawn.heroic,
        }
        if form.rules.level_field:
            fields[form.rules.level_field] = [spawn.level]
    else:
        # EQ2Emulator sends white for things without colors (recorded).
        fields |= dict.fromkeys(PAINTED, WHITE)
    if spawn.kind is SpawnKind.PLAYER:
        if not form.has_footers:
            # Only players: for creatures EQ2Emulator sends 0 (docs/protocol/world/spawns.md#info).
            fields["follow_target"] = NO_SPAWN
        fields |= _model_colors(spawn.appearance)
    fields |= spawn.appearance
    if not fields.get("soga_model_type"):
        # A client that prefers the alternate models would show nothing.
        fields["soga_model_type"] = fields.get("model_type", 0)
    if form.stand_ins:
        for name in ("model_type", "soga_model_type"):
            # Source: docs/guides/content.md#stand-ins.
            if (stand_in := form.stand_ins.get(fields.get(name, 0))) is not None:
                fields[name] = stand_in
    # The order matters. An appearance may replace the defaults above, but never the status bits of
    # the spawn's words.
    return fields | form.status(words)


def _action_state(spawn: Spawn, version: int) -> int:
    state = spawn.idle.state_in(version) if spawn.idle is not None else None
    return spawn.action_state if state is None else state


def _kind_words(spawn: Spawn) -> frozenset[str]:
    """Return the words that follow from what a spawn is."""
    if spawn.kind is SpawnKind.PLAYER:
        return frozenset()
    if spawn.kind is SpawnKind.NPC:
        word = "npc"
    elif spawn.kind is SpawnKind.GROUND:
        word = "ground"
    elif PASSABLE in spawn.words:
        return frozenset()
    else:
        is_transport = spawn.icon in TRANSPORTS or TRANSPORT in spawn.words
        word = TRANSPORT if is_transport else "thing"
    return frozenset((word, "interactable") if spawn.hand_icon else (word,))


def _icon(spawn: Spawn, *, moves_up: bool) -> int:
    """Return the icon of a spawn's name; `moves_up` is the newer order of its bits.

    Source: docs/protocol/world/newer.md#info.
    """
    icon = spawn.icon
    if not icon and not spawn.attackable:
        icon = CREATURE_ICON if spawn.is_living else THING_ICON
    if spawn.hand_icon:
        icon |= HAND
    if FIGHTS in spawn.words:
        icon |= FIGHT
    if not moves_up or icon == LARGE_TRANSPORT:
        return icon
    moved = icon + (icon & _MOVED)
    return moved + 2 if moved & HAND else moved


_MOVED: Final = 64 | 32 | 4
CREATURE_ICON, THING_ICON, LARGE_TRANSPORT = 4, 6, 28


def followed(index: int, form: GhostForm) -> int:
    """Return what a client is sent for the ghost that it follows."""
    # Source: docs/protocol/world/commands.md#follow.
    return NO_SPAWN - index if form.dialect.world_rules.followed_from_end else index


def _model_colors(appearance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the colors of a player's models, which are its skin's (newer clients have them)."""
    colors = {"model_color": "skin_color", "soga_model_color": "soga_skin_color"}
    return {name: appearance[source] for name, source in colors.items() if source in appearance}


def name_fields(spawn: Spawn) -> dict[str, Any]:
    """Return a spawn's names, for the info part or the footer."""
    look = spawn.look
    return {
        "name": look.name,
        "last_name": look.last_name,
        "prefix": look.prefix,
        "suffix": look.suffix,
        "guild": look.guild,
    }


def header_fields(spawn: Spawn, form: GhostForm, index: int, time_stamp: int) -> dict[str, Any]:
    """Return the values of WS_SpawnStruct_Header; `time_stamp` is in milliseconds.

    A single verb is only the default command; two or more also form the command list. A spawn's
    `more_verbs` are not in it: clients ask for them.
    """
    verbs = spawn.verbs
    versions = form.dialect.world_rules
    default = ""
    if verbs:
        default = verbs[0].command if versions.verbs_by_command else verbs[0].name
    listed = [
        {
            "command_list_name": verb.name,
            "command_list_max_distance": verb.distance,
            "command_list_command": verb.command,
        }
        | (
            {"command_list_has_error_text": 1, "command_list_error": verb.error}
            if verb.error
            else {}
        )
        for verb in (verbs if len(verbs) > 1 else ())
    ]
    return {
        "index": index,
        # EQ2Emulator sends the index as the id, too. The server's own id never leaves it, so
        # clients cannot compare what different viewers see.
        "spawn_id": index,
        "spawn_anim": versions.no_animation,
        "crc": 1,
        "command_list": len(listed),
        "command_list_array": listed,
        "default_command": default,
        "max_distance": verbs[0].distance if verbs else 0.0,
        "time_stamp": time_stamp,
    }


def footer_of(spawn: Spawn, form: GhostForm) -> bytes:
    """Return the bytes behind the packed parts of a ghost.

    Up to 561 only signs and widgets have them. Clients always read a footer there, so a sign or
    widget without one gets zeros. Later clients read every spawn's names there.
    """
    names = _footer_names(spawn) if form.has_footers else {}
    if spawn.kind not in (SpawnKind.SIGN, SpawnKind.WIDGET):
        return form.encode(FOOTER, names) if form.has_footers else b""
    footer = spawn.footer or NO_FOOTER
    fields: dict[str, Any] = names | {
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


def _footer_names(spawn: Spawn) -> dict[str, Any]:
    kind = THING_TYPE
    if spawn.attackable:
        kind = ATTACKABLE_TYPE
    elif spawn.is_living:
        kind = PEACEFUL_TYPE
    is_player = int(spawn.kind is SpawnKind.PLAYER)
    return name_fields(spawn) | {"is_player": is_player, "spawn_type": kind}


def title_of(spawn: Spawn, form: GhostForm) -> bytes:
    """Return WS_UpdateTitle without the index that it begins with: names that may change."""
    names = name_fields(spawn)
    fields = {
        "player_name": names.pop("name"),
        "is_player": int(spawn.kind is SpawnKind.PLAYER),
        **names,
    }
    return form.encode(UPDATE_TITLE, fields)[INDEX_SIZE:]


INDEX_SIZE: Final = 4
ATTACKABLE_TYPE, PEACEFUL_TYPE, THING_TYPE = 3, 1, 6
"""Spawn types of a footer (docs/protocol/world/newer.md#footer)."""


FULL_CIRCLE: Final = int(FULL_TURN) * HEADING_UNIT
"""A heading that a client has sent is shown as 0 to one less than this.

Those of the world's data are shown as they are, also below 0 (both recorded).
"""


def heading_units(degrees: float) -> int:
    """Return a heading in wire units: 1/64 degrees of the client's heading."""
    return _short(to_client(degrees) * HEADING_UNIT)


def _short(value: float) -> int:
    """Return a number clamped to an i16 and rounded toward zero, as clients expect."""
    return max(-0x8000, min(0x7FFF, int(value)))
