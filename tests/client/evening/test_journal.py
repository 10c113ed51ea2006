"""The journal of a client that plays, from the messages about it."""

from emu.client.evening.journal import SeenJournal
from emu.client.world.windows import JournalListed, QuestRow, QuestShown, QuestTask


def task(text: str, count: int = 0, needed: int = 1, *, is_done: bool = False) -> QuestTask:
    return QuestTask(text, "Help.", is_done, count, needed)


def listed(*, is_open: bool) -> JournalListed:
    return JournalListed((QuestRow(7, "Rats", is_open),))


def test_a_quest_from_its_beginning_to_its_end() -> None:
    journal = SeenJournal()
    assert journal.listed(listed(is_open=True)) == ["begun: Rats (7)"]
    assert journal.listed(listed(is_open=True)) == []
    first = QuestShown(7, "Rats", (task("Kill rats.", 0, 2),), False)
    assert journal.shown(first) == ["Rats: Kill rats. 0/2"]
    assert journal.shown(first) == []
    changes = journal.changes
    more = QuestShown(7, "Rats", (task("Kill rats.", 2, 2, is_done=True), task("Say so.")), False)
    assert journal.shown(more) == ["Rats: done: Kill rats. 2/2", "Rats: Say so."]
    assert journal.changes > changes
    assert [one.text for one in journal.open[7].open_tasks] == ["Say so."]
    assert journal.listed(listed(is_open=False)) == ["done: Rats (7)"]
    assert journal.complete == {7: "Rats"}
    assert not journal.open


def test_a_complete_quest_that_is_shown_again_stays_complete() -> None:
    journal = SeenJournal()
    journal.listed(listed(is_open=False))
    assert journal.shown(QuestShown(7, "Rats", (task("Kill rats."),), False)) == []
    assert not journal.open


def test_a_quest_has_its_category() -> None:
    journal = SeenJournal()
    journal.shown(QuestShown(7, "Rats", (task("Kill rats."),), False, "Hallmark"))
    assert journal.open[7].category == "Hallmark"
