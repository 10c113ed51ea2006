"""A real browser for tests: Debian's chromium, driven by playwright in a thread of its own.

One browser serves all tests of a process; each page has a profile of its own. A page notes
whatever goes wrong in it, and `Browser.page` fails the test that left something there.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Request,
    expect,
    sync_playwright,
)
from playwright.sync_api import Page as Tab
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.web.http import HTTPChannel

from tests.support.foreign.programs import debian_program
from tests.support.patience import patience
from tests.support.running.whole_server import until
from tools import chromium

reactor: Any = _reactor
T = TypeVar("T")

SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
"""Folder for screenshots, which EMU_SCREENSHOTS=1 asks for: one takes a second of CPU time."""
DESKTOP = (1280, 900)
PHONE = (390, 844)
LONGEST = 10.0
"""Seconds that one step in the browser may take."""


def milliseconds() -> float:
    """Return how long one step may take now."""
    return 1000 * patience(LONGEST)


class Page:
    """One page in the browser; made by `Browser.page`."""

    def __init__(self, browser: Browser, tab: Tab, url: str) -> None:
        self._browser = browser
        self._tab = tab
        self._origin = urlsplit(url).netloc
        self.problems: list[str] = []
        """Errors and warnings of the console, failed scripts, and requests to elsewhere."""
        self.allowed: list[str] = []
        """Patterns of problems that the test brings about itself."""
        tab.set_default_timeout(milliseconds())
        tab.on("console", self._heard)
        tab.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        tab.on("request", self._asked)
        tab.on("dialog", self._asked_for)

    async def do(self, work: Callable[[Tab], T]) -> T:
        """Return what `work` makes of playwright's page, in the browser's thread."""
        return await self._browser.do(lambda: work(self._tab))

    async def shows(self, selector: str, text: str | re.Pattern[str]) -> None:
        """Wait until an element has a text in it."""
        await self.do(
            lambda tab: expect(tab.locator(selector)).to_contain_text(text, timeout=milliseconds())
        )

    async def lacks(self, selector: str, text: str) -> None:
        """Wait until an element has a text no longer in it."""
        await self.do(
            lambda tab: expect(tab.locator(selector)).not_to_contain_text(
                text, timeout=milliseconds()
            )
        )

    async def text(self, selector: str) -> str:
        """Return the text of an element as it is now."""
        return await self.do(lambda tab: tab.locator(selector).inner_text())

    async def evaluate(self, script: str) -> Any:
        """Return what a script gives in the page."""
        return await self.do(lambda tab: tab.evaluate(script))

    async def until(self, script: str) -> None:
        """Wait until a script gives something true in the page."""
        # As a function: an expression would be evaluated by the page, which forbids that.
        await self.do(lambda tab: tab.wait_for_function(f"() => {script}", timeout=milliseconds()))

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            await self.do(lambda tab, key=key: tab.keyboard.press(key))  # type: ignore[misc]

    async def locate(self, selector: str, work: Callable[[Locator], T]) -> T:
        """Return what `work` makes of an element."""
        return await self.do(lambda tab: work(tab.locator(selector)))

    async def live(self) -> None:
        """Wait until the page has the server's state."""
        await self.shows("#connection", "live")
        await self.until("document.getElementById('uptime').textContent.includes(':')")

    async def complaints(self) -> str:
        """Return what axe-core finds against WCAG A and AA, contrast among it."""
        found = await self.do(Axe().run)
        return str(found.generate_report()) if found.violations_count else ""

    async def width(self) -> int:
        """Return how wide the page is, with what one has to scroll to."""
        return int(await self.evaluate("document.documentElement.scrollWidth"))

    async def screenshot(self, name: str) -> None:
        """Save a screenshot of the whole page, if somebody wants some."""
        if not os.environ.get("EMU_SCREENSHOTS"):
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        await self.do(lambda tab: tab.screenshot(path=path, full_page=True))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != self._origin:
            self.problems.append(f"a request to elsewhere: {request.url}")

    def _asked_for(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def unexpected(self) -> list[str]:
        """Return the problems that the test did not bring about itself."""
        return [
            problem
            for problem in self.problems
            if not any(re.search(pattern, problem) for pattern in self.allowed)
        ]


class Browser:
    """A running chromium; made by `opened_browser`."""

    def __init__(self, thread: ThreadPoolExecutor, running: Chromium) -> None:
        self._thread = thread
        self._running = running

    async def do(self, work: Callable[[], T]) -> T:
        """Return what `work` gives in the thread that playwright wants to be called from."""
        done: Deferred[T] = Deferred()

        def send(future: Future[T]) -> None:
            error = future.exception()
            if error is None:
                reactor.callFromThread(done.callback, future.result())
            else:
                reactor.callFromThread(done.errback, error)

        self._thread.submit(work).add_done_callback(send)
        return await done

    @asynccontextmanager
    async def page(
        self,
        url: str,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        *,
        cookie: str = "",
        script: bool = True,
    ) -> AsyncIterator[Page]:
        """Open a page in a fresh profile, and see that nothing went wrong in it.

        `cookie` is ``NAME=VALUE``; without `script` the browser runs no JavaScript of the page.
        """
        context = await self.do(lambda: self._context(size, scheme, script=script))
        name, _, value = cookie.partition("=")
        if name:
            await self.do(lambda: context.add_cookies([{"name": name, "value": value, "url": url}]))
        try:
            page = await self.do(lambda: Page(self, context.new_page(), url))
            await page.do(lambda tab: tab.goto(url))
            yield page
            assert page.unexpected() == []
        finally:
            await self.do(context.close)
            await until(lambda: not _waiting_connections(), "the browser's connections to end")

    def _context(self, size: tuple[int, int], scheme: Any, *, script: bool) -> BrowserContext:
        width, height = size
        return self._running.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            java_script_enabled=script,
            has_touch=size == PHONE,
            is_mobile=size == PHONE,
            timezone_id="UTC",
        )


def _waiting_connections() -> list[Any]:
    """Return the timeouts of connections that a web server in this process has not seen end yet."""
    return [
        call
        for call in reactor.getDelayedCalls()
        if isinstance(getattr(call.func, "__self__", None), HTTPChannel)
    ]


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Run chromium with nothing of the tester's own in it."""
    program = chromium.installed() or debian_program(chromium.PROGRAMS[0], chromium.PROGRAMS[0])
    with ThreadPoolExecutor(1, "browser") as thread:
        driver = thread.submit(lambda: sync_playwright().start()).result()
        try:
            running = thread.submit(chromium.launched, driver, program).result()
            yield Browser(thread, running)
            thread.submit(running.close).result()
        finally:
            thread.submit(driver.stop).result()
