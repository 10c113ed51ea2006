"""A spawn as one client version is shown it: bytes, and deltas that viewers share.

A viewer is sent the XOR of a part with what that viewer was sent last, packed. Most viewers of a
spawn were sent the same bytes last, so the packed delta is kept for each base that is asked for and
serves everybody who has that base. Knows no viewer.
"""

from __future__ import annotations

from typing import Final

from emu.sight.forms import HEADER, PARTS, POSITION, VISIBILITY
from emu.structs.packed import xor
from emu.world.ghosts import fields
from emu.world.ghosts.forms import GhostForm
from emu.world.spawns import Change, Spawn

CHANGES: Final[tuple[int, ...]] = (Change.POSITION, Change.VISIBILITY, Change.INFO)


class Picture:
    """One spawn in one form. `own` pictures are for the player whose spawn it is."""

    __slots__ = ("_current", "_deltas", "_stale", "form", "own", "spawn")

    def __init__(self, spawn: Spawn, form: GhostForm, *, own: bool) -> None:
        self.spawn = spawn
        self.form = form
        self.own = own
        self._stale: int = Change.NONE
        self._current = [self._encode(part) for part in range(len(PARTS))]
        self._deltas: list[dict[bytes, bytes]] = [{}, {}, {}]

    def changed(self, change: int) -> None:
        """Learn that parts of the spawn are no longer what they were."""
        self._stale |= change

    def part(self, part: int) -> bytes:
        """Return the bytes of one part as the spawn is now; equal bytes are the same object."""
        flag = CHANGES[part]
        if self._stale & flag:
            self._stale &= ~flag
            new = self._encode(part)
            if new != self._current[part]:
                self._current[part] = new
                self._deltas[part].clear()
        return self._current[part]

    def delta(self, part: int, base: bytes) -> bytes:
        """Return the packed XOR of one part with what a viewer was sent last."""
        new = self.part(part)
        known = self._deltas[part]
        made = known.get(base)
        if made is None:
            made = known[base] = self.form.pack(xor(new, base))
        return made

    def create(self, index: int, time_stamp: int) -> bytes:
        """Return the payload that makes the ghost: header, packed parts, footer.

        The viewer's baselines are then the parts as they are now.
        """
        header = self.form.encode(HEADER, fields.header_fields(self.spawn, index, time_stamp))
        packed = self.form.pack(b"".join(self.part(part) for part in range(len(PARTS))))
        footer = fields.footer_of(self.spawn, self.form)
        return b"".join((header, len(packed).to_bytes(4, "little"), packed, footer))

    def _encode(self, part: int) -> bytes:
        spawn, form = self.spawn, self.form
        if part == POSITION:
            values = fields.position_fields(spawn)
        elif part == VISIBILITY:
            values = fields.visibility_fields(spawn, form, own=self.own)
        else:
            values = fields.info_fields(spawn, form)
        return form.encode(PARTS[part], values)


class Album:
    """All pictures of a zone's spawns, made when somebody looks, dropped when nobody does."""

    __slots__ = ("_pictures",)

    def __init__(self) -> None:
        self._pictures: dict[int, dict[tuple[GhostForm, bool], Picture]] = {}

    def __len__(self) -> int:
        """How many spawns have a picture."""
        return len(self._pictures)

    def get(self, spawn: Spawn, form: GhostForm, *, own: bool = False) -> Picture:
        """Return the picture of a spawn for one form, making it when there is none."""
        pictures = self._pictures.setdefault(spawn.id, {})
        found = pictures.get((form, own))
        if found is None:
            found = pictures[form, own] = Picture(spawn, form, own=own)
        return found

    def changed(self, spawn: Spawn, change: int) -> None:
        """Have every picture of a spawn made anew where it changed."""
        for picture in self._pictures.get(spawn.id, {}).values():
            picture.changed(change)

    def forget(self, spawn: Spawn) -> None:
        """Drop a spawn's pictures: nobody sees it any more."""
        self._pictures.pop(spawn.id, None)
