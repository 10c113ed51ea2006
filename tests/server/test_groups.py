"""Players at different nodes of a real cluster are in one group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import Heard, LineShown
from emu.database import ServerUrl
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.server.test_cluster import Cluster, cluster, port_of, travels
from tests.support.database.engines import empty_database
from tests.support.patience import patience
from tests.support.running.whole_server import HOST, reactor

pytestmark = pytest.mark.slow


@pytest.fixture
def where() -> Iterator[ServerUrl]:
    with empty_database() as made:
        yield made


class Player:
    """A player, and everything it was shown."""

    def __init__(self, made: Cluster, name: str) -> None:
        self.made = made
        self.name = name
        self.events: list[Any] = []
        self.client: ClientWorldConnection

    async def enters(self) -> None:
        entrance = Entrance(Credentials(self.name.lower(), "secret"), self.name, create=True)
        port = self.made.nodes["login"].login_port
        self.client = await enter_world(reactor, HOST, port, entrance, on_event=self.events.append)

    async def types(self, line: str, answer: str) -> None:
        """Type a command, and wait for its answer."""
        before = len(self.events)
        self.client.act(lambda core: core.command(line))
        await self.client.until(
            lambda: self.saw(answer, before), f"answer {line!r} with {answer!r}"
        )

    def saw(self, text: str, since: int = 0) -> bool:
        shown = [one.text for one in self.events[since:] if isinstance(one, Heard | LineShown)]
        return any(text in one for one in shown)

    async def sees(self, text: str, seconds: float = 10.0) -> None:
        await self.client.until(lambda: self.saw(text), f"see {text!r}", timeout=patience(seconds))


async def test_a_group_goes_on_while_a_member_changes_the_node_and_the_other_node_is_killed(
    tmp_path: Path, where: ServerUrl
) -> None:
    async with cluster(tmp_path, where) as made:
        await made.start_zones("east", node__zones="IsleRefuge1")
        west = await made.start_zones("west", node__zones="antonica")
        one, two = Player(made, "Aldana"), Player(made, "Borvik")
        for player in (one, two):
            await player.enters()
        made.sql("UPDATE world_characters SET admin_status = 100")
        await two.client.stop()
        await two.enters()
        await travels(two.client, "antonica", "Antonica")
        assert port_of(two.client) == west.world_port
        await west.line(r"groups: the node \w+ orders their changes", 15.0)
        await one.types("invite Borvik", "You invite Borvik to group with you.")
        await two.sees("Aldana invites you to a group")
        await two.types("accept", "You have joined the group.")
        await two.types("gsay hello from here", "hello from here")
        await one.sees("hello from here")
        await travels(two.client, "IsleRefuge1", "Isle of Refuge")
        assert port_of(two.client) == port_of(one.client)
        await two.types("whogroup", "Aldana, Borvik")
        await travels(two.client, "antonica", "Antonica")
        # By then the other node knows that Borvik is here again.
        await two.types("gsay here again", "here again")
        await one.sees("here again")
        await one.types("gsay far away", "far away")
        await two.sees("far away")
        west.kill()
        await one.sees("Borvik has left the group.", 20.0)
        await one.types("whogroup", "you are in no group")
        await one.client.stop()
