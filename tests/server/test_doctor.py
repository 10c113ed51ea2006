"""`emu doctor --login` at a healthy server: it changes nothing, and has nothing to report."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldPhase
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.examples import nightly
from tests.support.foreign.programs import run_beside
from tests.support.running.clients import connect
from tests.support.running.command_line import CommandLine
from tests.support.running.forked import forked_words
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    add_account,
    reactor,
    server_process,
    sleep,
)

pytestmark = pytest.mark.slow
OWN = {"database_mark"}
"""The running server writes this table by itself."""


def everything(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        tables = {name for (name,) in names} - OWN
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for name in tables
        }


async def settled(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows when nothing has changed for a while: some writes are deferred."""
    before: dict[str, list[tuple[Any, ...]]] = {}
    while (now := everything(database)) != before or not now["world_zones"]:
        before = now
        await sleep(1.5)
    return before


async def doctor(commands: CommandLine, *words: str) -> list[dict[str, str]]:
    """Return what an operator's doctor reports about logins, in a process of its own."""
    command = [*forked_words("emu"), "--config", str(commands.config), "doctor", "--json", *words]
    ended = await run_beside(command)
    return [one for one in json.loads(ended.output) if one["check"] == "login"]


async def player(server: ServerProcess, name: str) -> ClientWorldConnection:
    entrance = Entrance(Credentials("testlabs", "testpass"), name, create=True)
    return await enter_world(reactor, HOST, server.login_port, entrance)


@pytest.mark.parametrize("rank", [nightly(0), 200])
async def test_the_doctor_leaves_no_trace(tmp_path: Path, rank: int) -> None:
    commands = CommandLine(tmp_path)
    login = ("--login", "testlabs", "--password", "testpass")
    rarely = {"world.save_seconds": 3600}
    words = ("--config", str(commands.config))
    async with server_process(tmp_path, rarely, words=words) as server:
        await server.ready()
        add_account(commands.database, "testlabs", "testpass")
        playing = await player(server, "Aldana")
        commands.good("character", "rank", "Aldana", str(rank))
        choosing = await connect(reactor, HOST, server.login_port, "testlabs", "testpass")
        await choosing.login()
        before = await settled(commands.database)
        found = await doctor(commands, *login)
        assert {one["level"] for one in found} == {"ok"}, found
        assert any("testlabs logs in" in one["what"] for one in found)
        assert any("a session with the world at" in one["what"] for one in found)
        assert await settled(commands.database) == before
        assert playing.core.phase is not WorldPhase.CLOSED
        await choosing.worlds()
        await choosing.characters()
        await choosing.close()
        await playing.leave()
        assert "Aldana entered" not in server.text.split("account trial")[-1]


async def test_the_doctor_enters_the_world_on_request(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    async with server_process(tmp_path, words=("--config", str(commands.config))) as server:
        await server.ready()
        add_account(commands.database, "testlabs", "testpass")
        await (await player(server, "Aldana")).leave()
        words = ("--login", "testlabs", "--password", "testpass", "--enter")
        found = await doctor(commands, *words)
        assert found[-1]["what"] == "a character entered the world and left"
