"""The time until the server's page is there in a real browser, beside a plain page.

Each time in a fresh profile, so that nothing is cached. Without chromium there are no figures.
"""

from __future__ import annotations

import shutil
import sys

from playwright.sync_api import Browser, sync_playwright

from tools import chromium
from tools.bench.figures import Figure, Round
from tools.bench.processes import Child, child

SERVER = "tools.bench.page_server"
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
DRAWN = "() => document.querySelector('#map .dot') && performance.now()"


def times(browser: Browser, server: Child, *marks: str) -> list[float]:
    """Open a page and return when each of `marks` came to be, in milliseconds from its start."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/", wait_until="commit")
        return [float(page.wait_for_function(mark).json_value()) for mark in marks]
    finally:
        context.close()


def report(rounds: int) -> list[Figure]:
    """Open both pages in turn."""
    program = shutil.which("chromium")
    if program is None:
        print("chromium is not installed (Debian: apt-get install chromium)", file=sys.stderr)
        return []
    painted, drawn = [], []
    with sync_playwright() as driver, child(SERVER, "page") as ours, child(SERVER, "plain") as bare:
        browser = chromium.launched(driver, program)
        times(browser, bare, PAINTED)  # the first page of a browser's life waits for all of it
        for _ in range(rounds):
            (plain,) = times(browser, bare, PAINTED)
            paint, map_there = times(browser, ours, PAINTED, DRAWN)
            painted.append(Round(paint, plain))
            drawn.append(Round(map_there, plain))
        browser.close()
    return [
        Figure("first contentful paint of the page", "ms", "plain page", painted, "under 1,000 ms"),
        Figure("until 200 players stand on its map", "ms", "plain page", drawn),
    ]
