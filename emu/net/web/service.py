"""The web endpoint: its listener, its paths, and the recent events that the page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any, Final
from urllib.parse import urlsplit

from twisted.internet.defer import Deferred
from twisted.python.threadable import isInIOThread
from twisted.web.resource import Resource
from twisted.web.server import Request

import emu
from emu.admin.status import OpenPort, ServerStatus
from emu.admin.web import api
from emu.admin.web.api import Line, Login, Recent, without_addresses
from emu.admin.web.requests import Gate, HostNames
from emu.admin.web.sessions import RequestRefused, SignedIn, SignInRefused
from emu.config import Address, Config
from emu.config.administration import WebConfig
from emu.files import data_file
from emu.limits.connections import ConnectionLimits
from emu.login.events import AccountLoggedIn, LoginRefused
from emu.metrics import EndpointUses
from emu.net.logs import logger, subscribe
from emu.net.scheduler import Scheduler
from emu.net.stream import BACKLOG, listen_address, open_port
from emu.net.watch import Watch
from emu.net.web.dashboard import DashboardEndpoint, disabled_dashboard, origin_of
from emu.net.web.live import LiveResource
from emu.net.web.resources import (
    AnswerResource,
    Folder,
    LateAnswer,
    health,
    json_answer,
    json_body,
    metrics_answer,
    page_file,
)
from emu.net.web.site import PageSite, SiteRules, Visitors, peer_of
from emu.reports import Report
from emu.times import Moment

_log = logger("web")

FILES: Final = (
    "app.js", "dashboard.js", "elements.js", "icon.svg", "map.js", "players.js", "population.js",
    "recent.js", "scale.js", "style.css", "texts.js", "zones.js",
)  # fmt: skip
"""The files of the page besides index.html."""
COUNT_EVERY: Final = 10.0


class WebEndpoint:
    """The web endpoint. Call `listen`, then `stop`."""

    def __init__(
        self,
        listen: Address,
        reactor: Any,
        scheduler: Scheduler,
        *,
        status: Callable[[], ServerStatus],
        conceals: Callable[[str], bool] = lambda _text: False,
        missing: Callable[[], str],
        history: Callable[[], Deferred[list[dict[str, Any]]]],
        watch: Watch,
        dashboard: DashboardEndpoint | None = None,
        config: WebConfig | None = None,
    ) -> None:
        """`status` returns the server's status.

        `conceals` returns whether a text names a hidden player. `missing` returns what is not
        ready, empty if all is. `history` returns the last changes of the opcode tables. Without a
        `dashboard` nobody can sign in. `config` has the limits and names, `listen` the address.
        """
        self._config = config or WebConfig()
        self._listen = listen
        self._reactor = reactor
        self._scheduler = scheduler
        self._status = status
        self._conceals = conceals
        self._missing = missing
        self._history = history
        self._watch = watch
        self._dashboard = dashboard
        self._port: Any = None
        self._site: PageSite | None = None
        self._uses = EndpointUses()
        self.recent = Recent()
        self._gate = Gate(self._config.url, self._config.proxies)
        self._visitors = Visitors(self._source, self._is_signed_in)
        self._live = LiveResource(
            scheduler, self._state, lambda to_staff: self._last(to_staff=to_staff),
            self._visitors, self._config.pages,
        )  # fmt: skip
        self._ends: list[Callable[[], None]] = []

    def listen(self) -> None:
        """Open the port and log its address. Raises `CannotListenError`."""
        at = listen_address("web.listen", self._listen)
        self._site = site = PageSite(
            self._root(), self._uses, self._scheduler,
            rules=site_rules(self._config), hosts=self._hosts(), visitors=self._visitors,
        )  # fmt: skip
        self._watch.listener("web", self._uses, lambda: len(site.connections))
        self._port = self._reactor.listenTCP(at.port, site, backlog=BACKLOG, interface=at.host)
        self._ends.append(subscribe(self._take_line))
        host = self._port.getHost()
        _log.info("pages and metrics on http://{at}/", at=Address(host.host, host.port))
        self._ends.append(self._watch.reports.subscribe(self._take_login, "login"))
        self._ends.append(self._watch.reports.subscribe(self._count_sign_in, "dashboard"))
        self._ends.append(self._scheduler.every(COUNT_EVERY, self._count).cancel)
        if self._dashboard is not None:
            self._dashboard.start()
            _log.info("accounts with a rank can sign in there")

    def configure(self, config: Config) -> None:
        """Change settings; the port stays as it is."""
        self._config = config.web
        self._gate = Gate(config.web.url, config.web.proxies)
        if self._site is not None:
            self._site.configure(site_rules(config.web), self._hosts())
        if self._dashboard is not None:
            self._dashboard.configure(config.web)

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the listener while it is open."""
        if self._port is not None:
            yield open_port(
                "web.listen", self._port, {"pages": len(self._live)} | self._uses.counted()
            )

    async def stop(self) -> None:
        """Close the port, every stream and idle connections."""
        for end in self._ends:
            end()
        self._live.stop()
        if self._port is not None:
            await self._port.stopListening()
        if self._dashboard is not None:
            await self._dashboard.stop()
        if self._site is not None:
            self._site.close()

    @property
    def address(self) -> Address:
        """The address of the listener."""
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
        for name, answer in api.STATUS_ANSWERS.items():
            root.putChild(name.encode(), json_answer(self._status_answer(answer)))
        opcodes = Folder()
        opcodes.putChild(b"history", LateAnswer(self._history))
        root.putChild(b"opcodes", opcodes)
        root.putChild(b"logins", self._recent_answer("logins"))
        root.putChild(b"population", json_answer(self._population))
        root.putChild(b"lines", self._recent_answer("lines"))
        root.putChild(b"events", self._live)
        root.putChild(
            b"admin", self._dashboard.root if self._dashboard is not None else disabled_dashboard()
        )
        root.putChild(b"openapi.json", json_answer(lambda: api.openapi(emu.__version__)))
        return root

    def _status_answer(self, answer: Callable[[ServerStatus], api.Json]) -> Callable[[], api.Json]:
        return lambda: answer(self._status())

    def _recent_answer(self, name: str) -> AnswerResource:
        return AnswerResource(
            lambda request: json_body(
                request, self._last(to_staff=self._is_signed_in(request))[name]
            )
        )

    def _last(self, *, to_staff: bool) -> dict[str, Any]:
        """Return the recent events that a visitor may read."""
        return {
            "logins": api.logins(
                [one for one in self.recent.logins if not self._conceals(one.account)],
                to_staff=to_staff,
            ),
            "lines": [
                one.shown(to_staff=to_staff)
                for one in self.recent.lines
                if not self._conceals(one.text)
            ],
        }

    def _source(self, request: Request) -> str:
        """Return the client's address of a request."""
        try:
            return self._gate.address(origin_of(request))
        except RequestRefused:
            return peer_of(request)

    def _is_signed_in(self, request: Request) -> bool:
        return self._dashboard is not None and self._dashboard.is_signed_in(request)

    def _hosts(self) -> HostNames:
        """Return the names of this server from the configuration."""
        config = self._config
        url = urlsplit(config.url or "").hostname
        return HostNames([self._listen.host, *([url] if url else []), *config.hosts])

    def _population(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.recent.population]

    def _state(self) -> dict[str, Any]:
        """Return everything that pages get every two seconds."""
        status = self._status()
        return {name: answer(status) for name, answer in api.STATUS_ANSWERS.items()}

    def _count(self) -> None:
        self.recent.count_players(len(self._status().players), self._scheduler.moment())

    def _count_sign_in(self, report: Report) -> None:
        """Count a password attempt at the page itself."""
        if isinstance(report.event, SignedIn):
            self._uses.logins["accepted"] += 1
        elif isinstance(report.event, SignInRefused):
            self._uses.logins["refused"] += 1

    def _take_line(self, moment: Moment, level: str, area: str, text: str, public: str) -> None:
        """Record a line of the log and send it to open pages. Threads log, too."""
        if not isInIOThread():
            self._reactor.callFromThread(self._take_line, moment, level, area, text, public)
            return
        if self._conceals(text):
            return
        line = Line(moment, level, area, without_addresses(text), without_addresses(public))
        self.recent.lines.append(line)
        self._live.send("line", line.shown(to_staff=False), line.shown(to_staff=True))

    def _take_login(self, report: Report) -> None:
        """Record a login or a refusal and send it to open pages."""
        login = _login_of(report.event, self._scheduler.moment())
        if login is not None and not self._conceals(login.account):
            self.recent.logins.append(login)
            self._live.send("login", login.shown(to_staff=False), login.shown(to_staff=True))


def site_rules(config: WebConfig) -> SiteRules:
    """Return the limits of connections and requests."""
    rules = SiteRules()
    return replace(
        rules,
        connections=ConnectionLimits(
            config.connections, config.connections_per_address, config.connections_per_address
        ),
        request_timeout=config.request_timeout,
        answer_timeout=config.answer_timeout,
        requests=config.requests_per_connection,
        send_buffer=config.send_buffer,
        work_share=config.work_share,
    )


def _login_of(event: object, moment: Moment) -> Login | None:
    if isinstance(event, AccountLoggedIn):
        return Login(moment, event.account, event.version, accepted=True)
    if isinstance(event, LoginRefused):
        return Login(moment, event.account, event.version, accepted=False, reason=event.reason)
    return None
