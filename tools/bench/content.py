"""A whole world of content: hails, calls of scripts, opening the largest zones, memory.

The world is generated: `ZONES` zones with `PLACES` placements each, which is more than the 20
largest of the community's have on average, and a script for every tenth spawn. With ``--content``
and ``--scripts`` a real content file and its scripts are measured instead. Time is that of the CPU;
the world's clock is virtual. The yardstick is RC4 in plain Python.
"""

from __future__ import annotations

import gc
import resource
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

from twisted.internet.defer import succeed

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.net.world.content_memory import ContentMemory, give_back
from emu.times import Monotonic
from emu.world.content.listing import zone_definitions
from emu.world.content.served import NO_LAYER, ContentZones, served_zone
from emu.world.rules import ZoneRules
from emu.world.zones.zone import Zone
from tests.support.content.dumps import meadow, write_dumps
from tests.support.world.script_scenes import PLACE, ScriptScene
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

CONTENT: Path | None = None
SCRIPTS: Path | None = None
ZONES: Final = 20
PLACES: Final = 3000
HAILS: Final = 300
CALLS: Final = 2000
NAMES: Final = 20
"""Calls of server functions in one call of a script, when both are measured together."""
_PAGE: Final = resource.getpagesize()
_SCRIPT: Final = """
function spawn(NPC) SetPlayerProximityFunction(NPC, 10, "InRange") end
function respawn(NPC) spawn(NPC) end
function InRange(NPC, Spawn) end
function hailed(NPC, Spawn) FaceTarget(NPC, Spawn) Say(NPC, "Hail, " .. GetName(Spawn)) end
"""


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE / 1e6


def report(rounds: int) -> list[Figure]:
    """Measure everything."""
    with TemporaryDirectory() as folder:
        path, scripts = CONTENT or _generated(Path(folder)), SCRIPTS or _scripts(Path(folder))
        return [*_calls(Path(folder), rounds), *_zones(path, scripts, rounds)]


# -- the generated world ----------------------------------------------------------------------


def _scripts(folder: Path) -> Path:
    root = folder / "server"
    target = root / "SpawnScripts" / "meadow"
    target.mkdir(parents=True)
    for number in range(PLACES // 10):
        (target / f"guard{number}.lua").write_text(_SCRIPT, encoding="utf-8")
    return root


def _generated(folder: Path) -> Path:
    """Return a content file with many spawns, made from a generated dump."""
    tables = meadow()
    chances = Random(1)
    zone, place = tables["zones"][0], tables["spawn_location_placement"][0]
    tables["zones"], tables["spawn_location_placement"] = [], []
    tables["spawn_location_entry"], tables["spawn_scripts"] = [], []
    for name in ("group", "group_associations", "group_chances"):
        del tables[f"spawn_location_{name}"]
    for number in range(1, ZONES + 1):
        tables["zones"].append({**zone, "id": number, "name": f"zone{number}"})
        for at in range(PLACES):
            key = number * PLACES + at
            tables["spawn_location_placement"].append({
                **place, "id": key, "spawn_location_id": key, "zone_id": number,
                "x": chances.uniform(-1000, 1000), "z": chances.uniform(-1000, 1000),
            })  # fmt: skip
            tables["spawn_location_entry"].append({
                "id": key, "spawn_id": 90001, "spawn_location_id": key, "spawnpercentage": 100,
            })  # fmt: skip
            if not at % 10:
                tables["spawn_scripts"].append({
                    "id": key, "spawn_id": 0, "spawnentry_id": 0, "spawn_location_id": key,
                    "lua_script": f"SpawnScripts/meadow/guard{at // 10}.lua",
                })  # fmt: skip
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    return target


# -- calls ------------------------------------------------------------------------------------


def _calls(folder: Path, rounds: int) -> Iterator[Figure]:
    scene = ScriptScene(folder)
    guard = scene.spawn("""
        function one(NPC) Say(NPC, "Yes?") end
        function many(NPC) for i = 1, 20 do GetLevel(NPC) end end
        function nothing(NPC) end""")
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None

    def message() -> None:
        scene.harness.chat.spawn_says(guard, [scene.player], "Yes?")

    said = [_each(message, HAILS) for _ in range(rounds)]
    hails = [_each(lambda: scene.scripts.call(body, "one"), HAILS) for _ in range(rounds)]
    more = [Round(hail - alone, _yard()) for hail, alone in zip(hails, said, strict=True)]
    yield Figure("a script's answer, above its message", "us", RC4_KILOBYTE, more, "50 us")
    nothing = [_each(lambda: scene.scripts.call(body, "nothing"), CALLS) for _ in range(rounds)]
    many = [_each(lambda: scene.scripts.call(body, "many"), CALLS // 10) for _ in range(rounds)]
    yield Figure(
        "an event of a script that does nothing", "us", RC4_KILOBYTE,
        [Round(one, _yard()) for one in nothing],
    )  # fmt: skip
    inside = [(a - b) / NAMES for a, b in zip(many, nothing, strict=True)]
    yield Figure(
        "a server function that a script calls", "us", RC4_KILOBYTE,
        [Round(one, _yard()) for one in inside], "3 us",
    )  # fmt: skip


def _each(call: Callable[[], object], count: int) -> float:
    """Return the microseconds of CPU that one call takes."""
    began = process_time()
    for _ in range(count):
        call()
    return (process_time() - began) / count * 1e6


def _yard() -> float:
    return rc4_loop(20_000).cpu * 1e9


# -- zones ------------------------------------------------------------------------------------


class _World:
    """Zones of a content file with their scripts; the clock is virtual."""

    def __init__(self, path: Path, scripts: Path) -> None:
        self.file = ContentFile(path)
        self.now = 1000.0
        self.scene = ScriptScene(scripts)
        self.longest = 0.0
        """Seconds of the longest turn in which nobody else is served."""
        self._began = process_time()
        self._waiting: list[Coroutine[Any, Any, None]] = []
        self.zones = ContentZones(
            self._read, next_id=self.scene.harness.world.next_spawn_id,
            randomness=lambda: Random(1), hour=lambda: 12, center=lambda _zone: PLACE,
            now=self._now, wake=lambda _due: None, start=self._waiting.append,
            failed=lambda _line: None, in_thread=_at_once,
        )  # fmt: skip
        self.zones.listener = self.scene.scripts
        # As the server does.
        self.zones.watchers.append(ContentMemory(lambda: False, lambda call: succeed(call())))

    def _now(self) -> Monotonic:
        # A turn looks at the clock to know when it has lasted long enough.
        return Monotonic(self.now + process_time() - self._began)

    async def _read(self, zone_id: int, _old: Any) -> Any:
        return served_zone(self.file, zone_id, NO_LAYER)

    def open(self, definition: Any) -> Zone:
        """Open a zone until all its spawns stand."""
        zone = Zone(definition, 0, ZoneRules())
        self.zones.settle(zone)
        self._began = process_time()
        for one in self._waiting:
            try:
                one.send(None)
            except StopIteration:
                continue
        self._waiting.clear()
        end = self.now + 5.0
        while (due := self.zones.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self._began = process_time()
            self.zones.handle_timer(Monotonic(self.now))
            self.longest = max(self.longest, process_time() - self._began)
        self.now = end
        return zone

    def leave(self, zone: Zone) -> None:
        """End a zone that nobody is in any more."""
        self.zones.forget(zone)
        zone.end()
        scripts = self.scene.scripts
        while True:
            began = process_time()
            is_over = scripts.collect_some()
            self.longest = max(self.longest, process_time() - began)
            if is_over:
                break
        give_back()


async def _at_once(call: Callable[[], Any]) -> Any:
    return call()


def _largest(path: Path) -> list[Any]:
    """Return the definitions of the zones with the most placements."""
    with ContentFile(path) as file:
        definitions = {one.id: one for one in zone_definitions(file)}
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    rows = database.execute(
        "SELECT zone_id, count(*) FROM placements GROUP BY zone_id ORDER BY 2 DESC"
    ).fetchall()
    database.close()
    return [definitions[number] for number, _ in rows if number in definitions][:ZONES]


def _zones(path: Path, scripts: Path, rounds: int) -> Iterator[Figure]:
    world = _World(path, scripts)
    gc.collect()
    before, began = resident(), process_time()
    zones = [world.open(definition) for definition in _largest(path)]
    seconds, full = process_time() - began, resident()
    spawns = sum(len(zone) for zone in zones)
    yard = _yard()

    def single(what: str, value: float, unit: str, aim: str = "") -> Figure:
        return Figure(what, unit, RC4_KILOBYTE, [Round(value, yard)] * rounds, aim)

    yield single(f"{len(zones)} largest zones opened, {spawns} spawns", seconds * 1e6, "us")
    yield single("the longest turn while they opened", world.longest * 1e6, "us", "20,000 us")
    yield single("resident memory with them", full, "MB", "450 MB")
    for zone in zones:
        world.leave(zone)
    zones.clear()
    del zone
    gc.collect()
    yield single("resident memory before", before, "MB")
    yield single("resident memory after all were left", resident(), "MB")
