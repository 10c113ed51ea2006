"""`emu guild`: what operators type and what they see."""

from pathlib import Path

import pytest

from emu.guilds import LEADER, Guild, GuildMember
from emu.store import Store
from emu.times import Moment
from tests.support.database.stores import world_character
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    """A database with the guild of Borvik."""
    line = CommandLine(tmp_path)
    with Store.create(line.database) as store:
        own = store.world.characters.create(world_character(name="Borvik"))
        leader = GuildMember(char_id=own.id, rank=LEADER, joined=Moment(1000.0))
        store.world.guilds.create(
            Guild(name="The Wolves", formed=Moment(1000.0), members={own.id: leader})
        )
    return line


def test_lists_and_shows(emu: CommandLine) -> None:
    assert emu.rows("guild", "list") == [
        {"id": 1, "name": "The Wolves", "members": 1, "formed": "1970-01-01T00:16:40Z"}
    ]
    for word in ("1", "the wolves"):
        record = emu.rows("guild", "show", word)
        assert (record["name"], record["motd"]) == ("The Wolves", "")
        assert record["members"] == [
            {"name": "Borvik", "rank": "Leader", "joined": "1970-01-01T00:16:40Z"}
        ]
    assert "Borvik (Leader)" in emu.good("guild", "show", "1").stdout


def test_renames_and_deletes(emu: CommandLine) -> None:
    assert "is called 'The Bears'" in emu.good("guild", "rename", "1", "The Bears").stderr
    assert emu.rows("guild", "list")[0]["name"] == "The Bears"
    assert "letters" in emu.refused("guild", "rename", "1", "X")
    assert "there is no guild 'The Wolves'" in emu.refused("guild", "show", "The Wolves")
    assert "is deleted" in emu.good("guild", "delete", "the bears").stderr
    assert emu.rows("guild", "list") == []
