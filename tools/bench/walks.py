"""Creatures on their rounds: microseconds of a second of the zone, with and without players.

The clock is virtual. A round has 21 points, about as the community's have, and stays at some of
them. The players stand near; their links seal what they are sent, as those of sessions do. The
yardstick is a thousand bytes of RC4 in plain Python, which is the same kind of work.
"""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from random import Random
from time import process_time

from emu.dialects import Dialects, shipped_rules
from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.deadlines import Timetable
from emu.world.minds.walks import Walks, Waypoint
from emu.world.reports import Faults
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.forms import GhostForm, read_rules
from emu.world.visibility.viewer import Viewer
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tools.bench.figures import Figure, Round
from tools.bench.maps_source import hilly_map
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

WALKING = 300
PLAYERS = 50
POINTS = 21
SIDE = 100.0
"""Of the square in which all of them are."""
SPEED = 2.0
LEG = 10.0
STAY = 5.0
STAYS = 5
"""Every fifth point has a stay."""
SECONDS = 20.0
WARM = 120.0
"""Seconds in which most legs are walked once."""
HILLS = 60
"""Squares of a side of the hilly map: 240 m."""
ROUGH = 5.0
"""So that a leg has a quarter of a corner, as the legs of the public scripts have on their maps."""
HIGH = 100.0
VERSION = 546
AIM = "at most 100,000 us more than standing: 10 % of a core"
AIM_HILLS = "at most 20,000 us more than without a map: 2 % of a core"


class SealingLink:
    """A player's link, which compresses what it is given, and takes everything."""

    def __init__(self) -> None:
        self.messages = 0

    def command(self, _name: str, payload: bytes, *, may_wait: bool = False) -> None:  # noqa: ARG002
        """Count and compress a message."""
        self.messages += 1
        zlib.compress(payload, 1)

    def send_bytes(self, _name: str, _payload: bytes = b"") -> bool:
        """Take a message that is no update."""
        return True

    def capacity(self) -> int:
        """Take as much as there is."""
        return 100_000


class WalkingZone:
    """A zone with creatures on rounds, and players who stand among them."""

    def __init__(self, walking: int, players: int, maps: Path | None = None) -> None:
        """Have the map of a folder, or none; with one the points of rounds are on its ground."""
        self.now = 1000.0
        self._is_hilly = maps is not None
        self._random = Random(1)
        definition = ZoneDefinition(
            id=1, name="meadow", file="meadow", description="Meadow", safe=Position(0.0, 0.0, 0.0)
        )
        self.zone = Zone(definition)
        self.timetable = Timetable(lambda _due: None, Faults(lambda _event: None).attempt)
        self.grounds = Grounds(
            self.timetable, lambda: Monotonic(self.now),
            lambda: None if maps is None else MapFolder(maps),
        )  # fmt: skip
        self.walks = Walks(timetable=self.timetable, grounds=self.grounds)
        self.links = [SealingLink() for _ in range(players)]
        self.spawns = [self._spawn(number, SpawnKind.NPC) for number in range(1, WALKING + 1)]
        dialects = Dialects(shipped_tables, shipped_catalog(), shipped_rules())
        form = GhostForm(dialects.for_version(VERSION), read_rules().for_version(VERSION))
        for number, link in enumerate(self.links):
            self._enter(self._spawn(10_000 + number, SpawnKind.PLAYER), form, link)
        for spawn in self.spawns[:walking]:
            self._walk(spawn)
        self.run(5.0)

    def _spawn(self, number: int, kind: SpawnKind) -> Spawn:
        chance = self._random.uniform
        spawn = Spawn(number, kind, f"a guard {number}", self._place(chance(0, SIDE), SIDE / 2))
        self.zone.add_spawn(spawn, Monotonic(self.now))
        return spawn

    def _place(self, x: float, z: float) -> Position:
        surface = self.grounds.of(self.zone).surface(Position(x, HIGH, z))
        return Position(x, 0.0 if surface is None else surface.y, z)

    def _enter(self, spawn: Spawn, form: GhostForm, link: SealingLink) -> None:
        def viewer_of(baselines: BaselineCache) -> Viewer:
            return Viewer(spawn, form, link, baselines)

        self.zone.ready(self.zone.enter(viewer_of, Monotonic(self.now)), Monotonic(self.now))

    def _walk(self, spawn: Spawn) -> None:
        walk = self.walks.of(spawn, self.zone, lambda _mark: None)
        x, z = spawn.position.x, spawn.position.z
        for number in range(POINTS):
            x += self._random.uniform(-LEG, LEG)
            z += self._random.uniform(-LEG, LEG)
            stay = 0.0 if number % STAYS else STAY
            walk.ring.append(Waypoint(self._place(x, z), SPEED, stay))
        self.walks.changed(walk, Monotonic(self.now))

    def run(self, seconds: float) -> float:
        """Let time pass; return the seconds of CPU that one second of it took."""
        end, began = self.now + seconds, process_time()
        while True:
            times = (self.timetable.get_timer(), self.zone.next_tick())
            due = min((time for time in times if time is not None), default=None)
            if due is None or due > end:
                break
            now = Monotonic(max(self.now, due))
            self.now = now
            self.timetable.handle_timer(now)
            if (tick := self.zone.next_tick()) is not None and tick <= now:
                self.zone.tick(now)
        self.now = end
        return (process_time() - began) / seconds


def report(rounds: int) -> list[Figure]:
    """Let creatures stand and walk in turn, before players and in an empty zone, without a map.

    Then let them walk over hills: at first, while their legs are traced, and later.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "Maps").mkdir()
        (folder / "Maps" / "meadow.EQ2MapDeflated").write_bytes(
            hilly_map(HILLS, path="meadow", rough=ROUGH)
        )
        import_maps(folder, folder / "made")
        return _report(rounds, folder / "made")


def _report(rounds: int, maps: Path) -> list[Figure]:
    scenes = {
        f"{WALKING} creatures walk over hills, {PLAYERS} players": WalkingZone(
            WALKING, PLAYERS, maps
        ),
        f"{WALKING} creatures walk, {PLAYERS} players": WalkingZone(WALKING, PLAYERS),
        f"{WALKING} creatures stand, {PLAYERS} players": WalkingZone(0, PLAYERS),
        f"{WALKING} creatures walk, nobody is there": WalkingZone(WALKING, 0),
    }
    figures = []
    for what, scene in scenes.items():
        if "hills" in what:
            first = [Round(scene.run(SECONDS) * 1e6, rc4_loop().cpu * 1e9)]
            figures.append(Figure(f"{what}, their first legs", "us", RC4_KILOBYTE, first, ""))
            scene.run(WARM)
        found = [Round(scene.run(SECONDS) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        aim = AIM if scene.links and "walk" in what else ""
        aim = AIM_HILLS if "hills" in what else aim
        figures.append(Figure(what, "us", RC4_KILOBYTE, found, aim))
    return figures
