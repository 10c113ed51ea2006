"""Ghosts of spawns: their encoding for each client version, baselines, and shared deltas.

A viewer gets the packed XOR of a ghost's part with the state that this viewer was sent last. Most
viewers of a spawn have the same last state. So all of them hold one `State` object, and the delta
from it to the next state is encoded and packed once for all of them. This module knows no viewer.

The spawns of one template share their encoded parts, too: a newcomer is shown thousands at once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.rules.stance import Look, Stance
from emu.structs.packed import oversized, xor
from emu.world.actors.spawn import GhostPart, Spawn, SpawnKind
from emu.world.visibility.fields import (
    INDEX_SIZE,
    followed,
    footer_of,
    header_fields,
    info_fields,
    name_fields,
    position_fields,
    shows_arrow,
    title_of,
    visibility_fields,
)
from emu.world.visibility.forms import NO_SPAWN, GhostForm
from emu.world_stream.ghosts import HEADER, INFO, PARTS, POSITION, VISIBILITY

_NO_INDEX: Final = len(oversized(0)) + INDEX_SIZE
_STAMP_SIZE: Final = 4


class GhostState(NamedTuple):
    """A ghost at one time: the bytes of its parts, and what is not the same for every viewer.

    The parts have the order of `PARTS`. `names` are those of UpdateTitle, empty for versions that
    have the names in the info part. `target` is the id of the spawn that it has targeted, 0 for
    none: in the bytes every target is `NO_SPAWN`, and a viewer puts its own index there. `stance`
    is what a viewer's arrow and attitude depend on, None if all see them alike: in the bytes they
    are `NEUTRAL`.
    """

    position: bytes
    visibility: bytes
    info: bytes
    names: bytes
    target: int
    stance: Stance | None


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
            self._stance(),
        )
        # Only one earlier state is kept ready with its delta, until the round is over: with a free
        # link, every viewer has either `now` or `before`.
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
                self._stance() if stale & ~GhostPart.POSITION else before.stance,
            )
            # A value can change and change back between two rounds. Then the bytes are equal, and
            # keeping the old object spares all viewers an empty update.
            if fresh != before:
                self.now, self.before, self._steps = fresh, before, None
                self.step = self._step_from(before)
        return self.now

    def settle(self) -> None:
        """Forget the earlier state: nearly all viewers have been sent `now`.

        Both states of a creature that fights would otherwise stay, until it changes again.
        """
        self.before, self.step, self._steps = None, NO_STEP, None

    def _names(self) -> bytes:
        spawn, form = self.spawn, self.form
        if not form.has_footers:
            return b""
        key = (spawn.kind is SpawnKind.PLAYER, *name_fields(spawn).values())
        return form.names.get(key, lambda: title_of(spawn, form))

    def _stance(self) -> Stance | None:
        return self.spawn.stance if shows_arrow(self.spawn) else None

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

    def look_delta(self, base: GhostState, old: Look | None, look: Look | None) -> bytes:
        """Return the change of the visibility part for one viewer, with its own arrow."""
        form = self.form
        before = form.with_look(base.visibility, old)
        return self._delta(before, form.with_look(self.now.visibility, look))

    def create(
        self, index: int, time_stamp: int, target: int = NO_SPAWN, look: Look | None = None
    ) -> bytes:
        """Return the payload that creates the ghost: header, packed parts, footer.

        The viewer must then note `now` as the state that it was sent, and `target` and `look`.
        """
        # A create command has no earlier state to be XORed with: the client's baseline is zeros.
        form, now = self.form, self.refresh()
        info = now.info if target == NO_SPAWN else form.with_target(now.info, target)
        view = form.with_look(now.visibility, look)
        packed = form.pack_parts(now.position, view, info)
        header = self._header(time_stamp)
        stamp = time_stamp.to_bytes(_STAMP_SIZE, "little")
        parts = (
            oversized(index), index.to_bytes(INDEX_SIZE, "little"), header, stamp,
            len(packed).to_bytes(4, "little"), packed, self._footer(),
        )  # fmt: skip
        return b"".join(parts)

    def _header(self, time_stamp: int) -> bytes:
        """Return the header without index and id, with which it begins, and the time at its end."""
        spawn, form = self.spawn, self.form
        entrance = spawn.entrance
        if entrance is not None and time_stamp < entrance.until * 1000:
            # Kept for nobody: few spawns have one, and only for seconds.
            fields = header_fields(spawn, form, 0, 0) | {"spawn_anim": entrance.animation}
            return form.encode(HEADER, fields)[_NO_INDEX:-_STAMP_SIZE]

        def make() -> bytes:
            return form.encode(HEADER, header_fields(spawn, form, 0, 0))[_NO_INDEX:-_STAMP_SIZE]

        return form.headers.get(spawn.verbs, make)

    def _footer(self) -> bytes:
        spawn, form = self.spawn, self.form
        if not form.has_footers and spawn.footer is None and spawn.kind not in FOOTED:
            return b""
        key = (spawn.kind, spawn.footer, spawn.attackable, *name_fields(spawn).values())
        return form.footers.get(key, lambda: footer_of(spawn, form))

    def _encode(self, part: int) -> bytes:
        spawn, form = self.spawn, self.form
        if part == POSITION:
            rules = form.dialect.world_rules
            values = position_fields(spawn, rules.ghost_size_unit, rules.ghost_thing_mode)
            if form.has_whole_size:
                values["pos_size"] = int(values["pos_size"])
            return form.encode_position(values)
        if part == VISIBILITY:
            return form.views.get(_view_key(spawn, own=self.own), self._view)
        if self.is_player:
            values = info_fields(spawn, form)
            if self.own and spawn.follow_index is not None:
                values["follow_target"] = followed(spawn.follow_index, form)
            return form.encode(PARTS[part], values)
        looks = spawn.appearance

        def make() -> bytes:
            return form.encode(PARTS[INFO], info_fields(spawn, form))

        return form.infos.get(_info_key(spawn), make, looks)

    def _view(self) -> bytes:
        values = visibility_fields(self.spawn, self.form, own=self.own)
        return self.form.encode(PARTS[VISIBILITY], values)


FOOTED: Final = frozenset((SpawnKind.SIGN, SpawnKind.WIDGET))
"""Kinds that have a footer in every version."""


def _view_key(spawn: Spawn, *, own: bool) -> tuple[object, ...]:
    """Return all that the visibility part is made from."""
    look = spawn.look
    return (
        spawn.kind, own, look.targetable, look.show_name, look.show_level, look.show_commands,
        bool(spawn.verbs), look.attackable, look.hand_icon, look.guild,
    )  # fmt: skip


def _info_key(spawn: Spawn) -> tuple[object, ...]:
    """Return all that the info part of a creature or thing is made from."""
    look, pose = spawn.look, spawn.pose
    return (
        # An appearance is never changed in place, so its identity stands for its values.
        id(spawn.appearance), spawn.kind, look.name, look.last_name, look.prefix, look.suffix,
        look.guild, pose.action_state, pose.idle, pose.visual_state, pose.mood_state,
        pose.emote_state, look.icon, look.hand_icon, look.attackable, spawn.words, spawn.vitals,
        spawn.level, look.difficulty, look.heroic, look.show_level,
    )  # fmt: skip


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

    def settle(self, spawn_id: int) -> None:
        """Forget the earlier states of a spawn after a round."""
        for baseline in self._baselines.get(spawn_id, {}).values():
            baseline.settle()

    def forget(self, spawn: Spawn) -> None:
        """Drop a spawn's baselines: no viewer has it any more."""
        self._baselines.pop(spawn.id, None)
