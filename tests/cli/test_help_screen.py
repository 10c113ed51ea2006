from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("textual", reason="the extra `editor` is not installed")

from textual.app import App
from textual.widgets import Label

from emu.cli.help_screen import HelpScreen

LINES = [("a", "add [it]"), ("F1", "this")]


@pytest.mark.parametrize("width", [80, 40])
def test_help_names_the_keys_and_goes_with_any(width: int) -> None:
    async def run() -> None:
        app: App[None] = App()
        async with app.run_test(size=(width, 24)) as pilot:
            app.push_screen(HelpScreen(LINES))
            await pilot.pause()
            label = app.screen.query_one("#help", Label)
            assert "a   add [it]" in str(label.render())
            assert label.region.right <= width
            await pilot.press("x")
            await pilot.pause()
            assert not isinstance(app.screen, HelpScreen)

    with asyncio.Runner() as runner:
        runner.run(run())
