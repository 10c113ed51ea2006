"""`emu character quests`: the journal of a character."""

from __future__ import annotations

from typing import Final

from emu.cli.common import load_config
from emu.cli.tables import Row, print_rows
from emu.content.quest_files import read_quests, shipped_quests
from emu.content.quests import QuestTables
from emu.quests.journal import Completion, Journal, TakenQuest
from emu.texts import timestamp

COLUMNS: Final = ("quest", "title", "state", "steps done", "since", "completed")


def print_journal(text: str, style: str) -> None:
    """Print a stored journal: what is open, and what was completed.

    Raises `FileFormatError` if the quests of the world cannot be read.
    """
    world = load_config().world
    # Those that come with the server are there only without a content file.
    shipped = [shipped_quests()] if world.content is None else []
    tables = QuestTables(world.content, read_quests(shipped))
    journal = Journal(text)
    rows = [
        _row(number, tables, journal.open.get(number), journal.completed.get(number))
        for number in sorted(journal.open.keys() | journal.completed.keys())
    ]
    print_rows(rows, style, COLUMNS, least=("since", "quest"))


def _row(
    number: int, tables: QuestTables, taken: TakenQuest | None, done: Completion | None
) -> Row:
    plan = tables.plan(number)
    since = taken.accepted if taken is not None else done.last if done is not None else None
    return {
        "quest": number,
        "title": plan.title if plan is not None else "not on this server now",
        "state": "open" if taken is not None else "completed",
        "steps done": len(taken.done) if taken is not None else None,
        "since": None if since is None else timestamp(since),
        "completed": done.times if done is not None else 0,
    }
