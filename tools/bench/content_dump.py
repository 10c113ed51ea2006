"""A generated world of the real one's size: dumps in the form of EQ2Emulator, and its scripts.

The sizes of zones fall as those of the community's database do: 9,000 placements in the largest
zone, 79,000 in the 20 largest. Its figures are those of docs/guides/content.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from tests.support.content.dumps import literal, meadow

FALL, SHIFT = 1.25, 7
"""Of the sizes of zones by rank: 1 / (rank + SHIFT) ** FALL."""
IN_TOWN: Final = 0.25
"""Share of a zone's placements that are in its town."""
TOWN, SIDE = 150.0, 1500.0
"""Spread of the placements of a town, and half the side of a zone."""
COLORS: Final = ("skin_color", "eye_color", "hair_color1", "hair_color2", "soga_skin_color",
                 "soga_eye_color", "eye_type", "ear_type", "cheek_type", "lip_type", "chin_type",
                 "nose_type")  # fmt: skip
"""What each creature has a row for: 12 rows, as the community's have."""
WORN: Final = 3
"""Pieces of equipment of a creature."""
ROWS_OF_AN_INSERT: Final = 1000
WALKING_ZONE, STANDING_ZONE = 2001, 2002
SPAWNS_OF_A_SCRIPT: Final = 6
SCRIPT: Final = """
function spawn(NPC)
    SetPlayerProximityFunction(NPC, 10, "InRange")
    local x, y, z = GetX(NPC), GetY(NPC), GetZ(NPC)
    if MakeRandomInt(1, 8) == 1 then
        for i = 1, 6 do
            x, z = x + MakeRandomInt(-9, 9), z + MakeRandomInt(-9, 9)
            MovementLoopAddLocation(NPC, x, y, z, 2, 8)
        end
    end
end
function respawn(NPC) spawn(NPC) end
function InRange(NPC, Spawn) end
function hailed(NPC, Spawn) FaceTarget(NPC, Spawn) Say(NPC, "Hail, " .. GetName(Spawn)) end
"""
WALK: Final = """
function spawn(NPC)
    local x, y, z = GetX(NPC), GetY(NPC), GetZ(NPC)
    for i = 1, 21 do
        x, z = x + MakeRandomInt(-10, 10), z + MakeRandomInt(-10, 10)
        MovementLoopAddLocation(NPC, x, y, z, 2, i % 5 == 0 and 5 or 0)
    end
end
function respawn(NPC) spawn(NPC) end
"""
STAND: Final = "function spawn(NPC) end\nfunction respawn(NPC) spawn(NPC) end\n"


class Extent(NamedTuple):
    """How large a world is."""

    zones: int = 835
    placements: int = 186_726
    spawns: int = 55_937
    walkers: int = 300
    """In each of two further zones: in one they walk by a script, in the other they stand."""


def generated(folder: Path, extent: Extent, seed: int = 1) -> tuple[Path, Path]:
    """Write the dumps and the scripts of a world; return both folders."""
    dumps, scripts = folder / "dumps", folder / "server"
    dumps.mkdir(parents=True)
    makers = _World(extent, Random(seed)).tables()
    for table, rows in makers.items():
        _write(dumps / f"{table}.sql", table, rows)
    target = scripts / "SpawnScripts" / "made"
    target.mkdir(parents=True)
    for number in range(extent.spawns // SPAWNS_OF_A_SCRIPT + 1):
        (target / f"s{number}.lua").write_text(SCRIPT, encoding="utf-8")
    (target / "walk.lua").write_text(WALK, encoding="utf-8")
    (target / "stand.lua").write_text(STAND, encoding="utf-8")
    return dumps, scripts


def imported(dumps: Path, target: Path) -> Path:
    """Make a content file of dumps."""
    import_content(dump_parts([dumps]), target)
    return target


def _write(path: Path, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a dump of one table as mysqldump does, a thousand rows at a time."""
    found = iter(rows)
    first = next(found)
    names = list(first)
    lines = ",\n".join(f"  `{name}` int(10) unsigned NOT NULL DEFAULT 0" for name in names)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{lines}\n);\n")
        some = [first, *islice(found, ROWS_OF_AN_INSERT - 1)]
        while some:
            values = ",\n".join(
                "(" + ",".join(literal(row[name]) for name in names) + ")" for row in some
            )
            file.write(f"INSERT INTO `{table}` VALUES\n{values};\n")
            some = list(islice(found, ROWS_OF_AN_INSERT))


def shares(total: int, parts: int) -> list[int]:
    """Divide a number among zones, the largest first."""
    weights = [1 / (rank + SHIFT) ** FALL for rank in range(parts)]
    whole = sum(weights)
    found = [int(total * weight / whole) for weight in weights]
    found[0] += total - sum(found)
    return found


class _World:
    """The rows of each table, made one by one."""

    def __init__(self, extent: Extent, chances: Random) -> None:
        self._chances = chances
        self._extent = extent
        self._shares = shares(extent.placements, extent.zones)
        self._like = meadow()
        own = shares(extent.spawns, extent.zones)
        self._spawns_of: list[range] = []
        start = 1
        for count in own:
            self._spawns_of.append(range(start, start + count))
            start += count
        self._last = start

    def tables(self) -> dict[str, Iterable[Mapping[str, Any]]]:
        """Return the rows of all tables by the tables' names."""
        creatures = [one for one in range(1, self._last + 2) if self._is_creature(one)]
        return {
            "zones": self._zones(),
            "spawn": self._spawns(),
            "spawn_npcs": (
                {"id": one, "spawn_id": one, "min_level": 5, "max_level": 7, "class_": 1}
                for one in creatures
            ),
            "spawn_objects": (
                {"id": one, "spawn_id": one, "device_id": 0}
                for one in range(1, self._last) if not self._is_creature(one)
            ),
            "npc_appearance": (
                {"id": at * len(COLORS) + number, "spawn_id": one, "type": name,
                 "red": one % 250, "green": number, "blue": 9}
                for at, one in enumerate(creatures) for number, name in enumerate(COLORS)
            ),
            "npc_appearance_equip": (
                {"id": at * WORN + slot, "spawn_id": one, "slot_id": slot + 2,
                 "equip_type": 4000 + one % 300, "red": 9}
                for at, one in enumerate(creatures) for slot in range(WORN)
            ),
            "spawn_location_placement": self._placements(),
            "spawn_location_entry": self._entries(),
            "spawn_scripts": self._scripts(),
            "entity_commands": self._like["entity_commands"],
        }  # fmt: skip

    def _is_creature(self, number: int) -> bool:
        return number >= self._last or number % 5 < 3

    def _zones(self) -> Iterator[Mapping[str, Any]]:
        like = {**self._like["zones"][0], "shutdown_timer": 0}
        for number in (*range(1001, 1001 + self._extent.zones), WALKING_ZONE, STANDING_ZONE):
            yield {**like, "id": number, "name": f"made{number}", "description": f"Made {number}"}

    def _spawns(self) -> Iterator[Mapping[str, Any]]:
        like = self._like["spawn"][0]
        for number in range(1, self._last + 2):
            yield {**like, "id": number, "name": f"a creature {number}",
                   "model_type": 134 + number % 50}  # fmt: skip

    def _every_place(self) -> Iterator[tuple[int, int, int]]:
        """Yield zone, placement and spawn of each place."""
        key = 0
        for rank, count in enumerate(self._shares):
            spawns = self._spawns_of[rank] or self._spawns_of[0]
            for at in range(count):
                key += 1
                yield 1001 + rank, key, spawns[at % len(spawns)]
        for zone, spawn in ((WALKING_ZONE, self._last), (STANDING_ZONE, self._last + 1)):
            for _ in range(self._extent.walkers):
                key += 1
                yield zone, key, spawn

    def _placements(self) -> Iterator[Mapping[str, Any]]:
        like, chances = self._like["spawn_location_placement"][0], self._chances
        for zone, key, _ in self._every_place():
            if zone in (WALKING_ZONE, STANDING_ZONE):
                x, z = chances.uniform(0, 100), 50.0
            elif chances.random() < IN_TOWN:
                x, z = chances.gauss(0, TOWN), chances.gauss(0, TOWN)
            else:
                x, z = chances.uniform(-SIDE, SIDE), chances.uniform(-SIDE, SIDE)
            yield {**like, "id": key, "spawn_location_id": key, "zone_id": zone,
                   "x": round(x, 2), "y": 0.0, "z": round(z, 2)}  # fmt: skip

    def _entries(self) -> Iterator[Mapping[str, Any]]:
        for _, key, spawn in self._every_place():
            yield {"id": key, "spawn_id": spawn, "spawn_location_id": key, "spawnpercentage": 100}

    def _scripts(self) -> Iterator[Mapping[str, Any]]:
        names = {self._last: "walk", self._last + 1: "stand"}
        for number in range(2, self._last + 2):
            if number < self._last and number % 2:
                continue
            name = names.get(number, f"s{number // SPAWNS_OF_A_SCRIPT}")
            yield {"id": number, "spawn_id": number, "spawnentry_id": 0, "spawn_location_id": 0,
                   "lua_script": f"SpawnScripts/made/{name}.lua"}  # fmt: skip
