"""Searching the log on the page: older lines from its files, and new ones as they come."""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path

import pytest

from emu.net import logs
from emu.net.logs import LogFile, logger
from emu.texts import timestamp
from tests.server.test_web_dashboard import player
from tests.server.test_web_dashboard_page import click, opened, sign_in
from tests.support.examples import nightly
from tests.support.foreign.browser import DESKTOP, PHONE, Browser, Page

pytestmark = pytest.mark.slow
START = 1_700_000_000
LINES = 450


@pytest.fixture
def log_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LogFile:
    """The file of a log with lines of years ago, which is now the server's."""
    monkeypatch.setattr(logs, "_files", deque(maxlen=1))
    (tmp_path / "logs").mkdir()
    file = LogFile("emu.log", str(tmp_path / "logs"))
    for number in range(LINES):
        level = "warn " if number % 10 == 0 else "info "
        file.write(f"{timestamp(START + 60 * number)} {level} world: Number {number} passed\n")
    file.write(f"{timestamp(START + 60 * LINES)} info  world: Victim left Antonica: camped\n")
    file.close()
    return file


async def open_log(page: Page) -> None:
    await sign_in(page, "boss")
    await click(page, "#nav [href='#/log']")
    await page.shows("#page .lines", "Victim left Antonica")


async def test_older_lines_come_from_the_file(
    browser: Browser, tmp_path: Path, log_file: LogFile
) -> None:
    async with opened(browser, tmp_path) as (_, page):
        await open_log(page)
        await page.shows("#page [role=status]", re.compile(r"20\d lines\. There may be older"))
        await page.lacks("#page .lines", "Number 200 ")
        await click(page, "#log-older")
        await page.shows("#page .lines", "Number 200 ")
        await click(page, "#log-older")
        await page.shows("#page .lines li >> nth=0", "Number 0 ")
        assert not await page.locate("#log-older", lambda one: one.is_visible())
        await page.locate("#log-word", lambda box: box.fill("NUMBER 1"))
        await page.locate("#log-level", lambda box: box.select_option("warn"))
        await click(page, "#page form button")
        await page.shows("#page [role=status]", "11 lines.")
        await page.shows("#page .lines li >> nth=0", "2023-11-14 22:23:20")
        await page.locate("#log-since", lambda box: box.fill("2023-11-15T00:00"))
        await click(page, "#page form button")
        await page.shows("#page [role=status]", "9 lines.")
        await page.locate("#log-area", lambda box: box.fill("login"))
        await click(page, "#page form button")
        await page.shows("#page [role=status]", "0 lines.")


async def test_a_line_leads_to_its_player_and_new_lines_follow(
    browser: Browser, tmp_path: Path, log_file: LogFile
) -> None:
    async with (
        opened(browser, tmp_path) as (server, page),
        await player(server, "victim") as victim,
    ):
        await open_log(page)
        logger("world").warn("the pet of Victim is stuck")
        await page.shows("#page .lines li.bad a", "Victim")
        await page.locate("#log-level", lambda box: box.select_option("error"))
        logger("world").warn("not severe enough")
        logger("world").error("severe")
        await page.shows("#page .lines", "severe")
        await page.lacks("#page .lines", "not severe enough")
        await page.locate("#log-follow", lambda box: box.uncheck())
        logger("world").error("nobody follows")
        await page.locate("#page .lines a >> nth=0", lambda one: one.click())
        await page.shows("#page h2", "Victim")
        await click(page, "#page a[href='#/log/Victim']")
        await page.shows("#page .lines", "Victim left Antonica")
        await page.lacks("#page .lines", "Number")
        await victim.leave()


async def test_without_a_file_the_last_lines_are_searched(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_files", deque(maxlen=1))
    async with opened(browser, tmp_path) as (_, page):
        await sign_in(page, "boss")
        await click(page, "#nav [href='#/log']")
        await page.shows("#page .lines", "accounts with a rank can sign in there")
        await page.shows("#page [role=status]", "only the last lines are known")


@pytest.mark.parametrize(
    ("size", "scheme"), [nightly(DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")]
)
async def test_everybody_can_use_the_log(
    browser: Browser, tmp_path: Path, log_file: LogFile, size: tuple[int, int], scheme: str
) -> None:
    async with opened(browser, tmp_path, size, scheme) as (_, page):
        await open_log(page)
        assert await page.complaints() == ""
        assert await page.width() <= size[0]
        await page.screenshot(f"log-{'phone' if size == PHONE else 'desktop'}-{scheme}")
