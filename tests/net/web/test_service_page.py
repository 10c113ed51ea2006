"""The page in a real browser: how it is drawn and used, with every state that a server may have."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import succeed

from emu.admin.status import ListedWorldStatus, PlayerStatus, ServerStatus
from emu.admin.web.api import PlayerCounts
from emu.config import Address
from emu.login.events import AccountLoggedIn, LoginRefused
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.web.service import WebEndpoint
from emu.times import Monotonic
from tests.support.admin.staff import StaffedDashboard
from tests.support.admin.statuses import BOB, HARBOR, server_status
from tests.support.examples import nightly
from tests.support.foreign.browser import DESKTOP, PHONE, Browser
from tests.support.running.whole_server import FastClock

pytestmark = pytest.mark.slow
ANTONICA = replace(HARBOR, id=13, name="Antonica", players=0)
ISLE = replace(HARBOR, id=325, name="Isle of Refuge", instance=1, players=0)
WORLDS = (
    ListedWorldStatus("Norrath", True, False, 50),
    ListedWorldStatus("Antonia Bayle", False, False, 0),
)
SCRIPT = "<script>window.bad = true</script>"
HOSTILE = (
    SCRIPT,
    "<img src=x onerror='window.bad = true'>",
    "\u202egnp.evil",
    "ש" * 40,
    "X" * 400,
    "a\"b'c&amp;",
)
DEVICES = {"desktop": DESKTOP, "phone": PHONE}
LOOKS = {
    f"{device}-{scheme}": (size, scheme)
    for device, size in DEVICES.items()
    for scheme in ("light", "dark")
}
EACH_LOOK = ["desktop-dark", "phone-light", nightly("desktop-light"), nightly("phone-dark")]
"""For a test that looks for complaints: `make test` tries each device and each color scheme."""


def crowd(count: int) -> tuple[PlayerStatus, ...]:
    """Return so many players on a spiral, the first four in every five of them in the harbour."""
    return tuple(
        replace(
            BOB, id=number, name=f"{chr(65 + number % 26)}olan{chr(97 + number // 26)}",
            level=1 + number % 50, zone=1 if number % 5 == 4 else 0, link_dead=number == 3,
            since=Monotonic(900.0 - 37 * number),
            x=number**0.8 * (number % 7 - 3), z=number**0.8 * (number % 5 - 2),
        )
        for number in range(count)
    )  # fmt: skip


def busy(players: int = 50) -> ServerStatus:
    """Return a server with so many players."""
    people = crowd(players)
    zones = [
        replace(zone, players=sum(one.zone == index for one in people))
        for index, zone in enumerate((HARBOR, ANTONICA, ISLE))
    ]
    return server_status(players=people, zones=tuple(zones), worlds=WORLDS)


class Site:
    """A web endpoint over a status that a test sets."""

    def __init__(self, status: ServerStatus) -> None:
        self.status = status
        self.watch = Watch()
        self.history: list[dict[str, Any]] = []
        clock = FastClock(10.0)
        self.staffed = StaffedDashboard(Scheduler(clock), self.watch)
        self.part = WebEndpoint(
            Address("127.0.0.1", 0), clock, Scheduler(clock), status=lambda: self.status,
            missing=lambda: "", history=lambda: succeed(self.history), watch=self.watch,
            dashboard=self.staffed.endpoint,
        )  # fmt: skip
        self.moment = Scheduler(reactor).moment()

    @property
    def url(self) -> str:
        return f"http://{self.part.address}/admin"

    @property
    def cookie(self) -> str:
        """The cookie of a guide."""
        return self.staffed.cookie_of("guide", self.part.address.port)

    def happens(self) -> None:
        """Let a day pass in which something of everything happens."""
        self.history.append({
            "time": "2026-11-21 20:11:22", "who": "ayla", "action": "set",
            "what": "set OP_HearChatCmd of 546-561",
        })  # fmt: skip
        minute = self.moment - self.moment % 60
        for number in range(1439, 0, -1):
            count = abs(720 - number) * 50 // 720
            self.part.recent.population.append(PlayerCounts(minute - 60 * number, count))
        report = self.watch.reports.port("login")
        for number in range(4):
            report(AccountLoggedIn("192.0.2.7", f"ayla{number}", 1, 546))
            report(LoginRefused("192.0.2.7", "bob", "wrong password", 561))
        world = logger("world")
        for name in ("Aldana", "Borvik", "Ceryn"):
            world.info("{name} left Antonica: camped", name=name)
        world.warn("a tick took 312 ms")


@asynccontextmanager
async def site(status: ServerStatus) -> AsyncIterator[Site]:
    made = Site(status)
    made.part.listen()
    try:
        yield made
    finally:
        await made.part.stop()
        await Scheduler(reactor).pause(0.01)  # the reactor lets go of what was cancelled


@pytest.mark.parametrize("look", EACH_LOOK)
async def test_everybody_can_read_it(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    async with site(busy()) as made:
        made.happens()
        async with browser.page(made.url, size, scheme, cookie=made.cookie) as page:
            await page.live()
            await page.shows("#opcodes", "OP_HearChatCmd")
            await page.shows("#population-text", "50 now, 50 at most")
            assert await page.width() <= size[0]
            assert await page.complaints() == ""
            await page.screenshot(look)


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"])
async def test_an_empty_server_says_so(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    nothing = server_status(players=(), zones=(), worlds=())
    async with (
        site(nothing) as made,
        browser.page(made.url, size, scheme, cookie=made.cookie) as page,
    ):
        await page.live()
        for place, words in {
            "#players": "No players are in the world.",
            "#map": "No zone is running",
            "#worlds": "No world is registered yet.",
            "#logins": "There were no logins yet.",
            "#log": "pages and metrics on",
            "#opcodes": "The tables are as they were shipped.",
            "#population-text": "No players in the last hour.",
        }.items():
            await page.shows(place, words)
        assert await page.complaints() == ""
        await page.screenshot(f"empty-{look}")


@pytest.mark.parametrize("look", ["desktop-dark", "phone-light"])
async def test_hostile_names_are_text(browser: Browser, look: str) -> None:
    size, scheme = LOOKS[look]
    people = tuple(
        replace(BOB, id=number, name=text, x=30.0 * number, z=9.0 * number)
        for number, text in enumerate(HOSTILE)
    )
    zones = tuple(
        replace(HARBOR, id=number, name=text, players=0 if number else len(people))
        for number, text in enumerate(HOSTILE)
    )
    worlds = tuple(ListedWorldStatus(text, True, False, 1) for text in HOSTILE)
    status = server_status(players=people, zones=zones, worlds=worlds, name=SCRIPT)
    async with site(status) as made:
        report = made.watch.reports.port("login")
        for text in HOSTILE:
            report(LoginRefused("192.0.2.7", text, text, 561))
            logger("login").info("login of {name} refused", name=text)
        async with browser.page(made.url, size, scheme, cookie=made.cookie) as page:
            await page.live()
            await page.shows("#name", SCRIPT)
            for place in ("#players", "#zones", "#worlds"):
                for text in HOSTILE:
                    await page.shows(place, text)
            await page.shows("#log", f"login of {SCRIPT} refused")
            await page.shows("#map", HOSTILE[-1])
            assert await page.evaluate("window.bad") is None
            assert await page.width() <= size[0]
            assert await page.complaints() == ""
            await page.screenshot(f"hostile-{look}")


async def test_five_hundred_players_are_found_at_once(browser: Browser) -> None:
    async with site(busy(500)) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        assert await page.evaluate("document.querySelectorAll('#players tr').length") == 500
        row = "document.querySelector('#players tr')"
        await page.evaluate(f"window.first = {row}, window.first.cells[0].textContent")
        await page.locate("#find", lambda box: box.fill("kolanc"))
        await page.shows("#players", "Kolanc")
        assert await page.evaluate("document.querySelectorAll('#players tr').length") == 1
        await page.locate("#find", lambda box: box.fill("nobody"))
        await page.shows("#players", "No player matches.")
        await page.locate("#find", lambda box: box.fill(""))
        await page.shows("#players", "Zolanc")
        await page.shows("#map-text", "are too close together for a name")
        assert await page.evaluate("document.querySelectorAll('#map .dot').length") == 400
        await page.screenshot("crowded-desktop-light")


async def test_only_what_has_changed_is_made_again(browser: Browser) -> None:
    status = busy(2)
    cells = "document.querySelector('#players tr').cells"
    async with site(status) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        await page.shows("#players tr >> nth=0", "1 min")
        await page.evaluate(f"{{ for (const cell of {cells}) cell.isFirst = true }}")
        first, second = status.players
        longer = replace(first, since=Monotonic(first.since - 3600))
        made.status = replace(status, players=(longer, second))
        await page.shows("#players tr >> nth=0", "1 h 1 min")
        kept = await page.evaluate(f"[...{cells}].map((cell) => cell.isFirst === true)")
        assert kept == [True, True, True, False]


async def test_names_on_the_map_cover_each_other_nowhere(browser: Browser) -> None:
    covering = """
        const boxes = [...document.querySelectorAll('#map .dot text')]
            .map((text) => text.getBoundingClientRect());
        boxes.filter((a, at) => boxes.some((b, other) => other > at
            && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length
    """
    async with site(busy(50)) as made, browser.page(made.url, PHONE, cookie=made.cookie) as page:
        await page.live()
        assert await page.evaluate("document.querySelectorAll('#map .dot text').length") > 8
        assert await page.evaluate(covering) == 0


async def test_the_fullest_zone_is_on_the_map_until_somebody_chooses(browser: Browser) -> None:
    empty = busy(0)
    one = replace(BOB, id=1, name="Walker", zone=1)
    async with site(empty) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        await page.shows("#map", "No players in")
        made.status = replace(empty, players=(one,), zones=(HARBOR, replace(ANTONICA, players=1)))
        await page.shows("#map .dot", "Walker")
        await page.locate("#zones input >> nth=1", lambda button: button.check())
        await page.shows("#map", "No players in Qeynos Harbor")
        made.status = replace(made.status, places=7)
        await page.shows("#players-limit", "of 7")
        await page.shows("#map", "No players in Qeynos Harbor")


async def test_the_map_stands_still_while_somebody_walks(browser: Browser) -> None:
    status = busy(3)
    grid = "document.querySelector('#map .grid').textContent"
    async with site(status) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        before = await page.evaluate(grid)
        first, *others = status.players
        made.status = replace(status, players=(replace(first, x=first.x + 3.0), *others))
        await page.shows("#map .dot >> nth=0", f"at {first.x + 3.0:.1f}")
        assert await page.evaluate(grid) == before
        made.status = replace(status, players=(replace(first, x=first.x + 300.0), *others))
        await page.shows("#map .dot >> nth=0", f"at {first.x + 300.0:.1f}")
        assert await page.evaluate(grid) != before


async def test_the_keyboard_is_enough(browser: Browser) -> None:
    focus = "(({id, value, className}) => id || value || className)(document.activeElement)"
    outline = "getComputedStyle(document.activeElement{}).outlineStyle"
    async with site(busy()) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        await page.press("Tab")
        assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
        await page.until("document.activeElement.getBoundingClientRect().left >= 0")
        await page.press("Enter")
        assert await page.evaluate(focus) == "main"
        await page.press("Tab")
        assert await page.evaluate(focus) == "sign-out"
        await page.press("Tab")
        assert await page.evaluate(focus) == "12.0"
        assert await page.evaluate(outline.format(".parentElement")) == "solid"
        await page.press("ArrowUp")
        await page.shows("#map", "No players in Isle of Refuge")
        assert await page.evaluate(focus) == "325.1"
        visited = []
        for _ in range(9):
            await page.press("Tab")
            visited.append(await page.evaluate(focus))
            assert await page.evaluate(outline.format("")) == "solid", visited
        assert visited[0] == "find"
        assert len([one for one in visited if "scroll" in one]) == 5
        assert await page.evaluate("document.activeElement.textContent") == "API description"


async def test_figures_run_and_change_without_a_reload(browser: Browser) -> None:
    async with site(busy(2)) as made, browser.page(made.url, cookie=made.cookie) as page:
        await page.live()
        first = await page.text("#uptime")
        assert re.fullmatch(r"00:16:4\d", first)
        made.status = replace(busy(3), locked=True, taken=Monotonic(1001.0))
        await page.shows("#players-now", "3")
        await page.shows("#about", "locked: only game masters can enter")
        assert await page.do(lambda tab: tab.title()) == "Qeynos: 3 players"
        made.watch.reports.port("login")(LoginRefused("192.0.2.7", "eve", "banned", 561))
        await page.shows("#logins", "banned")
        logger("world").error("the disk is full")
        await page.shows("#log .bad", "the disk is full")
        await page.until(f"document.getElementById('uptime').textContent > '{first}'")


async def test_the_log_stays_where_one_reads(browser: Browser) -> None:
    box = "document.querySelector('.log')"
    async with site(busy(1)) as made:
        says = logger("world").info
        for number in range(100):
            says("Player{number}", number=number)
        async with browser.page(made.url, cookie=made.cookie) as page:
            await page.shows("#log", "Player99")
            assert await page.evaluate(f"{box}.scrollTop > 100")
            says("Newest")
            await page.shows("#log", "Newest")
            end = f"{box}.scrollTop + {box}.clientHeight >= {box}.scrollHeight - 8"
            assert await page.evaluate(end)
            await page.evaluate(f"{box}.scrollTop = 50")
            says("Later")
            await page.shows("#log", "Later")
            assert await page.evaluate(f"{box}.scrollTop") == 50
