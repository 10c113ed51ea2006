"""The order of a player's tasks, and which quests it takes up."""

import pytest

from emu.client.evening.agenda import HAILS, MOST_OPEN, MOST_TRIES, PATIENT, SET_ASIDE, Agenda
from emu.client.evening.journal import SeenJournal
from emu.client.world.windows import QuestShown, QuestTask
from emu.times import Monotonic

NOW = Monotonic(1000.0)


def agenda(*quests: tuple[str, str, str], first: tuple[str, ...] = ("Hallmark",)) -> Agenda:
    """Return an agenda with quests: title, category, and the text of one task."""
    journal = SeenJournal()
    for number, (title, category, text) in enumerate(quests):
        tasks = (QuestTask(text, "", False, 0, 1),)
        journal.shown(QuestShown(number, title, tasks, False, category))
    made = Agenda(journal, first)
    made.look("bog", NOW)
    return made


def texts(tasks: list[QuestTask]) -> list[str]:
    return [one.text for one in tasks]


def test_the_quests_of_the_first_word_come_before_those_of_the_second() -> None:
    one = agenda(
        ("Rats", "Town", "rat"), ("Welcome", "Hallmark", "book"), ("Training", "Hallmark", "guard"),
        first=("Training", "Hallmark"),
    )  # fmt: skip
    assert texts(one.tasks()) == ["guard", "book", "rat"]
    assert texts(one.first_tasks()) == ["guard", "book"]
    one.tried(one.tasks()[0])
    assert texts(one.tasks()) == ["guard", "book", "rat"]


def test_a_task_that_was_tried_comes_after_its_equals() -> None:
    one = agenda(("Rats", "Town", "rat"), ("Bats", "Town", "bat"))
    assert texts(one.tasks()) == ["bat", "rat"]
    one.tried(one.tasks()[0])
    assert texts(one.tasks()) == ["rat", "bat"]


def test_what_does_not_advance_is_set_aside_a_first_quest_later() -> None:
    one = agenda(("Rats", "Town", "rat"), ("Training", "Hallmark", "guard"))
    one.look("bog", Monotonic(NOW + SET_ASIDE + 1))
    assert texts(one.tasks()) == ["guard"]
    assert texts(one.tasks(is_aside=True)) == ["rat"]
    one.look("bog", Monotonic(NOW + PATIENT + 1))
    assert one.first_tasks() == []


@pytest.mark.parametrize(
    ("title", "giver", "is_wanted"),
    [
        ("Bat Wings", "Pernus Hawkwind", False),
        ("The Hallmark of Valor", "Pernus Hawkwind", True),
        ("Dagorel's Errand", "Pernus Hawkwind", True),
        ("Path of the Warrior", "Master-at-Arms Dagorel", True),
    ],
)
def test_it_takes_up_only_what_belongs_to_an_open_first_quest(
    title: str, giver: str, is_wanted: bool
) -> None:
    one = agenda(("Training", "Hallmark", "I need to speak with Dagorel."))
    assert one.wants(title, giver) is is_wanted
    one.look("bog", Monotonic(NOW + PATIENT + 1))
    assert one.wants(title, giver), "nothing is done first any more"


def test_texts_of_tasks_that_are_no_talks_stay_with_their_zone() -> None:
    one = agenda(
        ("Trial", "Hallmark", "I need to judge the traitors."), ("Rats", "Town", "Kill a rat."),
        ("Report", "Hallmark", "I need to speak with Glorfel."),
    )  # fmt: skip
    judging = "I need to judge the traitors."
    assert list(one.wild_texts("bog", first_only=True)) == [judging]
    assert list(one.wild_texts("bog", first_only=False)) == [judging, "Kill a rat."]
    assert list(one.wild_texts("city", first_only=False)) == []
    assert one.zones_of(one.first_tasks()[0]) == ["bog"]


def test_it_asks_whom_a_first_quest_has_ended_with_for_the_next_one() -> None:
    one = agenda()
    for giver in ("Glorfel", "Dagorel", ""):
        one.ended(giver)
    assert texts(one.next_of_chains()) == ["Speak with Dagorel.", "Speak with Glorfel."]
    for _ in range(HAILS):
        one.hailed("Dagorel")
    assert texts(one.next_of_chains()) == ["Speak with Glorfel."]


def test_a_task_is_over_when_the_journal_has_it_no_more() -> None:
    journal = SeenJournal()
    rat = QuestTask("rat", "", False, 0, 5)
    journal.shown(QuestShown(1, "Rats", (rat,), False))
    one = Agenda(journal, ())
    one.look("bog", NOW)
    journal.shown(QuestShown(1, "Rats", (QuestTask("rat", "", False, 1, 5),), False))
    assert not one.is_over(rat), "it has advanced"
    assert not one.is_over(QuestTask("Speak with Ingrid.", "", False, 0, 1)), "it is of a line"
    journal.shown(QuestShown(1, "Rats", (QuestTask("owl", "", False, 0, 1),), False))
    assert one.is_over(rat)


def test_a_quest_that_wants_something_made_is_set_aside_at_once() -> None:
    one = agenda(("Cellar", "Hallmark", "Use the forge to create a tin bar."), ("Rats", "", "rat"))
    assert texts(one.tasks()) == ["rat"]


def test_a_quest_of_a_zone_that_is_too_hard_is_set_aside() -> None:
    journal = SeenJournal()
    hard: set[str] = set()
    one = Agenda(journal, (), hard.__contains__)
    journal.shown(QuestShown(1, "Orcs", (QuestTask("orc", "", False, 0, 1),), False))
    one.look("lair", NOW)
    assert texts(one.tasks()) == ["orc"]
    hard.add("lair")
    assert texts(one.tasks(is_aside=True)) == ["orc"]


def test_the_only_way_to_another_level_is_never_set_aside_by_time() -> None:
    journal = SeenJournal()
    one = Agenda(journal, ("Hallmark",), is_only_way=lambda zone: zone == "bog")
    for number, category in enumerate(("Hallmark", "Town")):
        task = QuestTask(category, "", False, 0, 1)
        journal.shown(QuestShown(number, "Quest", (task,), False, category))
    one.look("bog", NOW)
    one.look("bog", Monotonic(NOW + PATIENT + 1))
    assert texts(one.tasks()) == ["Hallmark"]


def test_it_remembers_another_time_where_a_quest_has_advanced() -> None:
    zones = agenda(("Rats", "Town", "rat")).zones()
    assert zones == {0: "bog"}
    journal = SeenJournal()
    one = Agenda(journal, ())
    one.recall(zones)
    # The list at an entry has titles only; the tasks come when they are asked for.
    journal.shown(QuestShown(0, "Rats", (), False))
    one.look("village", NOW)
    rat = QuestTask("rat", "", False, 0, 1)
    journal.shown(QuestShown(0, "Rats", (rat,), False))
    one.look("village", NOW)
    assert one.zones_of(rat) == ["bog"]
    owl = QuestTask("owl", "", False, 0, 1)
    journal.shown(QuestShown(0, "Rats", (owl,), False))
    one.look("village", NOW)
    assert one.zones_of(owl) == ["village"]


def test_a_task_is_fresh_until_it_was_tried_in_vain() -> None:
    journal = SeenJournal()
    one = Agenda(journal, ())
    for count in (0, 1):
        rat = QuestTask("rat", "", False, count, 5)
        journal.shown(QuestShown(1, "Rats", (rat,), False))
        one.look("bog", NOW)
        assert one.is_fresh(rat)
        for _ in range(MOST_TRIES):
            one.tried(rat)
        assert not one.is_fresh(rat)


def test_it_takes_up_again_what_is_to_be_done_where_it_comes_once_for_each_zone() -> None:
    one = agenda(("Welcome", "Hallmark", "ruins"), ("Training", "Hallmark", "guard"))
    late = Monotonic(NOW + PATIENT + 1)
    one.look("bog", late)
    one.resume("ruins", lambda task: task.text == "ruins")
    assert texts(one.first_tasks()) == ["ruins"]
    later = Monotonic(late + PATIENT + 1)
    one.look("ruins", later)
    one.resume("ruins", lambda task: task.text == "ruins")
    assert one.first_tasks() == [], "it was here before, in vain"
    one.resume("docks", lambda task: task.text == "ruins")
    assert texts(one.first_tasks()) == ["ruins"]


def test_a_full_journal_has_places_for_first_quests_only() -> None:
    one = agenda(*[(f"Rats {number}", "Town", "rat") for number in range(MOST_OPEN - 1)])
    assert one.wants("Bats", "Vida")
    one = agenda(*[(f"Rats {number}", "Town", "rat") for number in range(MOST_OPEN)])
    assert not one.wants("Bats", "Vida")
    assert one.wants("The Hallmark of Valor", "Vida")


def test_an_open_task_wants_the_things_that_it_names() -> None:
    one = agenda(("Hawks", "Outpost", "Lure down hawks; a mole rat is the bait."))
    assert one.names_thing("Hawk Bait")
    assert not one.names_thing("Plain Cloth Cap")
