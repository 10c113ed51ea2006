"""The page of players' accounts over TCP, over accounts in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred

from emu.admin.web.requests import HostNames
from emu.config.administration import WebConfig
from emu.errors import StoreError
from emu.files import data_file
from emu.login.passwords import RegistrationConfig
from emu.login.registration import RegistrationDenial, RegistrationRefusal
from emu.metrics import EndpointUses
from emu.model import Account
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web import accounts
from emu.net.web.accounts import PATH, AccountEndpoint
from emu.net.web.resources import Folder, page_file
from emu.net.web.site import PageSite
from tests.support.admin.web import FORM, Answer, Browser
from tests.support.running.whole_server import FastClock, captured_log, until

TEMPLATE = data_file("web", "account.html").read_text(encoding="utf-8")
SENT = {"name": "carol", "password": "new password", "repeat": "new password"}
WRONG = RegistrationDenial(RegistrationRefusal.WRONG_PASSWORD, "Wrong.")


class Registering:
    """A registration whose answer a test sets."""

    def __init__(self) -> None:
        self.config = RegistrationConfig(enabled=True)
        self.account = Account(7, "Carol", "hash")
        self.answer: Account | RegistrationDenial | Exception = self.account
        self.asked: list[tuple[str, ...]] = []

    async def register(
        self, name: str, password: str, code: str, address: str, wanted: Callable[[], bool]
    ) -> Account | RegistrationDenial:
        return self._answered(name, password, code, address)

    async def change_password(
        self, name: str, present: str, new: str, address: str, wanted: Callable[[], bool]
    ) -> Account | RegistrationDenial:
        return self._answered(name, present, new, address)

    def _answered(self, *words: str) -> Account | RegistrationDenial:
        self.asked.append(words)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Site:
    def __init__(self, config: WebConfig, clock: Any) -> None:
        self.players = Registering()
        self.watch = Watch()
        registration: Any = self.players
        scheduler = Scheduler(clock)
        self.part = AccountEndpoint(config, registration, scheduler, self.watch, TEMPLATE)
        self.part.start()
        root = Folder()
        root.putChild(PATH.encode(), self.part.root)
        for name in ("style.css", "icon.svg"):
            root.putChild(name.encode(), page_file(data_file("web", name)))
        self.site = PageSite(root, EndpointUses(), scheduler)
        self.port: Any = reactor.listenTCP(0, self.site, interface="127.0.0.1")  # type: ignore[attr-defined]
        self.browser = Browser(int(self.port.getHost().port))  # type: ignore[attr-defined]

    async def send(self, action: str = "register", **more: Any) -> Answer:
        return await self.browser.post(f"/account/{action}", SENT, kind=FORM, **more)


@asynccontextmanager
async def site(config: WebConfig | None = None, clock: Any = reactor) -> AsyncIterator[Site]:
    made = Site(config or WebConfig(), clock)
    try:
        yield made
    finally:
        await made.port.stopListening()
        await made.part.stop()
        made.site.close()
        await until(lambda: not len(made.site.connections), "the connections to end")


async def test_a_form_is_answered_with_the_page_and_a_program_with_json() -> None:
    async with site() as made:
        for action in ("register", "password"):
            answer = await made.send(action)
            assert answer.code == 200
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert b'class="whole message good"' in answer.body
            assert b"Carol" in answer.body
            assert b"new password</" not in answer.body
            assert b'href="../style.css"' in answer.body
        answer = await made.browser.post("/account/register", SENT)
        assert answer.content["ok"]
        assert made.players.asked[0] == ("carol", "new password", "", "127.0.0.1")
        values = made.watch.measures.value
        assert values("registrations", "accounts registered") == 2
        assert values("registrations", "passwords changed") == 1


@pytest.mark.parametrize("reason", RegistrationRefusal)
async def test_refusals_have_a_status_and_keep_the_name(reason: RegistrationRefusal) -> None:
    codes = {"name taken": 409, "too many attempts": 429, "busy": 503,
             "name not allowed": 400, "password not allowed": 400}  # fmt: skip
    async with site(clock=FastClock(10.0)) as made:
        made.players.answer = RegistrationDenial(reason, "It is <refused>.")
        answer = await made.send()
        assert answer.code == codes.get(reason, 403)
        assert b"It is &lt;refused&gt;." in answer.body
        assert answer.body.count(b'value="carol"') == 1
        assert b"new password" not in answer.body.replace(b"The new password again", b"")
        assert ("Retry-After" in answer.headers) is (answer.code in (429, 503))


async def test_a_hostile_name_is_text() -> None:
    async with site() as made:
        made.players.answer = RegistrationDenial(RegistrationRefusal.NAME_TAKEN, "Taken.")
        fields = SENT | {"name": '"><script>alert(1)</script>$base'}
        answer = await made.browser.post("/account/register", fields, kind=FORM)
        assert b"<script" not in answer.body
        assert b"&quot;&gt;&lt;script&gt;" in answer.body


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": None},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example", "Origin": "http://evil.example"},
        {"X-Forwarded-For": "192.0.2.7"},
    ],
)
async def test_foreign_pages_change_nothing(headers: dict[str, str | None]) -> None:
    async with site() as made:
        for action in ("register", "password"):
            assert (await made.send(action, headers=headers)).code == 403
        assert made.players.asked == []


async def test_behind_a_proxy_only_the_proxy_is_served() -> None:
    async with site(WebConfig(url="https://emu.example.org")) as made:
        assert (await made.browser.get("/account")).code == 200
        made.browser.proxied = {"X-Forwarded-For": "192.0.2.7"}
        assert (await made.send()).code == 403
        proxied = {"X-Forwarded-For": "192.0.2.7"}
        made.site.hosts = HostNames(["emu.example.org"])
        player = Browser(made.browser.port, "emu.example.org", proxied)
        answer = await player.post("/account/register", SENT, kind=FORM)
        assert answer.code == 200
        assert made.players.asked[0][-1] == "192.0.2.7"


async def test_browsers_send_the_origin_with_the_forms() -> None:
    """With the policy of the other pages they would send ``Origin: null``."""
    async with site() as made:
        answer = await made.browser.get("/account")
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert "form-action 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert b"<script" not in answer.body


async def test_the_page_has_what_the_settings_want() -> None:
    async with site() as made:
        page = (await made.browser.get("/account")).body.decode()
        assert "<label hidden>Invite code" in page
        assert page.count('minlength="8"') == 4
        made.players.config = RegistrationConfig(
            enabled=True, invite_code="open sesame", shortest_password=12
        )
        page = (await made.browser.get("/account")).body.decode()
        assert "hidden" not in page
        assert "at least 12 characters" in page
        assert "open sesame" not in page


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]")],
)
def test_the_hint_names_the_address_that_is_listened_on(host: str, shown: str) -> None:
    assert f"http://{shown}:8080/account, from this" in accounts.loopback_hint(host, 8080)


async def test_nothing_is_there_while_it_is_off() -> None:
    async with site() as made:
        made.players.config = RegistrationConfig(enabled=False)
        assert (await made.browser.get("/account")).code == 404
        for action in ("register", "password"):
            assert (await made.send(action)).code == 404
        assert made.players.asked == []


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/account", 405), ("PUT", "/account", 405), ("GET", "/account/register", 405),
        ("GET", "/account/password", 405), ("GET", "/account/", 404),
        ("POST", "/account/register/x", 404), ("POST", "/account/nothing", 404),
    ],
)  # fmt: skip
async def test_other_methods_and_paths(method: str, path: str, code: int) -> None:
    async with site() as made:
        assert (await made.browser.ask(method, path)).code == code


@pytest.mark.parametrize("body", [b"", b"name=%ff", b"name=a&name=b", b"\xff", b"mail=x"])
async def test_bodies_that_cannot_be_used(body: bytes) -> None:
    async with site() as made:
        made.players.answer = RegistrationDenial(RegistrationRefusal.NAME_NOT_ALLOWED, "Empty.")
        answer = await made.browser.post("/account/register", kind=FORM, body=body)
        assert answer.code == 400
        answer = await made.browser.post("/account/register", kind="text/plain", body=body)
        assert answer.code == 415


async def test_faults_are_logged_and_not_shown(logged_failures: Any) -> None:
    async with site() as made:
        with captured_log("text") as log:
            made.players.answer = StoreError("the disk is full")
            answer = await made.send()
            assert (answer.code, b"disk" in answer.body) == (503, False)
            made.players.answer = RuntimeError("a bug")
            answer = await made.send()
            assert (answer.code, b"bug" in answer.body) == (500, False)
        assert "the disk is full" in log.text
        assert len(logged_failures.flush(RuntimeError)) == 1


async def test_the_log_has_what_was_done_and_refusals_once() -> None:
    async with site() as made:
        with captured_log("text") as log:
            await made.send("register")
            await made.send("password")
            made.players.answer = RegistrationDenial(RegistrationRefusal.NAME_TAKEN, "Taken.")
            for _ in range(12):
                await made.send("register")
        assert "web: account Carol was registered from 127.0.0.1" in log.text
        assert "the player of account Carol changed its password from 127.0.0.1" in log.text
        refused = log.text.count("/account/register from 127.0.0.1 refused: name taken")
        assert 1 <= refused <= 3
        assert "new password" not in log.text
        assert "carol" not in log.text


async def test_who_waits_is_answered_when_the_server_stops() -> None:
    async with site() as made:
        made.players.answer = WRONG
        waiting = Deferred.fromCoroutine(made.send("password"))
        await until(lambda: len(made.part._pauses), "somebody who waits")
        await made.part.stop()
        assert (await waiting).code == 403
