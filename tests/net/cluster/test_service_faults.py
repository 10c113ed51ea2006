"""A process that sends nonsense fills no log."""

from __future__ import annotations

from typing import Any

from emu.errors import MalformedMessage, StoreAway
from emu.net.bus.trial import MESSAGE
from emu.net.cluster.service import ProcessFaults, processes_endpoint
from emu.net.watch import INTERVAL
from tests.net.cluster.test_service_endpoint import ground
from tests.support.cluster.brokers import MemoryCluster
from tests.support.coroutines import finish
from tests.support.running.whole_server import captured_log


def test_a_failed_message_of_another_process_is_logged_with_its_place_and_then_counted(
    logged_failures: Any,
) -> None:
    here = ground()
    part = processes_endpoint(here)
    bus = part.processes.bus
    here.bus.start()
    with captured_log("text") as log:
        for n in range(500):
            bus.publish("presence.changed", {"process": "east", f"nonsense{n % 7}": n})
            bus.publish("presence.dismiss", {"char_id": "five"})
        logged = log.text
        here.reactor.advance(INTERVAL)
    assert 0 < logged.count("could not be handled") < 20, logged
    assert "Traceback" in logged
    assert "tables.py" in logged
    assert "more faults of another process: KeyError" in log.text
    finish(here.bus.stop())
    assert logged_failures.flush(KeyError)
    assert logged_failures.flush(ValueError)


def test_what_is_no_fault_of_this_process_is_one_line() -> None:
    faults = ProcessFaults(ground().scheduler)
    with captured_log("text") as log:
        faults(MalformedMessage("message without its sender"))
        faults(StoreAway("the database is away"))
    assert [line.split(" ", 1)[1] for line in log.text.splitlines()] == [
        "warn  processes: a message of another process could not be handled: " + why
        for why in ("message without its sender", "the database is away")
    ]


def test_nodes_ignore_the_message_of_the_doctor() -> None:
    cluster = MemoryCluster()
    exchange = cluster.add("east")
    for subject in ("note.doctor", "channel.doctor"):
        exchange.received(subject, MESSAGE)
    assert cluster.errors == []
    assert exchange.counters["of unknown processes"] == 2
