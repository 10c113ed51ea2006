"""One player's eyes in a zone: which ghosts its client has, and what it is sent of them.

Owns the commands that create, update and destroy ghosts. When to look is the zone's business; what
the session below has room for, the link's. Source: docs/protocol/world/spawns.md#visibility,
docs/protocol/world/spawns.md#create-ghost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from emu.sight.forms import (
    CREATE_GHOST,
    CREATE_SIGN,
    CREATE_WIDGET,
    DESTROY_GHOST,
    UPDATE_GHOST,
    oversized,
)
from emu.world.ghosts import Album, GhostForm, Sights
from emu.world.spawns import Spawn, SpawnKind

CREATE: Final = {
    SpawnKind.SIGN: CREATE_SIGN,
    SpawnKind.WIDGET: CREATE_WIDGET,
}
_DELETE: Final = b"\1"


class ViewerLink(Protocol):
    """What a viewer needs of its client."""

    def command(self, name: str, payload: bytes) -> None:
        """Send a command inside OP_ClientCmdMsg, by its opcode's name."""

    def room(self) -> int:
        """Return how many bytes may usefully be sent now; 0 or less when the link is full."""


@dataclass(slots=True, eq=False)
class Viewer:
    """What one player sees."""

    spawn: Spawn
    """The player's own."""
    form: GhostForm
    link: ViewerLink
    album: Album
    sights: Sights = field(default_factory=Sights)
    is_ready: bool = False
    """Whether its client takes updates: it has said that its avatar stands."""

    @property
    def is_crowded(self) -> bool:
        """Whether new ghosts have to wait. A client that is still loading is sent all there are."""
        return self.is_ready and self.link.room() <= 0

    def show(self, spawn: Spawn, now_ms: int) -> None:
        """Create the ghost of a spawn that is not seen yet."""
        picture = self.album.get(spawn, self.form, own=spawn is self.spawn)
        payload = self.sights.show(picture, now_ms)
        self.link.command(CREATE.get(spawn.kind, CREATE_GHOST), payload)

    def hide(self, spawn: Spawn) -> None:
        """Destroy a ghost; nothing is sent for one that is not seen."""
        index = self.sights.hide(spawn)
        if index is not None:
            self.link.command(DESTROY_GHOST, oversized(index) + _DELETE)

    def flush(self, now_ms: int) -> None:
        """Send what is due as far as there is room; the rest waits until the link has some again.

        Whoever is refused room is told when there is (`emu.session.Session.room`), so the last
        question here is one that finds none.
        """
        while self.sights.is_due and (room := self.link.room()) > 0:
            for payload in self.sights.take_updates(now_ms, room, self.spawn.position):
                self.link.command(UPDATE_GHOST, payload)
