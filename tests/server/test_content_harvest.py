"""Clients of three versions harvest the eleven kinds of nodes of the real Isle of Refuge, over UDP.

It needs a content file whose things are described (EMU_CONTENT) and the scripts
(EMU_CONTENT_SCRIPTS). Source: ../shared/spec/eq2-real-content.md 1, eq2-real-recorded.md 31.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emu.client.world.events import LineShown
from emu.content.file import ContentFile
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from tests.server.test_content_things import ACCOUNTS, SETTINGS, enters, player
from tests.server.test_content_travel import CONTENT, SCRIPTS, Traveller
from tests.support.running.whole_server import Harness, harness

pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
ISLE = 325
KINDS = 11
TRIES = 6
"""Nodes of a kind that are tried: a harvest may fail."""
ENDS = re.compile("was successful on|You failed to|You lack the skills")


def kinds_of_nodes() -> dict[int, str]:
    """Return the nodes that stand on the isle, by number, with their names."""
    with ContentFile(Path(CONTENT)) as file:
        places = {row["location_id"] for row in file.rows("placements", "zone_id", [ISLE])}
        spawns = {row["spawn_id"] for row in file.rows("entries", "location_id", sorted(places))}
        nodes = [row["spawn_id"] for row in file.rows("grounds", "spawn_id", sorted(spawns))]
        return {row["id"]: row["name"] for row in file.rows("spawns", "id", nodes)}


def harvested(node: int) -> set[int]:
    """Return what the tables of a node can give."""
    with ContentFile(Path(CONTENT)) as file:
        (ground,) = file.rows("grounds", "spawn_id", [node])
        rows = file.rows("harvest_items", "ground_id", [ground["ground_id"]])
        return {row["item_id"] for row in rows}


def standing(server: Harness, number: int) -> list[Spawn]:
    zone = player(server, "Aldana").zone
    return [one for one in zone if one.look.dealing.number == number]


def master(server: Harness) -> Player:
    return player(server, "Aldana")


async def uses(server: Harness, one: Traveller, spawn: Spawn) -> str:
    """Go to a node and use it; return how the harvest ends."""
    at, begin = spawn.position, len(one.events)
    one.client.act(lambda core: core.command(f"move {at.x + 1.0} {at.y} {at.z}"))
    await one.client.until(
        lambda: master(server).index_of(spawn) is not None, "to see the node", timeout=60.0
    )
    await one.pause(3.0)
    index = master(server).index_of(spawn)
    assert index is not None
    one.client.act(lambda core: core.use(index))

    def end() -> str | None:
        lines = [event.text for event in one.events[begin:] if isinstance(event, LineShown)]
        return next((line for line in lines if ENDS.search(line)), None)

    await one.client.until(end, "the end of a harvest", timeout=60.0)
    found = end()
    assert found is not None
    return found


@pytest.mark.parametrize("version", [546, 1208, 60114])
async def test_each_kind_of_node_gives_what_its_table_says(tmp_path: Path, version: int) -> None:
    async with harness(tmp_path, SETTINGS, accounts=ACCOUNTS, speed=10) as server:
        await server.world_registered()
        one = await enters(server, "aldana", version, 1)
        await one.client.until(lambda: any(master(server).zone), "the zone", timeout=120.0)
        await one.pause(10.0)
        kinds = kinds_of_nodes()
        assert len(kinds) == KINDS
        missing = dict(kinds)
        for number, name in kinds.items():
            for node in standing(server, number)[:TRIES]:
                text = await uses(server, one, node)
                assert name in text
                if "successful" in text:
                    del missing[number]
                    break
        assert missing == {}
        await one.pause(5.0)
        found = server.rows(
            "SELECT giver_id, number, amount FROM world_ledger"
            " WHERE giver = 'node' AND what = 'things'"
        )
        assert {number for number, *_ in found} == kinds.keys()
        for number, item, amount in found:
            assert amount > 0
            assert item in harvested(number), kinds[number]
        assert "fault" not in server.log.text.casefold()
        await one.client.leave()
