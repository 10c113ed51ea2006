"""A spawn as one client version is shown it: bytes, and steps that viewers share.

A viewer is sent the XOR of a part with what that viewer was sent last, packed. Most viewers of a
spawn were sent the same state last, so the state is one object that all of them hold, and the step
from it to the next one is packed once and serves everybody who holds it. Knows no viewer.
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
"""The three parts of a ghost at one time, as in `PARTS`."""


class GhostDelta(NamedTuple):
    """What brings a ghost from one state to the next: packed XORs, empty for parts that stay."""

    position: bytes
    visibility: bytes
    info: bytes
    size: int
    """Bytes of all three."""


class GhostBaseline:
    """One spawn in one form. `own` pictures are for the player whose spawn it is.

    `now` is the state when it was last looked at, `before` the one before that, from which `step`
    leads. An own picture does not move: of its own movement a client knows itself.
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
        """Learn that parts of the spawn are no longer what they were."""
        self._stale |= change & ~GhostPart.POSITION if self.own else change

    def look(self) -> State:
        """Bring `now` up to date and return it; a state that is equal is the same object."""
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
        """Return the step to `now` from any state in which a viewer was left."""
        if base is self.before:
            return self.step
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
        """Return the payload that makes the ghost: header, packed parts, footer.

        The viewer's base is then the state as it is now.
        """
        header = self.form.encode(HEADER, encoding.header_fields(self.spawn, index, time_stamp))
        packed = self.form.pack(b"".join(self.look()))
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
    """All pictures of a zone's spawns, made when somebody looks, dropped when nobody does."""

    __slots__ = ("_pictures",)

    def __init__(self) -> None:
        self._pictures: dict[int, dict[tuple[GhostForm, bool], GhostBaseline]] = {}

    def __len__(self) -> int:
        """How many spawns have a picture."""
        return len(self._pictures)

    def get(self, spawn: Spawn, form: GhostForm, *, own: bool = False) -> GhostBaseline:
        """Return the picture of a spawn for one form, making it when there is none.

        An own one is always made: it shows where the player was when its ghost was created.
        """
        pictures = self._pictures.setdefault(spawn.id, {})
        found = pictures.get((form, own))
        if found is None or own:
            found = pictures[form, own] = GhostBaseline(spawn, form, own=own)
        return found

    def changed(self, spawn: Spawn, change: int) -> None:
        """Have every picture of a spawn made anew where it changed."""
        for picture in self._pictures.get(spawn.id, {}).values():
            picture.changed(change)

    def look(self, spawn_id: int) -> None:
        """Bring every picture of a spawn up to date."""
        for picture in self._pictures.get(spawn_id, {}).values():
            picture.look()

    def forget(self, spawn: Spawn) -> None:
        """Drop a spawn's pictures: nobody sees it any more."""
        self._pictures.pop(spawn.id, None)
