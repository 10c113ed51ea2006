"""The web endpoint: its listener, its paths, and the recent events that the page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from twisted.internet.defer import Deferred
from twisted.python.threadable import isInIOThread
from twisted.web.resource import Resource
from twisted.web.server import Request

import emu
from emu.admin.log_lines import without_addresses
from emu.admin.status import OpenPort, ServerStatus
from emu.admin.web import api
from emu.admin.web.api import Line, Login, Recent
from emu.admin.web.public import PageLink, PublicForm, PublicSource
from emu.admin.web.requests import HostNames, Monitors, RequestGate
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
from emu.net.watch import Report, Watch
from emu.net.web import accounts
from emu.net.web.access import MonitorResource, RankedResource
from emu.net.web.accounts import AccountEndpoint
from emu.net.web.dashboard import DashboardEndpoint, disabled_dashboard, origin_of
from emu.net.web.live import LiveResource
from emu.net.web.public import PublicResource
from emu.net.web.resources import (
    AnswerResource,
    Folder,
    LateAnswer,
    health,
    json_answer,
    metrics_answer,
    page_file,
    prepare,
)
from emu.net.web.site import PageSite, SiteRules, Visitors, peer_of
from emu.net.web.views import ViewResource
from emu.times import Moment

_log = logger("web")

FILES: Final = (
    "account.js", "accounts.js", "api.js", "app.js", "ask.js", "audit.js", "canvas.js",
    "content.js", "dashboard.js", "elements.js", "graphs.js", "history.js", "icon.svg", "links.js",
    "log.js", "map.js", "pages.js", "petitions.js", "player.js", "players.js", "population.js",
    "recent.js", "scale.js", "source.js", "status.js", "style.css", "texts.js", "zone.js",
    "zonelist.js", "zones.js",
)  # fmt: skip
"""The files that pages load; they contain no data of the server."""
PAGES: Final = ("account.html", "index.html", "status.html")
"""The operators' page, and the templates of the others."""
ADMIN: Final = "admin"
"""The path of the operators' page."""
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
        account_page: AccountEndpoint | None = None,
        config: WebConfig | None = None,
    ) -> None:
        """`status` returns the server's status.

        `conceals` returns whether a text names a hidden player. `missing` returns what is not
        ready, empty if all is. `history` returns the last changes of the opcode tables. Without a
        `dashboard` nobody can sign in; without an `account_page` nobody can register. `config` has
        the limits and names, `listen` the address.
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
        self._accounts = account_page
        self._port: Any = None
        self._site: PageSite | None = None
        self._uses = EndpointUses()
        self.recent = Recent()
        self._gate = RequestGate(self._config.url, self._config.proxies)
        self._monitors = Monitors(self._config.monitors)
        self._visitors = Visitors(self._source, self._is_signed_in)
        template = data_file("web", "status.html").read_text(encoding="utf-8")
        self._public = PublicSource(status, missing, scheduler, template)
        self._set_links()
        self._live = LiveResource(
            scheduler, self._state, self._last, self._visitors, self._config.pages
        )
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
            _log.info("accounts with a rank can sign in there, at /{path}", path=ADMIN)
        if self._accounts is not None:
            self._accounts.start()
            if self._accounts.is_enabled:
                url = self._config.url
                hint = (
                    accounts.public_hint(url)
                    if url
                    else accounts.loopback_hint(host.host, host.port)
                )
                _log.info("{hint}", hint=hint)

    def configure(self, config: Config) -> None:
        """Change settings; the port stays as it is."""
        self._config = config.web
        self._gate = RequestGate(config.web.url, config.web.proxies)
        self._monitors = Monitors(config.web.monitors)
        if self._accounts is not None:
            self._accounts.configure(config.web)
        self._set_links()
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
        if self._accounts is not None:
            await self._accounts.stop()
        if self._site is not None:
            self._site.close()

    def _set_links(self) -> None:
        """Set the links between the pages that are served now."""
        status = PageLink(PublicForm.PAGE.value, "Status of the server")
        admin = [PageLink(ADMIN, "Operators")] if self._dashboard is not None else []
        if self._accounts is not None:
            self._accounts.links = [status] if self._config.status else []
            if self._accounts.is_enabled:
                admin.insert(0, PageLink(accounts.PATH, "Your account"))
        self._public.links = admin

    @property
    def address(self) -> Address:
        """The address of the listener."""
        host = self._port.getHost()
        return Address(host.host, host.port)

    def _root(self) -> Resource:
        root = Folder()
        root.putChild(b"", AnswerResource(self._start))
        for form in PublicForm:
            root.putChild(form.value.encode(), PublicResource(self._public, form, self._is_public))
        if self._dashboard is not None:
            root.putChild(ADMIN.encode(), page_file(data_file("web", "index.html")))
        if self._accounts is not None:
            root.putChild(accounts.PATH.encode(), self._accounts.root)
        for name in FILES:
            root.putChild(name.encode(), page_file(data_file("web", name)))
        root.putChild(b"healthz", health(lambda: ""))
        # Monitors see the reason, which may name a zone; others only see that the server is not
        # ready.
        ready = health(self._missing)
        root.putChild(b"readyz", self._for_monitors(ready, health(self._missing_in_short)))
        metrics = metrics_answer(self._watch.measures)
        root.putChild(b"metrics", self._for_monitors(metrics, self._ranked(metrics)))
        root.putChild(b"api", self._api())
        return root

    def _api(self) -> Resource:
        root = Folder()
        for name, answer in api.STATUS_ANSWERS.items():
            root.putChild(name.encode(), self._ranked(json_answer(self._status_answer(answer))))
        opcodes = Folder()
        opcodes.putChild(b"history", self._ranked(LateAnswer(self._history)))
        root.putChild(b"opcodes", opcodes)
        root.putChild(b"population", self._ranked(json_answer(self._population)))
        for name in ("logins", "lines"):
            root.putChild(name.encode(), self._ranked(json_answer(partial(self._recent, name))))
        root.putChild(b"events", self._ranked(self._live))
        if self._dashboard is not None:
            root.putChild(b"views", self._ranked(ViewResource(self._dashboard)))
        root.putChild(
            b"admin", self._dashboard.root if self._dashboard is not None else disabled_dashboard()
        )
        root.putChild(b"openapi.json", json_answer(lambda: api.openapi(emu.__version__)))
        return root

    def _ranked(self, inner: Resource) -> Resource:
        return RankedResource(inner, self._dashboard)

    def _for_monitors(self, inner: Resource, otherwise: Resource) -> Resource:
        return MonitorResource(inner, lambda: self._monitors, origin_of, otherwise)

    def _start(self, request: Request) -> bytes:
        """Send the browser to the page for everybody, else to the one for operators."""
        prepare(request, "text/plain; charset=utf-8", 303)
        to = PublicForm.PAGE.value if self._config.status else ADMIN
        # A relative address, so that it also fits behind a proxy with a path of its own.
        request.setHeader("Location", to)
        return f"see {to}\n".encode()

    def _is_public(self) -> bool:
        return self._config.status

    def _missing_in_short(self) -> str:
        """Return what visitors may know about a server that is not ready."""
        return "not ready" if self._missing() else ""

    def _status_answer(self, answer: Callable[[ServerStatus], api.Json]) -> Callable[[], api.Json]:
        return lambda: answer(self._status())

    def _recent(self, name: str) -> list[dict[str, Any]]:
        return self._last()[name]

    def _last(self) -> dict[str, list[dict[str, Any]]]:
        """Return the recent events, without those that name a hidden player."""
        return {
            "logins": api.logins(
                [one for one in self.recent.logins if not self._conceals(one.account)]
            ),
            "lines": [asdict(one) for one in self.recent.lines if not self._conceals(one.text)],
        }

    def _source(self, request: Request) -> str:
        """Return the client's address of a request."""
        try:
            return self._gate.address(origin_of(request))
        # The limits need some sender even for a request that is refused later.
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

    def _take_line(self, moment: Moment, level: str, area: str, text: str) -> None:
        """Record a line of the log and send it to open pages. Threads log, too."""
        # Pages and `recent` belong to the reactor's thread.
        if not isInIOThread():
            self._reactor.callFromThread(self._take_line, moment, level, area, text)
            return
        # Checked when the line comes and when it is shown: a player may be hidden in between.
        if self._conceals(text):
            return
        line = Line(moment, level, area, without_addresses(text))
        self.recent.lines.append(line)
        self._live.send("line", asdict(line))

    def _take_login(self, report: Report) -> None:
        """Record a login or a refusal and send it to open pages."""
        login = _login_of(report.event, self._scheduler.moment())
        if login is not None and not self._conceals(login.account):
            self.recent.logins.append(login)
            self._live.send("login", asdict(login))


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
