"""The names of all functions of EQ2Emulator."""

from emu.world.scripts.functions.every import EVERY
from emu.world.scripts.stubs import stub_names


def test_every_function_here_is_one_of_theirs() -> None:
    names = stub_names()
    assert len(names) == 581
    for table in EVERY:
        assert table.functions.keys() <= names.keys()


def test_a_stub_returns_what_keeps_a_script_running() -> None:
    names = stub_names()
    assert names["GetQuestStep"] == 0
    assert names["HasQuest"] is False
    assert names["GetClassName"] == ""
    assert names["SpawnMob"] is None
    # Of a quest that a character does not have, EQ2Emulator says nothing.
    assert names["QuestIsComplete"] is None
