from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

from emu.admin.commands import accounts, characters, server
from emu.admin.commands.characters import CharacterCommandContext
from emu.commands import Registry
from emu.commands.registry import read_arguments
from tests.support.admin.commanding import CommandBench


@dataclasses.dataclass
class Entry:
    own_id: int | None
    name: str
    account: str = "alice"
    world: str = "Norrath"
    level: int = 5
    zone_id: int = 1
    created: float = 0.0
    last_played: float = 0.0
    deleted: bool = False
    account_id: int = 1
    rank: int | None = 0
    banned_until: float | None = None


class CharacterCommands(CommandBench):
    def __init__(self) -> None:
        self.entries = [Entry(7, "Aldana"), Entry(8, "Borvik", deleted=True),
                        Entry(None, "Cestra", "bob", "Far", rank=None)]  # fmt: skip
        self.ranks = {7: 0}
        self.playing: set[int] = set()
        store: Any = self
        self.counted: list[tuple[int, int]] = []
        """Ranks that count at once."""
        super().__init__(
            characters.COMMANDS.commands(
                CharacterCommandContext(
                    store,
                    store,
                    lambda number: number in self.playing,
                    lambda *change: self.counted.append(change),
                )
            )
        )

    async def every(self) -> list[Entry]:
        return self.entries

    async def delete(self, entry: Entry) -> None:
        entry.deleted = True

    async def restore(self, entry: Entry) -> None:
        entry.deleted = False

    async def authority_of(self, account_id: int) -> int:
        return max(self.ranks.values())

    async def set_admin_status(self, char_id: int, status: int) -> None:
        self.ranks[char_id] = status


def test_list_and_show() -> None:
    bench = CharacterCommands()
    assert [row["name"] for row in bench.run("character list").data] == [
        "Aldana", "Borvik", "Cestra",
    ]  # fmt: skip
    assert [row["name"] for row in bench.run("character list BOB").data] == ["Cestra"]
    assert bench.run("character show aldana").data["rank"] == 0
    assert bench.run("character show Cestra").data["rank"] is None
    assert bench.run("character show Dorn").text == "there is no character Dorn"


def test_a_rank_is_given_by_those_above_it() -> None:
    bench = CharacterCommands()
    assert bench.run("character rank Aldana 200").ok
    assert bench.ranks[7] == 200
    assert bench.run("character rank Aldana 0", rank=200).text == (
        "Aldana has your rank or a higher one"
    )
    assert bench.run("character rank Aldana 150", rank=201).ok
    assert bench.run("character rank Aldana 201", rank=201).text == "that needs a rank above 201"
    bench.ranks = {7: 0, 9: 200}
    assert bench.run("character rank Aldana 10", rank=200).text == (
        "Aldana has your rank or a higher one"
    ), "the account's rank is that of its highest character"
    bench.ranks = {7: 0}
    assert not bench.run("character rank Aldana 1000").ok
    assert not bench.run("character rank Aldana -1").ok
    bench.playing.add(7)
    assert bench.run("character rank Aldana 100").text == ("Aldana has the rank gamemaster")
    assert bench.counted[-1] == (7, 100)
    assert "another server" in bench.run("character rank Cestra 10").text


def test_a_rank_has_a_name_or_a_number() -> None:
    bench = CharacterCommands()
    for word, rank in (("guide", 10), ("GameMaster", 100), ("admin", 200), ("150", 150)):
        assert bench.run(f"character rank Aldana {word}").ok
        assert bench.ranks[7] == rank
    refused = bench.run("character rank Aldana king").text
    assert "use player, guide, gamemaster, admin or a number below 1000" in refused
    bench.entries[0].rank = 100
    assert "gamemaster" in bench.run("character list").lines[1]


def test_delete_and_restore() -> None:
    bench = CharacterCommands()
    bench.playing.add(7)
    assert bench.run("character delete Aldana").text == "Aldana is in the world; kick it first"
    bench.playing.clear()
    assert bench.run("character delete Aldana").ok
    assert bench.run("character delete Aldana").text == "there is no character Aldana"
    assert bench.run("character restore Aldana").ok
    assert bench.run("character restore Aldana").text == "there is no deleted character Aldana"


def test_every_example_is_a_line_of_its_command() -> None:
    unused: Any = SimpleNamespace(reloads={"opcodes": None})
    made = Registry()
    for module in (accounts, characters, server):
        made.extend(module.COMMANDS.commands(unused))  # type: ignore[attr-defined]
    for command in made:
        assert command.example or not command.arguments, command.name
        if command.example:
            found, rest = made.resolve(command.example)
            assert found is command
            assert read_arguments(command.arguments, rest)
