"""The page of a running server in a real browser: what players do shows without a reload."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from emu.client import Credentials
from emu.client.entrance import Entrance
from emu.client.world import WorldClient
from emu.net.client.world_connection import WorldConnection, enter_world
from tests.support.browser import Browser, Page
from tests.support.house import HOST, House, house

ACCOUNTS = {"testlabs": "testpass", "second": "pass"}
HURRY = 8.0
"""The server's clock: its pages are told every quarter of a second, and camping takes little."""


@asynccontextmanager
async def watched(
    browser: Browser,
    folder: Path,
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[tuple[House, Page]]:
    """Run a server and look at its page."""
    settings = {"web.listen": f"{HOST}:0", **(settings or {})}
    async with house(folder, settings, accounts=ACCOUNTS, hurry=HURRY) as server:
        await server.world_registered()
        async with browser.page(f"http://{HOST}:{web_port(server)}/") as page:
            await page.live()
            yield server, page


def web_port(server: House) -> int:
    return server.log.port("web", "metrics on")


async def enter(
    server: House, user: str = "testlabs", character: str = "Aldana"
) -> WorldConnection:
    who = Credentials(user, ACCOUNTS[user])
    return await enter_world(
        server.clock, HOST, server.login_port, Entrance(who, character, create=True, version=546)
    )


def dot(name: str) -> str:
    """The selector of a player's dot on the map."""
    return f"#map .dot:has(title:text-matches('^{name} at'))"


async def place_of(page: Page, name: str) -> str:
    """What the map says of where somebody stands."""
    return await page.do(lambda tab: tab.locator(dot(name)).locator("title").text_content() or "")


async def test_what_players_do_shows_without_a_reload(browser: Browser, tmp_path: Path) -> None:
    async with watched(browser, tmp_path) as (server, page):
        await page.shows("#worlds", "Norrath")
        await page.shows("#players", "Nobody is in the world.")
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
            async with await enter(server, "second", "Borvik") as second:
                await second.stand()
                await page.shows("#players-now", "2")
                await page.shows(dot("Borvik"), "Borvik")
                second.act(WorldClient.camp)
                await page.lacks("#players", "Borvik")
                await page.shows("#log", re.compile(r"Borvik.* left"))
            await page.shows(dot("Aldana"), "Aldana")
        await page.shows("#players", "Nobody is in the world.")
        await page.shows("#population-text", "0 now, 2 at most")
        assert await page.evaluate("window.isTheSamePage") is True
