"""The public page in a real browser: how it appears, with and without JavaScript."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from emu.admin.status import ListedWorldStatus
from tests.net.web.test_service_page import (
    EACH_LOOK,
    HOSTILE,
    LOOKS,
    SCRIPT,
    WORLDS,
    Site,
    busy,
    site,
)
from tests.support.admin.statuses import HARBOR, server_status
from tests.support.foreign.browser import PHONE, Browser

pytestmark = pytest.mark.slow


def public(made: Site) -> str:
    return f"http://{made.part.address}/status"


@pytest.mark.parametrize("look", EACH_LOOK)
async def test_everybody_can_read_the_public_page(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    async with site(busy()) as made, browser.page(public(made), size, scheme) as page:
        await page.shows("#connection", "up")
        await page.shows(".figures", "50")
        await page.shows("main", "Qeynos Harbor")
        await page.lacks("body", "Aolana")  # a player
        assert await page.width() <= size[0]
        assert await page.complaints() == ""
        await page.screenshot(f"public-{look}")


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"])
async def test_hostile_names_are_text_on_the_public_page(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    worlds = tuple(ListedWorldStatus(text, True, True, 1) for text in HOSTILE)
    zones = tuple(replace(HARBOR, name=text) for text in HOSTILE)
    status = server_status(name=SCRIPT, worlds=worlds, zones=zones)
    async with site(status) as made, browser.page(public(made), size, scheme) as page:
        for text in HOSTILE:
            await page.shows("main", text)
        assert await page.evaluate("window.bad") is None
        assert await page.width() <= size[0]
        assert await page.complaints() == ""
        await page.screenshot(f"public-hostile-{look}")


async def test_an_empty_and_a_locked_server_say_so_without_javascript(browser: Browser) -> None:
    nothing = server_status(players=(), zones=(), worlds=(), online=0, locked=True, places=0)
    async with site(nothing) as made, browser.page(public(made), PHONE, script=False) as page:
        await page.shows("#connection", "locked")
        await page.shows("main", "No world is registered.")
        await page.shows("main", "No zone is open.")
        await page.screenshot("public-empty-phone-light")


async def test_the_page_follows_the_server(browser: Browser) -> None:
    async with site(busy(2)) as made, browser.page(public(made)) as page:
        await page.do(lambda tab: tab.clock.install())
        await page.do(lambda tab: tab.reload())
        await page.shows(".figures", re.compile("Players.*2", re.DOTALL))
        made.status = replace(busy(3), worlds=WORLDS[:1])
        made.part._public._answers.clear()
        await page.do(lambda tab: tab.clock.run_for(20_000))
        await page.shows(".figures", re.compile("Players.*3", re.DOTALL))
        await page.lacks("main", "Antonia Bayle")


async def test_the_badge_is_an_image_in_a_page(browser: Browser) -> None:
    shown = """new Promise((resolve) => {
        const image = new Image();
        image.alt = "badge";
        image.onload = () => resolve(image.naturalWidth);
        image.src = "status.svg";
        document.querySelector("header").append(image);
    })"""
    async with site(busy()) as made, browser.page(public(made)) as page:
        assert await page.evaluate(shown) > 60
        await page.screenshot("public-badge")
