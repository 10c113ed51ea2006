"""Acting from the page of a running server, over real TCP, and attacks on it."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.errors import EmuError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.store import Store
from tests.support.admin.web import FORM, Answer, Browser
from tests.support.database.stores import world_character
from tests.support.running.whole_server import HOST, Harness, add_account, find_port, harness, until

ACCOUNTS = {"boss": "bosspass", "guide": "guidepass", "plain": "plainpass"}
RANKS = {"boss": 200, "guide": 10, "plain": 0}
WEB = {"web.listen": f"{HOST}:0", "web.admin": True}


@asynccontextmanager
async def office(
    folder: Path, *, speed: float = 1.0, **settings: Any
) -> AsyncIterator[tuple[Harness, Browser]]:
    """Run a server with accounts of several ranks, and somebody at its page."""
    database = folder / "emu.sqlite"
    for number, (name, password) in enumerate(ACCOUNTS.items(), 1):
        add_account(database, name, password)
        with Store.create(database) as store:
            row = world_character(account_id=number, name=name.capitalize(), place=None)
            made = store.world.characters.create(row)
            store.world.characters.set_admin_status(made.id, RANKS[name])
    changed = {key.replace("__", "."): value for key, value in settings.items()}
    async with harness(folder, {**WEB, **changed}, accounts={}, speed=speed) as server:
        await server.world_registered()
        yield server, Browser(find_port(server.log.text, "web", "metrics on"))


async def player(server: Harness, name: str) -> ClientWorldConnection:
    """Return somebody who is in the world."""
    add_account(server.database, name, "pass")
    entrance = Entrance(Credentials(name, "pass"), name.capitalize(), create=True, version=546)
    return await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=lambda _event: None
    )


async def together(*asked: Any) -> list[Answer]:
    answers: list[Answer] = await gatherResults([Deferred.fromCoroutine(one) for one in asked])
    return answers


async def test_it_is_off_by_default(tmp_path: Path) -> None:
    async with office(tmp_path, web__admin=False) as (_, browser):
        assert (await browser.get("/api/admin/session")).content == {"enabled": False}
        assert (await browser.get("/admin")).code == 404
        assert (await browser.get("/api/players")).code == 403
        for path in ("/api/admin/sign-in", "/api/admin/actions/lock", "/api/admin"):
            assert (await browser.post(path)).code == 404


async def test_who_is_not_signed_in_reads_no_address_and_no_name_that_was_typed(
    tmp_path: Path,
) -> None:
    async with office(tmp_path) as (server, browser):
        victim = await player(server, "victimname")
        entrance = Entrance(Credentials("typedname", "pass"), "Typed", create=True, version=546)
        with pytest.raises(EmuError):
            await enter_world(
                server.clock, HOST, server.login_port, entrance, on_event=lambda _event: None
            )
        boss = Browser(browser.port)
        assert (await boss.sign_in("boss", "bosspass")).content["ok"]
        for path in ("/status", "/status.json", "/status.svg", "/admin", "/metrics", "/readyz"):
            public = (await browser.get(path)).body.decode().lower()
            for word in ("typedname", "victimname", "from 127.0.0.1", "no such account"):
                assert word not in public
        ranked = ("/api/logins", "/api/lines", "/api/players", "/api/status", "/api/events")
        assert {(await browser.get(path)).code for path in ranked} == {403}
        staff = [(await boss.get(path)).body.decode() for path in ("/api/logins", "/api/lines")]
        assert all("victimname" in text and "typedname" in text for text in staff)
        assert b"typedname" in await boss.stream("/api/events")
        await boss.post("/api/admin/sign-out")
        assert (await boss.get("/api/logins")).code == 403
        await victim.leave()


@pytest.mark.slow
async def test_a_hundred_addresses_that_guess_keep_nobody_out(tmp_path: Path) -> None:
    async with office(tmp_path, speed=20.0, web__url="https://emu.example.org") as (_, plain):

        def at(number: int) -> Browser:
            return Browser(plain.port, "emu.example.org", {"X-Forwarded-For": f"192.0.2.{number}"})

        guessing = [
            Deferred.fromCoroutine(at(number).sign_in("boss", f"guess {number}"))
            for number in range(100)
            for _ in range(2)
        ]
        await until(lambda: sum(one.called for one in guessing) >= 20, "first guesses", 60)
        boss = at(250)
        assert (await boss.sign_in("boss", "bosspass")).code == 200
        assert (await boss.act("lock")).content["ok"]
        answers = await gatherResults(guessing)
        assert {answer.code for answer in answers} <= {403, 429, 503}


async def test_a_day_at_the_dashboard(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, browser):
        victim, rude = await player(server, "victim"), await player(server, "rude")
        assert not await browser.signed_in()
        received = (await browser.sign_in("BOSS", "bosspass")).content
        assert (received["name"], received["rank"]) == ("boss", 200)
        assert await browser.signed_in()

        answer = await browser.act("broadcast", {"text": "Be kind"})
        assert (answer.code, answer.content) == (200, {"ok": True, "text": "sent to 2 players"})
        answer = await browser.act("mute", {"player": "Rude", "minutes": 5, "reason": "shouts"})
        assert answer.content["text"] == "Rude is muted for 5 minutes"
        answer = await browser.act("kick", {"player": "Victim", "reason": "spam"}, kind=FORM)
        assert answer.content["text"] == "Victim was disconnected"
        await server.log.line("Victim left .*: kicked by boss: spam")
        answer = await browser.act("ban", {"player": "Rude", "lasting": "7d", "reason": "shouts"})
        assert answer.content["text"].startswith("account rude is banned until ")
        await server.log.line("Rude left .*: account banned by boss")
        assert (await browser.act("unban", {"account": "rude"})).content["ok"]

        assert (await browser.act("lock")).content["text"] == "the world is locked"
        assert (await browser.get("/api/status")).content["locked"]
        assert (await browser.act("unlock")).content["ok"]
        assert "in 600 seconds" in (await browser.act("shutdown", {"seconds": 600})).content["text"]
        assert (await browser.act("cancel")).content["text"] == "the shutdown is canceled"
        answer = await browser.act("cancel")
        assert (answer.code, answer.content["text"]) == (422, "no shutdown is scheduled")
        acts = (await browser.act("audit")).content["data"]
        assert [(act["command"], act["subject"]) for act in acts] == [
            ("cancel", "server"), ("cancel", "server"), ("shutdown", "server"),
            ("unlock", "world"), ("lock", "world"), ("account unban", "account rude"),
            ("character ban", "character Rude"), ("kick", "character Victim"),
            ("mute", "character Rude"), ("broadcast", "world"),
        ]  # fmt: skip
        assert [act["ok"] for act in acts] == [False] + [True] * 9
        ban = acts[6]
        assert (ban["who"], ban["way"], ban["reason"]) == ("boss", "web 127.0.0.1", "shouts")
        assert ban["after"].startswith("account rude banned until ")
        log = server.log.text
        assert "web: boss signed in from 127.0.0.1 with rank 200" in log
        assert "command of boss (web 127.0.0.1): kick Victim spam: Victim was disconnected" in log
        assert "bosspass" not in log
        for client in (victim, rude):
            await client.leave()


async def test_the_cookie_is_for_this_page_alone_and_worth_nothing_after_signing_out(
    tmp_path: Path,
) -> None:
    async with office(tmp_path) as (_, browser):
        first = await browser.sign_in("boss", "bosspass")
        given = {part.strip().lower() for part in first.headers["Set-Cookie"].split(";")[1:]}
        assert given == {"path=/", "httponly", "samesite=strict"}
        replayed, token = dict(browser.cookies), browser.csrf
        assert list(replayed) == [f"emu-session-{browser.port}"]
        second = await browser.sign_in("boss", "bosspass")
        assert browser.cookies != replayed
        browser.cookies, browser.csrf, kept = replayed, token, dict(browser.cookies)
        assert not await browser.signed_in(), "signing in anew ends the session before"
        browser.cookies, browser.csrf = dict(kept), second.content["csrf"]
        answer = await browser.post("/api/admin/sign-out")
        assert answer.content == {"ok": True, "text": "signed out", "signed_in": False}
        assert browser.cookies == {}
        browser.cookies = kept
        answer = await browser.act("lock")
        assert (answer.code, answer.content["text"]) == (401, "sign in first")
        assert "WWW-Authenticate" in answer.headers


async def test_foreign_pages_cannot_act_with_the_cookie(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, browser):
        await browser.sign_in("boss", "bosspass")
        token = browser.csrf
        for headers in (
            {"X-CSRF-Token": None},
            {"X-CSRF-Token": "x" * 43},
            {"X-CSRF-Token": token, "Origin": None},
            {"X-CSRF-Token": token, "Origin": "null"},
            {"X-CSRF-Token": token, "Origin": "https://evil.example"},
            {"X-CSRF-Token": token, "Sec-Fetch-Site": "cross-site"},
            {"X-CSRF-Token": token, "Host": "evil.example", "Origin": "http://evil.example"},
            {"X-CSRF-Token": token, "X-Forwarded-For": "192.0.2.7"},
        ):
            answer = await browser.act("lock", headers=headers)
            assert answer.code == 403, headers
        answer = await browser.act("lock", headers={"Content-Type": "text/plain"})
        assert answer.code == 415
        answer = await browser.sign_in("guide", "guidepass", headers={"Origin": "http://evil"})
        assert answer.code == 403
        assert not (await browser.get("/status.json")).content["locked"]
        fields = {"csrf": token}
        form = await browser.act("lock", fields, kind=FORM, headers={"X-CSRF-Token": None})
        assert form.content == {"ok": True, "text": "the world is locked"}
        metrics = (await browser.get("/metrics")).body.decode()
        assert 'emu_web_refusals_total{reason="foreign origin"} 5.0' in metrics
        assert 'emu_web_refusals_total{reason="wrong token"} 2.0' in metrics
        assert "evil" not in server.log.text


async def test_a_rank_counts_as_everywhere(tmp_path: Path) -> None:
    async with office(tmp_path) as (server, browser):
        victim = await player(server, "victim")
        received = (await browser.sign_in("guide", "guidepass")).content
        assert "kick" not in received["actions"]
        answer = await browser.act("kick", {"player": "Victim"})
        assert (answer.code, answer.content["text"]) == (403, "kick needs rank 100; yours is 10")
        assert "command of guide (web 127.0.0.1): kick Victim: kick needs" in server.log.text
        assert (await browser.act("mute", {"player": "Victim"})).content["ok"]
        with Store.create(server.database) as store:
            row = store.world.characters.find_named("guide")
            assert row is not None
            store.world.characters.set_admin_status(row.id, 0)
        assert (await browser.act("mute", {"player": "Victim"})).code == 401
        assert not await browser.signed_in()
        await server.log.line("guide was signed out: the account has lost its rank")
        await victim.leave()


async def test_a_banned_account_is_signed_out(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, browser):
        guide = Browser(browser.port)
        await browser.sign_in("boss", "bosspass")
        await guide.sign_in("guide", "guidepass")
        assert (await browser.act("ban", {"player": "Guide"})).content["ok"]
        assert (await guide.act("lock")).code == 401
        assert (await guide.sign_in("guide", "guidepass")).code == 403


async def test_nobody_learns_which_names_there_are(tmp_path: Path) -> None:
    async with office(tmp_path, speed=10, login__auto_create_accounts=True) as (server, browser):
        answers = [
            await browser.sign_in(name, password)
            for name, password in (("boss", "wrong"), ("nobody", "wrong"), ("plain", "plainpass"))
        ]
        assert len({(one.code, one.body) for one in answers}) == 1
        assert answers[0].code == 403
        assert all("Set-Cookie" not in one.headers for one in answers)
        assert server.rows("SELECT count(*) FROM accounts") == [(3,)], "nobody is made here"


async def test_a_flood_of_passwords_is_slowed_and_others_are_served(tmp_path: Path) -> None:
    async with office(tmp_path, speed=10) as (server, browser):
        flood = together(*[browser.sign_in(f"name{n}", "wrong") for n in range(40)])
        asked = Deferred.fromCoroutine(flood)
        assert (await browser.get("/healthz")).code == 200
        codes = [answer.code for answer in await asked]
        assert set(codes) <= {403, 429}
        assert codes.count(429) >= 30, "two of one address at once"
        refused = next(answer for answer in await together(*[
            browser.sign_in("boss", "wrong") for _ in range(4)]) if answer.code == 429)  # fmt: skip
        assert int(refused.headers["Retry-After"]) > 0
        assert server.log.text.count("sign-in from 127.0.0.1 refused") <= 3


async def test_other_methods_do_nothing(tmp_path: Path) -> None:
    methods = ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW")
    paths = ("/api/admin/actions/lock", "/api/admin/sign-out", "/api/admin/sign-in")
    async with office(tmp_path) as (_, browser):
        await browser.sign_in("boss", "bosspass")
        headers = {"Origin": browser.origin, "X-CSRF-Token": browser.csrf}
        for method, path in itertools.product(methods, paths):
            answer = await browser.ask(method, path, headers=headers)
            assert (answer.code, answer.headers["Allow"]) == (405, "POST")
            assert (answer.body == b"") is (method == "HEAD")
        assert (await browser.ask("POST", "/api/admin/session")).code == 405
        assert await browser.signed_in()
        assert not (await browser.get("/api/status")).content["locked"]


async def test_cookies_without_end_are_a_bad_request(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, browser):
        await browser.sign_in("boss", "bosspass")
        name, value = next(iter(browser.cookies.items()))
        mine = f"{name}={value}"
        many = "; ".join(f"c{n}=x" for n in range(1500))
        assert (await browser.get("/api/admin/session", Cookie=f"{many}; {mine}")).content[
            "signed_in"
        ]
        for odd in (f"{name}=", f"{name}={'x' * 9000}", f"{name}=é", f"{name}", ";;;=;", "=x"):
            answer = await browser.get("/api/admin/session", Cookie=odd)
            assert not answer.content["signed_in"], odd
        for name in ("Cookie", "X-Cookie"):
            answer = await browser.get("/api/admin/session", **{name: "x" * 20_000})
            assert answer.code == 431, "RFC 6585, section 5"
        assert await browser.signed_in()


async def test_wrong_fields_say_what_is_wrong(tmp_path: Path) -> None:
    wrong: list[tuple[Any, int]] = [
        ({}, 400), ({"player": "Nobody"}, 422), ({"player": 'x" y'}, 400), ([], 400),
        ({"player": "Nobody", "more": "x"}, 400), ({"player": ["x"]}, 400),
        ({"player": "\ud800"}, 400),
    ]  # fmt: skip
    async with office(tmp_path) as (_, browser):
        await browser.sign_in("boss", "bosspass")
        for fields, code in wrong:
            answer = await browser.act("kick", body=json.dumps(fields).encode())
            assert (answer.code, answer.content["ok"]) == (code, False), fields
            assert answer.content["text"]
        assert (await browser.act("reload")).code == 404
        assert (await browser.act("kick/x")).code == 404


async def test_behind_a_proxy_the_cookie_is_secure_and_the_address_the_players(
    tmp_path: Path,
) -> None:
    async with office(tmp_path, web__url="https://emu.example.org") as (server, plain):
        answer = await plain.sign_in("boss", "bosspass")
        assert answer.code == 200, "a browser on the server's machine needs no proxy"
        assert "; secure" not in answer.headers["Set-Cookie"].lower()
        browser = Browser(plain.port, "emu.example.org", {"X-Forwarded-For": "6.6.6.6, 192.0.2.7"})
        answer = await browser.sign_in("boss", "bosspass")
        assert answer.code == 200
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-emu-session=")
        assert "; secure" in cookie.lower()
        assert (await browser.act("lock")).content["ok"]
        assert "boss signed in from 192.0.2.7" in server.log.text
