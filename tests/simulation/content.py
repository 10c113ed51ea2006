"""A small content file of our own: two zones with creatures, ways that cost coins, and people.

Things, recipes, quests and spells have modules of their own.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from tests.simulation import (
    content_of_crafts,
    content_of_finds,
    content_of_houses,
    content_of_quests,
    content_of_spells,
    content_of_things,
    content_of_uses,
)
from tests.simulation.content_of_crafts import DEVICE, FORGE
from tests.simulation.content_of_finds import COLLECTOR, GIFTS, GROUND, ROOTS
from tests.simulation.content_of_houses import ENTRANCE, INN
from tests.simulation.content_of_quests import HERALD, HERALD_SCRIPT
from tests.simulation.content_of_things import Tables
from tests.simulation.content_of_uses import MENDER
from tests.support.content.dumps import write_dumps

ANTONICA, ISLE, FREEPORT = 12, 325, 33
RESPAWN = 400
"""Seconds for which a creature stays dead."""
PRICE = 7
"""Copper that a way costs."""
KINDS = ("grey", "white", "lame", "old")
"""Each creature has a name of its own, so that an auditor knows it again."""
ZONES = (
    (ANTONICA, "antonica", "antonica", "Antonica", (436.2, -37.5, 819.56)),
    (ISLE, "IsleRefuge1", "IsleRefuge1", "Isle of Refuge", (-3.0, -7.97, 243.45)),
)
"""Number, name, file, name for people and safe place; the numbers and names are the client's."""
BELL = "a mariner's bell"
KEEPER = "a keeper"
"""A creature with a script in each zone, which answers hails and talks by itself."""
SCRIPT = "SpawnScripts/Simulation/Keeper.lua"
KEEPER_SCRIPT = (
    """
function spawn(NPC)
    SetPlayerProximityFunction(NPC, 12, "near", "far")
    AddTimer(NPC, 15000 + MakeRandomInt(0, 30000), "murmur")
end

function near(NPC, Spawn)
    SetTempVariable(NPC, "guests", tostring(math.random(1, 1000)))
end

function far(NPC, Spawn)
    FaceTarget(NPC, Spawn)
end

function hailed(NPC, Spawn)
    FaceTarget(NPC, Spawn)
    give(NPC, Spawn)
    Say(NPC, GetName(Spawn) .. ", your number is " .. math.random(1, 100000))
    AddTimer(NPC, 3000, "again", 1, Spawn)
end

function again(NPC, Spawn)
    Say(NPC, "And another number is " .. MakeRandomInt(1, 100000))
end

function murmur(NPC)
    Say(NPC, "I count " .. math.random(1, 100000))
    AddTimer(NPC, 15000 + MakeRandomInt(0, 30000), "murmur")
end
"""
    + GIFTS
)
BEAR = "an old bear"
"""A creature that nobody can kill."""
MERCHANT, BANKER = "a peddler", "a banker"
COMMANDS = {BELL: 7, MERCHANT: 8, BANKER: 9, FORGE: 10, COLLECTOR: 11, ENTRANCE: 12,
            MENDER: 13}  # fmt: skip
"""The lists of commands of spawns."""
SCRIPTS = {KEEPER: SCRIPT, HERALD: HERALD_SCRIPT}
"""The scripts of spawns."""
WAYS = {ISLE: "To the plains", ANTONICA: "To the isle"}
"""The name of the way from a zone."""


def creature(zone: int, number: int) -> str:
    """Return the name of a creature."""
    return f"a {KINDS[number]} wolf of {'the plains' if zone == ANTONICA else 'the isle'}"


def wolves() -> list[int]:
    """Return the kinds of all creatures that people hunt."""
    return [zone * 100 + number for zone, *_ in ZONES for number in range(len(KINDS))]


def _tables() -> Tables:
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for zone, name, file, description, (x, y, z) in ZONES:
        found["zones"].append({
            "id": zone, "name": name, "file": file, "description": description,
            "safe_x": x, "safe_y": y, "safe_z": z, "instance_type": "NONE", "shutdown_timer": 30,
        })  # fmt: skip
        names = [*(creature(zone, number) for number in range(len(KINDS))), BELL, MERCHANT, BANKER,
                 BEAR, FORGE, HERALD, ROOTS, COLLECTOR, ENTRANCE, MENDER]  # fmt: skip
        for number, spawn in enumerate(names):
            away = 40.0 if spawn == BEAR else 4.0
            _add(found, zone, number, spawn, (x + number, y, z + away))
        _add(found, zone, 90, KEEPER, (x - 2.0, y, z + 3.0))
    for here, (to, _, _, _, (x, y, z)) in ((ISLE, ZONES[0]), (ANTONICA, ZONES[1])):
        found["transporters"].append({
            "id": here, "transport_id": here, "transport_type": "Zone",
            "display_name": WAYS[here], "message": "Off you go.", "destination_zone_id": to,
            "destination_x": x, "destination_y": y, "destination_z": z, "cost": PRICE,
        })  # fmt: skip
    subjects = (
        content_of_things.tables(), content_of_crafts.tables(), content_of_quests.tables(),
        content_of_spells.tables(), content_of_finds.tables(), content_of_houses.tables(ISLE),
        content_of_uses.tables(),
    )  # fmt: skip
    for more in subjects:
        for table, rows in more.items():
            found[table] += rows
    return dict(found)


def _add(
    found: defaultdict[str, list[dict[str, Any]]], zone: int, number: int, name: str,
    at: tuple[float, float, float],
) -> None:  # fmt: skip
    """Add a spawn of a zone at a place."""
    key = zone * 100 + number
    is_wolf, is_bear = number < len(KINDS), name == BEAR
    found["spawn"].append({
        "id": key, "name": name, "race": 9, "model_type": 134, "size": 32, "targetable": 1,
        "show_name": 1, "command_primary": COMMANDS.get(name, 0),
        "attackable": int(is_wolf or is_bear), "hp": 90_000 if is_bear else 60, "power": 10,
        "merchant_id": 6 if name == MERCHANT else 0, "loot_drop_type": 1,
        "transport_id": zone if name == BELL else 0,
    })  # fmt: skip
    if name in (BELL, FORGE):
        device = DEVICE if name == FORGE else 0
        found["spawn_objects"].append({"id": key, "spawn_id": key, "device_id": device})
    elif name == ENTRANCE:
        found["spawn_widgets"].append({"id": key, "spawn_id": key, "house_id": INN})
    elif name == ROOTS:
        found["spawn_ground"].append({
            "id": key, "spawn_id": key, "groundspawn_id": GROUND, "number_harvests": 3,
            "collection_skill": "Gathering",
        })  # fmt: skip
    else:
        level = 40 if is_bear else 1
        row = {"id": key, "spawn_id": key, "min_level": level, "max_level": level}
        found["spawn_npcs"].append(row)
    if is_wolf:
        found["spawn_loot"].append({"id": key, "spawn_id": key, "loottable_id": 4})
    x, y, z = at
    found["spawn_location_placement"].append({
        "id": key, "zone_id": zone, "spawn_location_id": key, "x": x, "y": y, "z": z,
        "respawn": content_of_finds.RESPAWN if name == ROOTS else RESPAWN,
    })  # fmt: skip
    found["spawn_location_entry"].append({
        "id": key, "spawn_id": key, "spawn_location_id": key, "spawnpercentage": 100,
    })  # fmt: skip
    if name in SCRIPTS:
        found["spawn_scripts"].append({
            "id": key, "spawn_id": key, "spawnentry_id": 0, "spawn_location_id": 0,
            "lua_script": SCRIPTS[name],
        })  # fmt: skip


def _scripts() -> dict[str, str]:
    return {
        SCRIPT: KEEPER_SCRIPT,
        **content_of_quests.scripts(wolves()),
        **content_of_spells.scripts(),
        **content_of_uses.scripts(),
    }


def scripts_folder(folder: Path | None = None) -> Path:
    """Return the folder of the scripts, which is beside the content file."""
    return (folder or content_file().parent) / "scripts"


@cache
def content_file() -> Path:
    """Return the content file, which is made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="emu-simulation-content-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    dumps = write_dumps(folder / "dumps", _tables())
    for name, source in _scripts().items():
        script = scripts_folder(folder) / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(source, encoding="utf-8")
    target = folder / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    return target
