"""Beginners of four archetypes learn, cast and kill on the shipped Isle of Refuge, over UDP.

No content file and no scripts are there: what a new server has is enough.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.client.world.events import LineShown
from tests.server.test_content_travel import Traveller, entered
from tests.support.running.whole_server import harness

CRAB = "a tide crab"
SPEED = 20
TRIES = 10
HARM = {1: "Heavy Blow", 11: "Bright Lance", 21: "Spark", 31: "Quick Cut"}


def be(database: Path, class_: int) -> None:
    """Give the one character a class."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE world_characters SET class = ?", (class_,))


async def says(one: Traveller, line: str, answer: str) -> None:
    """Type a command, and wait for a line with a text."""
    begin = len(one.events)
    one.client.act(lambda core: core.command(line))
    await one.client.until(
        lambda: any(
            isinstance(event, LineShown) and answer in event.text for event in one.events[begin:]
        ),
        f"{answer!r} after {line}", timeout=60.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "class_"), [(546, 1), (546, 11), (1208, 21), (60114, 31)]
)  # fmt: skip
async def test_a_beginner_casts_at_a_crab(tmp_path: Path, version: int, class_: int) -> None:
    events: list[object] = []
    async with harness(tmp_path, {}, accounts={"aldana": "pass"}, speed=SPEED) as server:
        await server.world_registered()
        first = await entered(server, version, events)
        await first.leave()
        be(server.database, class_)
        one = Traveller(await entered(server, version, events), events)
        await one.enters("Isle of Refuge")
        await says(one, "spells", f"{HARM[class_]} (20000000")
        crab = await one.find(CRAB)
        await one.approach(crab)
        one.client.act(lambda core: core.target(crab))
        landed = f"Your {HARM[class_]} was successful on {CRAB}!"
        for _ in range(TRIES):
            # The first ones may miss, or be resisted.
            one.client.act(lambda core: core.command(f"cast {HARM[class_]}"))
            await one.pause(6.0)
            if any(isinstance(event, LineShown) and landed in event.text for event in events):
                break
        else:
            pytest.fail(f"not read: {landed}")
