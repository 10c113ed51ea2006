"""The recorder of graphs: a sample every ten seconds, from the first one on."""

from __future__ import annotations

from twisted.internet.task import Clock

from emu.metrics import MetricRegistry
from emu.net.graphs import GraphRecorder
from emu.net.scheduler import Scheduler


def test_a_sample_is_taken_every_ten_seconds_until_the_end() -> None:
    clock, registry = Clock(), MetricRegistry()
    players = [4]
    registry.gauge("players", "players", lambda: {(): players[0]})
    made = GraphRecorder(registry, Scheduler(clock), clock.seconds)
    made.start()
    players[0] = 6
    for _ in range(3):
        clock.advance(10.0)
    record = made.history.record("hour")
    assert len(record["moments"]) >= 1
    values = {
        line["name"]: line["values"] for graph in record["graphs"] for line in graph["series"]
    }
    assert max(values["players"]) == 6
    assert values["cpu"][-1] == 100.0, "this processor is busy all the time"
    made.stop()
    assert clock.getDelayedCalls() == []
