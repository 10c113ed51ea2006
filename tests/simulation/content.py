"""A small content file of our own: creatures that stay dead for a while, ways that cost coins."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from emu.content.importing import import_content
from emu.content.sources import dump_parts
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
KEEPER_NUMBER = 90
SCRIPT = "SpawnScripts/Simulation/Keeper.lua"
KEEPER_SCRIPT = """
function spawn(NPC)
    SetPlayerProximityFunction(NPC, 12, "near", "far")
    AddTimer(NPC, 5000 + MakeRandomInt(0, 9000), "murmur")
end

function near(NPC, Spawn)
    SetTempVariable(NPC, "guests", tostring(math.random(1, 1000)))
end

function far(NPC, Spawn)
    FaceTarget(NPC, Spawn)
end

function hailed(NPC, Spawn)
    FaceTarget(NPC, Spawn)
    Say(NPC, GetName(Spawn) .. ", your number is " .. math.random(1, 100000))
    AddTimer(NPC, 3000, "again", 1, Spawn)
end

function again(NPC, Spawn)
    Say(NPC, "And another number is " .. MakeRandomInt(1, 100000))
end

function murmur(NPC)
    Say(NPC, "I count " .. math.random(1, 100000))
    AddTimer(NPC, 5000 + MakeRandomInt(0, 9000), "murmur")
end
"""
WAYS = {ISLE: "To the plains", ANTONICA: "To the isle"}
"""The name of the way from a zone."""


def creature(zone: int, number: int) -> str:
    """Return the name of a creature."""
    return f"a {KINDS[number]} wolf of {'the plains' if zone == ANTONICA else 'the isle'}"


def _tables() -> dict[str, list[dict[str, Any]]]:
    zones, spawns, npcs, objects, places, entries, ways, scripts = ([] for _ in range(8))
    for zone, name, file, description, (x, y, z) in ZONES:
        zones.append({"id": zone, "name": name, "file": file, "description": description,
                      "safe_x": x, "safe_y": y, "safe_z": z, "instance_type": "NONE",
                      "shutdown_timer": 30})  # fmt: skip
        for number in range(len(KINDS) + 1):
            key = zone * 100 + number
            is_bell = number == len(KINDS)
            spawns.append({"id": key, "name": BELL if is_bell else creature(zone, number),
                           "race": 9, "model_type": 134, "size": 32, "targetable": 1,
                           "show_name": 1, "command_primary": 7 if is_bell else 0,
                           "attackable": 0 if is_bell else 1, "hp": 60, "power": 10,
                           "transport_id": zone if is_bell else 0})  # fmt: skip
            if is_bell:
                objects.append({"id": key, "spawn_id": key})
            else:
                npcs.append({"id": key, "spawn_id": key, "min_level": 1, "max_level": 1})
            places.append({"id": key, "zone_id": zone, "spawn_location_id": key, "x": x + number,
                           "y": y, "z": z + 4.0, "respawn": RESPAWN})  # fmt: skip
            entries.append({"id": key, "spawn_id": key, "spawn_location_id": key,
                            "spawnpercentage": 100})  # fmt: skip
        key = zone * 100 + KEEPER_NUMBER
        spawns.append({"id": key, "name": KEEPER, "race": 9, "model_type": 134, "size": 32,
                       "targetable": 1, "show_name": 1})  # fmt: skip
        npcs.append({"id": key, "spawn_id": key, "min_level": 1, "max_level": 1})
        places.append({"id": key, "zone_id": zone, "spawn_location_id": key, "x": x - 2.0,
                       "y": y, "z": z + 3.0, "respawn": RESPAWN})  # fmt: skip
        entries.append({"id": key, "spawn_id": key, "spawn_location_id": key,
                        "spawnpercentage": 100})  # fmt: skip
        scripts.append({"id": key, "spawn_id": key, "spawnentry_id": 0, "spawn_location_id": 0,
                        "lua_script": SCRIPT})  # fmt: skip
    for here, (to, _, _, _, (x, y, z)) in ((ISLE, ZONES[0]), (ANTONICA, ZONES[1])):
        ways.append({"id": here, "transport_id": here, "transport_type": "Zone",
                     "display_name": WAYS[here], "message": "Off you go.",
                     "destination_zone_id": to, "destination_x": x, "destination_y": y,
                     "destination_z": z, "cost": PRICE})  # fmt: skip
    commands = [{"id": 1, "command_list_id": 7, "command_text": "Use", "command": "use",
                 "distance": 60}]  # fmt: skip
    return {
        "zones": zones, "spawn": spawns, "spawn_npcs": npcs, "spawn_objects": objects,
        "spawn_location_placement": places, "spawn_location_entry": entries,
        "transporters": ways, "entity_commands": commands, "spawn_scripts": scripts,
    }  # fmt: skip


def scripts_folder(folder: Path | None = None) -> Path:
    """Return the folder of the scripts, which is beside the content file."""
    return (folder or content_file().parent) / "scripts"


@cache
def content_file() -> Path:
    """Return the content file, which is made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="emu-simulation-content-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    dumps = write_dumps(folder / "dumps", _tables())
    script = scripts_folder(folder) / SCRIPT
    script.parent.mkdir(parents=True)
    script.write_text(KEEPER_SCRIPT, encoding="utf-8")
    target = folder / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    return target
