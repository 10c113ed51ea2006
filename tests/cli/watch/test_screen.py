"""The live view, driven by keys as an operator does, over a server that a test plays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from emu.admin.snapshot import Snapshot
from emu.errors import CommandError

pytest.importorskip("textual", reason="the extra `editor` is not installed")

from textual.pilot import Pilot
from textual.widgets import DataTable, Footer, Input, Label

from emu.cli.help_screen import HelpScreen
from emu.cli.watch.screen import TopScreen
from tests.support.admin.snapshots import Measured
from tests.support.admin.statuses import BOB, HARBOR

pytestmark = pytest.mark.slow
Steps = Callable[[TopScreen, Pilot[None]], Awaitable[None]]
PEOPLE = (replace(BOB, name="Bob", level=9), replace(BOB, name="Anna", level=20))


class Server:
    """The status that is read; each reading is a second after the one before."""

    def __init__(self) -> None:
        self.measured = Measured()
        self.process = 7
        self.taken = 100.0
        self.down = False
        self.asked = 0

    def __call__(self) -> Snapshot:
        self.asked += 1
        self.taken += 1.0
        if self.down:
            raise CommandError("no server can be reached")
        return self.measured.snapshot(self.taken, self.process, players=PEOPLE, zones=(HARBOR,))


def play(steps: Steps, server: Server | None = None, size: tuple[int, int] = (80, 24)) -> None:
    async def run() -> None:
        app = TopScreen(server or Server(), every=60.0)
        async with app.run_test(size=size) as pilot:
            await seen(app, pilot)
            await steps(app, pilot)

    with asyncio.Runner() as runner:
        runner.run(run())


async def seen(app: TopScreen, pilot: Pilot[None]) -> None:
    """Wait until the answer to the last question is shown."""
    await app.workers.wait_for_complete()
    await pilot.pause()


async def press(app: TopScreen, pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await seen(app, pilot)


def text(app: TopScreen, name: str) -> str:
    return str(app.query_one(name, Label).render())


def column(app: TopScreen, index: int = 0) -> list[str]:
    table: DataTable[Any] = app.query_one("#rows", DataTable)
    return [str(table.get_row_at(row)[index]) for row in range(table.row_count)]


def titles(app: TopScreen) -> list[str]:
    table: DataTable[Any] = app.query_one("#rows", DataTable)
    return [str(one.label) for one in table.ordered_columns]


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (200, 60), (20, 12)])
def test_state_and_players_fit_into_any_terminal(size: tuple[int, int]) -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        assert "Qeynos" in text(app, "#state")
        assert column(app) == ["Bob", "Anna"]
        assert app.query_one(Footer).region.bottom == size[1]
        assert app.query_one("#state", Label).region.right <= size[0]
        if size[1] >= 24:
            assert app.query_one("#rows").region.height >= 8
        assert not app.query_one("#banner").display

    play(steps, size=size)


def test_two_looks_make_rates() -> None:
    server = Server()

    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        assert "logins -/s" in text(app, "#state")
        server.measured.logins.add("accepted", by=3)
        app.ask()
        await seen(app, pilot)
        assert "logins 3/s" in text(app, "#state")

    play(steps, server)


def test_tables_are_chosen_by_numbers() -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        for key, first in (
            ("2", "Qeynos Harbor"),
            ("3", "login.listen"),
            ("5", "2026-01-01T00:00:00Z info  server: ready"),
            ("1", "Bob"),
        ):
            await press(app, pilot, key)
            assert column(app)[0] == first
        await press(app, pilot, "4")
        assert column(app) == []

    play(steps)


def test_rows_are_sorted_turned_round_and_filtered() -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        await press(app, pilot, "s")
        assert column(app) == ["Anna", "Bob"]
        assert titles(app)[0] == "player ^"
        await press(app, pilot, "s", "r")
        assert titles(app)[:2] == ["player", "level v"]
        assert column(app) == ["Anna", "Bob"]
        await press(app, pilot, "slash", "a", "n")
        assert column(app) == ["Anna"]
        assert app.query_one("#filter", Input).has_focus
        await press(app, pilot, "enter")
        assert app.query_one("#rows").has_focus
        await press(app, pilot, "escape")
        assert column(app) == ["Anna", "Bob"]
        assert not app.query_one("#filter").display

    play(steps)


def test_a_click_on_a_column_sorts_by_it() -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        await pilot.click("#rows", offset=(2, 0))
        await pilot.pause()
        assert titles(app)[0] == "player ^"

    play(steps)


def test_it_goes_on_through_a_restart_and_says_so() -> None:
    server = Server()

    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        server.down = True
        app.ask()
        await seen(app, pilot)
        assert "NO ANSWER" in text(app, "#banner")
        assert app.query_one("#banner").display
        assert column(app) == ["Bob", "Anna"], "what was seen last stays"
        server.down, server.process, server.taken = False, 8, 0.0
        app.ask()
        await seen(app, pilot)
        assert "restarted 1x" in text(app, "#banner")
        assert "process 8" in text(app, "#state")

    play(steps, server)


def test_a_server_that_is_not_there_yet_is_waited_for() -> None:
    server = Server()
    server.down = True

    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        assert text(app, "#state") == "waiting for the server"
        server.down = False
        app.ask()
        await seen(app, pilot)
        assert column(app) == ["Bob", "Anna"]

    play(steps, server)


def test_a_pause_asks_nobody() -> None:
    server = Server()

    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        await press(app, pilot, "p")
        asked = server.asked
        app.ask()
        await seen(app, pilot)
        assert server.asked == asked
        assert text(app, "#banner").startswith("PAUSED")
        await press(app, pilot, "p")
        assert server.asked == asked + 1
        assert not app.query_one("#banner").display

    play(steps, server)


def test_the_cursor_stays_when_rows_are_written_anew() -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        await press(app, pilot, "down")
        app.ask()
        await seen(app, pilot)
        assert app.query_one("#rows", DataTable).cursor_row == 1

    play(steps)


def test_keys_are_explained_and_one_quits() -> None:
    async def steps(app: TopScreen, pilot: Pilot[None]) -> None:
        shown = {binding.description for _, binding, *_ in app.screen.active_bindings.values()}
        assert {"Sort", "Filter", "Pause", "Help", "Quit"} <= shown
        await press(app, pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        await press(app, pilot, "x")
        await press(app, pilot, "q")
        assert app._exit

    play(steps)
