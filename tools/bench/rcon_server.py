"""RCON, or the lines of a bare Twisted echo, in a process of its own.

Run as ``python -m tools.bench.rcon_server rcon|lines``; prints ``ready PORT``.
"""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.protocol import Factory
from twisted.protocols.basic import LineOnlyReceiver

from emu.admin.commands import server as source
from emu.commands import Registry
from emu.config import Address, RconConfig
from emu.net.admin.commands import RconServer
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch

PASSWORD = "sekret"
reactor: Any = _reactor


class LineEcho(LineOnlyReceiver):
    """Sends every line back."""

    def lineReceived(self, line: bytes) -> None:  # noqa: N802
        """Send it back."""
        self.sendLine(line)  # type: ignore[no-untyped-call]


def rcon_port() -> Any:
    """Open RCON with the commands that every Source server has."""
    registry = Registry()
    registry.extend(source.SOURCE_COMMANDS.commands(registry))
    config = RconConfig(listen=Address("127.0.0.1", 0), password=PASSWORD)
    server = RconServer(config, registry, reactor, Scheduler(reactor), Watch())
    server.listen()
    (port,) = server.open_ports()
    return int(port.address.rpartition(":")[2])


def line_port() -> Any:
    """Open the yardstick."""
    port = reactor.listenTCP(0, Factory.forProtocol(LineEcho), backlog=1024, interface="127.0.0.1")
    return port.getHost().port


def main() -> None:
    """Serve until terminated."""
    port = rcon_port() if sys.argv[1] == "rcon" else line_port()
    print(f"ready {port}", flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
