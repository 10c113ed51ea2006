"""Ghosts of spawns: their encoding for each client version, baselines, and shared deltas.

A viewer gets the packed XOR of a ghost's part with the state that this viewer was sent last. Most
viewers of a spawn have the same last state. So all of them hold one `State` object, and the delta
from it to the next state is encoded and packed once for all of them. This module knows no viewer.

There is one function for the values of each part. The field names are those of
`data/structs/SpawnStructs.xml`. The constants are those that EQ2Emulator was recorded to send.
Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/recorded.md#own-ghost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emu.structs.packed import xor
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.spawn import Footer, GhostPart, Spawn, SpawnKind
from emu.world.visibility.forms import NO_SPAWN, GhostForm
from emu.world_stream.ghosts import (
    FOOTER,
    HEADER,
    HEADING_UNIT,
    INFO,
    PARTS,
    POSITION,
    SIGN_FOOTER,
    UPDATE_TITLE,
    VISIBILITY,
    WIDGET_FOOTER,
)
from emu.world_stream.movement import FULL_TURN, HALF_TURN, Position

# The values below that clients do not explain were recorded from EQ2Emulator. They are sent to
# every client, so they are constants and not data.
SPEED_UNIT: Final = 256
"""Speeds on the wire are units per second times this (docs/protocol/world/spawns.md#units)."""
OFFSET_UNIT: Final = 32
"""Distances from a ghost's place are units times this."""
LIVING_STATE: Final = 16512
FALLING_STATE: Final = 1024
THING_STATE: Final = 1
IN_THE_AIR: Final = frozenset((0, 1024))
"""The activities of a player that falls or jumps."""
LIVING_MOVE: Final = 25
FIXED_MOVE: Final = 11
LYING_MODE: Final = 2
PLAYER_SWIM: Final = 200
DIFFICULTY: Final = 6
WHITE: Final = [255, 255, 255]
PAINTED: Final = ("skin_color", "eye_color", "soga_eye_color", "soga_skin_color")
HOSTILE_ARROW: Final = 4
FRIENDLY_ARROW: Final = 3

PASSABLE: Final = "passable"
"""The word of a thing that is no obstacle, for instance a door that is open."""

NO_FOOTER: Final = Footer(0, 0.0, 0.0, 0.0)

SELF, COMMAND, TARGETABLE, NAME, LEVEL, ATTACKABLE = 1, 2, 4, 16, 32, 64
"""Bits of vis_flags."""


def position_fields(spawn: Spawn, size_unit: int = 1) -> dict[str, Any]:
    """Return the values of Substruct_SpawnPositionStruct; `size_unit` divides the size."""
    at = spawn.position
    heading = heading_units(at.heading)
    if spawn.is_led_by_client:
        heading %= FULL_CIRCLE
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
    }
    # EQ2Emulator leaves speed and pitch of a thing at 0, and gives it a state of its own.
    if not spawn.is_living:
        fields["pos_state"] = THING_STATE
        if spawn.kind is SpawnKind.OBJECT:
            fields["pos_movement_mode"] = LYING_MODE
        else:
            fields["pos_move_type"] = FIXED_MOVE
        return fields
    pitch = _short(spawn.pitch)
    fields |= {
        # Clients extrapolate from these speeds until the next update.
        "pos_speed": _short(spawn.speed * SPEED_UNIT),
        "pos_side_speed": _short(spawn.side_speed * SPEED_UNIT),
        "pos_vert_speed": _short(spawn.vert_speed * SPEED_UNIT),
        # The moving client reports that it falls by its activity
        # (docs/protocol/world/spawns.md#units).
        "pos_state": FALLING_STATE if spawn.activity in IN_THE_AIR else LIVING_STATE,
        "pos_move_type": LIVING_MOVE,
        "pos_pitch1": pitch,
        "pos_pitch2": pitch,
    }
    if spawn.kind is SpawnKind.PLAYER:
        fields["pos_swim_speed_modifier"] = PLAYER_SWIM
    else:
        fields |= _ahead(spawn)
    return fields


def _ahead(spawn: Spawn) -> dict[str, Any]:
    """Return the next two points of a creature's walk; one that stands is at both of them.

    Source: docs/protocol/world/spawns.md#walks.
    """
    at = spawn.position
    goal, after = spawn.ahead or (at, at)
    return {
        "pos_next_x": goal.x, "pos_next_y": goal.y, "pos_next_z": goal.z,
        "pos_x3": after.x, "pos_y3": after.y, "pos_z3": after.z,
        **_offsets("pos_dest_loc_offset", at, goal), **_offsets("pos_dest_loc_offset2", at, after),
    }  # fmt: skip


def _offsets(name: str, at: Position, goal: Position) -> dict[str, int]:
    return {f"{name}[{axis}]": _short((goal[axis] - at[axis]) * OFFSET_UNIT) for axis in range(3)}


def visibility_fields(spawn: Spawn, form: GhostForm, *, own: bool) -> dict[str, Any]:
    """Return the values of Substruct_SpawnVisualizationInfoStruct.

    `own` means that the spawn is the viewer's own player.
    """
    # Clients let players click everything with the command flag, so a widget without verbs must
    # not have it.
    if spawn.kind is SpawnKind.WIDGET and not spawn.verbs:
        return {}
    if spawn.kind in _FLAGGED:
        # 546 reads the flags as a yes or no: its rules limit them to 1
        # (docs/protocol/world/spawns.md#vis).
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
"""Kinds for which the only flag is that they have commands."""
_COMMANDED: Final = frozenset((SpawnKind.PLAYER,))
"""Kinds that always have commands (invite, trade, inspect), whatever their verbs."""


def info_fields(spawn: Spawn, form: GhostForm) -> dict[str, Any]:
    """Return the values of Substruct_SpawnInfoStruct."""
    fields: dict[str, Any] = {
        "target_id": NO_SPAWN,
        "unknown6": 1,
        **name_fields(spawn),
        "action_state": spawn.action_state,
        "visual_state": spawn.visual_state,
        "mood_state": spawn.mood_state,
        "emote_state": spawn.emote_state,
    }
    words = spawn.words
    versions = form.dialect.world_rules
    if spawn.is_living:
        fields |= {
            "icon": 0 if spawn.attackable else versions.icon_living,
            # Clients invert this field: 0 is full health (docs/protocol/world/spawns.md#info).
            "hp_remaining": 100 ^ spawn.hp_percent,
            "power_percent": spawn.power_percent,
            # Both levels are equal: mentoring, which would lower the effective one, is not served.
            "effective_level": spawn.level,
            "level": spawn.level,
            "difficulty": DIFFICULTY,
        }
        if form.rules.level_field:
            fields[form.rules.level_field] = [spawn.level]
    else:
        # EQ2Emulator sends white for things without colors (recorded).
        fields |= dict.fromkeys(PAINTED, WHITE)
        fields["icon"] = 0 if spawn.attackable else versions.icon_thing
    if spawn.kind is SpawnKind.PLAYER:
        if not form.has_footers:
            # Only players: for creatures EQ2Emulator sends 0 (docs/protocol/world/spawns.md#info).
            fields["follow_target"] = NO_SPAWN
        fields |= _model_colors(spawn.appearance)
    elif spawn.is_living:
        words |= {"npc"}
    elif PASSABLE not in words:
        words |= {"thing"}
    # The order matters. An appearance may replace the defaults above, but never the status bits of
    # the spawn's words.
    return fields | dict(spawn.appearance) | form.status(words)


def followed(index: int, form: GhostForm) -> int:
    """Return what a client is sent for the ghost that it follows."""
    # Source: docs/protocol/world/commands.md#follow.
    return index if form.dialect.version <= LAST_OLD_CLIENT else NO_SPAWN - index


def _model_colors(appearance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the colors of a player's models, which are its skin's (newer clients have them)."""
    colors = {"model_color": "skin_color", "soga_model_color": "soga_skin_color"}
    return {name: appearance[source] for name, source in colors.items() if source in appearance}


def name_fields(spawn: Spawn) -> dict[str, Any]:
    """Return a spawn's names, for the info part or the footer."""
    return {
        "name": spawn.name,
        "last_name": spawn.last_name,
        "prefix": spawn.prefix,
        "suffix": spawn.suffix,
        "guild": spawn.guild,
    }


def header_fields(spawn: Spawn, form: GhostForm, index: int, time_stamp: int) -> dict[str, Any]:
    """Return the values of WS_SpawnStruct_Header; `time_stamp` is in milliseconds.

    A single verb is only the default command; two or more also form the command list.
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
    """Return a heading in wire units: 1/64 degrees from the opposite of the database's zero."""
    return _short((degrees - HALF_TURN) * HEADING_UNIT)


def _short(value: float) -> int:
    """Return a number clamped to an i16 and rounded toward zero, as clients expect."""
    return max(-0x8000, min(0x7FFF, int(value)))


class GhostState(NamedTuple):
    """A ghost at one time: the bytes of its parts, and what is not the same for every viewer.

    The parts have the order of `PARTS`. `names` are those of UpdateTitle, empty for versions that
    have the names in the info part. `target` is the id of the spawn that it has targeted, 0 for
    none: in the bytes every target is `NO_SPAWN`, and a viewer puts its own index there.
    """

    position: bytes
    visibility: bytes
    info: bytes
    names: bytes
    target: int


class GhostDelta(NamedTuple):
    """A ghost's change from one state to the next: packed XORs, empty for unchanged parts."""

    position: bytes
    visibility: bytes
    info: bytes
    size: int
    """Bytes of all three."""


class GhostBaseline:
    """One spawn encoded in one form. An `own` baseline is for the player whose spawn it is.

    `now` is the newest encoded state, `before` the one before it, and `step` the delta between
    them. An own baseline ignores movement, because a client predicts its own movement.
    """

    __slots__ = (
        "_stale", "_steps", "before", "form", "is_player", "now", "own", "spawn", "step",
    )  # fmt: skip

    def __init__(self, spawn: Spawn, form: GhostForm, *, own: bool) -> None:
        self.spawn = spawn
        self.form = form
        self.own = own
        self._stale: int = GhostPart.NONE
        self._steps: dict[GhostState, GhostDelta] | None = None
        self.is_player = spawn.kind is SpawnKind.PLAYER
        self.now = GhostState(
            self._encode(POSITION),
            self._encode(VISIBILITY),
            self._encode(INFO),
            self._names(),
            spawn.target_id,
        )
        # Only one earlier state is kept ready with its delta: with a free link, every viewer has
        # either `now` or `before`.
        self.before: GhostState | None = None
        self.step = NO_STEP

    def changed(self, change: int) -> None:
        """Note the parts of the spawn that have changed; `refresh` encodes them."""
        # Only a bit is set here: a spawn may change many times between two ticks, and is encoded
        # once.
        self._stale |= change & ~GhostPart.POSITION if self.own else change

    def refresh(self) -> GhostState:
        """Encode what has changed and return `now`.

        If the bytes stay equal, `now` stays the same object. Viewers compare states by identity.
        """
        stale = self._stale
        if stale:
            self._stale = GhostPart.NONE
            before = self.now
            # Parts that have not changed keep their old object, so that `_step_from` compares them
            # by identity first and does not XOR them.
            info, names = before.info, before.names
            if stale & GhostPart.INFO:
                info, names = self._encode(INFO), self._names()
            fresh = GhostState(
                self._encode(POSITION) if stale & GhostPart.POSITION else before.position,
                self._encode(VISIBILITY) if stale & GhostPart.VISIBILITY else before.visibility,
                info,
                names,
                self.spawn.target_id,
            )
            # A value can change and change back between two rounds. Then the bytes are equal, and
            # keeping the old object spares all viewers an empty update.
            if fresh != before:
                self.now, self.before, self._steps = fresh, before, None
                self.step = self._step_from(before)
        return self.now

    def _names(self) -> bytes:
        return title_of(self.spawn, self.form) if self.form.has_footers else b""

    def step_from(self, base: GhostState) -> GhostDelta:
        """Return the delta to `now` from the state that a viewer was sent last."""
        if base is self.before:
            # This is the usual case: the delta was computed once in `refresh`, whatever the number
            # of viewers.
            return self.step
        # Only viewers that missed a round (a full link) come here. They are few and share states
        # among each other too, so the dict is made when the first one needs it.
        if self._steps is None:
            self._steps = {}
        made = self._steps.get(base)
        if made is None:
            made = self._steps[base] = self._step_from(base)
        return made

    def _step_from(self, base: GhostState) -> GhostDelta:
        now = self.now
        position = self._delta(base.position, now.position)
        visibility = self._delta(base.visibility, now.visibility)
        info = self._delta(base.info, now.info)
        return GhostDelta(position, visibility, info, len(position) + len(visibility) + len(info))

    def _delta(self, old: bytes, new: bytes) -> bytes:
        # An empty part is left out of the update. A packed delta of zeros would cost bytes and
        # change nothing.
        return self.form.pack(xor(new, old)) if new != old else b""

    def info_delta(self, base: GhostState, old_target: int, target: int) -> bytes:
        """Return the change of the info part for one viewer, with its own index of the target."""
        form = self.form
        old = form.with_target(base.info, old_target)
        return self._delta(old, form.with_target(self.now.info, target))

    def create(self, index: int, time_stamp: int, target: int = NO_SPAWN) -> bytes:
        """Return the payload that creates the ghost: header, packed parts, footer.

        The viewer must then note `now` as the state that it was sent, and `target`.
        """
        # A create command has no earlier state to be XORed with: the client's baseline is zeros.
        header = self.form.encode(HEADER, header_fields(self.spawn, self.form, index, time_stamp))
        now = self.refresh()
        info = now.info if target == NO_SPAWN else self.form.with_target(now.info, target)
        packed = self.form.pack(now.position + now.visibility + info)
        footer = footer_of(self.spawn, self.form)
        return b"".join((header, len(packed).to_bytes(4, "little"), packed, footer))

    def _encode(self, part: int) -> bytes:
        spawn, form = self.spawn, self.form
        if part == POSITION:
            values = position_fields(spawn, form.dialect.world_rules.ghost_size_unit)
            if form.has_whole_size:
                values["pos_size"] = int(values["pos_size"])
            return form.encode_position(values)
        if part == VISIBILITY:
            values = visibility_fields(spawn, form, own=self.own)
        else:
            values = info_fields(spawn, form)
            if self.own and spawn.follow_index is not None:
                values["follow_target"] = followed(spawn.follow_index, form)
        return form.encode(PARTS[part], values)


NO_STEP: Final = GhostDelta(b"", b"", b"", 0)


class BaselineCache:
    """The baselines of a zone's spawns: made for the first viewer, dropped after the last one."""

    __slots__ = ("_baselines",)

    def __init__(self) -> None:
        # By spawn first, because a change names a spawn and must reach all of its forms without a
        # search.
        self._baselines: dict[int, dict[tuple[GhostForm, bool], GhostBaseline]] = {}

    def __len__(self) -> int:
        """Return the number of spawns that have a baseline."""
        return len(self._baselines)

    def get(self, spawn: Spawn, form: GhostForm, *, own: bool = False) -> GhostBaseline:
        """Return the baseline of a spawn for one form; make it if there is none.

        An own baseline is always made anew: it ignores movement, so it must begin with the place at
        which the player's ghost is created.
        """
        baselines = self._baselines.setdefault(spawn.id, {})
        # `form` is one object for each client version, so viewers with the same version share
        # encoding and deltas.
        found = baselines.get((form, own))
        if found is None or own:
            found = baselines[form, own] = GhostBaseline(spawn, form, own=own)
        return found

    def changed(self, spawn: Spawn, change: int) -> None:
        """Note in every baseline of a spawn which parts have changed."""
        for baseline in self._baselines.get(spawn.id, {}).values():
            baseline.changed(change)

    def refresh(self, spawn_id: int) -> None:
        """Encode what has changed in every baseline of a spawn."""
        for baseline in self._baselines.get(spawn_id, {}).values():
            baseline.refresh()

    def forget(self, spawn: Spawn) -> None:
        """Drop a spawn's baselines: no viewer has it any more."""
        self._baselines.pop(spawn.id, None)
