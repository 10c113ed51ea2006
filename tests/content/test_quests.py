"""What quests of a content file ask of a character."""

from pathlib import Path
from typing import Any

from emu.content.importing import import_content
from emu.content.quests import QuestTables
from emu.content.sources import dump_parts
from emu.quests.needs import NO_NEEDS, QuestNeeds
from tests.support.content.dumps import meadow, write_dumps


def detail(number: int, quest: int, kind: str, subject: str, value: int, **more: int) -> Any:
    return {
        "id": number, "quest_id": quest, "type": kind, "subtype": subject, "value": value,
        "faction_id": 0, "quantity": 0, **more,
    }  # fmt: skip


def test_the_prerequisites_of_each_quest(tmp_path: Path) -> None:
    plain = {"name": "Eggs", "type": "Errand", "zone": "Meadow", "level": 1}
    dumps = write_dumps(
        tmp_path / "dumps",
        meadow() | {
            "quests": [{"quest_id": number, **plain} for number in (1, 2, 3)],
            "factions": [{"id": 20, "name": "The Watch"}],
            "quest_details": [
                detail(1, 2, "Prereq", "AdvLevel", 10),
                detail(2, 2, "Prereq", "MaxAdvLevel", 20),
                detail(3, 2, "Prereq", "TSLevel", 9),
                detail(4, 2, "Prereq", "Class", 3),
                detail(5, 2, "Prereq", "Class", 4),
                detail(6, 2, "Prereq", "Race", 9),
                detail(7, 2, "Prereq", "Faction", 1, faction_id=20, quantity=50),
                detail(8, 2, "Prereq", "Quest", 1),
                detail(9, 3, "Reward", "Experience", 500),
                detail(10, 3, "Prereq", "Coin", 500),
            ],
        },
    )  # fmt: skip
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([dumps]), target)
    tables = QuestTables(target)
    plans = [tables.plan(number) for number in (1, 2, 3)]
    needs = {one.number: one.needs for one in plans if one is not None}
    assert needs == {
        1: NO_NEEDS, 3: NO_NEEDS,
        2: QuestNeeds(10, 20, 9, (3, 4), (9,), ((20, 1, 50),), (1,)),
    }  # fmt: skip
    assert needs[1] is NO_NEEDS
