"""Maps of running zones for operators: what stands where, empty places, and why they are empty.

The commands return data; `data/web/zone.js` draws it. A row of a spawn is a list, because a zone
has thousands: its number, the index of its kind, x, z, y, name, level and whether its script has
failed.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE
from emu.content.standing import Standing
from emu.content.vacancies import Vacancy, reasons
from emu.errors import CommandError
from emu.texts import counted
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.commands.context import PlayerCommandSet
from emu.world.minds.errors import ScriptFault
from emu.world.minds.shared import Minds
from emu.world.population.served import ContentZones
from emu.world.scripts.bodies import Homes
from emu.world.subjects.subject import Subject
from emu.world.world import World
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone

KINDS: Final = tuple(SpawnKind)
"""The kinds by their index in the rows of spawns."""
MOST_SPAWNS: Final = 20_000
"""Rows of one map."""
MOST_ERRORS: Final = 50
MOST_POINTS: Final = 500
"""Points of a walk."""
Record = dict[str, Any]


class ZoneMaps(Subject):
    """The maps of one world's running zones."""

    def __init__(
        self, world: World, content: Callable[[], ContentZones], minds: Callable[[], Minds],
        homes: Callable[[], Homes | None], grounds: Grounds,
    ) -> None:  # fmt: skip
        """`content`, `minds` and `homes` are made after this; no `homes` without Lua scripts."""
        self._world = world
        self._content = content
        self._minds = minds
        self._homes = homes
        self._grounds = grounds

    def zone(self, name: str, instance: int) -> Zone:
        """Return a running zone by name and instance. Raises `CommandError`."""
        definition = self._world.zones.table.named(name)
        if definition is None:
            raise CommandError(f"there is no zone {name}; zones lists them")
        for zone in self._world.zones:
            if (zone.zone_id, zone.instance) == (definition.id, instance):
                return zone
        raise CommandError(f"{definition.description} does not run here")

    def map(self, zone: Zone) -> Record:
        """Return all spawns of a zone but players, its empty places, and errors of its scripts."""
        population = self._content().population(zone)
        faults, failed = self._faults_in(zone)
        spawns = [
            [one.id, KINDS.index(one.kind), round(one.position.x, 1), round(one.position.z, 1),
             round(one.position.y, 1), one.name, one.level, int(one.id in failed)]
            for one in zone if one.kind is not SpawnKind.PLAYER
        ]  # fmt: skip
        empty = list(population.empty()) if population is not None else []
        return {
            "zone": zone.definition.description, "zone_id": zone.zone_id,
            "file": zone.definition.file, "instance": zone.instance,
            "kinds": [one.value for one in KINDS], "total": len(spawns),
            "spawns": spawns[:MOST_SPAWNS], "empty_total": len(empty),
            "empty": [[one.id, round(one.x, 1), round(one.z, 1), round(one.y, 1)]
                      for one in empty[:MOST_SPAWNS]],
            "errors": [one.row() for one in faults[:MOST_ERRORS]],
        }  # fmt: skip

    def outline(self, zone: Zone) -> Record | None:
        """Return the image of a zone's ground, and what it shows; None without a map.

        ``x`` and ``z`` are the lowest ones that it shows; a cell is a square of ``cell`` meters.
        """
        found = self._grounds.of(zone).outline()
        if found is None:
            return None
        header, image = found
        return {
            "x": header.west, "z": header.south, "cell": header.cell,
            "columns": header.columns, "rows": header.rows,
            "image": base64.b64encode(image).decode("ascii"),
        }  # fmt: skip

    def _faults_in(self, zone: Zone) -> tuple[list[ScriptFault], set[int]]:
        """Return the errors of a zone and of what stands there, and the spawns with an error."""
        faults = self._minds().errors.faults()
        if not faults:
            return [], set()
        homes = self._homes()
        home = homes.get(zone) if homes is not None else None
        scripts = {home.script: {0}} if home is not None else {}
        for number, body in home.bodies.items() if home is not None else ():
            scripts.setdefault(body.script, set()).add(number)
        scripts.pop("", None)
        named: dict[str, set[int]] = {}
        for one in zone:
            named.setdefault(one.name, set()).add(one.id)
        here, failed = [], set[int]()
        for fault in faults:
            whose = _owners(fault, scripts, named)
            if whose:
                here.append(fault)
                failed |= whose
        return here, failed

    def _script(self, zone: Zone, spawn: Spawn) -> str:
        """Return the script that a spawn has now; empty without one."""
        homes = self._homes()
        body = homes.body(spawn, zone) if homes is not None else None
        return body.script if body is not None else ""

    def _walk(self, zone: Zone, spawn: Spawn) -> Record:
        """Return the points of a spawn's round, and those to which it goes before."""
        walk = self._minds().moves.walks.get(spawn, zone)
        ring, queue = (walk.ring, walk.queue) if walk is not None else ([], [])
        return {
            name: [[round(one.place.x, 1), round(one.place.z, 1)] for one in points[:MOST_POINTS]]
            for name, points in (("round", ring), ("way", queue))
        }

    def spawn(self, zone: Zone, number: int) -> Record:
        """Return all that is known of a spawn. Raises `CommandError`."""
        spawn = zone.spawn(number)
        if spawn is None:
            raise CommandError(f"there is no spawn {number} in {zone.definition.description} now")
        standing = self._content().standing_of(zone, spawn)
        at = spawn.position
        record: Record = {
            "number": spawn.id, "name": spawn.name, "kind": spawn.kind.value, "level": spawn.level,
            "last_name": spawn.last_name, "guild": spawn.guild,
            "x": round(at.x, 2), "y": round(at.y, 2), "z": round(at.z, 2),
            "heading": round(at.heading, 1), "health": spawn.hp_percent,
            "attackable": spawn.attackable, "faction": spawn.faction,
            "verbs": [one.name for one in (*spawn.verbs, *spawn.more_verbs)],
            "from_zone_file": self._content().is_fixture(zone, spawn),
            "placement": None, "errors": [],
        }  # fmt: skip
        if standing is not None:
            record |= standing_row(standing)
        script = record["script"] = self._script(zone, spawn)
        record |= self._walk(zone, spawn)
        record["errors"] = [one.row() for one in self._faults_of(spawn.name, script)]
        return record

    def place(self, zone: Zone, number: int) -> Record:
        """Return a placement and why it is empty. Raises `CommandError`."""
        population = self._content().population(zone)
        found = None
        if population is not None:
            found = population.vacancy(number, self._world.clock.now())
        if population is None or found is None:
            raise CommandError(f"there is no placement {number} in {zone.definition.description}")
        standing = population.at(number)
        return vacancy_row(found, is_empty=standing is None) | {
            "standing": standing.template.spawn["name"] if standing is not None else "",
            "errors": [
                one.row() for entry in found.entries for one in self._faults_of("", entry.script)
            ],
        }

    def _faults_of(self, name: str, script: str) -> Iterator[ScriptFault]:
        for one in self._minds().errors.faults():
            is_own = one.spawn == name if one.is_behavior else script in (one.script, one.file)
            if is_own and (script or one.is_behavior):
                yield one


def _owners(
    fault: ScriptFault, scripts: Mapping[str, set[int]], named: Mapping[str, set[int]]
) -> set[int]:
    """Return the spawns whose script or behavior has an error; 0 stands for the zone's script."""
    if fault.is_behavior:
        return named.get(fault.spawn, set())
    # An error in a module is one of each script that has called it.
    return scripts.get(fault.script, set()) | scripts.get(fault.file, set())


def standing_row(standing: Standing) -> Record:
    """Return where a spawn of the content file comes from."""
    placement, entry = standing.placement, standing.entry
    return {
        "placement": placement.id, "location": placement.location_id, "group": standing.group,
        "entry": entry.id, "weight": entry.weight, "condition": entry.condition,
        "respawn": placement.respawn, "spawn": standing.template.id,
    }  # fmt: skip


def vacancy_row(found: Vacancy, *, is_empty: bool) -> Record:
    """Return a placement with its entries, and the reasons if nothing stands there."""
    placement = found.placement
    return {
        "placement": placement.id, "location": placement.location_id,
        "x": round(placement.x, 2), "y": round(placement.y, 2), "z": round(placement.z, 2),
        "respawn": placement.respawn, "groups": list(found.groups),
        "returns_in": found.returns_in,
        "reasons": list(reasons(found)) if is_empty else [],
        "entries": [
            {"entry": one.id, "spawn": one.spawn_id, "weight": one.weight,
             "condition": one.condition, "script": one.script, "name": _name(found, one.spawn_id)}
            for one in found.entries
        ],
    }  # fmt: skip


def _name(found: Vacancy, spawn_id: int) -> str:
    template = found.templates.get(spawn_id)
    return template.spawn["name"] if template is not None else ""


ZONE = Argument("zone", help="number, name or file of the zone", among="zone")
INSTANCE = Argument(
    "instance", ArgumentKind.NUMBER, "which copy of it", optional=True, default=0
)  # fmt: skip
NUMBER = Argument("number", ArgumentKind.NUMBER, "its number")

COMMANDS = PlayerCommandSet[ZoneMaps]()


@COMMANDS.command(
    "zonemap show", "count what stands in a running zone, and its empty places", ZONE, INSTANCE,
    rank=GUIDE, is_quiet=True, cost=Cost.LISTING, example="zonemap show Antonica",
)  # fmt: skip
async def _show(maps: ZoneMaps, call: Call) -> Reply:
    found = maps.map(maps.zone(call["zone"], call["instance"]))
    counts = [0] * len(KINDS)
    for row in found["spawns"]:
        counts[row[1]] += 1
    lines = [
        f"{kind.value}: {number}" for kind, number in zip(KINDS, counts, strict=True) if number
    ]
    return Reply((*lines, counted(len(found["empty"]), "empty place")), found)


@COMMANDS.command(
    "zonemap spawn", "show a spawn of a running zone: its place, script and errors", ZONE,
    Argument("instance", ArgumentKind.NUMBER, "which copy of it"), NUMBER, rank=GUIDE,
    is_quiet=True, example="zonemap spawn Antonica 0 1503",
)  # fmt: skip
async def _spawn(maps: ZoneMaps, call: Call) -> Reply:
    found = maps.spawn(maps.zone(call["zone"], call["instance"]), call["number"])
    return Reply(tuple(_lines(found)), found)


@COMMANDS.command(
    "zonemap place", "show a placement of a running zone, and why it is empty", ZONE,
    Argument("instance", ArgumentKind.NUMBER, "which copy of it"), NUMBER, rank=GUIDE,
    is_quiet=True, example="zonemap place Antonica 0 3504",
)  # fmt: skip
async def _place(maps: ZoneMaps, call: Call) -> Reply:
    found = maps.place(maps.zone(call["zone"], call["instance"]), call["number"])
    return Reply(tuple(_lines(found)), found)


@COMMANDS.command(
    "zonemap outline", "show what the image of a running zone's ground shows", ZONE, INSTANCE,
    rank=GUIDE, is_quiet=True, cost=Cost.LISTING, example="zonemap outline Antonica",
)  # fmt: skip
async def _outline(maps: ZoneMaps, call: Call) -> Reply:
    found = maps.outline(maps.zone(call["zone"], call["instance"]))
    if found is None:
        return Reply(("there is no outline; an import of the zone's map makes it",), None)
    size = f"{found['columns']} x {found['rows']} cells of {found['cell']:.2f} m"
    return Reply((f"{size} from x {found['x']:.1f} and z {found['z']:.1f} on",), found)


def _lines(record: Record) -> Iterator[str]:
    for key, value in record.items():
        if isinstance(value, list):
            yield from (f"{key}: {one}" for one in value)
        elif value not in (None, "", 0):
            yield f"{key}: {value}"


ZoneMaps.COMMANDS = COMMANDS
