"""The measures of a world, read as monitoring reads them."""

import os
from collections import Counter

from emu.net.watch import Watch
from emu.net.world.measures import measure_world
from emu.session import Endpoint, EndpointConfig
from tests.support.world.worlds import WorldHarness


def test_players_faults_and_drops_are_measured() -> None:
    harness, watch = WorldHarness(), Watch()
    refusals = Counter({"no such key": 2})
    endpoint = Endpoint(EndpointConfig(), random_bytes=os.urandom)
    measure_world(watch, endpoint, harness.world, harness.behaviors, lambda: refusals)
    harness.stand(1)
    hidden = harness.stand(2)
    assert hidden.player is not None
    hidden.player.spawn.hidden = True
    harness.world.count("way not offered")
    harness.world.faults.add_fault("ticking a zone", "Antonica", ValueError("broken"))
    harness.behaviors.counters["calls"] += 3
    value = watch.measures.value
    assert (value("players"), value("unsaved")) == (1, 0)
    assert (value("zones_stalled"), value("actors_paused")) == (0, 0)
    assert value("world_drops", "way not offered") == 1
    assert value("world_drops", "no such key") == 2
    assert value("world_faults", "ticking a zone") == 1
    assert value("behavior_events", "calls") == 3
