"""The yardstick, a bare Twisted UDP echo, and the session endpoint, each in its own process.

Run as ``python -m tools.bench.echo_server echo|session``; prints ``ready PORT``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.protocol import DatagramProtocol

from emu.net.scheduler import Scheduler
from emu.times import Monotonic

reactor: Any = _reactor


class Echo(DatagramProtocol):
    """Sends every datagram back."""

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: N802
        """Send it back."""
        assert self.transport is not None
        self.transport.write(datagram, addr)


def session_port() -> Any:
    """Open the project's own endpoint with a handler that trusts everybody and does no more."""
    from emu.limits.rates import TurnRules
    from emu.net.logs import logger
    from emu.net.udp.dispatcher import Dispatcher
    from emu.net.udp.session_port import Accounting, SessionPort
    from emu.net.udp.sockets import listen
    from emu.session import Endpoint, EndpointConfig

    class Sink:
        """Trusts every client, as a login does, and takes every event and does nothing."""

        def __init__(self, port: SessionPort, _now: Monotonic) -> None:
            port.session.trust()

        def handle_event(self, event: object, now: Monotonic) -> None:
            """Let it fall."""

        def get_timer(self) -> Monotonic | None:
            """No timer."""
            return None

        def held_bytes(self) -> int:
            """Nothing waits."""
            return 0

        def handle_timer(self, now: Monotonic) -> None:
            """Nothing is due."""

    endpoint = Endpoint(
        EndpointConfig(half_open_limit=100_000, session_limit=100_000), random_bytes=os.urandom
    )
    # A few sessions take a whole core here, which no session of a real server may.
    rules = TurnRules(share=1.0, reserve=60.0)
    dispatcher = Dispatcher(
        endpoint, Scheduler(reactor), Sink, logger("bench"), accounting=Accounting(rules)
    )
    return listen(reactor, "127.0.0.1", 0, dispatcher)


def main() -> None:
    """Serve until terminated."""
    if sys.argv[1] == "echo":
        port = reactor.listenUDP(0, Echo(), interface="127.0.0.1", maxPacketSize=2048)
    else:
        port = session_port()
    print(f"ready {port.getHost().port}", flush=True)
    if len(sys.argv) > 2:
        import cProfile

        cProfile.runctx("reactor.run()", globals(), {}, sys.argv[2])
    else:
        reactor.run()


if __name__ == "__main__":
    main()
