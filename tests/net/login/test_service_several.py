"""Several login servers in one process, over UDP and TCP, with one database and one bus."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred

from emu.errors import CommandError
from emu.net.client.connection import ClientConnection
from emu.net.cluster.service import BusEndpoint
from emu.net.login.service import LoginEndpoint
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from emu.opcodes import shipped_tables
from emu.processes.bus import LocalBus
from emu.processes.ports import GONE, BusMember
from emu.times import Moment, Monotonic
from tests.support.database.engines import store_database
from tests.support.login.scripted_world import (
    CHAR_CREATE,
    CHAR_UPDATE,
    PLAY_REQUEST,
    ScriptedWorld,
    connect_world,
)
from tests.support.patience import patience
from tests.support.running.clients import connect
from tests.support.running.configs import small_config
from tests.support.running.whole_server import until

reactor: Any = _reactor
pytestmark = pytest.mark.usefixtures("collect_garbage")
NODES = ("east", "west")


class Several:
    """Login servers that share a database and a bus."""

    def __init__(self, folder: Path, database: str = "") -> None:
        """Start them on a SQLite file, or each with connections of its own to a database."""
        config = small_config(
            folder, "login.auto_create_accounts=yes", "link.unregistered_worlds=yes",
            *([f"database.url={database}"] if database else []),
        )  # fmt: skip
        self.scheduler = Scheduler(reactor)
        count = len(NODES) if database else 1
        self.storages = [
            Storage(config.database.url, reactor, self.scheduler) for _ in range(count)
        ]
        self.errors: list[Exception] = []
        self.bus = LocalBus(self.errors.append)
        self.nodes: dict[str, LoginEndpoint] = {}
        for number, name in enumerate(NODES):
            endpoint = BusEndpoint(self.scheduler)
            endpoint.member = BusMember(name, 1, self.bus)
            self.nodes[name] = LoginEndpoint(
                config, self.storages[number % count], shipped_tables, reactor, self.scheduler,
                bus=endpoint,
            )  # fmt: skip
            self.nodes[name].listen()

    async def client(self, node: str, password: str = "secret") -> ClientConnection:
        return await connect(reactor, "127.0.0.1", self.nodes[node].port, "alice", password)

    async def world(self, node: str) -> ScriptedWorld:
        world = await connect_world(reactor, self.nodes[node].port)
        world.register()
        await until(self.nodes[node].directory.listed, "the world")
        return world

    async def stop(self) -> None:
        for node in self.nodes.values():
            await node.stop(Monotonic(self.scheduler.now() + 5.0))
        for storage in self.storages:
            await storage.close()
        assert self.errors == []


@asynccontextmanager
async def started(folder: Path, database: str = "") -> AsyncIterator[Several]:
    """Run login servers, and stop them."""
    several = Several(folder, database)
    try:
        yield several
    finally:
        await several.stop()


async def _frame(world: ScriptedWorld, opcode: int) -> bytes:
    return await world.received(opcode).addTimeout(patience(5), reactor)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the URL of a database, or an empty text for a SQLite file."""
    if request.param == "sqlite":
        yield ""
        return
    with store_database() as where:
        yield str(where)


async def test_a_world_is_played_through_another_login_server(
    tmp_path: Path, database: str
) -> None:
    async with started(tmp_path, database) as several:
        world = await several.world("east")
        async with await several.client("west") as client:
            await client.login()
            [listed] = await client.worlds()
            assert (listed.name, listed.up) == ("TestLabs", True)
            assert await client.characters() == ()
            creating = Deferred.fromCoroutine(client.create(listed.id, "Aldana"))
            request = await _frame(world, CHAR_CREATE)
            [session] = several.nodes["west"].service.logged_in
            world.send(CHAR_CREATE, struct.pack("<IIB", session.account_id, 9, 1))
            assert session.account_id.to_bytes(4, "little") in request
            # Old clients enter with the new character at once.
            world.answer_play(await _frame(world, PLAY_REQUEST))
            created = await creating
            assert created.ok
            granted = await client.play_answer()
            assert (granted.access_code, granted.port) == (0x1234, 9312)
            assert (await client.delete("Aldana")).ok
            assert struct.unpack_from("<II", await _frame(world, CHAR_UPDATE))[1] == 9
        world.hang_up()
        await until(lambda: several.nodes["west"].worlds.listed() == [], "the end of the world")


async def test_worlds_of_a_lost_login_server_come_back(
    tmp_path: Path,
) -> None:
    async with started(tmp_path) as several:
        east, west = several.nodes["east"], several.nodes["west"]
        await several.world("east")
        assert len(west.worlds.listed()) == 1
        several.bus.publish(GONE, {"process": "east"})
        assert west.worlds.listed() == []
        world = await several.world("west")
        await until(lambda: east.directory.listed() == [], "the end of the earlier link")
        assert len(west.worlds.listed()) == 1
        await world.hang_up()


async def test_a_login_at_another_login_server_ends_the_earlier_session(tmp_path: Path) -> None:
    async with started(tmp_path) as several, await several.client("east") as first:
        await first.login()
        # Only now: a client logs in as soon as its session is there.
        async with await several.client("west") as second:
            await second.login()
            east, west = (several.nodes[name].service.logged_in for name in NODES)
            await until(lambda: len(east) == 0, "the end of the first session")
            assert len(west) == 1


async def test_a_wrong_password_at_one_login_server_is_charged_at_the_other(tmp_path: Path) -> None:
    async with started(tmp_path) as several:
        async with await several.client("east") as client:
            await client.login()
        async with await several.client("east", "wrong") as client:
            with pytest.raises(CommandError):
                await client.login()
        for node in several.nodes.values():
            # The account has logged in from this address, so its own budget there is charged.
            assert len(node._accounts._guesses._known) == 1


async def test_a_ban_counts_at_every_login_server_at_once(tmp_path: Path, database: str) -> None:
    async with started(tmp_path, database) as several:
        async with await several.client("east") as client:
            await client.login()
            [session] = several.nodes["east"].service.logged_in
            await several.storages[0].account_administration.ban(
                session.account_id, Moment(4e9), "spam"
            )
        async with await several.client("west") as client:
            with pytest.raises(CommandError):
                await client.login()
