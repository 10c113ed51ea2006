"""The page of a running server in a real browser: what players do shows without a reload."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore
from emu.errors import EmuError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.opcodes import OpcodeStore, VersionRange
from emu.store import Store
from tests.support.database.stores import world_character
from tests.support.foreign.browser import Browser, Page
from tests.support.running.whole_server import HOST, Harness, add_account, harness, sleep

ACCOUNTS = {"testlabs": "testpass", "second": "pass"}
BOSS, BOSS_PASSWORD = "boss", "bosspass"
SPEED = 8.0
"""The server's clock: its pages get news every quarter of a second, and camping is quick."""


@asynccontextmanager
async def running(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    accounts: Mapping[str, str] = ACCOUNTS,
) -> AsyncIterator[Harness]:
    """Run a server with a page."""
    settings = {"web.listen": f"{HOST}:0", "web.admin": True, **(settings or {})}
    if accounts:
        add_boss(folder / "emu.sqlite")
    async with harness(folder, settings, accounts=accounts, speed=SPEED) as server:
        await server.world_registered()
        yield server


def add_boss(database: Path) -> None:
    """Add an operator's account."""
    add_account(database, BOSS, BOSS_PASSWORD)
    with Store.create(database) as store:
        account = store.login.accounts.find(BOSS)
        assert account is not None
        row = world_character(account_id=account.id, name="Boss", place=None)
        made = store.world.characters.create(row)
        store.world.characters.set_admin_status(made.id, 200)


async def sign_in(page: Page) -> None:
    """Sign in as the operator, and wait for the server's state."""
    await page.locate("#sign-in-name", lambda box: box.fill(BOSS))
    await page.locate("#sign-in-password", lambda box: box.fill(BOSS_PASSWORD))
    await page.press("Enter")
    await page.live()


@asynccontextmanager
async def watched(browser: Browser, folder: Path) -> AsyncIterator[tuple[Harness, Page]]:
    """Run a server and look at its page."""
    async with running(folder) as server, browser.page(address(server)) as page:
        await sign_in(page)
        yield server, page


def address(server: Harness) -> str:
    return f"http://{HOST}:{web_port(server)}/admin"


def web_port(server: Harness) -> int:
    return server.log.port("web", "metrics on")


async def enter(
    server: Harness, user: str = "testlabs", character: str = "Aldana"
) -> ClientWorldConnection:
    who = Credentials(user, ACCOUNTS[user])
    return await enter_world(
        server.clock,
        HOST,
        server.login_port,
        Entrance(who, character, create=True, version=546),
    )


def dot(name: str) -> str:
    """The selector of a player's dot on the map."""
    return f"#map .dot:has(title:text-matches('^{name} at'))"


async def place_of(page: Page, name: str) -> str:
    """What the map says of where somebody stands."""
    return await page.do(lambda tab: tab.locator(dot(name)).locator("title").text_content() or "")


async def test_logins_and_refusals_show_with_the_reason(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, tmp_path) as (server, page):
        await page.shows("#logins", "There were no logins yet.")
        async with await server.logged_in():
            await page.shows("#logins tr >> nth=0", re.compile("546.*logged in"))
        hostile = "<b onclick=alert(1)>eve</b>"
        for name in ("second", hostile):
            with pytest.raises(EmuError):
                await server.logged_in(name, "guessed")
        await page.shows("#logins tr >> nth=2", re.compile("546.*logged in"))
        await page.shows("#logins tr >> nth=0", "no such account")
        await page.shows("#logins tr >> nth=1", "bad password")
        await page.shows("#log", re.compile("login of second from .* refused"))
        for place in ("#logins", "#log"):
            await page.shows(place, hostile)
        assert await page.evaluate("document.querySelectorAll('#logins b, #log b b').length") == 0


async def test_an_edit_of_the_opcode_tables_shows(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, tmp_path) as (server, page):
        await page.shows("#opcodes", "The tables are as they were shipped.")
        with OpcodeStore(server.database, who="ayla") as store:
            store.set(VersionRange(546, 546), "OP_HearChatCmd", 999)
        await page.shows("#log", "the opcode tables were edited")
        await page.shows("#opcodes", re.compile("ayla.*set OP_HearChatCmd"))


async def test_the_page_says_that_the_server_is_away_and_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    async with AsyncExitStack() as page_stack:
        async with running(tmp_path) as server:
            port = web_port(server)
            page = await page_stack.enter_async_context(browser.page(address(server)))
            page.allowed.append("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE")
            page.allowed.append("status of 403")  # the stream, after the server's restart
            await sign_in(page)
            async with await server.logged_in():
                await page.shows("#logins", "logged in")
        await page.shows("#connection", re.compile("disconnected; this is from .*; trying again"))
        await page.until("document.body.classList.contains('stale')")
        uptime = await page.text("#uptime")
        await sleep(1.1)
        assert await page.text("#uptime") == uptime
        assert await page.complaints() == ""
        await page.screenshot("disconnected-desktop-light")
        async with running(tmp_path, {"web.listen": f"{HOST}:{port}"}, accounts={}) as server:
            await page.shows("#result", "You are signed out.")
            await sign_in(page)
            await page.shows("#logins", "There were no logins yet.")
            async with await enter(server) as player:
                await player.stand()
                await page.shows(dot("Aldana"), "Aldana")
            await page_stack.aclose()


async def test_what_players_do_shows_without_a_reload(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, tmp_path) as (server, page):
        await page.shows("#worlds", "Norrath")
        await page.shows("#players", "No players are in the world.")
        await page.evaluate("window.isTheSamePage = true")
        async with await enter(server) as first:
            await first.stand()
            await page.shows("#players", "Aldana")
            await page.shows("#players-now", "1")
            zone = first.core.surroundings
            assert zone is not None
            await page.shows("#zones", "1")
            before = await place_of(page, "Aldana")
            here = first.core.place
            first.walk_to(here.x + 12.0, here.y, here.z)
            await page.shows(dot("Aldana"), re.compile(rf"^Aldana at {here.x + 12.0:.1f}, "))
            assert await place_of(page, "Aldana") != before
            words = await page.locate("#map", lambda one: one.get_attribute("aria-label"))
            assert f"Aldana at x {here.x + 12.0:.0f}, z" in (words or "")
            async with await enter(server, "second", "Borvik") as second:
                await second.stand()
                await page.shows("#players-now", "2")
                await page.shows(dot("Borvik"), "Borvik")
                second.act(WorldClientCore.camp)
                await page.lacks("#players", "Borvik")
                await page.shows("#log", re.compile(r"Borvik .*left"))
            await page.shows(dot("Aldana"), "Aldana")
        await page.shows("#players", "No players are in the world.")
        await page.shows("#population-text", "0 now, 2 at most")
        assert await page.evaluate("window.isTheSamePage") is True
