"""Who reads what: every address of the web endpoint, asked by everybody who may come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import succeed
from twisted.web.resource import Resource

from emu.admin.web.dashboard import ACTIONS
from emu.admin.web.requests import Monitors
from emu.config import Address
from emu.config.administration import WebConfig
from emu.errors import StoreError
from emu.login.events import LoginRefused
from emu.login.passwords import RegistrationConfig
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.accounts import AccountEndpoint
from emu.net.web.service import FILES, WebEndpoint
from tests.admin.web.test_api import status
from tests.support.admin.staff import RANKS, StaffedDashboard
from tests.support.admin.web import Answer, Browser
from tests.support.running.whole_server import until

VISITORS = ("nobody", *RANKS)
"""Somebody who is not signed in, and sessions of accounts by their rank, one of them without."""
STAFF = ("guide", "master", "boss")
SECRETS = (b"typedname", b"wrong code", b"Aldana", b"Borvik", b"console line", b"192.0.2")
"""Words that only operators may read: accounts, reasons, players, lines of the log, addresses."""
TEMPLATE = "<html lang='en'>$message $links $base</html>"


@dataclass(frozen=True)
class Url:
    """An address, its answer for operators, and for everybody else."""

    path: str
    staff: int = 200
    others: int = 403
    method: str = "GET"


PUBLIC = [
    Url("/", 303, 303),
    Url("/admin", others=200),
    Url("/account", others=200),
    Url("/status", others=200),
    Url("/status.json", others=200),
    Url("/status.svg", others=200),
    Url("/healthz", others=200),
    Url("/readyz", 503, 503),
    Url("/api/openapi.json", others=200),
    Url("/api/admin/session", others=200),
    *(Url(f"/{name}", others=200) for name in FILES),
]
RANKED = [
    Url("/metrics"),
    Url("/api/views", 404),
    Url("/api/views/notes?account=alice", 403),
    *(
        Url(f"/api/{name}")
        for name in (
            "events", "lines", "logins", "opcodes/history", "players", "population", "status",
            "worlds", "zones",
        )
    ),
]  # fmt: skip
POSTED = [
    # Without their token or their origin, no rank changes anything.
    Url("/api/admin/sign-in", 403, 403, "POST"),
    Url("/api/admin/sign-out", 403, 403, "POST"),
    *(Url(f"/api/admin/actions/{name}", 403, 403, "POST") for name in ACTIONS),
    Url("/account/register", 403, 403, "POST"),
    Url("/account/password", 403, 403, "POST"),
]
MISSING = [
    Url(path, 404, 404)
    for path in ("/nothing", "/api", "/api/nothing", "/api/opcodes", "/status.xml",
                 "/index.html", "/account/", "/account/nothing", "/status/x")
]  # fmt: skip
URLS = [*PUBLIC, *RANKED, *POSTED, *MISSING]


class Registering:
    """As much of the registration as the page needs here."""

    config = RegistrationConfig(enabled=True)


class Server:
    def __init__(self) -> None:
        self.watch = Watch()
        scheduler = Scheduler(reactor)
        self.staffed = StaffedDashboard(scheduler, self.watch)
        registering: Any = Registering()
        config = WebConfig()
        self.part = WebEndpoint(
            Address("127.0.0.1", 0), reactor, scheduler, status=status,
            missing=lambda: "wrong code: the console line",
            history=lambda: succeed([{"time": "t", "who": "typedname", "what": "x"}]),
            watch=self.watch, dashboard=self.staffed.endpoint, config=config,
            account_page=AccountEndpoint(config, registering, scheduler, self.watch, TEMPLATE),
        )  # fmt: skip

    def browser(self, visitor: str) -> Browser:
        """Return somebody at the pages."""
        port = self.part.address.port
        browser = Browser(port)
        if visitor in RANKS:
            name, _, token = self.staffed.cookie_of(visitor, port).partition("=")
            browser.cookies = {name: token}
        return browser


@asynccontextmanager
async def server() -> AsyncIterator[Server]:
    made = Server()
    made.part.listen()
    report = made.watch.reports.port("login")
    report(LoginRefused("192.0.2.7", "typedname", "wrong code", 561))
    logger("server").info("a console line of {who}", who="typedname")
    try:
        yield made
    finally:
        await made.part.stop()
        await until(lambda: not len(made.part._site.connections), "the connections to end")  # type: ignore[arg-type, union-attr]
        await Scheduler(reactor).pause(0.01)  # the reactor lets go of what was cancelled


def paths_of(resource: Resource, path: str = "") -> Iterator[str]:
    """Yield the address of every resource below one."""
    for name, child in resource.listStaticEntities():
        below = f"{path}/{name.decode()}"
        yield below
        yield from paths_of(child, below)


async def ask(browser: Browser, url: Url, **headers: str) -> Answer:
    """Ask for the beginning of a stream, or for a whole answer."""
    if url.path == "/api/events" and browser.cookies and url.method == "GET":
        answer = await browser.ask("HEAD", url.path, headers=headers)
        if answer.code == 200:
            return Answer(200, answer.headers, await browser.stream(url.path))
    body = b"{}" if url.method == "POST" else None
    sent = headers | ({"Content-Type": "application/json"} if body else {})
    return await browser.ask(url.method, url.path, body, sent)


async def test_the_table_has_every_address() -> None:
    async with server() as made:
        root: Any = made.part._site.resource  # type: ignore[union-attr]
        found = set(paths_of(root)) - {"/api", "/api/admin", "/api/admin/actions", "/api/opcodes"}
    listed = {url.path for url in URLS if url not in MISSING and "?" not in url.path}
    children = {url.path for url in POSTED if "actions" in url.path or "/account/" in url.path}
    assert found == listed - children


@pytest.mark.parametrize("visitor", VISITORS)
async def test_every_address_for_every_visitor(
    visitor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server() as made:
        # On the same machine everybody may read /metrics.
        monkeypatch.setattr(Monitors, "admit", lambda _self, _origin: False)
        refusals = set()
        for url in URLS:
            answer = await ask(made.browser(visitor), url)
            expected = url.staff if visitor in STAFF else url.others
            assert answer.code == expected, (visitor, url)
            if visitor not in STAFF or url in PUBLIC:
                for secret in SECRETS:
                    assert secret not in answer.body, (visitor, url)
                    assert secret.decode() not in str(answer.headers), (visitor, url)
            if url in RANKED and visitor not in STAFF:
                shown = {k: v for k, v in answer.headers.items() if k != "Date"}
                refusals.add((answer.body, str(sorted(shown.items()))))
        assert len(refusals) == (visitor not in STAFF), "one answer for all"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "BREW"])
async def test_no_method_gets_around_the_rank(method: str) -> None:
    async with server() as made:
        for url in RANKED:
            if url.path == "/metrics":
                continue
            answer = await made.browser("nobody").ask(method, url.path)
            assert answer.code == 403, (method, url)


async def test_operators_read_what_others_may_not() -> None:
    async with server() as made:
        boss = made.browser("guide")
        for path, secret in {
            "/api/logins": b"typedname", "/api/lines": b"console line", "/api/players": b"Aldana",
            "/api/opcodes/history": b"typedname",
        }.items():  # fmt: skip
            assert secret in (await boss.get(path)).body
        stream = await boss.stream("/api/events")
        for secret in (b"typedname", b"console line", b"Aldana"):
            assert secret in stream


async def test_a_rank_that_is_lost_counts_at_once() -> None:
    async with server() as made:
        guide = made.browser("guide")
        assert (await guide.get("/api/players")).code == 200
        made.staffed.staff.ranks.clear()
        assert (await guide.get("/api/players")).code == 403


async def test_a_store_that_fails_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_account_id: int) -> int:
        raise StoreError("the disk is full")

    async with server() as made:
        guide = made.browser("guide")
        made.staffed.staff.rank_of = fail  # type: ignore[assignment, method-assign]
        answer = await guide.get("/api/players")
        assert (answer.code, b"disk" in answer.body) == (403, False)


async def test_this_machine_monitors_but_a_proxy_on_it_does_not() -> None:
    async with server() as made:
        browser = made.browser("nobody")
        assert (await browser.get("/metrics")).code == 200
        assert b"console line" in (await browser.get("/readyz")).body
        forwarded = {"X-Forwarded-For": "192.0.2.7"}
        assert (await browser.ask("GET", "/metrics", headers=forwarded)).code == 403
        answer = await browser.ask("GET", "/readyz", headers=forwarded)
        assert (answer.code, answer.body) == (503, b"not ready\n")


async def test_the_metrics_do_not_show_which_accounts_there_are() -> None:
    async with server() as made:
        report = made.watch.reports.port("login")
        for name, reason in (("boss", "bad password"), ("typedname", "no such account")):
            report(LoginRefused("192.0.2.7", name, reason, 561))
        metrics = (await made.browser("nobody").get("/metrics")).body
        assert b'emu_logins_refused_total{reason="bad password"} 2.0' in metrics
        assert b"no such account" not in metrics
