"""Players at different nodes of a real cluster reach each other over the bus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import Heard
from emu.database import ServerUrl
from emu.net.client.world_connection import enter_world
from tests.server.test_cluster import cluster, port_of
from tests.support.cluster.engines import nats_broker
from tests.support.database.engines import empty_database
from tests.support.running.whole_server import HOST, reactor

pytestmark = pytest.mark.slow


@pytest.fixture
def where() -> Iterator[ServerUrl]:
    with empty_database() as made:
        yield made


@pytest.mark.parametrize("broker", ["PostgreSQL", "NATS"])
async def test_a_private_message_reaches_a_player_at_another_node(
    tmp_path: Path, where: ServerUrl, broker: str
) -> None:
    with ExitStack() as engines:
        url = ""
        if broker == "NATS":
            url = f"nats://{HOST}:{engines.enter_context(nats_broker()).port}"
        async with cluster(tmp_path, where) as made:
            east = await made.start_zones("east", bus__url=url, node__zones="IsleRefuge1")
            west = await made.start_zones("west", bus__url=url, node__zones="antonica")
            for process in (east, west):
                await process.line("bus: connected to the bus at")
            events: dict[str, list[Any]] = {"Aldana": [], "Borvik": []}
            clients = {}
            for name, noted in events.items():
                entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True)
                port = made.nodes["login"].login_port
                clients[name] = await enter_world(
                    reactor, HOST, port, entrance, on_event=noted.append
                )
                if name == "Aldana":
                    # The end of the session says that the last save is stored.
                    await clients[name].leave()
                    made.sql("UPDATE world_characters SET zone_id = 12")
                    clients[name] = await enter_world(
                        reactor, HOST, port, entrance, on_event=noted.append
                    )
            assert port_of(clients["Aldana"]) != port_of(clients["Borvik"])

            def heard(name: str) -> bool:
                texts = [event.text for event in events[name] if isinstance(event, Heard)]
                return "are you there" in texts

            clients["Borvik"].act(lambda core: core.command("tell Aldana are you there"))
            await clients["Aldana"].until(lambda: heard("Aldana"), "hear it at the other node")
            await clients["Borvik"].until(lambda: heard("Borvik"), "see that it has arrived")
            for client in clients.values():
                await client.stop()
