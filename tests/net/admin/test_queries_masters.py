import pytest
from twisted.internet.task import Clock

from emu.admin.ogp.responder import master_uplink
from emu.config import Address
from emu.net.admin.queries import INTERVAL, MasterUplink
from emu.net.scheduler import Scheduler
from tests.support.running.names import know_no_invalid_names
from tests.support.running.whole_server import captured_log


def test_masters_are_reported_at_once_and_every_five_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    know_no_invalid_names(monkeypatch)
    clock, sent = Clock(), list[tuple[bytes, tuple[str, int]]]()
    masters = [Address("192.0.2.1", 1), Address("192.0.2.1", 2), Address("gone.invalid", 3)]
    with captured_log("text") as log:
        uplink = MasterUplink(
            lambda data, to: sent.append((data, to)), masters, 258, Scheduler(clock)
        )
    assert "ogp.masters: the host name gone.invalid cannot be resolved" in log.text
    uplink.start()
    once = [(master_uplink(258), ("192.0.2.1", port)) for port in (1, 2)]
    assert sent == once
    clock.advance(INTERVAL)
    assert sent == once * 2
    uplink.stop()
    clock.advance(INTERVAL)
    assert sent == once * 2
