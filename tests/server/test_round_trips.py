"""Round trips to the database of a whole login with its entry, and of a zone change.

With a database 200 ms away, each one that a player waits for takes 0.2 s. The round trips of each
call of the store are in `tests/store/test_store_round_trips.py`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.database import ServerUrl
from tests.server.test_cluster import cluster, travels
from tests.server.test_cluster import where as where  # noqa: PLC0414  # a fixture
from tests.support.database.engines import run
from tests.support.database.relay import Relay
from tests.support.running.whole_server import HOST

pytestmark = pytest.mark.slow

QUIET: dict[str, object] = {"node__lease": 60, "world__review_seconds": 60, "database__threads": 2}
"""Settings of nodes that ask the database almost only for their players."""
LOGIN, ZONE_CHANGE = 11, 12
"""Most round trips on the connections for what is awaited: 3 more than counted, for beats.

In turn a login waits for 5: account with characters; the world's characters and keys; the key's
issue and the place of the zone; the key's use; the things. Beside them are the bans, which both
nodes ask for, and what a player gets who stands: letters, guild, petitions. A zone change waits for
4: the key's issue and the place of the zone; the save; the key's use; the claim.
"""


async def test_a_login_and_a_zone_change_take_few_round_trips(
    tmp_path: Path, where: ServerUrl
) -> None:
    with Relay(where.host, int(where.port or 5432)) as relay:
        far = replace(where, host=HOST, port=str(relay.port))
        async with cluster(tmp_path, far, **QUIET) as made:
            await made.start_zones("east", node__zones="IsleRefuge1", **QUIET)
            await made.start_zones("west", node__zones="antonica", **QUIET)
            client = await made.enters("Aldana")
            run(where, "UPDATE world_characters SET admin_status = 100")
            await client.leave()
            client = await made.enters("Aldana")
            # Everything that is read once is read, and both zones run.
            for zone, title in (("antonica", "Antonica"), ("IsleRefuge1", "Isle of Refuge")):
                await travels(client, zone, title)
            await client.leave()
            before = relay.trips_of["emu"]
            client = await made.enters("Aldana")
            entered = relay.trips_of["emu"]
            await travels(client, "antonica", "Antonica")
            arrived = relay.trips_of["emu"]
            assert entered - before <= LOGIN
            assert arrived - entered <= ZONE_CHANGE
            await client.stop()
