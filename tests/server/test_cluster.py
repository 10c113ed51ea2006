"""A cluster of real processes on one database: a login node and two zone nodes."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldPhase
from emu.database import ServerUrl
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.database.engines import empty_database, run
from tests.support.running.whole_server import HOST, ServerProcess, reactor, server_process, until

pytestmark = pytest.mark.slow
LEASE = 1.5
STOPPED = (0, -signal.SIGTERM)
"""Exit status after a stop in order; Twisted may end by the signal that it was sent."""
ISLE, ANTONICA = 325, 12


@pytest.fixture
def where() -> Iterator[ServerUrl]:
    with empty_database() as made:
        yield made


class Cluster:
    """The processes of a world, and its players."""

    def __init__(self, folder: Path, where: ServerUrl) -> None:
        self._folder = folder
        self.where = where
        self.nodes: dict[str, ServerProcess] = {}
        self.stack = AsyncExitStack()

    async def start(self, name: str, **settings: object) -> ServerProcess:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        process = await self.stack.enter_async_context(
            server_process(
                folder,
                {
                    "database.url": str(self.where), "database.node_file": folder / "node.sqlite",
                    "database.threads": 1, "node.name": name, "node.lease": LEASE,
                    "node.drain_wait": 20, "login.auto_create_accounts": True,
                    **{key.replace("__", "."): value for key, value in settings.items()},
                },
            )
        )  # fmt: skip
        self.nodes[name] = process
        await process.line(f"node: {name}, term")
        await process.line("server: ready")
        return process

    async def start_zones(self, name: str, **settings: object) -> ServerProcess:
        return await self.start(name, login__enabled=False, **settings)

    async def enters(self, name: str) -> ClientWorldConnection:
        entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
        return await enter_world(reactor, HOST, self.nodes["login"].login_port, entrance)

    def sql(self, text: str) -> list[Any]:
        return run(self.where, text)

    def holder(self, zone_id: int) -> str:
        rows = self.sql(f"SELECT node FROM zone_servers WHERE zone_id = {zone_id}")
        return str(rows[0][0]) if rows else ""

    def players(self) -> dict[str, int]:
        return dict(self.sql("SELECT name, players FROM nodes WHERE state <> 'stopped'"))


@asynccontextmanager
async def cluster(folder: Path, where: ServerUrl, **settings: object) -> AsyncIterator[Cluster]:
    made = Cluster(folder, where)
    async with made.stack:
        login = await made.start("login", node__capacity=0, **settings)
        await login.line(r"world Norrath \(1\) registered")
        yield made


def port_of(client: ClientWorldConnection) -> int:
    handoff = client.core.handoff
    assert handoff is not None
    return int(handoff.port)


async def travels(client: ClientWorldConnection, zone: str, description: str) -> None:
    client.act(lambda core: core.command(f"zone {zone}"))
    await client.until(
        lambda: (
            client.core.phase is WorldPhase.STANDING
            and client.core.zone is not None
            and client.core.zone.description == description
        ),
        f"stand in {description}",
    )


async def stands_at(client: ClientWorldConnection, port: int) -> None:
    await client.until(
        lambda: client.core.phase is WorldPhase.STANDING and port_of(client) == port,
        f"stand at the node on port {port}",
    )


async def test_players_change_zone_across_nodes_and_stay_while_each_is_restarted(
    tmp_path: Path, where: ServerUrl
) -> None:
    async with cluster(tmp_path, where) as made:
        east = await made.start_zones("east")
        clients = [await made.enters(name) for name in ("Aldana", "Borvik")]
        assert [port_of(client) for client in clients] == [east.world_port] * 2
        made.sql("UPDATE world_characters SET admin_status = 100")
        west = await made.start_zones("west", node__zones="antonica")
        await clients[1].stop()
        clients[1] = await made.enters("Borvik")
        await travels(clients[1], "antonica", "Antonica")
        assert port_of(clients[1]) == west.world_port
        assert made.sql("SELECT holder FROM world_characters ORDER BY name") == [
            ("east",), ("west",),
        ]  # fmt: skip
        assert (made.holder(ISLE), made.holder(ANTONICA)) == ("east", "west")
        places = [client.core.place for client in clients]
        east.process.send_signal(signal.SIGTERM)
        await stands_at(clients[0], west.world_port)
        assert await east.ended() in STOPPED
        east = await made.start_zones("east")  # of the next version, for instance
        west.process.send_signal(signal.SIGTERM)
        for client in clients:
            await stands_at(client, east.world_port)
        assert await west.ended() in STOPPED
        for client, before in zip(clients, places, strict=True):
            now = client.core.place
            assert abs(now.x - before.x) + abs(now.z - before.z) < 5.0
        await until(lambda: made.players() == {"login": 0, "east": 2}, "both players at east")
        for client in clients:
            await client.stop()


async def test_zones_of_a_node_that_stands_still_or_is_killed_run_on_another(
    tmp_path: Path, where: ServerUrl
) -> None:
    async with cluster(tmp_path, where) as made:
        east = await made.start_zones("east", node__zones="IsleRefuge1")
        west = await made.start_zones("west")
        client = await made.enters("Aldana")
        assert port_of(client) == east.world_port
        east.process.send_signal(signal.SIGSTOP)
        await west.line("node: east is gone")
        other = await made.enters("Borvik")
        assert port_of(other) == west.world_port
        east.process.send_signal(signal.SIGCONT)
        await east.line("node: back, term .*; 1 zones run elsewhere now")
        await stands_at(client, west.world_port)
        assert made.holder(ISLE) == "west"
        west.kill()
        # Held at the login until the lease has ended: nobody is sent to a dead node.
        again = await made.enters("Aldana")
        assert port_of(again) == east.world_port
        assert made.holder(ISLE) == "east"
        for one in (client, other, again):
            await one.stop()
