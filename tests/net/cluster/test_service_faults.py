"""A process that sends nonsense fills no log."""

from __future__ import annotations

from typing import Any

from emu.net.cluster.service import Hub, processes_endpoint
from emu.net.watch import INTERVAL
from emu.processes.connection import ProcessJoined
from tests.net.cluster.test_service_endpoint import HUB, Link, ground
from tests.support.running.whole_server import captured_log


def test_a_failed_message_of_a_member_is_logged_with_its_place_and_then_counted(
    logged_failures: Any,
) -> None:
    here = ground(*HUB)
    part: Any = processes_endpoint(here)
    assert isinstance(part, Hub)
    bus: Any = part.port.bus
    bus.joined(link := Link(), ProcessJoined("east", {"host": "192.0.2.1", "port": 9001}))
    bus.received(link, ["ready"])
    part.faults.start()
    with captured_log("text") as log:
        for n in range(500):
            bus.received(link, ["note", "presence.entered", {f"nonsense{n % 7}": n}])
            bus.received(link, ["note", "presence.dismiss", {"process": "east", "char_id": "x"}])
        logged = log.text
        here.reactor.advance(INTERVAL)
    assert 0 < logged.count("could not be handled") < 10, logged
    assert "Traceback" in logged
    assert "shared.py" in logged
    assert "more faults of another process: KeyError" in log.text
    part.faults.stop()
    assert logged_failures.flush(KeyError)
