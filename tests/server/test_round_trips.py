"""Round trips to the database of a whole login with its entry, and of a zone change.

With a database 200 ms away, each one that a player waits for takes 0.2 s. The round trips of each
call of the store are in `tests/store/test_store_round_trips.py`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from emu.database import ServerUrl
from tests.server.test_cluster import Cluster, cluster, travels
from tests.server.test_cluster import where as where  # noqa: PLC0414  # a fixture
from tests.support.cluster.engines import nats_broker
from tests.support.database.engines import run
from tests.support.database.relay import Relay
from tests.support.patience import slowness
from tests.support.running.whole_server import HOST, sleep

pytestmark = pytest.mark.slow

QUIET: dict[str, object] = {"node__lease": 60, "world__review_seconds": 60, "database__threads": 2}
"""Settings of nodes that ask the database almost only for their players."""
LOGIN, ZONE_CHANGE = 10, 11
"""Most round trips on the connections for what is awaited: 3 more than counted, for beats.

In turn a login waits for 4: account with characters; the world's characters and keys; the key's
issue and the place of the zone; the key's use with the claim and the things. Beside them are the
bans, which both nodes ask for, and what a player gets who stands: letters, guild, petitions. A zone
change waits for 4: the key's issue and the place of the zone; the save, which takes 2; the key's
use with the claim and the things.
"""
IN_TURN: Final = 4
"""Round trips that a login and a zone change wait for, one after another."""
ROUND_TRIP: Final = 0.4
"""Seconds on an idle machine: long enough for all that the servers do within one."""
SLOWEST: Final = 2.0
"""Most times as long as that on a busy machine: a step of a client may take 10 s."""
TRIES: Final = 3
"""Logins and zone changes of which the best counts: in another one the machine may be busy."""
CALM: Final = 0.5
"""Seconds without a question to the database, after which nothing of before is under way."""


@asynccontextmanager
async def far_cluster(
    folder: Path, where: ServerUrl, **settings: object
) -> AsyncIterator[tuple[Cluster, Relay]]:
    """Run a login node and two zone nodes at a relay, of which everything is read that is kept."""
    settings = {**QUIET, **settings}
    with Relay(where.host, int(where.port or 5432)) as relay:
        far = replace(where, host=HOST, port=str(relay.port))
        async with cluster(folder, far, **settings) as made:
            await made.start_zones("east", node__zones="IsleRefuge1", **settings)
            await made.start_zones("west", node__zones="antonica", **settings)
            client = await made.enters("Aldana")
            run(where, "UPDATE world_characters SET admin_status = 100")
            await client.leave()
            client = await made.enters("Aldana")
            for zone, title in (("antonica", "Antonica"), ("IsleRefuge1", "Isle of Refuge")):
                await travels(client, zone, title)
            await client.leave()
            yield made, relay


async def trips_at_rest(relay: Relay) -> int:
    """Wait until nothing is stored any more, as after somebody has left; return the round trips."""
    trips = -1
    while trips != relay.trips_of["emu"]:
        trips = relay.trips_of["emu"]
        await sleep(CALM)
    return trips


async def test_a_login_and_a_zone_change_take_few_round_trips(
    tmp_path: Path, where: ServerUrl
) -> None:
    async with far_cluster(tmp_path, where) as (made, relay):
        logins, zone_changes = [], []
        for _ in range(TRIES):
            before = await trips_at_rest(relay)
            client = await made.enters("Aldana")
            entered = relay.trips_of["emu"]
            logins.append(entered - before)
            await travels(client, "antonica", "Antonica")
            zone_changes.append(relay.trips_of["emu"] - entered)
            if min(logins) <= LOGIN and min(zone_changes) <= ZONE_CHANGE:
                break
            await travels(client, "IsleRefuge1", "Isle of Refuge")
            await client.leave()
        assert min(logins) <= LOGIN
        assert min(zone_changes) <= ZONE_CHANGE
        await client.stop()


async def test_a_login_and_a_zone_change_wait_for_few_round_trips_in_turn(
    tmp_path: Path, where: ServerUrl
) -> None:
    """Counted by the time that they take with a database that is far away, and NATS as the bus."""
    round_trip = ROUND_TRIP * min(slowness(), SLOWEST)
    with nats_broker() as broker:
        url = f"nats://{HOST}:{broker.port}"
        async with far_cluster(tmp_path, where, bus__url=url) as (made, relay):
            relay.delay = round_trip / 2
            logins, zone_changes = [], []
            for _ in range(TRIES):
                begun = time.monotonic()
                client = await made.enters("Aldana")
                logins.append(time.monotonic() - begun)
                # Until what an entry stores is stored; the save of a zone change waits for that.
                await sleep(6 * round_trip)
                begun = time.monotonic()
                await travels(client, "antonica", "Antonica")
                zone_changes.append(time.monotonic() - begun)
                await travels(client, "IsleRefuge1", "Isle of Refuge")
                await client.leave()
            relay.delay = 0.0
    assert min(logins) < (IN_TURN + 1) * round_trip
    assert min(zone_changes) < (IN_TURN + 1) * round_trip
