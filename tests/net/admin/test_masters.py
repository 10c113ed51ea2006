import pytest
from twisted.internet.task import Clock

from emu.admin.ogp.responder import master_uplink
from emu.config import Address
from emu.net.admin.masters import INTERVAL, MasterUplink
from emu.net.scheduler import Scheduler
from tests.support.house import captured_log
from tests.support.names import know_no_invalid_names


class Shell:
    def __init__(self) -> None:
        self.sent: list[tuple[bytes, tuple[str, int]]] = []
        self.transport = self

    def write(self, data: bytes, address: tuple[str, int]) -> None:
        if address[1] == 2:
            raise OSError(101, "Network is unreachable")
        self.sent.append((data, address))


def test_masters_are_told_at_once_and_every_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    know_no_invalid_names(monkeypatch)
    clock, shell = Clock(), Shell()
    masters = [Address("192.0.2.1", 1), Address("192.0.2.1", 2), Address("gone.invalid", 3)]
    with captured_log("text") as log:
        uplink = MasterUplink(shell, masters, 258, Scheduler(clock))  # type: ignore[arg-type]
    assert "ogp.masters: the host name gone.invalid cannot be resolved" in log.text
    uplink.start()
    once = [(master_uplink(258), ("192.0.2.1", 1))]
    assert shell.sent == once
    clock.advance(INTERVAL)
    assert shell.sent == once * 2
    uplink.stop()
    clock.advance(INTERVAL)
    assert shell.sent == once * 2
