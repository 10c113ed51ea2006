"""The page of graphs: what the server has measured, drawn and read aloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.test_web_dashboard import player
from tests.server.test_web_dashboard_page import click, opened, sign_in
from tests.support.examples import nightly
from tests.support.foreign.browser import DESKTOP, PHONE, Browser, Page
from tests.support.running.whole_server import Harness, until

pytestmark = pytest.mark.slow


def fill(server: Harness, hours: float) -> None:
    """Put samples of some hours before now into the server's graphs."""
    recorder = server.service.server.admin.graphs
    now = server.service.server.scheduler.moment()
    for steps in recorder.history._steps.values():
        steps.clear()  # moments must grow
    for at in range(int(-360 * hours), 0):
        recorder.history.add_sample(
            {"players": 40 + (at // 30) % 25, "tick": 2.0 + at % 5, "tick_slowest": 25.0,
             "cpu": 12.5 + at % 7, "memory": 180.0 - at / 100, "sent": 90.0 + at % 40,
             "received": 9.0, "logins_refused": 60.0 * (at % 90 == 0), "datagrams_refused": 0.0,
             "lua": 3.0, "behaviors": 0.0, "saves": 6.0},
            now + 10.0 * at,
        )  # fmt: skip


async def open_graphs(page: Page) -> None:
    await sign_in(page, "boss")
    await click(page, "#nav [href='#/graphs']")
    await page.shows("#page h2", "Graphs")


async def test_what_the_server_measures_is_drawn(browser: Browser, tmp_path: Path) -> None:
    async with (
        opened(browser, tmp_path) as (server, page),
        await player(server, "victim") as victim,
    ):
        await victim.stand()
        await open_graphs(page)
        history = server.service.server.admin.graphs.history
        await until(
            lambda: any(one["name"] == "traffic" for one in history.record("hour")["graphs"]),
            "two samples", 30.0,
        )  # fmt: skip
        await page.do(lambda tab: tab.reload())
        await page.shows("#page", "Players")
        await page.until(
            "/^Players. in the world: 1.0 players/.test(document.querySelector"
            "('#page svg').getAttribute('aria-label'))"
        )
        for title in ("Ticks of the world", "Processor", "Memory", "Traffic with clients",
                      "Refused", "Saved characters"):  # fmt: skip
            await page.shows("#page", title)
        await victim.leave()


async def test_a_day_is_shown_with_the_value_under_the_pointer(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened(browser, tmp_path) as (server, page):
        fill(server, 24)
        await open_graphs(page)
        await page.shows("#page .keys >> nth=0", "64.0 at most")
        await page.locate("#graphs-span", lambda box: box.select_option("day"))
        await page.until("document.querySelectorAll('#page path').length > 8")
        box = await page.locate("#page svg >> nth=0", lambda one: one.bounding_box())
        assert box is not None
        await page.do(
            lambda tab: tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        )
        await page.shows("#page .keys >> nth=0", " players at ")


@pytest.mark.parametrize(
    ("size", "scheme"), [nightly(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")]
)
async def test_everybody_can_use_the_graphs(
    browser: Browser, tmp_path: Path, size: tuple[int, int], scheme: str
) -> None:
    async with opened(browser, tmp_path, size, scheme) as (server, page):
        fill(server, 1)
        await open_graphs(page)
        await page.shows("#page .keys >> nth=0", "at most")
        assert await page.complaints() == ""
        assert await page.width() <= size[0]
        await page.screenshot(f"graphs-{'phone' if size == PHONE else 'desktop'}-{scheme}")
