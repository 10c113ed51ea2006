"""What died in a zone of the content file, and edits of it, survive kill -9, over real UDP."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import LineShown
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.content.dumps import write_dumps
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    until,
)

pytest.importorskip("lupa", reason="the package lupa is not installed")
pytestmark = pytest.mark.slow
ZONE = 325
SHORT, LONG = 25, 900
"""Seconds after which what died returns."""
MORTAL = "function hailed(NPC, Spawn) KillSpawn(NPC, Spawn) end"


def content(folder: Path) -> dict[str, object]:
    """Write a zone of four spawns, two of which die when they are hailed; return the settings."""
    names = ("Mayfly", "Tortoise", "Signpost", "Lamp")
    place = {"zone_id": ZONE, "y": -7.97, "z": 243.45}
    tables = {
        "zones": [{"id": ZONE, "name": "IsleRefuge1", "file": "tutorial_island02",
                   "description": "Isle", "safe_y": -7.97, "safe_z": 243.45,
                   "instance_type": "NONE", "shutdown_timer": 300}],
        "spawn": [
            {"id": 3250001 + at, "name": name, "race": 9, "model_type": 134, "size": 32,
             "targetable": 1, "show_name": 1}
            for at, name in enumerate(names)
        ],
        "spawn_npcs": [
            {"id": 1 + at, "spawn_id": 3250001 + at, "min_level": 5, "max_level": 5}
            for at in range(len(names))
        ],
        "spawn_location_placement": [
            {**place, "id": 11 + at, "spawn_location_id": 1 + at, "x": 1.0 + at / 2,
             "respawn": LONG if name == "Tortoise" else SHORT}
            for at, name in enumerate(names)
        ],
        "spawn_location_entry": [
            {"id": 21 + at, "spawn_id": 3250001 + at, "spawn_location_id": 1 + at,
             "spawnpercentage": 100}
            for at in range(len(names))
        ],
        "spawn_scripts": [
            {"id": 1 + at, "spawn_id": 3250001 + at, "spawnentry_id": 0, "spawn_location_id": 0,
             "lua_script": "SpawnScripts/mortal.lua"}
            for at in range(2)
        ],
    }  # fmt: skip
    (folder / "scripts" / "SpawnScripts").mkdir(parents=True)
    (folder / "scripts" / "SpawnScripts" / "mortal.lua").write_text(MORTAL)
    file = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), file)
    return {
        "login.auto_create_accounts": True,
        "world.content": str(file),
        "world.scripts": str(folder / "scripts"),
    }


class Master:
    """A game master beside the spawns."""

    def __init__(self, client: ClientWorldConnection) -> None:
        self.client = client
        self.lines: list[str] = []
        client.on_event = self._heard

    def _heard(self, event: object) -> None:
        if isinstance(event, LineShown):
            self.lines.append(event.text)

    def has(self, name: str) -> bool:
        seen = self.client.core.surroundings
        return seen is not None and seen.find(name) is not None

    async def sees(self, *names: str, seconds: float = 30.0) -> None:
        await self.client.until(
            lambda: all(map(self.has, names)), f"to see {names}", timeout=seconds
        )

    async def types(self, name: str, line: str) -> None:
        """Target a spawn, and run a command."""
        await self.sees(name)
        seen = self.client.core.surroundings
        assert seen is not None
        index = seen.find(name)
        self.client.act(lambda core: core.target(index))
        self.client.act(lambda core: core.command(line))


async def come(server: ServerProcess) -> Master:
    await server.line(r"world Norrath \(1\) registered")
    entrance = Entrance(Credentials("aldana", "secret"), "Aldana", create=True)
    client = await enter_world(reactor, HOST, server.login_port, entrance)
    await client.stand()
    return Master(client)


async def test_the_dead_and_edits_survive_a_kill(tmp_path: Path) -> None:
    settings, database = content(tmp_path), tmp_path / "emu.sqlite"
    async with server_process(tmp_path, settings) as server:
        await (await come(server)).client.leave()
        with closing(sqlite3.connect(database, timeout=10.0)) as connection, connection:
            connection.execute(
                "UPDATE world_characters SET zone_id = ?, admin_status = 200, x = 0, y = -7.97,"
                " z = 243.45", (ZONE,),
            )  # fmt: skip
        server.kill()
    async with server_process(tmp_path, settings) as server:
        one = await come(server)
        await one.sees("Mayfly", "Tortoise", "Signpost", "Lamp")
        await one.types("Mayfly", "hail")
        await one.types("Tortoise", "hail")
        # A death is stored within a second (docs/guides/content.md#deaths).
        query = "SELECT count(*) FROM dead_spawns"
        await until(lambda: rows(database, query) == [(2,)], "the deaths are stored", 30)
        await one.types("Lamp", "edit set name a lantern")
        await one.types("Signpost", "edit remove")
        # An edit that is confirmed is stored: the server is killed at once.
        await one.client.until(
            lambda: any("placement 13 is removed" in line for line in one.lines), "the answer"
        )
        server.kill()
        await one.client.stop()
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    async with server_process(tmp_path, settings) as server:
        one = await come(server)
        await one.sees("a lantern")
        assert not any(map(one.has, ("Tortoise", "Signpost", "Lamp")))
        # The rest of its time passes, and no more.
        await one.sees("Mayfly", seconds=3.0 * SHORT)
        assert not one.has("Tortoise")
        await one.client.leave()
