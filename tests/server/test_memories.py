"""What a spawn remembers survives kill -9 of the whole server, over real UDP."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.net.client.world_connection import enter_world
from tests.support.examples import nightly
from tests.support.running.whole_server import HOST, reactor, rows, server_process, until

pytestmark = pytest.mark.slow
INNKEEPER = """
class Innkeeper:
    near = 50.0

    def __init__(self, me, options):
        self.me = me

    def on_enter(self, visitor):
        memory, known = self.me.memory, self.me.memory_of(visitor)
        memory["guests"] = memory.get("guests", 0) + 1
        known["visits"] = known.get("visits", 0) + 1
        with open(__file__ + ".seen", "a") as file:
            file.write("x")
"""
INN = """
[zone]
id = 325
extends = true

[[spawn]]
id = "inn"
kind = "npc"
name = "an innkeeper"
place = [3.0, -7.97, 243.45]
behavior = "innkeeper"
"""


@pytest.mark.parametrize("is_killed", [True, nightly(False)])
async def test_a_spawn_remembers_after_a_crash_and_after_a_stop(
    tmp_path: Path, is_killed: bool
) -> None:
    for name, file, text in (("zones", "inn.toml", INN), ("behaviors", "inn.py", INNKEEPER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    settings = {
        "login.auto_create_accounts": True,
        "world.zones": str(tmp_path / "zones"),
        "world.behaviors": str(tmp_path / "behaviors"),
    }
    database, seen = tmp_path / "emu.sqlite", tmp_path / "behaviors" / "inn.py.seen"
    query = "SELECT coalesce(character_id, 0), entries FROM spawn_memories WHERE spawn = 'inn'"
    for visit in (1, 2):
        async with server_process(tmp_path, settings) as server:
            await server.line(r"world Norrath \(1\) registered")
            entrance = Entrance(Credentials("aldana", "secret"), "Aldana", create=True)
            client = await enter_world(reactor, HOST, server.login_port, entrance)
            await until(lambda: seen.exists() and len(seen.read_text()) == visit, "the spawn", 20)  # noqa: B023
            if is_killed:
                await until(lambda: f":{visit}" in str(rows(database, query)), "the save", 20)  # noqa: B023
                server.kill()
            else:
                server.process.send_signal(signal.SIGTERM)
                assert await server.ended() == -signal.SIGTERM
            await client.stop()
        stored = {bool(char_id): json.loads(text) for char_id, text in rows(database, query)}
        assert stored == {False: {"guests": visit}, True: {"visits": visit}}
        assert rows(database, "PRAGMA integrity_check") == [("ok",)]
