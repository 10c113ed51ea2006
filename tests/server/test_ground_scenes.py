"""The ground as clients of three versions meet it over UDP: a hill, a wall, lava and a fence.

All scenes play at once on one server with small maps. The codes of the refused spell are those of
EQ2Emulator's table of spell errors; where a client draws a creature is in
docs/protocol/world/spawns.md#walks.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world.events import BlowSeen, CastRefused, Updated
from emu.client.world.surroundings import ClientSurroundings
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.ground.importing import import_maps
from emu.ground.map_folder import maps_folder
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.world_stream.ghosts import POSITION
from tests.support.content.dumps import write_dumps
from tests.support.ground.map_bytes import Part, Surface3, hills
from tests.support.ground.map_folders import FENCE, FLOOR, write_map, write_maps
from tests.support.ground.plain_search import best_height
from tests.support.running.whole_server import HOST, Harness, harness
from tests.support.world.spell_scenes import SMITE, SMITE_SCRIPT
from tests.world.zones.test_ground_clients import BURNING, Point, point_ahead

pytest.importorskip("lupa", reason="the package lupa is not installed")
ZONE, FILE = 325, "tutorial_island02"
STEADY = SMITE.replace("is_interruptable = true", "is_interruptable = false")
CANNOT_SEE = {546: 29, 1208: 34, 60114: 34}
PLAYERS = {"adara": (546, "Adam"), "beata": (1208, "Ben"), "cleona": (60114, "Carl")}
"""The version of each player's client, and the creature that it casts at."""
SPEED = 10
FAR = 72.0
"""Meters in the east at which the middle of the hills is."""
HILLS: list[Surface3] = [
    ((ax + FAR, ay, az), (bx + FAR, by, bz), (cx + FAR, cy, cz))
    for (ax, ay, az), (bx, by, bz), (cx, cy, cz) in hills(16)
]
BEGIN, LAVA_AT, BEHIND = (10.0, 0.0, 4.0), (26.0, 0.0, 2.0), (22.0, 0.0, 2.0)
EACH = 5.0
"""Seconds between two burns."""
FENCE_X, GAP_Z = 14.0, 8.0
STRAIGHT_LEG = 40.0
"""Meters: the rover's legs have 56, and no line between two of their corners is as long."""
CREATURES = {
    # One for each player: who fights one alone is the only one who may.
    "Adam": ((18.0, 0.0, 3.0), ""),
    "Ben": ((18.0, 0.0, 4.0), ""),
    "Carl": ((18.0, 0.0, 5.0), ""),
    "Wolf": ((10.0, 0.0, 2.0), "function targeted(NPC, Spawn)\nAddHate(Spawn, NPC, 100)\nend"),
    "Rover": ((FAR - 28.0, 0.0, 4.0), """
        function spawn(NPC)
            MovementLoopAddLocation(NPC, %s, %s, 8, 5, 0)
            MovementLoopAddLocation(NPC, %s, %s, 4, 5, 0)
        end"""),
}  # fmt: skip


def height(x: float, z: float) -> float:
    found = best_height(HILLS, (x, 50.0, z))
    assert found is not None
    return found


def write_scripts(folder: Path) -> None:
    """Write the scripts of the creatures, of the lava and of a spell."""
    (east, west) = (FAR + 28.0, FAR - 28.0)
    texts = {f"SpawnScripts/{name}.lua": text for name, (_, text) in CREATURES.items() if text}
    texts["SpawnScripts/Rover.lua"] %= (east, height(east, 8.0), west, height(west, 4.0))
    texts |= {f"RegionScripts/{FILE}/lava.lua": BURNING, "Spells/Smite.lua": SMITE_SCRIPT}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def tables() -> dict[str, Any]:
    """Return the content of the zone: where players begin, and the creatures."""
    numbers = {name: 3250001 + at for at, name in enumerate(CREATURES)}
    return {
        "zones": [{"id": ZONE, "name": "isle", "file": FILE, "description": "Isle",
                   "safe_x": BEGIN[0], "safe_y": BEGIN[1], "safe_z": BEGIN[2],
                   "instance_type": "NONE", "shutdown_timer": 300}],
        "spawn": [
            {"id": number, "name": name, "race": 9, "model_type": 134, "size": 32,
             "targetable": 1, "show_name": 1, "attackable": 1, "hp": 100000}
            for name, number in numbers.items()
        ],
        "spawn_npcs": [
            {"id": number, "spawn_id": number, "min_level": 1, "max_level": 1}
            for number in numbers.values()
        ],
        "spawn_location_placement": [
            {"id": number, "zone_id": ZONE, "spawn_location_id": number, "respawn": 60,
             "x": place[0], "y": height(*place[::2]) if name == "Rover" else place[1],
             "z": place[2]}
            for (name, (place, _)), number in zip(CREATURES.items(), numbers.values(), strict=True)
        ],
        "spawn_location_entry": [
            {"id": number, "spawn_id": number, "spawn_location_id": number, "spawnpercentage": 100}
            for number in numbers.values()
        ],
        "spawn_scripts": [
            {"id": numbers[name], "spawn_id": numbers[name], "spawnentry_id": 0,
             "spawn_location_id": 0, "lua_script": f"SpawnScripts/{name}.lua"}
            for name, (_, text) in CREATURES.items() if text
        ],
    }  # fmt: skip


def settings(folder: Path) -> dict[str, object]:
    """Write maps, content, scripts and a spell; return the settings of the world."""
    source = write_maps(folder / "source", FILE)
    write_map(source, FILE, [Part(FLOOR, 5), Part(FENCE, 5, 77, FENCE[0][0]), Part(HILLS, 6)])
    content = folder / "content.sqlite"
    report = import_maps(source, maps_folder(content))
    assert report.faults == []
    import_content(dump_parts([write_dumps(folder / "dumps", tables())]), content, maps=report)
    write_scripts(folder / "scripts")
    (folder / "spells.toml").write_text(STEADY, encoding="utf-8")
    return {
        "world.content": content,
        "world.scripts": folder / "scripts",
        "world.spells": folder / "spells.toml",
    }


def on_line(start: Point, end: Point, share: float) -> Point:
    x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return x, y, z


class Watcher:
    """A client, and the events that it has had."""

    def __init__(self, client: ClientWorldConnection, events: list[object], foe: str) -> None:
        self.client, self.core, self.events, self.foe = client, client.core, events, foe

    @property
    def errors(self) -> list[int]:
        """The codes of what was refused."""
        return [one.code for one in self.events if isinstance(one, CastRefused)]

    @property
    def seen(self) -> ClientSurroundings:
        assert self.core.surroundings is not None
        return self.core.surroundings

    def index(self, name: str) -> int:
        index = self.seen.find(name)
        assert index is not None
        return index

    def lines(self, name: str, longest: float = math.inf) -> Iterator[tuple[Point, Point]]:
        """Yield the lines on which a creature is drawn, each as far as until the next update.

        A line goes from the place of an update to the point ahead, at the speed of the update.
        Those with a point ahead farther away than `longest` are left out.
        """
        index = self.index(name)
        updates = [
            (event.time, self.seen.part_fields(POSITION, one.now))
            for event in self.events
            if isinstance(event, Updated)
            for one in event.entries
            if one.ghost == index and one.part == POSITION
        ]
        for (time, fields), (ends, _) in pairwise(updates):
            here = fields["pos_x"], fields["pos_y"], fields["pos_z"]
            ahead = point_ahead(fields, here)
            if math.dist(here, ahead) > longest:
                continue
            way = fields["pos_speed"] / 256 * (ends - time) / 1000
            share = min(1.0, way / math.dist(here, ahead)) if here != ahead else 0.0
            yield here, on_line(here, ahead, share)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await self.client.until(condition, what, timeout=120.0)

    def cast(self) -> None:
        foe = self.index(self.foe)
        self.client.act(lambda core: core.target(foe))
        self.client.act(lambda core: core.command("cast Smite"))

    def walk(self, place: Point) -> None:
        self.client.walk_to(*place, 10.0)

    def burns(self) -> int:
        """Return how often the lava has burnt this client's own player."""
        own = self.core.own_index
        return self.events.count(BlowSeen(own, own, 15))

    def is_burnt(self) -> bool:
        return self.burns() >= 3

    def has_error(self) -> bool:
        return bool(self.errors)

    def has_wolf(self) -> bool:
        """Return whether the wolf stands beside the players, of whom it hunts one."""
        return math.dist(self.seen.place(self.index("Wolf"))[:3], BEHIND) <= 4.0

    def has_cast(self) -> bool:
        """Return whether the spell has come to its target, which may resist it."""
        own, foe = self.core.own_index, self.index(self.foe)
        return any(
            isinstance(one, BlowSeen) and (one.attacker, one.defender) == (own, foe)
            for one in self.events
        )

    def check_hill(self) -> None:
        """The rover is drawn within half a meter of the ground.

        A leg is straight until its corners come with the next turn of the server (`minds/legs.py`),
        which may take long on a busy machine.
        """
        lines = list(self.lines("Rover", STRAIGHT_LEG))
        assert len(lines) > 3
        east = [here[0] for here, _ in lines]
        assert max(east) - min(east) > 20.0
        for here, there in lines:
            for share in (0.0, 0.25, 0.5, 0.75, 1.0):
                x, y, z = on_line(here, there, share)
                assert abs(y - height(x, z)) <= 0.5

    def check_fence(self) -> None:
        """The wolf is drawn round the end of the fence, and on no line through it."""
        lines = list(self.lines("Wolf"))
        assert any(here[0] < FENCE_X for here, _ in lines)
        for (x, _, z), (far_x, _, far_z) in lines:
            if (x - FENCE_X) * (far_x - FENCE_X) < 0:
                assert z + (far_z - z) * (FENCE_X - x) / (far_x - x) > GAP_Z - 0.6


async def stands(
    server: Harness, stack: AsyncExitStack, name: str, version: int, foe: str
) -> Watcher:
    """Make a priest that begins in the zone, and enter."""
    entrance = Entrance(Credentials(name, "pass"), name.title(), create=True, version=version)
    async with await server.begun(name, "pass", version=version) as login:
        await login.run(granted(login.core, entrance))
    with closing(sqlite3.connect(server.database)) as database, database:
        database.execute(
            "UPDATE world_characters SET zone_id = ?, client_version = ?, class = 11"
            " WHERE name = ?", (ZONE, version, name.title()),
        )  # fmt: skip
    events: list[object] = []
    client = await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=events.append
    )
    await stack.enter_async_context(client)
    await client.stand()
    watcher = Watcher(client, events, foe)
    await watcher.until(
        lambda: all(watcher.seen.find(one) is not None for one in CREATURES), "the creatures"
    )
    return watcher


async def test_creatures_and_players_meet_the_ground(tmp_path: Path) -> None:
    accounts = dict.fromkeys(PLAYERS, "pass")
    async with (
        harness(tmp_path, settings(tmp_path), accounts=accounts, speed=SPEED) as server,
        AsyncExitStack() as stack,
    ):
        await server.world_registered()
        players = [await stands(server, stack, name, *more) for name, more in PLAYERS.items()]
        for one in players:
            one.cast()
            await one.until(one.has_error, "the error")
            assert one.errors == [CANNOT_SEE[one.core.version]]
        since = players[0].client.now()
        for one in players:
            one.walk(LAVA_AT)
        await burn(players, since)
        for one in players:
            one.walk(BEHIND)
        await players[0].until(
            lambda: all(one.core.walker.goal is None for one in players), "to arrive"
        )
        prey = players[-1]
        prey.client.act(lambda core: core.target(prey.index("Wolf")))
        for one in players:
            await one.until(one.has_wolf, "the wolf")
            one.check_hill()
            one.check_fence()
        for one in players:
            one.cast()
            await one.until(one.has_cast, "the spell")
            assert len(one.errors) == 1, "the wall is no longer between the two"


async def burn(players: list[Watcher], since: float) -> None:
    """Stay in the lava, entered after `since`, until it has burnt three times."""
    for one in players:
        await one.until(one.is_burnt, "the lava to burn three times")
        # A message may come late, but none comes before its time.
        assert one.client.now() - since >= 2 * EACH
        assert one.burns() <= 1 + (one.client.now() - since) / EACH
