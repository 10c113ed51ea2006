"""The dashboard over HTTP, with accounts in memory: faults, and the shutdown."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.internet.testing import StringTransport

from emu.commands import Call, Command, Registry
from emu.config.administration import WebConfig
from emu.errors import StoreError
from emu.metrics import EndpointUses
from emu.model import Account
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.dashboard import DashboardEndpoint
from emu.net.web.site import PageSite
from tests.support.admin.web import Browser
from tests.support.running.whole_server import captured_log, until

BOSS = Account(1, "boss", "hash")


class Accounts:
    """One account; `fault` is raised by whoever asks for its rank."""

    def __init__(self) -> None:
        self.fault: Exception | None = None

    async def verify(
        self, name: str, password: str, address: str, wanted: Callable[[], bool]
    ) -> Account | str:
        return BOSS if password == "secret" else "bad password"

    async def find(self, name: str) -> Account | None:
        return BOSS

    async def rank_of(self, account_id: int) -> int:
        if self.fault is not None:
            raise self.fault
        return 200


class Office:
    def __init__(self) -> None:
        self.accounts = Accounts()
        self.registry = Registry()
        self.watch = Watch()
        scheduler = Scheduler(reactor)
        self.part = DashboardEndpoint(
            WebConfig(), self.accounts, self.registry, scheduler, self.watch
        )
        self.part.start()
        self.site = PageSite(self.part.root, EndpointUses(), scheduler)
        self.port: Any = reactor.listenTCP(0, self.site, interface="127.0.0.1")  # type: ignore[attr-defined]
        self.browser = Browser(self.port.getHost().port)  # type: ignore[attr-defined]

    async def sign_in(self, password: str = "secret") -> Any:
        answer = await self.browser.post("/sign-in", {"name": "boss", "password": password})
        self.browser.csrf = answer.content.get("csrf", "")
        return answer


@asynccontextmanager
async def office() -> AsyncIterator[Office]:
    made = Office()
    try:
        yield made
    finally:
        await made.port.stopListening()
        await made.part.stop()
        made.site.close()
        await until(lambda: not len(made.site.connections), "the connections to end")


async def test_a_database_that_does_not_answer_is_said() -> None:
    async with office() as made:
        with captured_log("text") as log:
            made.accounts.fault = StoreError("the disk is full")
            answer = await made.sign_in()
        assert (answer.code, answer.content["ok"]) == (503, False)
        assert "the disk is full" not in answer.content["text"]
        assert "the page's request failed: the disk is full" in log.text


async def test_a_fault_of_ours_is_an_answer_and_a_line_in_the_log(
    logged_failures: Any,
) -> None:
    async def fail(_call: Call) -> None:
        raise RuntimeError("a bug")

    async with office() as made:
        made.registry.add(Command("lock", "fails", fail))
        await made.sign_in()
        with captured_log("text") as log:
            answer = await made.browser.post("/actions/lock")
        assert answer.code == 500
        assert "a bug" not in answer.content["text"]
        assert "a bug" in log.text
        assert len(logged_failures.flush(RuntimeError)) == 1
        assert (await made.browser.get("/session")).content["signed_in"]


@pytest.mark.slow
async def test_every_answer_is_json_that_is_not_kept_and_loads_nothing() -> None:
    async with office() as made:
        for answer in (
            await made.browser.get("/session"),
            await made.browser.get("/sign-in"),
            await made.browser.post("/actions/lock"),
            await made.browser.post("/actions/nothing"),
            await made.sign_in("wrong"),
        ):
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert answer.content
        assert (await made.browser.get("/actions")).code == 404
        assert (await made.browser.get("/actions/")).code == 404


async def test_who_waits_for_a_wrong_password_is_answered_when_the_server_stops() -> None:
    made = Office()
    waiting = Deferred.fromCoroutine(made.sign_in("wrong"))
    await until(lambda: len(made.part._pauses), "somebody who waits")
    await made.part.stop()
    assert (await waiting).code == 403
    await made.port.stopListening()
    made.site.close()
    await until(lambda: not len(made.site.connections), "the connections to end")


@pytest.mark.slow
async def test_who_leaves_while_waiting_harms_nobody() -> None:
    async with office() as made:
        waiting = Deferred.fromCoroutine(made.sign_in("wrong"))
        await until(lambda: len(made.part._pauses), "somebody who waits")
        for connection in made.site.connections:
            connection.transport.abortConnection()
        waiting.addErrback(lambda _gone: None)
        await waiting
        with captured_log("text") as log:
            await until(lambda: not len(made.part._tasks), "the pause to end")
        assert log.text == ""
        assert len(made.part.dashboard._sign_ins) == 0
        assert (await made.sign_in()).code == 200


def request_of(random_: random.Random) -> bytes:
    """Return a request as the page sends it, with some bytes changed, left out or put in."""
    path = random_.choice(["sign-in", "sign-out", "session", "actions/lock", "actions/kick"])
    method, kind, body = random_.choice([
        ("POST", "application/json", b'{"name": "boss", "password": "secret"}'),
        ("POST", "application/x-www-form-urlencoded", b"name=boss&password=secret"),
        ("POST", "application/json", b'{"player": "Aldana"}'),
        ("GET", "text/plain", b""),
    ])  # fmt: skip
    lines = [
        f"{method} /{path} HTTP/1.1", "Host: 127.0.0.1:80", "Origin: http://127.0.0.1:80",
        f"Content-Type: {kind}", "Cookie: emu-session-80=abc; x=y", "X-CSRF-Token: abc",
        f"Content-Length: {len(body)}", "", "",
    ]  # fmt: skip
    whole = bytearray("\r\n".join(lines).encode() + body)
    for _ in range(random_.choice([0, 1, 1, 2, 5, 20])):
        at = random_.randrange(len(whole))
        whole[at : at + random_.choice([0, 1, 1, 9])] = random_.randbytes(random_.choice([0, 1, 5]))
    return bytes(whole)


class DeafTransport(StringTransport):
    """Takes what is written, and is closed by whoever uses it."""

    def abortConnection(self) -> None:
        self.loseConnection()


@pytest.mark.slow
async def test_mutated_requests_raise_nothing_and_the_dashboard_goes_on() -> None:
    random_ = random.Random(7)
    async with office() as made:
        answered = 0
        made.site._work.share = 1e6
        for _ in range(1500):
            channel, transport = made.site.buildProtocol(None), DeafTransport()
            channel.makeConnection(transport)
            channel.dataReceived(request_of(random_))
            answered += transport.value().startswith(b"HTTP/1.1 ")
            channel.connectionLost(connectionDone)
            assert b"500" not in transport.value()[:20]
        assert answered > 700
        assert len(made.site.connections) == 0
        made.part._pauses.end()
        await until(lambda: not len(made.part._tasks), "those who wait")
        made.part.dashboard._sign_ins._addresses.succeeded("192.168.1.1")
        assert (await made.sign_in()).code == 200


async def test_other_settings_count_while_it_runs() -> None:
    async with office() as made:
        assert (await made.sign_in()).code == 200
        assert (await made.browser.get("/session")).content["signed_in"]
        made.part.configure(WebConfig(idle_timeout=0.0))
        assert not (await made.browser.get("/session")).content["signed_in"]
        made.part.configure(WebConfig(url="https://emu.example.org", proxies=("192.0.2.1",)))
        assert (await made.sign_in()).code == 200
        assert (await made.browser.get("/session")).content["signed_in"]
        made.browser.proxied = {"X-Forwarded-For": "192.0.2.7"}
        assert (await made.sign_in()).content["text"] == "use https://emu.example.org"
