"""What systemd hears, at a real UNIX datagram socket, with time under control."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from emu.net.scheduler import Scheduler
from emu.net.service_manager import STATUS_EVERY, ServiceManager
from tests.support.running.whole_server import captured_log


class Systemd:
    """The peer, and a server whose clock stands still."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(str(path))
        self.clock = Clock()
        self.environment = {"NOTIFY_SOCKET": str(path)}
        self.status = "0 players"

    def manager(self, **environment: str) -> ServiceManager:
        return ServiceManager(
            Scheduler(self.clock), lambda: self.status, self.environment | environment
        )

    def heard(self) -> list[dict[str, str]]:
        """Return what came, one mapping for each datagram."""
        found = []
        while True:
            try:
                data = self.socket.recv(4096).decode()
            except BlockingIOError:
                return found
            found.append(dict(line.split("=", 1) for line in data.split("\n")))


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    systemd = Systemd(tmp_path / "notify")
    yield systemd
    systemd.socket.close()
    assert systemd.clock.getDelayedCalls() == []


def test_ready_is_sent_once_with_the_status(systemd: Systemd) -> None:
    manager = systemd.manager()
    assert systemd.heard() == []
    manager.start()
    manager.start()
    assert systemd.heard() == [{"READY": "1", "STATUS": "0 players"}]
    systemd.clock.advance(STATUS_EVERY)
    assert systemd.heard() == [], "nothing has changed"
    systemd.status = "1 player"
    systemd.clock.advance(STATUS_EVERY)
    assert systemd.heard() == [{"STATUS": "1 player"}]
    manager.stop()


def test_the_watchdog_is_fed_twice_as_often_as_it_wants_until_the_end(systemd: Systemd) -> None:
    manager = systemd.manager(WATCHDOG_USEC="4000000", WATCHDOG_PID=str(os.getpid()))
    manager.start()
    systemd.heard()
    for _ in range(3):
        systemd.clock.advance(1.9)
        assert systemd.heard() == []
        systemd.clock.advance(0.1)
        assert systemd.heard() == [{"WATCHDOG": "1"}]
    manager.stopping()
    assert systemd.heard()[0]["STOPPING"] == "1"
    systemd.clock.advance(2)
    assert systemd.heard() == [{"WATCHDOG": "1"}]
    manager.stop()
    systemd.clock.advance(60)
    assert systemd.heard() == []


@pytest.mark.parametrize(
    "watchdog",
    [
        {},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "soon"},
        {"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"},
    ],
)
def test_no_sign_of_life_where_none_is_wanted(systemd: Systemd, watchdog: dict[str, str]) -> None:
    manager = systemd.manager(**watchdog)
    manager.start()
    systemd.heard()
    systemd.clock.advance(3)
    assert systemd.heard() == []
    manager.stop()


def test_a_reload_says_when_it_began_and_that_it_is_over(systemd: Systemd) -> None:
    manager = systemd.manager()
    before = time.monotonic_ns() // 1000
    manager.reloading()
    (sent,) = systemd.heard()
    assert sent["RELOADING"] == "1"
    assert before <= int(sent["MONOTONIC_USEC"]) <= time.monotonic_ns() // 1000
    manager.reloaded()
    assert systemd.heard() == [{"READY": "1"}]


def test_a_name_that_stands_in_no_folder() -> None:
    name = f"emu-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind("\0" + name)
        manager = ServiceManager(Scheduler(Clock()), str, {"NOTIFY_SOCKET": f"@{name}"})
        manager.reloaded()
        assert other.recv(100) == b"READY=1"


@pytest.mark.parametrize("name", ["", "vsock:2:1234", "relative"])
def test_without_systemd_nothing_is_done(name: str) -> None:
    clock = Clock()
    manager = ServiceManager(Scheduler(clock), str, {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "9"})
    manager.start()
    manager.reloading()
    manager.stopping()
    assert clock.getDelayedCalls() == []


def test_a_systemd_that_is_gone_is_a_line_in_the_log(tmp_path: Path) -> None:
    manager = ServiceManager(Scheduler(Clock()), str, {"NOTIFY_SOCKET": str(tmp_path / "gone")})
    with captured_log("text") as log:
        manager.reloaded()
    assert "cannot notify systemd of READY=1: No such file or directory" in log.text
