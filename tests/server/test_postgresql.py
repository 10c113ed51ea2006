"""A whole server on PostgreSQL: players come, play on while the database is away, and are saved."""

from __future__ import annotations

import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.database import ServerUrl
from emu.errors import EmuError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.database.engines import run
from tests.support.database.own_server import OwnServer, own_server, small_volume
from tests.support.patience import within
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    server_process,
    sleep,
    until,
)

SETTINGS: dict[str, object] = {
    "login.auto_create_accounts": True, "world.save_seconds": 1,
    # A repetition by its default can be as late as a test waits for it.
    "world.save_retry": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def database() -> Iterator[OwnServer]:
    with own_server() as server:
        yield server


@asynccontextmanager
async def serving(folder: Path, where: ServerUrl) -> AsyncIterator[ServerProcess]:
    settings = {
        **SETTINGS, "database.url": str(where), "database.node_file": folder / "node.sqlite",
    }  # fmt: skip
    async with server_process(folder, settings) as server:
        await server.line(r"world Norrath \(1\) registered")
        yield server


async def enters(server: ServerProcess, name: str) -> ClientWorldConnection:
    entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
    return await enter_world(reactor, HOST, server.login_port, entrance)


async def walks(client: ClientWorldConnection) -> float:
    at = client.core.place
    client.walk_to(at.x + 3.0, at.y, at.z, 6.0)
    await client.pause(1.5)
    return float(client.core.place.x)


def saved(where: ServerUrl, name: str) -> Any:
    return run(where, f"SELECT x FROM world_characters WHERE name = '{name}'")[0][0]


async def test_players_come_and_are_saved(tmp_path: Path, database: OwnServer) -> None:
    async with serving(tmp_path, database.where) as server:
        client = await enters(server, "Aldana")
        x = await walks(client)
        await until(lambda: saved(database.where, "Aldana") == pytest.approx(x, abs=0.5), "a save")
        client.act(lambda core: core.quit())
        await sleep(0.3)
        await client.stop()
    assert run(database.where, "SELECT name FROM accounts WHERE name = 'aldana'") == [("aldana",)]
    async with serving(tmp_path, database.where) as server:
        client = await enters(server, "Aldana")
        assert client.core.place.x == pytest.approx(x, abs=0.5)
        await client.stop()


@pytest.mark.parametrize("fault", ["stopped", "killed"])
async def test_play_goes_on_while_the_database_is_away(
    tmp_path: Path, database: OwnServer, fault: str
) -> None:
    name = f"Bor{fault}".title()
    async with serving(tmp_path, database.where) as server:
        client = await enters(server, name)
        if fault == "stopped":
            database.signal(signal.SIGSTOP)
        else:
            database.kill()
        try:
            with within(8.0), pytest.raises(EmuError):
                await enters(server, "Cestra")
            await server.line(r"play goes on, and what is to be saved waits")
            x = await walks(client)
            with within(1.0), pytest.raises(EmuError):
                await enters(server, "Cestra")
        finally:
            if fault == "stopped":
                database.signal(signal.SIGCONT)
            else:
                database.start()
        await server.line("the database is back")
        await until(lambda: saved(database.where, name) == pytest.approx(x, abs=0.5), "the save")
        other = await enters(server, "Cestra")
        for one in (client, other):
            await one.stop()


async def enter_many(server: ServerProcess) -> None:
    for letter in ascii_lowercase:
        await (await enters(server, f"Filler{letter}")).stop()


async def test_play_goes_on_while_the_disk_of_the_database_is_full(tmp_path: Path) -> None:
    with small_volume(96) as volume, own_server(volume) as database:
        async with serving(tmp_path, database.where) as server:
            client = await enters(server, "Aldana")
            database.fill_disk()
            try:
                # What is free inside the files of the database is used up first.
                with within(30.0), pytest.raises(EmuError):
                    await enter_many(server)
                x = await walks(client)
                await server.line(r"Aldana is not saved: .*disk or memory is full")
            finally:
                database.empty_disk()
            await until(
                lambda: saved(database.where, "Aldana") == pytest.approx(x, abs=0.5), "the save"
            )
            made = set(re.findall(r"made (Filler\w) on world", server.text))
            rows = run(database.where, "SELECT name FROM world_characters")
            assert made <= {name for (name,) in rows}
            other = await enters(server, "Cestra")
            for one in (client, other):
                await one.stop()
