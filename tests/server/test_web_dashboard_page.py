"""Keeping order from the page in a real browser: what is clicked there happens to players."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from emu.client.world import WorldPhase
from emu.client.world.events import Heard, LineShown, ScreenShown, WorldEvent
from tests.server.test_web_dashboard import ACCOUNTS, office, player
from tests.support.foreign.browser import DESKTOP, PHONE, Browser, Page
from tests.support.running.whole_server import HOST, Harness, until

ERROR_CODES = "status of 4"
"""What chromium notes in its console of every answer that refuses something."""


@asynccontextmanager
async def opened(
    browser: Browser, folder: Path, size: tuple[int, int] = DESKTOP, scheme: str = "light"
) -> AsyncIterator[tuple[Harness, Page]]:
    """Run a server that lets people sign in, and look at its page."""
    async with office(folder, speed=8.0) as (server, web):
        url = f"http://{HOST}:{web.port}/admin"
        async with browser.page(url, size, scheme) as page:
            await page.shows("#connection", "signed out")
            await page.until("!document.getElementById('sign-in').hidden")
            yield server, page


async def sign_in(page: Page, name: str, password: str = "") -> None:
    """Type name and password, and Enter."""
    await page.locate("#sign-in-name", lambda box: box.fill(name))
    await page.locate("#sign-in-password", lambda box: box.fill(password or ACCOUNTS[name]))
    await page.press("Enter")


async def click(page: Page, selector: str) -> None:
    await page.locate(selector, lambda button: button.click())


async def test_who_signs_in_sends_a_player_away_and_is_heard(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as (server, page):
        page.allowed.append(ERROR_CODES)
        async with await player(server, "victim") as victim:
            heard: list[WorldEvent] = []
            victim.on_event = heard.append
            await victim.stand()
            assert not await page.locate("#players-section", lambda one: one.is_visible())
            await sign_in(page, "boss", "guessed")
            await page.shows("#result.bad", "password")
            assert await page.evaluate("document.getElementById('sign-in-password').value") == ""
            await sign_in(page, "boss")
            await page.shows("#signed-in-as", "Signed in as boss, rank 200.")
            await page.shows("#players", "Victim")

            await page.locate("#broadcast-text", lambda box: box.fill("The gnolls are coming!"))
            await click(page, "#broadcast-button")
            await page.shows("#result.good", "sent to 1 player")
            await until(lambda: "The gnolls are coming!" in words(heard), "the broadcast")

            await click(page, "#lock-button")
            await page.shows("#about", "locked: only game masters can enter")
            await page.shows("#lock-button", "Unlock the world")

            await click(page, "#players [data-action=kick]")
            await page.shows("#ask-title", "Kick Victim")
            await page.press("Escape")
            assert victim.core.phase is WorldPhase.STANDING
            await click(page, "#players [data-action=kick]")
            await page.locate("#ask-reason", lambda box: box.fill("spam"))
            await page.press("Enter")
            await page.shows("#result.good", "Victim was disconnected")
            await until(lambda: victim.core.phase is WorldPhase.CLOSED, "the end")
            await page.shows("#players", "No players are in the world.")
            await page.shows("#log", re.compile("Victim left .*: kicked by boss: spam"))

        await click(page, "#sign-out")
        await page.shows("#result", "signed out")
        await page.until("document.getElementById('signed-in').hidden")
        assert await page.evaluate("document.cookie") == ""
        for word in ("Victim", "victim", "boss signed in"):
            assert word not in await page.evaluate("document.body.textContent")


def words(events: list[WorldEvent]) -> str:
    """Everything that a client was shown or heard."""
    return " ".join(
        event.text for event in events if isinstance(event, (Heard, LineShown, ScreenShown))
    )


async def test_who_is_rude_is_muted_and_banned_and_forgiven(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as (server, page):
        async with await player(server, "rude") as rude:
            heard: list[WorldEvent] = []
            rude.on_event = heard.append
            await rude.stand()
            await sign_in(page, "boss")
            await click(page, "#players [data-action=mute]")
            await page.shows("#ask-title", "Mute Rude")
            await page.locate("#ask-minutes", lambda box: box.fill("5"))
            await page.locate("#ask-reason", lambda box: box.fill("shouting"))
            await page.press("Enter")
            await page.shows("#result.good", "Rude is muted for 5 minutes")
            await until(lambda: "shouting" in words(heard), "the reason")

            await click(page, "#players [data-action=ban]")
            await page.shows("#ask-title", "Ban the account of Rude")
            await page.locate("#ask-reason", lambda box: box.fill("shouting on"))
            await click(page, "#ask-yes")
            await page.shows("#result.good", "account rude is banned until ")
            await until(lambda: rude.core.phase is WorldPhase.CLOSED, "the end")
        await page.shows("#players", "No players are in the world.")
        assert banned(server) == ["rude"]

        await page.locate("#unban-account", lambda box: box.fill("rude"))
        await click(page, "#unban-button")
        await page.shows("#result.good", "rude is not banned")
        assert banned(server) == []

        await click(page, "#nav [href*=audit]")
        await page.locate("#audit-subject", lambda box: box.fill("account rude"))
        await click(page, "#audit-button")
        await page.shows("#audit-rows", "account unban")
        await page.lacks("#audit-rows", "character ban")
        await page.locate("#audit-subject", lambda box: box.fill(""))
        await click(page, "#audit-button")
        await page.shows("#audit-rows", "account rude banned until ")
        assert await page.complaints() == ""
        await page.screenshot("audit")


def banned(server: Harness) -> list[str]:
    return [name for (name,) in server.rows("SELECT name FROM accounts WHERE banned_until > 0")]


async def test_a_shutdown_is_asked_for_twice_and_can_be_cancelled(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as (server, page):
        await sign_in(page, "boss")
        await page.locate("#shutdown-seconds", lambda box: box.fill("90"))
        await click(page, "#shutdown-button")
        await page.shows("#ask-title", "Shut the server down in 90 seconds")
        await click(page, "#ask-no")
        assert "shutdown" not in server.log.text
        await click(page, "#shutdown-button")
        await click(page, "#ask-yes")
        await page.shows("#result.good", "90 seconds")
        await page.shows("#log", "90 seconds")
        await click(page, "#cancel-button")
        await page.shows("#result.good", "the shutdown is canceled")


async def test_a_button_keeps_the_focus_while_the_page_is_sent_news(
    browser: Browser, tmp_path: Path
) -> None:
    button = "#players [data-player=Other][data-action=ban]"
    async with opened(browser, tmp_path) as (server, page):
        await sign_in(page, "boss")
        async with await player(server, "other"):
            async with await player(server, "victim"):
                await page.shows("#players", "Victim")
                await page.locate(button, lambda one: one.focus())
            await page.lacks("#players", "Victim")
            assert await page.locate(f"{button}:focus", lambda one: one.count()) == 1


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "dark"), (PHONE, "light")])
async def test_everybody_can_use_the_dashboard(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    look = f"{'phone' if size == PHONE else 'desktop'}-{scheme}"
    async with (
        opened(browser, tmp_path, size, scheme) as (server, page),
        await player(server, "victim"),
        await player(server, "other"),
    ):
        assert await page.complaints() == ""
        await page.screenshot(f"signing-in-{look}")
        await sign_in(page, "boss")
        await page.shows("#result", "signed in as boss")
        await page.shows("#players", "Ban")
        assert await page.complaints() == ""
        assert await page.width() <= size[0]
        await page.screenshot(f"signed-in-{look}")
        await click(page, "[data-action=ban] >> nth=0")
        await page.shows("#ask-title", "Ban the account of Victim")
        assert await page.complaints() == ""
        await page.screenshot(f"asking-{look}")
        await click(page, "#ask-no")


async def test_a_petition_is_answered_and_closed(browser: Browser, tmp_path: Path) -> None:
    async with (
        opened(browser, tmp_path) as (server, page),
        await player(server, "victim") as victim,
    ):
        heard: list[WorldEvent] = []
        victim.on_event = heard.append
        await victim.stand()
        victim.act(lambda core: core.command("petition I am stuck"))
        await victim.until(lambda: any("number 1" in str(one) for one in heard), "the number")
        await sign_in(page, "guide")
        await page.shows("#signed-in-as", "Signed in as guide, rank 10.")
        await page.shows("#nav-petitions", "(1)")
        await click(page, "#nav [href*=petitions]")
        await page.shows("#petition-list", "I am stuck")
        await page.locate("#petition-list input", lambda box: box.fill("We come"))
        await page.press("Enter")
        await page.shows("#result.good", "petition 1 of Victim is answered")
        await victim.until(
            lambda: any("is answered: We come" in str(one) for one in heard), "the answer"
        )
        await click(page, "#petition-list button[type=button]")
        await page.shows("#petition-list", "There is no open petition.")
        assert await page.text("#nav-petitions") == ""
        await page.locate("#petitions-which", lambda box: box.select_option("closed"))
        await page.shows("#petitions-title", "Petitions of players (1 closed)")
        await page.shows("#petition-list", "We come")
        assert await page.complaints() == ""
        await page.screenshot("petitions")
        await victim.leave()
