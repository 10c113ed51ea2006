"""Ghosts of spawns: their encoding for each client version, baselines, and shared deltas.

A viewer gets the packed XOR of a ghost's part with the state that this viewer was sent last. Most
viewers of a spawn have the same last state. So all of them hold one `State` object, and the delta
from it to the next state is encoded and packed once for all of them. This module knows no viewer.

There is one function for the values of each part. The field names are those of
`data/structs/SpawnStructs.xml`. The constants are those that EQ2Emulator was recorded to send.
Layouts come from `data/structs`, the bits of a version from `data/world/ghosts.toml`. All clients
of a version share one `GhostForm`.
Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/recorded.md#own-ghost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import frozen

from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownVersion
from emu.files import data_file, read_document
from emu.schema import field, read_rows
from emu.structs.packed import pack_stream, reverses_literals, xor
from emu.world.actors.spawn import Footer, GhostPart, Spawn, SpawnKind
from emu.world_stream.ghosts import (
    HEADER,
    HEADING_UNIT,
    INFO,
    PARTS,
    POSITION,
    SIGN_FOOTER,
    VISIBILITY,
    WIDGET_FOOTER,
)
from emu.world_stream.movement import HALF_TURN


def _status_words(value: Any) -> Mapping[str, Mapping[str, int]]:
    if not isinstance(value, dict) or not all(
        isinstance(bits, dict) and all(type(one) is int for one in bits.values())
        for bits in value.values()
    ):
        raise ValueError("must be tables of fields with their bits")
    return value


@frozen
class FormRules:
    """One row of `data/world/ghosts.toml`: the rules of a range of client versions."""

    first: int = field()
    last: int = field()
    words: Mapping[str, Mapping[str, int]] = field(form=_status_words)
    """For each status word of a spawn: the info fields and the bits to set in them."""
    vis_flags_limit: int = field()
    level_field: str = field("")
    """A list field of the info part whose first element repeats the level; "" if there is none."""


class GhostForm:
    """The layouts and rules of ghosts for one client version."""

    __slots__ = ("_reverse", "dialect", "rules", "sizes")

    def __init__(self, dialect: Dialect, rules: FormRules) -> None:
        """Join a version's rules with its layouts. Raises `UnknownStruct` if one is missing."""
        self.dialect = dialect
        self.rules = rules
        self._reverse = reverses_literals(dialect.version)
        self.sizes = tuple(dialect.layout(name).empty_size() for name in PARTS)
        """The length of each part in bytes, before it is packed."""
        # A missing layout must fail here, when the tables are loaded, not at the first sign.
        for name in (HEADER, WIDGET_FOOTER, SIGN_FOOTER):
            dialect.layout(name)

    def encode(self, struct: str, values: Mapping[str, Any]) -> bytes:
        """Return a struct's bytes, without the values that this version has no field for."""
        return self.dialect.encode_known(struct, wire_texts(values))

    def pack(self, data: bytes) -> bytes:
        """Return packed bytes, without a length in front."""
        return pack_stream(data, reverse=self._reverse)

    def status(self, words: frozenset[str]) -> dict[str, int]:
        """Return the info fields that these words set; unknown words set none."""
        fields: dict[str, int] = {}
        for word in words:
            for name, bits in self.rules.words.get(word, {}).items():
                fields[name] = fields.get(name, 0) | bits
        return fields


class GhostRules:
    """The rules of every range of versions."""

    def __init__(self, rules: Sequence[FormRules]) -> None:
        self._rules = tuple(rules)

    @property
    def words(self) -> frozenset[str]:
        """All status words of any version."""
        return frozenset(word for rules in self._rules for word in rules.words)

    @property
    def last_versions(self) -> tuple[int, ...]:
        """The last client version of each range."""
        return tuple(rules.last for rules in self._rules)

    def for_version(self, version: int) -> FormRules:
        """Return the rules of a version. Raises `UnknownVersion`."""
        for rules in self._rules:
            if rules.first <= version <= rules.last:
                return rules
        raise UnknownVersion(version)


def read_rules(path: Path | None = None) -> GhostRules:
    """Read a table of ghost forms, by default the shipped one. Raises `FileFormatError`."""
    path = path or data_file("world", "ghosts.toml")
    rows = read_document(path).get("form")
    return GhostRules(read_rows(FormRules, rows, path, "form", lambda row: row))


NO_SPAWN: Final = 0xFFFFFFFF
NO_ANIMATION: Final = 0xFFFF
SPEED_UNIT: Final = 256
"""Speeds on the wire are units per second times this (docs/protocol/world/spawns.md#units)."""
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
    """Return the values of Substruct_SpawnVisualizationInfoStruct.

    `own` means that the spawn is the viewer's own player.
    """
    # Clients let players click everything with the command flag, so a widget without verbs must
    # not have it.
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
"""Kinds for which the only flag is that they have commands."""
_COMMANDED: Final = frozenset((SpawnKind.PLAYER,))
"""Kinds that always have commands (invite, trade, inspect), whatever their verbs."""


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
            # Clients invert this field: 0 is full health (docs/protocol/world/spawns.md#info).
            "hp_remaining": 100 ^ spawn.hp_percent,
            "power_percent": spawn.power_percent,
            "effective_level": spawn.level,
            "level": spawn.level,
            "difficulty": DIFFICULTY,
        }
        if form.rules.level_field:
            fields[form.rules.level_field] = [spawn.level]
    else:
        # EQ2Emulator sends white for things without colors (recorded).
        fields |= dict.fromkeys(PAINTED, WHITE)
    if spawn.kind is SpawnKind.PLAYER:
        fields["follow_target"] = NO_SPAWN
    else:
        words |= {"npc" if spawn.is_living else "thing"}
    return fields | dict(spawn.appearance) | form.status(words)


def header_fields(spawn: Spawn, index: int, time_stamp: int) -> dict[str, Any]:
    """Return the values of WS_SpawnStruct_Header; `time_stamp` is in milliseconds.

    A single verb is only the default command; two or more also form the command list.
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
    """Return the bytes behind the packed parts of a sign or a widget, none for other kinds.

    Clients always read a footer there, so a sign or widget without one gets zeros.
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
    """Return a heading in wire units: 1/64 degrees from the opposite of the database's zero."""
    return _short((degrees - HALF_TURN) * HEADING_UNIT)


def _short(value: float) -> int:
    """Return a number clamped to an i16 and rounded toward zero, as clients expect."""
    return max(-0x8000, min(0x7FFF, int(value)))


CHANGES: Final[tuple[int, ...]] = (GhostPart.POSITION, GhostPart.VISIBILITY, GhostPart.INFO)

State = tuple[bytes, ...]
"""The bytes of a ghost's three parts at one time, in the order of `PARTS`."""


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

    __slots__ = ("_stale", "_steps", "before", "form", "now", "own", "spawn", "step")

    def __init__(self, spawn: Spawn, form: GhostForm, *, own: bool) -> None:
        self.spawn = spawn
        self.form = form
        self.own = own
        self._stale: int = GhostPart.NONE
        self._steps: dict[State, GhostDelta] | None = None
        self.now: State = tuple(map(self._encode, range(len(PARTS))))
        # Only one earlier state is kept ready with its delta: with a free link, every viewer has
        # either `now` or `before`.
        self.before: State | None = None
        self.step = NO_STEP

    def changed(self, change: int) -> None:
        """Note the parts of the spawn that have changed; `refresh` encodes them."""
        self._stale |= change & ~GhostPart.POSITION if self.own else change

    def refresh(self) -> State:
        """Encode what has changed and return `now`.

        If the bytes stay equal, `now` stays the same object. Viewers compare states by identity.
        """
        stale = self._stale
        if stale:
            self._stale = GhostPart.NONE
            before = self.now
            fresh = tuple(
                self._encode(part) if stale & flag else before[part]
                for part, flag in enumerate(CHANGES)
            )
            # A value can change and change back between two rounds. Then the bytes are equal, and
            # keeping the old object spares all viewers an empty update.
            if fresh != before:
                self.now, self.before, self._steps = fresh, before, None
                self.step = self._step_from(before)
        return self.now

    def step_from(self, base: State) -> GhostDelta:
        """Return the delta to `now` from the state that a viewer was sent last."""
        if base is self.before:
            return self.step
        # Only viewers that missed a round (a full link) come here. They are few and share states
        # among each other too, so the dict is made when the first one needs it.
        if self._steps is None:
            self._steps = {}
        made = self._steps.get(base)
        if made is None:
            made = self._steps[base] = self._step_from(base)
        return made

    def _step_from(self, base: State) -> GhostDelta:
        deltas = [
            self.form.pack(xor(new, old)) if new != old else b""
            for new, old in zip(self.now, base, strict=True)
        ]
        return GhostDelta(deltas[POSITION], deltas[VISIBILITY], deltas[INFO], sum(map(len, deltas)))

    def create(self, index: int, time_stamp: int) -> bytes:
        """Return the payload that creates the ghost: header, packed parts, footer.

        The viewer must then note `now` as the state that it was sent.
        """
        # A create command has no earlier state to be XORed with: the client's baseline is zeros.
        header = self.form.encode(HEADER, header_fields(self.spawn, index, time_stamp))
        packed = self.form.pack(b"".join(self.refresh()))
        footer = footer_of(self.spawn, self.form)
        return b"".join((header, len(packed).to_bytes(4, "little"), packed, footer))

    def _encode(self, part: int) -> bytes:
        spawn, form = self.spawn, self.form
        if part == POSITION:
            values = position_fields(spawn)
        elif part == VISIBILITY:
            values = visibility_fields(spawn, form, own=self.own)
        else:
            values = info_fields(spawn, form)
        return form.encode(PARTS[part], values)


NO_STEP: Final = GhostDelta(b"", b"", b"", 0)


class BaselineCache:
    """The baselines of a zone's spawns: made for the first viewer, dropped after the last one."""

    __slots__ = ("_baselines",)

    def __init__(self) -> None:
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
