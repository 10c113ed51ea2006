"""A client plays the quests of the shipped isle by itself, over UDP."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.evening.diary import Diary
from emu.client.evening.player import Preferences
from emu.client.flow import Entrance, granted
from emu.net.client.evening import Evening, begin_evening
from tests.support.running.whole_server import HOST, Harness, harness

ISLE = 325
ASHORE = 2000000001


async def begun(server: Harness, version: int) -> Evening:
    """Let a new fighter begin to play on the isle."""
    entrance = Entrance(Credentials("aldana", "pass"), "Aldana", create=True, version=version)
    async with await server.begun("aldana", "pass", version=version) as login:
        await login.run(granted(login.core, entrance))
    with sqlite3.connect(server.database) as database:
        database.execute("UPDATE world_characters SET zone_id = ?, class = 1", (ISLE,))
    database.close()
    return await begin_evening(
        server.clock, HOST, server.login_port, replace(entrance, create=False),
        diary=Diary(), preferences=Preferences(speed=16.0),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("version", [546, 60114])
async def test_a_player_does_quests_and_fights_up_to_a_level(tmp_path: Path, version: int) -> None:
    settings = {"world.experience_rate": 5}
    async with harness(tmp_path, settings, accounts={"aldana": "pass"}, speed=20) as server:
        await server.world_registered()
        one = await begun(server, version)
        async with one.client:
            await one.play(1800.0, level=3)
        diary = one.player.diary
        assert "fault" not in server.log.text.casefold()
        ((level,),) = server.rows("SELECT level FROM world_characters")
    assert one.player.level == level
    assert ASHORE in one.player.journal.complete, diary.entries
    kinds = ("zone", "level", "quest", "task", "talk", "reward", "kill", "thing")
    assert min(diary.counts[kind] for kind in kinds) >= 1, diary.counts
