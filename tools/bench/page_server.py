"""A web page in its own process: the server's, with many players and a long log, or a plain one.

Run as ``python -m tools.bench.page_server page|plain``; prints ``ready PORT``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.defer import succeed
from twisted.web.resource import Resource
from twisted.web.server import Site
from twisted.web.static import Data

from emu.admin.status import ListedWorldStatus, ServerStatus, ZoneStatus
from emu.admin.web.api import MINUTES, Line, Login, PlayerCounts
from emu.config import Address
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.service import WebEndpoint
from emu.times import Moment, Monotonic
from tools.bench.query_server import PLAYERS, status_of

PLAIN = b"<!doctype html><html lang=en><title>plain</title><h1>A plain page</h1>"
LINES = 500
reactor: Any = _reactor


def busy() -> ServerStatus:
    """Return a server with one full zone."""
    status = status_of(Monotonic(0.0))
    zone = ZoneStatus(12, 0, "Antonica", "antonica", PLAYERS, 0, 900, 50)
    players = tuple(
        replace(player, zone=0, x=number * 7 % 200, z=number * 13 % 200)
        for number, player in enumerate(status.players)
    )
    world = ListedWorldStatus("Norrath", up=True, locked=False, players=PLAYERS)
    return replace(status, zones=(zone,), players=players, worlds=(world,))


def full_page() -> int:
    """Serve the page over a server with a day behind it; return the port."""
    status, scheduler = busy(), Scheduler(reactor)
    part = WebEndpoint(
        Address("127.0.0.1", 0), reactor, scheduler, status=lambda: status, missing=lambda: "",
        history=lambda: succeed([]), watch=Watch(),
    )  # fmt: skip
    now = scheduler.moment()
    minute = now - now % 60
    for number in range(MINUTES, 0, -1):
        part.recent.population.append(PlayerCounts(Moment(minute - 60 * number), number % PLAYERS))
    for number in range(LINES):
        part.recent.lines.append(Line(now, "info", "world", f"Player{number} left: camped"))
        part.recent.logins.append(Login(now, f"player{number}", 546, accepted=True))
    part.listen()
    return part.address.port


def plain_page() -> int:
    """Serve one heading; return the port."""
    root: Any = Resource()  # type: ignore[no-untyped-call]
    root.putChild(b"", Data(PLAIN, "text/html"))  # type: ignore[no-untyped-call]
    site: Any = Site(root)  # type: ignore[no-untyped-call]
    port: Any = reactor.listenTCP(0, site, interface="127.0.0.1")
    return int(port.getHost().port)


def main() -> None:
    """Serve until terminated."""
    port = full_page() if sys.argv[1] == "page" else plain_page()
    print(f"ready {port}", flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
