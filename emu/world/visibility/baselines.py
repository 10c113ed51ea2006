"""Baselines: the encoded state of each spawn for each client version, and the deltas between them.

A viewer gets the packed XOR of a ghost's part with the state that this viewer was sent last. Most
viewers of a spawn have the same last state. So all of them hold one `State` object, and the delta
from it to the next state is encoded and packed once for all of them. This module knows no viewer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.structs.packed import xor
from emu.world.actors.spawn import GhostPart, Spawn
from emu.world.visibility import encoding
from emu.world.visibility.encoding import GhostForm
from emu.world_stream.ghosts import HEADER, INFO, PARTS, POSITION, VISIBILITY

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
        header = self.form.encode(HEADER, encoding.header_fields(self.spawn, index, time_stamp))
        packed = self.form.pack(b"".join(self.refresh()))
        footer = encoding.footer_of(self.spawn, self.form)
        return b"".join((header, len(packed).to_bytes(4, "little"), packed, footer))

    def _encode(self, part: int) -> bytes:
        spawn, form = self.spawn, self.form
        if part == POSITION:
            values = encoding.position_fields(spawn)
        elif part == VISIBILITY:
            values = encoding.visibility_fields(spawn, form, own=self.own)
        else:
            values = encoding.info_fields(spawn, form)
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
