"""The pages behind the overview in a real browser, over a whole server with a player in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.test_web_dashboard import player
from tests.server.test_web_dashboard_page import ERROR_CODES, banned, click, opened, sign_in
from tests.support.examples import nightly
from tests.support.foreign.browser import DESKTOP, PHONE, Browser, Page
from tests.support.running.whole_server import Harness


@asynccontextmanager
async def watched(
    browser: Browser, folder: Path, size: tuple[int, int] = DESKTOP, scheme: str = "light"
) -> AsyncIterator[tuple[Harness, Page]]:
    """Run a server with one player in the world, and sign in as its administrator."""
    async with (
        opened(browser, folder, size, scheme) as (server, page),
        await player(server, "victim") as victim,
    ):
        await victim.stand()
        await sign_in(page, "boss")
        await page.shows("#players", "Victim")
        yield server, page


async def fits(page: Page, name: str, size: tuple[int, int]) -> None:
    """Check that everybody can read the page, and that nothing is wider than the screen."""
    assert await page.complaints() == ""
    assert await page.width() <= size[0]
    await page.screenshot(name)


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), nightly(PHONE, "dark")])
async def test_the_page_of_a_player(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    async with watched(browser, tmp_path, size, scheme) as (server, page):
        page.allowed.append(ERROR_CODES)
        await click(page, "#players a")
        for text in ("Isle of Refuge", "in the zone", "546", "127.0.0.1", "victim", "level 1"):
            await page.shows("#page", text)
        assert not await page.locate("#players-section", lambda one: one.is_visible())
        assert await page.evaluate("location.hash") == "#/player/Victim"
        await page.locate("#note-text", lambda box: box.fill("shouts <b>often</b>"))
        await page.press("Enter")
        await page.shows("#page .notes", "boss: shouts <b>often</b>")
        await click(page, "#page [data-action=mute]")
        await page.locate("#ask-reason", lambda box: box.fill("shouting"))
        await page.press("Enter")
        await page.shows("#page [aria-label=Acts]", "shouting")
        await page.shows("#page", "Unmute")
        await fits(page, f"player-{scheme}", size)
        await click(page, "#page [data-action=ban]")
        await page.locate("#ask-lasting", lambda box: box.select_option("1w"))
        await page.locate("#ask-reason", lambda box: box.fill("shouting on"))
        await click(page, "#ask-yes")
        await page.shows("#page", "not in the world")
        await page.shows("#page", "Reason of the ban")
        assert banned(server) == ["victim"]
        await click(page, "#page [data-action=unban]")
        await page.shows("#page", "not banned")
        await click(page, "#page .notes button")
        await page.shows("#page .notes", "No operator has written a note.")
        await page.evaluate("location.hash = '#/player/Nobody'")
        await page.shows("#page .bad", "there is no character Nobody")
        await page.do(lambda tab: tab.go_back())
        await page.shows("#page", "Isle of Refuge")
        await click(page, "#nav a >> nth=0")
        await page.until("document.querySelector('#players-section').checkVisibility()")


@pytest.mark.parametrize(("size", "scheme"), [nightly(DESKTOP, "light"), (PHONE, "dark")])
async def test_the_pages_of_accounts(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    async with watched(browser, tmp_path, size, scheme) as (server, page):
        page.allowed.append(ERROR_CODES)
        await click(page, "#nav [href*=accounts]")
        await page.shows("#page table", "victim")
        await page.locate("#accounts-find", lambda box: box.fill("bo"))
        await page.lacks("#page table", "victim")
        await page.shows("#page table", "boss")
        await page.locate("#accounts-find", lambda box: box.fill(""))
        await page.shows("#page table", "victim")
        await fits(page, f"accounts-{scheme}", size)
        await page.locate("#account-name", lambda box: box.fill("newcomer"))
        await page.locate("#account-password", lambda box: box.fill("a long 'password'"))
        await page.press("Enter")
        await page.shows("#page h2", "Account newcomer")
        assert await server.lets_in("newcomer", "a long 'password'")
        await click(page, "#page [data-action=account-password]")
        await page.locate("#ask-password", lambda box: box.fill("another password"))
        await page.press("Enter")
        await page.shows("#page [aria-label=Acts]", "account password")
        assert not await server.lets_in("newcomer", "a long 'password'")
        assert await server.lets_in("newcomer", "another password")
        assert "another password" not in server.log.text
        await click(page, "#page [data-action=account-ban]")
        await page.locate("#ask-reason", lambda box: box.fill("gold selling"))
        await click(page, "#ask-yes")
        await page.shows("#page", "gold selling")
        await page.evaluate("location.hash = '#/accounts/banned'")
        await page.shows("#page table", "gold selling")
        await page.lacks("#page table", "victim")
        await click(page, "[data-account=newcomer]")
        await page.shows("#page table", "No account matches.")
        await page.evaluate("location.hash = '#/account/victim'")
        await page.shows("#page [aria-label=Characters]", "Victim")
        await page.shows("#page [aria-label=Logins]", "logged in")
        await click(page, "#page [data-action=rank]")
        await page.locate("#ask-rank", lambda box: box.select_option("guide"))
        await click(page, "#ask-yes")
        await page.shows("#page [aria-label=Characters] tbody", "10")
        await fits(page, f"account-{scheme}", size)
