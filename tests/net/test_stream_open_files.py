"""A process without a free file says that it sends connections away."""

from __future__ import annotations

import errno
import socket

from twisted.internet import tcp
from twisted.internet.task import Clock

from emu.net.scheduler import Scheduler
from emu.net.stream import REASON, OpenFiles
from emu.net.watch import Watch
from tests.support.running.whole_server import captured_log


class FullListener:
    """Takes one connection, but only when a file was given free for it."""

    def __init__(self, host: int) -> None:
        self.host = host
        self.ends: list[socket.socket] = []
        self.calls = 0

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        self.calls += 1
        if self.calls == 1:
            raise OSError(errno.EMFILE, "too many open files")
        if self.calls > 2:
            raise BlockingIOError(errno.EAGAIN, "nobody else")
        mine, theirs = socket.socketpair()
        self.ends.append(theirs)
        return mine, (f"192.0.2.{self.host}", 5000)


def test_what_twisted_closes_is_said_once_and_counted() -> None:
    scheduler = Scheduler(Clock())
    files = OpenFiles(scheduler, Watch())
    files.start()
    try:
        with captured_log("text") as log:
            for host in range(7, 10):
                listener = FullListener(host)
                spare = tcp._reservedFD
                spare.reserve()
                assert list(tcp._accept(tcp.Port._logger, range(5), listener, spare)) == []
                assert listener.ends[0].recv(1) == b""
                listener.ends[0].close()
            assert log.text.count("\n") == 1
            assert "192.0.2.7 was closed: the server may open no more files" in log.text
    finally:
        files.stop()
    assert files.counters == {REASON: 3}
