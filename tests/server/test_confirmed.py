"""What a server has confirmed to a player in words is stored: kill -9 right behind each answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.events import ChannelChanged, LineShown
from emu.net.client.world_connection import enter_world
from tests.support.running.whole_server import HOST, reactor, rows, server_process
from tests.support.world.world_fakes import store_characters

SETTINGS = {"login.auto_create_accounts": True, "world.save_seconds": 3600}
CONFIRMED = (
    ("friend Borvik", "Borvik is your friend now.",
     "SELECT name FROM world_relations WHERE kind = 0", "Borvik"),
    ("ignore Cestra", "Cestra is ignored now.",
     "SELECT name FROM world_relations WHERE kind = 2", "Cestra"),
    ("decline_duels", "You decline challenges to duels now.",
     "SELECT options FROM world_characters WHERE name = 'Aldana'", "decline_duels"),
    ("anon", "You are now anonymous.",
     "SELECT options FROM world_characters WHERE name = 'Aldana'", "anonymous decline_duels"),
    ("joinchannel Crafts", "", "SELECT channel FROM world_memberships", "Crafts"),
)  # fmt: skip


@pytest.mark.slow
async def test_nothing_that_was_confirmed_is_lost_by_a_kill(tmp_path: Path) -> None:
    database = tmp_path / "emu.sqlite"
    async with server_process(tmp_path, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        store_characters(database, "Borvik", "Cestra")
        entrance = Entrance(Credentials("aldana", "secret"), "Aldana", create=True)
        client = await enter_world(reactor, HOST, server.login_port, entrance)
        shown = client.events(LineShown, ChannelChanged)
        for line, answer, query, stored in CONFIRMED:
            client.command(line)
            async for event in shown:
                if isinstance(event, LineShown) and answer and event.text == answer:
                    break
                if isinstance(event, ChannelChanged) and not answer:
                    break
            # Another connection reads what a kill at this moment would leave.
            assert rows(database, query) == [(stored,)], line
        server.kill()
        await client.stop()
    for _, _, query, stored in CONFIRMED[-2:]:
        assert rows(database, query) == [(stored,)]
