"""The web endpoint over real TCP: what each address answers, and how it protects the page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, succeed
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol
from twisted.internet.threads import deferToThread
from twisted.python.threadable import isInIOThread

from emu.admin.web.sessions import SignedIn, SignedOut, SignInRefused
from emu.config import Address
from emu.files import data_file
from emu.login.events import AccountLoggedIn, LoginRefused
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.service import FILES, PAGES, WebEndpoint
from tests.admin.web.test_api import status
from tests.support.admin.staff import StaffedDashboard
from tests.support.running.whole_server import until


class Page(Protocol):
    """A browser's event stream, as bytes."""

    def __init__(self) -> None:
        self.data = b""
        self.lost: Deferred[None] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self.data += data

    def connectionLost(self, reason: Any = None) -> None:
        self.lost.callback(None)


class Bench:
    def __init__(self, *, signed_in: bool = True, with_dashboard: bool = True) -> None:
        self.signed_in = signed_in
        """Whether requests are those of an operator."""
        self.watch = Watch()
        self.dashboard = StaffedDashboard(Scheduler(reactor), self.watch)
        self.missing = ""
        self.concealed: set[str] = set()
        """What no page shows a line or a login of."""
        self.part = WebEndpoint(
            Address("127.0.0.1", 0), reactor, Scheduler(reactor), status=status,
            missing=lambda: self.missing,
            history=lambda: succeed([{"time": "t", "who": "w", "what": "x"}]),
            watch=self.watch,
            conceals=lambda text: any(word in text for word in self.concealed),
            dashboard=self.dashboard.endpoint if with_dashboard else None,
        )  # fmt: skip

    async def get(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """Ask as a plain program does; returns code, headers and body."""
        page = await self.open(path, "Connection: close\r\n", method)
        await page.lost
        head, _, body = page.data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        if headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(body.split(b"\r\n")[1:-2:2])
        return int(first.split()[1]), headers, body

    async def open(self, path: str, headers: str = "", method: str = "GET") -> Page:
        at = self.part.address
        if self.signed_in:
            headers += f"Cookie: {self.dashboard.cookie_of('boss', 80)}\r\n"
        page: Page = await connectProtocol(TCP4ClientEndpoint(reactor, at.host, at.port), Page())
        page.transport.write(
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()
        )
        return page


@asynccontextmanager
async def bench(**options: bool) -> AsyncIterator[Bench]:
    made = Bench(**options)
    made.part.listen()
    try:
        yield made
    finally:
        await made.part.stop()
        await Scheduler(reactor).pause(0.01)  # the reactor lets go of what was cancelled


def test_all_that_the_page_is_made_of_is_served() -> None:
    assert {*PAGES, *FILES} == {path.name for path in data_file("web").iterdir()}


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/admin", "text/html"), ("/status", "text/html"), ("/status.json", "application/json"),
     ("/status.svg", "image/svg+xml"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"),
     *((f"/{name}", "text/javascript") for name in FILES if name.endswith(".js")),
     ("/api/admin/session", "application/json"),
     ("/healthz", "text/plain"), ("/readyz", "text/plain"), ("/api/status", "application/json"),
     ("/api/worlds", "application/json"), ("/api/zones", "application/json"),
     ("/api/players", "application/json"), ("/api/logins", "application/json"),
     ("/api/lines", "application/json"), ("/api/population", "application/json"),
     ("/api/opcodes/history", "application/json"), ("/api/openapi.json", "application/json")],
)  # fmt: skip
async def test_every_address_answers_and_nothing_may_come_from_elsewhere(
    path: str, kind: str
) -> None:
    async with bench() as made:
        code, headers, body = await made.get(path)
    assert code == 200
    assert headers["Content-Type"].startswith(kind)
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Server"] == "emu"
    assert body
    if kind == "application/json":
        json.loads(body)
    if kind == "text/html":
        assert b"http" not in body.replace(b"http://www.w3.org/2000/svg", b"")


async def test_the_head_of_the_stream_is_no_stream() -> None:
    async with bench() as made:
        code, headers, body = await made.get("/api/events", "HEAD")
        assert (code, headers["Content-Type"][:17], body) == (200, "text/event-stream", b"")
        assert len(made.part._live) == 0


async def test_nobody_can_sign_in_where_there_is_no_dashboard() -> None:
    async with bench(with_dashboard=False) as made:
        assert (await made.get("/admin"))[0] == 404
        assert (await made.get("/api/players"))[0] == 403
        _, _, body = await made.get("/api/admin/session")
        assert json.loads(body) == {"enabled": False}
        assert (await made.get("/api/admin/sign-in"))[0] == 404


async def test_metrics_and_what_is_not_there() -> None:
    async with bench() as made:
        made.watch.measures.counter("tests", "Tests.").add()
        code, _, body = await made.get("/metrics")
        assert code == 200
        assert b"emu_tests_total 1.0" in body
        for path in (
            "/nothing",
            "/api",
            "/api/opcodes",
            "/api/nothing",
            "/../emu.toml",
            "/api/opcodes/x",
        ):
            code, _, body = await made.get(path)
            assert (code, body) == (404, b"there is nothing here\n")


async def test_ready_says_what_is_missing() -> None:
    async with bench() as made:
        made.missing = "the database is away"
        code, _, body = await made.get("/readyz")
        assert (code, body) == (503, b"the database is away\n")
        assert (await made.get("/healthz"))[0] == 200


async def test_logins_and_lines_are_remembered() -> None:
    async with bench() as made:
        send = made.watch.reports.port("login")
        send(AccountLoggedIn("192.0.2.7", "ayla", 1, 546))
        send(LoginRefused("192.0.2.7", "bob", "wrong password", 561))
        _, _, body = await made.get("/api/logins")
        assert [(row["account"], row["accepted"], row["reason"]) for row in json.loads(body)] == [
            ("bob", False, "wrong password"), ("ayla", True, ""),
        ]  # fmt: skip


async def test_passwords_given_to_the_page_are_counted() -> None:
    async with bench() as made:
        send = made.watch.reports.port("dashboard")
        send(SignInRefused("192.0.2.7", "wrong password"))
        send(SignedIn("boss", "192.0.2.7", 100))
        send(SignedOut("boss", "idle"))
        for result in ("accepted", "refused"):
            assert made.watch.measures.value("authentications", "web", result) == 1


async def test_measures_are_read_where_they_are_counted() -> None:
    threads = []
    async with bench() as made:
        made.watch.measures.gauge("thread", "x", lambda: {(): threads.append(isInIOThread()) or 1})
        code, headers, body = await made.get("/metrics")
    assert (code, threads) == (200, [True])
    assert headers["Content-Type"].startswith("text/plain; version=")
    assert b"emu_thread 1.0\n" in body


async def test_lines_of_the_log_are_remembered_without_addresses() -> None:
    log = logger("world")
    async with bench() as made:
        log.info("Aldana from {address} left", address="192.0.2.7")
        log.debug("nobody is sent this")
        await deferToThread(log.warn, "the disk is full")
        _, _, body = await made.get("/api/lines")
        shown = [(row["level"], row["area"], row["text"]) for row in json.loads(body)]
        assert shown[-2:] == [
            ("info", "world", "Aldana from … left"), ("warn", "world", "the disk is full"),
        ]  # fmt: skip
    log.info("nobody listens")
    assert made.part.recent.lines[-1].text == "the disk is full"


async def test_a_page_that_comes_late_is_sent_what_was() -> None:
    async with bench() as made:
        made.watch.reports.port("login")(LoginRefused("192.0.2.7", "bob", "wrong password", 561))
        page = await made.open("/api/events")
        await until(lambda: b"event: state" in page.data, "the first state")
        page.transport.loseConnection()
        await page.lost
    _, _, reported = page.data.partition(b"event: recent\ndata: ")
    recent = json.loads(reported.partition(b"\n\n")[0])
    assert [login["account"] for login in recent["logins"]] == ["bob"]
    assert [line["text"].partition("http")[0] for line in recent["lines"]] == [
        "pages and metrics on ", "accounts with a rank can sign in there, at /admin",
    ]  # fmt: skip


async def test_a_page_is_sent_what_happens_and_let_go_at_the_end() -> None:
    made = Bench()
    made.part.listen()
    page = await made.open("/api/events")
    await until(lambda: b"event: state" in page.data, "the first state")
    assert b'"name":"Norrath"' in page.data
    logger("world").info("Aldana left")
    await until(lambda: b'"text":"Aldana left"' in page.data, "a line")
    assert len(made.part._live) == 1
    await made.part.stop()
    page.transport.loseConnection()
    await page.lost
    await Scheduler(reactor).pause(0.01)
    assert len(made.part._live) == 0


async def test_a_connection_that_a_browser_keeps_ends_with_the_server() -> None:
    async with bench() as made:
        page = await made.open("/healthz")
        await until(lambda: page.data.endswith(b"ok\n"), "the answer")
    await page.lost


async def test_lines_and_logins_that_name_a_hidden_player_are_shown_to_nobody() -> None:
    """Those of before as well as those that come."""
    async with bench() as made:
        send = made.watch.reports.port("login")
        log = logger("world")
        log.info("Boss entered Antonica")
        send(AccountLoggedIn("192.0.2.7", "boss", 1, 546))
        made.concealed |= {"Boss", "boss"}
        page = await made.open("/api/events")
        log.info("command of Boss (game): hide: done")
        log.info("Aldana entered Antonica")
        send(AccountLoggedIn("192.0.2.7", "boss", 1, 546))
        send(AccountLoggedIn("192.0.2.8", "ayla", 1, 546))
        await until(lambda: b"Aldana" in page.data, "the other events")
        answers = [(await made.get(f"/api/{name}"))[2] for name in ("lines", "logins")]
        assert b"Aldana" in answers[0]
        for text in (page.data, *answers):
            assert b"boss" not in text.lower()
        made.concealed.clear()
        lines = (await made.get("/api/lines"))[2]
        assert b"Boss entered" in lines
        assert b"command of Boss" not in lines, "what was done unseen stays so"
