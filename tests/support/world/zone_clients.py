"""Players of a zone without a session: what they are sent is read back as a client reads it."""

from __future__ import annotations

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.viewer import Viewer
from emu.world.zones.zone import Zone
from emu.world_stream.ghosts import UPDATE_GHOST
from emu.world_stream.movement import Position
from tests.support.world.ghost_views import GhostView, form


class ZoneClient:
    """One client: its link, its view, and the viewer the zone keeps for it."""

    def __init__(self, spawn: Spawn, version: int = 546) -> None:
        self.spawn = spawn
        self.view = GhostView(version)
        self.version = version
        self.commands: list[str] = []
        self.stamps: list[int] = []
        """The time stamps of its updates, in milliseconds."""
        self.space = 100_000
        self.bytes = 0
        self.viewer: Viewer | None = None

    def command(self, name: str, payload: bytes, *, may_wait: bool = False) -> None:
        self.commands.append(name)
        self.bytes += len(payload)
        if name == UPDATE_GHOST:
            self.stamps.append(int.from_bytes(payload[:4], "little"))
        self.view.look(name, payload)

    def send_bytes(self, name: str, payload: bytes = b"") -> bool:
        self.commands.append(name)
        self.bytes += len(payload)
        return True

    def capacity(self) -> int:
        return self.space

    def enter(self, zone: Zone, now: Monotonic) -> None:
        def viewer_of(baselines: BaselineCache) -> Viewer:
            return Viewer(self.spawn, form(self.version), self, baselines)

        zone.add_spawn(self.spawn, now)
        self.viewer = zone.enter(viewer_of, now)
        zone.show_own(self.viewer, now)
        zone.ready(self.viewer, now)

    def names(self) -> set[str]:
        """Names of everybody it sees but itself."""
        return {self.view.fields(index)["name"] for index in self.view.indexes if index != 1}

    def place_of(self, spawn: Spawn) -> tuple[float, float, float]:
        assert self.viewer is not None
        index = self.viewer.interest.index_of(spawn)
        assert index is not None
        fields = self.view.fields(index)
        return fields.get("pos_x", 0.0), fields.get("pos_y", 0.0), fields.get("pos_z", 0.0)


def player(number: int, x: float = 0.0, z: float = 0.0) -> Spawn:
    return Spawn(number, SpawnKind.PLAYER, f"Player{number}", Position(x, 0.0, z))


def run_ticks(zone: Zone, now: Monotonic, until: float) -> int:
    """Call every tick that comes up to a time; returns how many there were."""
    ticks = 0
    while (due := zone.next_tick()) is not None and due <= until:
        zone.tick(Monotonic(max(now, due)))
        ticks += 1
    return ticks
