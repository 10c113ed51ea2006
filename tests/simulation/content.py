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
BEAR = "an old bear"
"""A creature that nobody can kill."""
MERCHANT, BANKER = "a peddler", "a banker"
STACK, BAG, SWORD = 501, 502, 503
THINGS = (STACK, BAG, SWORD)
"""The kinds of things: one lies in stacks, one is a bag, and one is worn."""
COST = {STACK: 2, BAG: 9, SWORD: 5}
"""Copper that each costs at the peddler."""
COMMANDS = {BELL: 7, MERCHANT: 8, BANKER: 9}
"""The lists of commands of spawns."""
WAYS = {ISLE: "To the plains", ANTONICA: "To the isle"}
"""The name of the way from a zone."""


def creature(zone: int, number: int) -> str:
    """Return the name of a creature."""
    return f"a {KINDS[number]} wolf of {'the plains' if zone == ANTONICA else 'the isle'}"


def _tables() -> dict[str, list[dict[str, Any]]]:
    zones, spawns, npcs, objects, places, entries, ways, scripts, loots = ([] for _ in range(9))
    for zone, name, file, description, (x, y, z) in ZONES:
        zones.append({"id": zone, "name": name, "file": file, "description": description,
                      "safe_x": x, "safe_y": y, "safe_z": z, "instance_type": "NONE",
                      "shutdown_timer": 30})  # fmt: skip
        names = [*(creature(zone, number) for number in range(len(KINDS))), BELL, MERCHANT, BANKER,
                 BEAR]  # fmt: skip
        for number, spawn in enumerate(names):
            key = zone * 100 + number
            is_wolf, is_bear = number < len(KINDS), spawn == BEAR
            spawns.append({"id": key, "name": spawn,
                           "race": 9, "model_type": 134, "size": 32, "targetable": 1,
                           "show_name": 1, "command_primary": COMMANDS.get(spawn, 0),
                           "attackable": int(is_wolf or is_bear),
                           "hp": 90_000 if is_bear else 60, "power": 10,
                           "merchant_id": 6 if spawn == MERCHANT else 0, "loot_drop_type": 1,
                           "transport_id": zone if spawn == BELL else 0})  # fmt: skip
            if spawn == BELL:
                objects.append({"id": key, "spawn_id": key})
            else:
                level = 40 if is_bear else 1
                npcs.append({"id": key, "spawn_id": key, "min_level": level, "max_level": level})
            if is_wolf:
                loots.append({"id": key, "spawn_id": key, "loottable_id": 4})
            away = 40.0 if is_bear else 4.0
            places.append({"id": key, "zone_id": zone, "spawn_location_id": key, "x": x + number,
                           "y": y, "z": z + away, "respawn": RESPAWN})  # fmt: skip
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
    return {
        "zones": zones, "spawn": spawns, "spawn_npcs": npcs, "spawn_objects": objects,
        "spawn_location_placement": places, "spawn_location_entry": entries,
        "transporters": ways, "spawn_scripts": scripts, "spawn_loot": loots, **_trade(),
    }  # fmt: skip


def _trade() -> dict[str, list[dict[str, Any]]]:
    """Return the kinds of things, who sells them, and the creatures' loot."""
    names = {STACK: "an apple", BAG: "a small pouch", SWORD: "a blunt sword"}
    commands = [("Use", "use", 7), ("Buy", "frommerchant", 8), ("Bank", "bank", 9)]
    return {
        "entity_commands": [
            {"id": number, "command_list_id": of, "command_text": text, "command": command,
             "distance": 60 if of == 7 else 10}
            for number, (text, command, of) in enumerate(commands, 1)
        ],
        "items": [
            {"id": number, "name": name, "item_type": "Normal", "sell_price": 2 * COST[number],
             "stack_count": 20 if number == STACK else 1, "weight": 1,
             "slots": 1 if number == SWORD else 0, "adventure_classes": 0}
            for number, name in names.items()
        ],
        "item_details_bag": [{"id": 1, "item_id": BAG, "num_slots": 4}],
        "merchants": [{"id": 1, "merchant_id": 6, "inventory_id": 60, "description": "A Peddler"}],
        "merchant_inventory": [
            {"id": number, "inventory_id": 60, "item_id": number, "quantity": 255,
             "price_coins": COST[number]}
            for number in THINGS
        ],
        "loottable": [
            {"id": 4, "name": "of a wolf", "mincoin": 3, "maxcoin": 9, "maxlootitems": 2,
             "lootdrop_probability": 100, "coin_probability": 100},
        ],
        "lootdrop": [
            {"id": number, "loot_table_id": 4, "item_id": number, "item_charges": 1,
             "probability": 60}
            for number in THINGS
        ],
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
