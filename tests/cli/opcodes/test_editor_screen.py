"""The full-screen editor, driven by keys as an operator does.

Textual runs on asyncio, the other tests on Twisted's reactor, so each test has a loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.opcodes import OpcodeStore, VersionRange

pytest.importorskip("textual", reason="the extra `editor` is not installed")

from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Label

from emu.cli.opcodes.editor import OpcodeEditor
from tests.support.files.opcode_rows import shipped_database

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_opcodes")]
RANGE = VersionRange(540, 546)
Steps = Callable[[OpcodeEditor, Pilot[None]], Awaitable[None]]


@pytest.fixture
def store(tmp_path: Path, few_opcodes: None) -> Iterator[OpcodeStore]:
    with OpcodeStore(shipped_database(tmp_path), who="alice") as opened:
        yield opened


def play(store: OpcodeStore, steps: Steps, start: VersionRange | None = RANGE) -> None:
    async def run() -> None:
        editor = OpcodeEditor(store, start=start)
        async with editor.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await steps(editor, pilot)

    with asyncio.Runner() as runner:
        runner.run(run())


def shown(editor: OpcodeEditor) -> list[list[str]]:
    table: DataTable[Any] = editor.query_one("#rows", DataTable)
    return [[str(cell) for cell in table.get_row_at(index)] for index in range(table.row_count)]


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def type_into(pilot: Pilot[None], field: str, text: str) -> None:
    pilot.app.screen.query_one(field, Input).value = text
    await pilot.pause()


def number(store: OpcodeStore, name: str) -> int | None:
    return {row.name: row.opcode for row in store.rows(RANGE)}.get(name)


def test_ranges_stand_left_and_rows_right(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        ranges: DataTable[Any] = editor.query_one("#ranges", DataTable)
        assert ranges.row_count == len(store.tables().ranges)
        assert ranges.get_row_at(ranges.cursor_row)[0] == "540-546"
        assert len(shown(editor)) == len(store.rows(RANGE))
        ranges.move_cursor(row=0)
        await pilot.pause()
        assert len(shown(editor)) == len(store.rows(VersionRange(0, 369)))

    play(store, steps)


def test_the_first_range_is_shown_when_none_is_named(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, _: Pilot[None]) -> None:
        assert len(shown(editor)) == len(store.rows(VersionRange(0, 369)))

    play(store, steps, start=None)


def test_rows_are_filtered_by_name_or_number(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"keym")
        assert [row[0] for row in shown(editor)] == ["153", "154", "155", "156"]
        await type_into(pilot, "#filter", "216")
        assert [row[1] for row in shown(editor)] == ["OP_LsClientAlertlogReplyMsg"]
        await pilot.press("enter")
        assert editor.focused is editor.query_one("#rows")

    play(store, steps)


def test_an_edit_is_written_and_undone(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await type_into(pilot, "#filter", "keymapload")
        await pilot.press("e")
        assert editor.screen.query_one("#number", Input).value == "153"
        await type_into(pilot, "#number", "0x190")
        await type_into(pilot, "#note", "tried")
        await press(pilot, "enter")
        assert number(store, "OP_KeymapLoadMsg") == 400
        assert shown(editor)[0][0] == "400"
        (entry,) = store.history(limit=1)
        assert (entry.who, entry.action) == ("alice", "edit")
        await press(pilot, "u")
        assert number(store, "OP_KeymapLoadMsg") == 153

    play(store, steps)


def test_what_is_no_number_is_reported_and_escape_leaves(store: OpcodeStore) -> None:
    before = store.rows()

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await type_into(pilot, "#number", "many")
        await pilot.press("enter")
        assert "'many' is not a number" in str(editor.screen.query_one("#message", Label).render())
        await press(pilot, "escape")
        assert len(editor.screen_stack) == 1

    play(store, steps)
    assert store.rows() == before


def test_rows_are_added_and_removed(store: OpcodeStore) -> None:
    async def steps(_: OpcodeEditor, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        await type_into(pilot, "#name", "OP_NewThingMsg")
        await type_into(pilot, "#number", "300")
        await press(pilot, "enter")
        assert number(store, "OP_NewThingMsg") == 300
        await type_into(pilot, "#filter", "NewThing")
        await press(pilot, "d")
        assert number(store, "OP_NewThingMsg") is None

    play(store, steps)


def test_conflicts_are_marked_and_can_be_shown_alone(store: OpcodeStore) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 216)

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await pilot.press("c")
        assert [(row[1], row[2]) for row in shown(editor)] == [
            ("OP_KeymapLoadMsg", "OP_LsClientAlertlogReplyMsg"),
            ("OP_LsClientAlertlogReplyMsg", "OP_KeymapLoadMsg"),
        ]
        table: DataTable[Any] = editor.query_one("#rows", DataTable)
        assert table.get_row_at(0)[1].style == "bold red"
        reported = str(editor.query_one("#findings", Label).render())
        assert "216 is the number of OP_KeymapLoadMsg and OP_LsClientAlertlogReplyMsg" in reported
        await pilot.press("c")
        assert len(shown(editor)) == len(store.rows(RANGE))

    play(store, steps)


def test_an_edit_that_cannot_be_keeps_what_was_typed(store: OpcodeStore) -> None:
    before = store.rows()

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await pilot.press("a")
        await type_into(pilot, "#name", "no name")
        await type_into(pilot, "#number", "300")
        await type_into(pilot, "#note", "long and dear")
        await press(pilot, "enter")
        fields = {one.id: one.value for one in editor.screen.query(Input)}
        assert fields == {"name": "no name", "number": "300", "source": "", "note": "long and dear"}
        message = editor.screen.query_one("#message", Label)
        assert "is not an opcode name" in str(message.render())
        assert message.region.bottom <= 24
        await type_into(pilot, "#name", "OP_KeymapLoadMsg")
        await press(pilot, "enter")
        assert "exists already with the number 153" in str(message.render())
        await press(pilot, "escape", "u")
        messages = [one.message for one in editor._notifications]
        assert any("nothing to undo" in message for message in messages)

    play(store, steps)
    assert store.rows() == before


def test_a_question_mark_shows_every_key(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await press(pilot, "question_mark")
        text = screen_text(editor)
        for binding in editor.BINDINGS:
            assert f" {binding.key_display or binding.key} " in text.replace("Escape", "escape")
        await press(pilot, "escape")
        assert len(editor.screen_stack) == 1

    play(store, steps)


def test_fields_are_labelled(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await press(pilot, "a")
        labels = [one.border_title for one in editor.screen.query(Input)]
        assert labels == ["name", "number", "source", "note"]
        assert "source" in screen_text(editor)

    play(store, steps)


def screen_text(editor: OpcodeEditor) -> str:
    """Return what stands on the screen, line by line."""
    width, height = editor.size
    strips = editor.screen._compositor.render_strips()
    assert (width, len(strips)) == (80, height)
    return "\n".join(strip.text for strip in strips)


def test_conflicts_can_be_read_on_a_small_terminal(store: OpcodeStore) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 216)

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await press(pilot, "c")
        text = screen_text(editor)
        assert "OP_KeymapLoadMsg" in text
        assert "also OP_LsClientAlertlogReplyMsg" in " ".join(text.split())
        assert "? Help" in text
        assert "q Quit" in text

    play(store, steps)


def test_what_others_change_is_noticed(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await type_into(pilot, "#filter", "keymapload")
        with OpcodeStore(store.path, who="bob") as other:
            other.set(RANGE, "OP_KeymapLoadMsg", 400)
            other.set(VersionRange(70000, 70001), "OP_MineMsg", 600)
        editor.show_changes()
        await pilot.pause()
        assert shown(editor)[0][0] == "400"
        ranges: DataTable[Any] = editor.query_one("#ranges", DataTable)
        assert ranges.row_count == len(store.tables().ranges)
        assert [one.message for one in editor._notifications] == [
            "bob changed the tables (set OP_MineMsg)"
        ]
        editor.show_changes()
        assert len(editor._notifications) == 1, "nothing new"

    play(store, steps)


def test_it_refreshes_by_itself(store: OpcodeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emu.cli.opcodes.editor.REFRESH_INTERVAL", 0.02)

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        with OpcodeStore(store.path, who="bob") as other:
            other.set(RANGE, "OP_KeymapLoadMsg", 400)
        for _ in range(200):
            await asyncio.sleep(0.02)
            if ["400", "OP_KeymapLoadMsg"] in [row[:2] for row in shown(editor)]:
                return
        raise AssertionError("the change was not seen")

    play(store, steps)


def test_an_edit_leaves_alone_what_others_changed(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await type_into(pilot, "#filter", "keymapload")
        await pilot.press("e")
        await type_into(pilot, "#note", "mine")
        with OpcodeStore(store.path, who="bob") as other:
            other.set(RANGE, "OP_KeymapLoadMsg", 400)
        await press(pilot, "enter")
        (row,) = [one for one in store.rows(RANGE) if one.name == "OP_KeymapLoadMsg"]
        assert (row.opcode, row.note) == (400, "mine")
        await pilot.press("e")
        await type_into(pilot, "#number", "401")
        with OpcodeStore(store.path, who="bob") as other:
            other.set(RANGE, "OP_KeymapLoadMsg", 402)
        await press(pilot, "enter")
        message = str(editor.screen.query_one("#message", Label).render())
        assert "another user changed the opcode to 402" in message
        assert editor.screen.query_one("#number", Input).value == "401"
        assert number(store, "OP_KeymapLoadMsg") == 402

    play(store, steps)


def test_undo_and_redo_stay_in_the_range(store: OpcodeStore) -> None:
    store.set(RANGE, "OP_KeymapLoadMsg", 400)
    store.set(VersionRange(560, 561), "OP_KeymapLoadMsg", 401)

    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await press(pilot, "u")
        assert number(store, "OP_KeymapLoadMsg") == 153
        others = {row.name: row.opcode for row in store.rows(VersionRange(560, 561))}
        assert others["OP_KeymapLoadMsg"] == 401
        await press(pilot, "r")
        assert number(store, "OP_KeymapLoadMsg") == 400

    play(store, steps)


def test_the_cursor_stays_on_its_row(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        rows: DataTable[Any] = editor.query_one("#rows", DataTable)
        rows.move_cursor(row=5)
        await pilot.pause()
        name = shown(editor)[5][1]
        store.set(RANGE, "OP_MineMsg", 0x7FFF)
        store.unset(RANGE, shown(editor)[0][1])
        editor.show_changes()
        await pilot.pause()
        assert shown(editor)[rows.cursor_row][1] == name

    play(store, steps)


def test_a_lost_message_is_reported_below_the_rows(store: OpcodeStore) -> None:
    async def steps(editor: OpcodeEditor, pilot: Pilot[None]) -> None:
        await type_into(pilot, "#filter", "PlayCharacterReply")
        names = [row[1] for row in shown(editor)]
        rows: DataTable[Any] = editor.query_one("#rows", DataTable)
        rows.move_cursor(row=names.index("OP_PlayCharacterReplyMsg"))
        await press(pilot, "d")
        reported = str(editor.query_one("#findings", Label).render())
        assert "clients 540-546 cannot be served without OP_PlayCharacterReplyMsg" in reported
        await press(pilot, "u")
        assert "cannot be served" not in str(editor.query_one("#findings", Label).render())

    play(store, steps)
