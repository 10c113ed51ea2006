"""The editor's dialogs; how they save is shown with the editor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from emu.opcodes import OpcodeRow, VersionRange

pytest.importorskip("textual", reason="the extra `editor` is not installed")

from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from emu.cli.opcodes.editor import EditRow

RANGE = VersionRange(540, 546)
ROW = OpcodeRow(*RANGE, "OP_A", 7, "a page ", " proved")


def play(screen: ModalScreen[None], steps: Callable[[Pilot[None]], Awaitable[None]]) -> None:
    async def run() -> None:
        app: App[None] = App()
        async with app.run_test(size=(80, 24)) as pilot:
            app.push_screen(screen)
            await pilot.pause()
            await steps(pilot)

    with asyncio.Runner() as runner:
        runner.run(run())


@pytest.mark.slow
def test_fields_that_were_not_touched_are_given_back_as_they_were() -> None:
    saved: list[OpcodeRow] = []

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(pilot.app.screen, EditRow)

    play(EditRow(ROW, RANGE, saved.append), steps)
    assert saved == [ROW]


@pytest.mark.slow
def test_what_is_refused_stays_with_the_reason() -> None:
    async def steps(pilot: Pilot[None]) -> None:
        field = pilot.app.screen.query_one("#number", Input)
        field.value = "0x10"
        await pilot.press("enter")
        await pilot.pause()
        message = pilot.app.screen.query_one("#message", Label)
        assert (field.value, str(message.render())) == ("0x10", "not [this] one")
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(pilot.app.screen, EditRow)

    play(EditRow(None, RANGE, lambda _row: "not [this] one"), steps)
