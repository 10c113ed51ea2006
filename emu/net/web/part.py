"""The web endpoint as it runs: its port, its addresses, and what it remembers for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Final

from twisted.python.threadable import isInIOThread
from twisted.web.resource import Resource

import emu
from emu.admin.status import OpenDoor, ServerStatus
from emu.admin.web import api
from emu.admin.web.desk.events import SignedIn, SignInRefused
from emu.admin.web.recent import Line, Login, Recent, without_addresses
from emu.config import Address, Config
from emu.login.events import LoginAccepted, LoginRefused
from emu.measures import Uses
from emu.net.hosts import BACKLOG, door, listen_address
from emu.net.logs import logger, subscribe
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.answers import Folder, health, json_answer, page_file
from emu.net.web.desk import DeskPart, closed_desk
from emu.net.web.live import LiveResource
from emu.net.web.metrics import metrics_answer
from emu.net.web.site import PageSite
from emu.reports import Report
from emu.resources import data_file
from emu.times import Moment

_log = logger("web")

FILES: Final = (
    "app.js", "desk.js", "elements.js", "icon.svg", "map.js", "players.js", "population.js",
    "recent.js", "scale.js", "style.css", "texts.js", "zones.js",
)  # fmt: skip
"""What the page is made of, besides itself."""
COUNT_EVERY: Final = 10.0


class WebPart:
    """The web endpoint. `listen`, then `stop`."""

    def __init__(
        self,
        listen: Address,
        reactor: Any,
        scheduler: Scheduler,
        *,
        status: Callable[[], ServerStatus],
        missing: Callable[[], str],
        history: Callable[[], list[dict[str, Any]]],
        watch: Watch,
        desk: DeskPart | None = None,
    ) -> None:
        """Join the endpoint to the server.

        `status` tells how the server is, `missing` what is not ready (empty when all is),
        `history` the last changes of the opcode tables; without a `desk` nobody can sign in.
        """
        self._listen = listen
        self._reactor = reactor
        self._scheduler = scheduler
        self._status = status
        self._missing = missing
        self._history = history
        self._watch = watch
        self._desk = desk
        self._port: Any = None
        self._site: PageSite | None = None
        self._uses = Uses()
        self.recent = Recent()
        self._live = LiveResource(scheduler, self._state, self._last)
        self._ends: list[Callable[[], None]] = []

    def listen(self) -> None:
        """Open the port and say where. Raises `CannotListenError`."""
        at = listen_address("web.listen", self._listen)
        self._site = site = PageSite(self._root(), self._uses)
        self._watch.door("web", self._uses, lambda: len(site.connections))
        self._port = self._reactor.listenTCP(at.port, site, backlog=BACKLOG, interface=at.host)
        self._ends.append(subscribe(self._take_line))
        host = self._port.getHost()
        _log.info("pages and metrics on http://{at}/", at=Address(host.host, host.port))
        self._ends.append(self._watch.reports.subscribe(self._take_login, "login"))
        self._ends.append(self._watch.reports.subscribe(self._count_sign_in, "desk"))
        self._ends.append(self._scheduler.every(COUNT_EVERY, self._count).cancel)
        if self._desk is not None:
            self._desk.start()
            _log.info("accounts with a rank may sign in there")

    def configure(self, config: Config) -> None:
        """Go on with other settings; the port stays as it is."""
        if self._desk is not None:
            self._desk.configure(config.web)

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the port, while it is open."""
        if self._port is not None:
            yield door("web.listen", self._port, {"pages": len(self._live)} | self._uses.counted())

    async def stop(self) -> None:
        """Close the port, every stream, and connections that browsers keep for later."""
        for end in self._ends:
            end()
        self._live.stop()
        if self._port is not None:
            await self._port.stopListening()
        if self._desk is not None:
            await self._desk.stop()
        if self._site is not None:
            self._site.close()

    @property
    def address(self) -> Address:
        """Where it listens."""
        host = self._port.getHost()
        return Address(host.host, host.port)

    def _root(self) -> Resource:
        root = Folder()
        root.putChild(b"", page_file(data_file("web", "index.html")))
        for name in FILES:
            root.putChild(name.encode(), page_file(data_file("web", name)))
        root.putChild(b"healthz", health(lambda: ""))
        root.putChild(b"readyz", health(self._missing))
        root.putChild(b"metrics", metrics_answer(self._watch.measures))
        root.putChild(b"api", self._api())
        return root

    def _api(self) -> Resource:
        root = Folder()
        for name, part in api.PARTS.items():
            root.putChild(name.encode(), json_answer(self._part(part)))
        opcodes = Folder()
        opcodes.putChild(b"history", json_answer(self._history))
        root.putChild(b"opcodes", opcodes)
        root.putChild(b"logins", json_answer(lambda: self._last()["logins"]))
        root.putChild(b"population", json_answer(self._population))
        root.putChild(b"lines", json_answer(lambda: self._last()["lines"]))
        root.putChild(b"events", self._live)
        root.putChild(b"admin", self._desk.root if self._desk is not None else closed_desk())
        root.putChild(b"openapi.json", json_answer(lambda: api.openapi(emu.__version__)))
        return root

    def _part(self, part: Callable[[ServerStatus], api.Json]) -> Callable[[], api.Json]:
        return lambda: part(self._status())

    def _last(self) -> dict[str, Any]:
        """Return what was logged before somebody looked."""
        return {
            "logins": api.logins(list(self.recent.logins)),
            "lines": [asdict(one) for one in self.recent.lines],
        }

    def _population(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.recent.population]

    def _state(self) -> dict[str, Any]:
        """Return everything that a page shows anew every two seconds."""
        status = self._status()
        return {name: part(status) for name, part in api.PARTS.items()}

    def _count(self) -> None:
        self.recent.count_players(len(self._status().players), self._scheduler.moment())

    def _count_sign_in(self, report: Report) -> None:
        """Count a password that was given to the page itself."""
        if isinstance(report.event, SignedIn):
            self._uses.logins["accepted"] += 1
        elif isinstance(report.event, SignInRefused):
            self._uses.logins["refused"] += 1

    def _take_line(self, moment: Moment, level: str, area: str, text: str) -> None:
        """Remember a line of the log, and show it to pages that are open; threads log, too."""
        if not isInIOThread():
            self._reactor.callFromThread(self._take_line, moment, level, area, text)
            return
        line = Line(moment, level, area, without_addresses(text))
        self.recent.lines.append(line)
        self._live.tell("line", asdict(line))

    def _take_login(self, report: Report) -> None:
        """Remember a login or a refusal, and show it to pages that are open."""
        login = _login_of(report.event, self._scheduler.moment())
        if login is not None:
            self.recent.logins.append(login)
            self._live.tell("login", asdict(login))


def _login_of(event: object, moment: Moment) -> Login | None:
    if isinstance(event, LoginAccepted):
        return Login(moment, event.account, event.version, accepted=True)
    if isinstance(event, LoginRefused):
        return Login(moment, event.account, event.version, accepted=False, reason=event.reason)
    return None
