"""Commands as clients use them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.errors import FileFormatError
from emu.times import Monotonic
from emu.world.actors.player import Relation
from emu.world.commands.client_table import read_client_commands
from tests.support.world.worlds import Client, WorldHarness


def table(client: Client) -> list[str]:
    """Return the words of the table that a client was sent last, by position."""
    return [row["name"] for row in client.decoded("WS_SetRemoteCmdsMsg")[-1]["commands_array"]]


def test_a_client_is_given_what_its_rank_allows(harness: WorldHarness) -> None:
    player, master = harness.stand(5), harness.stand(6, admin_status=100)

    def names(client) -> set[str]:
        [table] = client.decoded("WS_SetRemoteCmdsMsg")
        return {row["name"] for row in table["commands_array"]}

    assert {"say", "tell", "who", "afk"} <= names(player)
    assert not {"kick", "shutdown"} & names(player)
    assert "kick" in names(master)
    assert "shutdown" not in names(master)
    [table] = [data for name, data in player.log if name == "OP_SetRemoteCmdsMsg"]
    assert table.endswith(b"\0")


@pytest.mark.parametrize(
    "body",
    [b"\0", struct.pack("<HH", 60_000, 0), struct.pack("<HH", 0, 60_000) + b"x",
     struct.pack("<HH", 0, 1) + b"xy"],
)  # fmt: skip
def test_damaged_ones_are_counted(harness: WorldHarness, body: bytes) -> None:
    one = harness.stand(5)
    before = len(one.log)
    one.say("OP_RemoteCmdMsg", body)
    assert sum(one.player.client.drops.values()) == 1
    assert len(one.log) == before
    assert not one.is_closed


def test_an_empty_one_ends_the_session() -> None:
    """docs/protocol/world/movement.md#bad-predictions."""
    one = WorldHarness().stand(5)
    one.say("OP_RemoteCmdMsg", b"")
    assert one.is_closed


def test_a_command_of_another_rank_cannot_be_reached() -> None:
    one = WorldHarness().stand(5)
    [table] = one.decoded("WS_SetRemoteCmdsMsg")
    one.say("OP_RemoteCmdMsg", struct.pack("<HH", table["num_commands"], 0))
    assert sum(one.player.client.drops.values()) == 1


def test_what_was_sent_before_a_new_rank_means_what_it_meant(harness: WorldHarness) -> None:
    """A word keeps its place, so that no message of a player becomes a game master's command."""
    one, victim = harness.stand(5), harness.stand(6, name="Victim")
    before = table(one)
    for rank in (200, 10, 0, 100):
        harness.account_changes.rank_changed(5, rank)
        after = table(one)
        assert all(after[place] == word for place, word in enumerate(before) if word)
        before = after
    assert "kick" in before
    harness.account_changes.rank_changed(5, 99)
    one.say("OP_RemoteCmdMsg", struct.pack("<HH", before.index("kick"), 6) + b"Victim")
    assert not victim.is_closed


def test_the_clients_own_names_stand_where_eq2emulator_has_them(harness: WorldHarness) -> None:
    """docs/protocol/world/commands.md#table."""
    one, master = table(harness.stand(5)), table(harness.stand(6, admin_status=200))
    places = {"say": 7, "tell": 8, "yell": 9, "shout": 10, "ooc": 12, "gsay": 14, "who": 41,
              "afk": 147, "joinchannel": 294, "chatwho": 298, "mood": 800}  # fmt: skip
    assert {name: one.index(name) for name in places} == places
    assert {name: master.index(name) for name in ("zone", "kick", "ban", "move", "summon")} == {
        "zone": 20, "kick": 22, "ban": 23, "move": 32, "summon": 55,
    }  # fmt: skip
    assert one[20] == one[22] == ""


def test_a_gap_of_the_table_is_no_command(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.say("OP_RemoteCmdMsg", struct.pack("<HH", 22, 0))
    assert one.player.client.drops == {"command outside the table": 1}


@pytest.mark.slow
def test_no_command_of_the_clients_interface_is_unknown() -> None:
    """It works, asks for its arguments, or says that this server does not have it."""
    plain = WorldHarness()
    visitor = plain.stand(5)
    for name in sorted(read_client_commands().players):
        if not plain.registry.has_word(name):
            plain.run(1.0)
            assert visitor.types(name) == [f"{name} is not on this server."]
            assert not visitor.player.client.drops, name
            continue
        one = WorldHarness().stand(5)  # what a command does must not count for the next one
        lines = one.types(name)
        assert not any("no command" in line for line in lines), name
        assert not one.player.client.drops, name


def test_a_table_with_two_names_of_one_position_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "commands.toml"
    path.write_text("[players]\nsay = 7\ntell = 7\n[staff]\n")
    with pytest.raises(FileFormatError, match="one position"):
        read_client_commands(path)
    path.write_text("[players]\nsay = 70000\n[staff]\n")
    with pytest.raises(FileFormatError, match="from 0 to"):
        read_client_commands(path)


def test_short_names_can_be_called_too(harness: WorldHarness) -> None:
    """A client sends only words of its table, so the table has the aliases."""
    words = table(harness.stand(5))
    assert {"loc", "location", "disband", "leavegroup"} <= set(words)


def test_expensive_commands_are_paced_and_the_player_is_asked_to_wait(
    harness: WorldHarness,
) -> None:
    one = harness.stand(5)
    burst = harness.world.rules.listing_burst
    shown = [line for _ in range(burst + 50) for line in one.types("who all")]
    assert len(one.decoded("WS_WhoQueryReply")) == burst
    assert harness.world.faults.drops["command too soon"] == 50
    assert shown == ["Wait a moment."]
    harness.now = Monotonic(harness.now + 1.0)
    shown = [line for _ in range(20) for line in one.types("who all")]
    assert len(one.decoded("WS_WhoQueryReply")) == burst + harness.world.rules.listing_rate
    assert shown == ["Wait a moment."]


@pytest.mark.slow
def test_a_full_list_of_friends_can_be_made_at_once(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "start", Deferred.fromCoroutine)  # answers wait for their save
    one = harness.stand(5)
    harness.exist(*(f"Name{number}" for number in range(100, 200)))
    shown = [line for number in range(100, 200) for line in one.types(f"friend Name{number}")]
    assert len(one.player.relations.names(Relation.FRIEND)) == 100
    assert "Wait a moment." not in shown
    harness.run(1.1)
    answers = [row["text"] for row in one.decoded("WS_DisplayText")]
    assert [line for line in answers if line.endswith("is your friend now.")] == [
        f"Name{number} is your friend now." for number in range(100, 200)
    ]
    shown = [line for number in range(100, 200) for line in one.types(f"unfriend Name{number}")]
    assert "Wait a moment." in shown


def test_cheap_commands_are_not_paced(harness: WorldHarness) -> None:
    one = harness.stand(5)
    for _ in range(200):
        one.types("loc")
    assert harness.world.faults.drops["command too soon"] == 0


def test_of_a_long_answer_a_player_is_shown_the_first_lines(harness: WorldHarness) -> None:
    async def say_much(call: Call) -> Reply:
        return Reply(tuple(f"line {number}" for number in range(call["count"])))

    count = Argument("count", ArgumentKind.NUMBER)
    harness.registry.add(Command("much", "say much", say_much, (count,)))
    one = harness.stand(5)
    assert one.types("much 100")[-1] == "line 99"
    assert one.types("much 101")[-2:] == ["line 99", "and 1 more"]
    assert len(harness.console("much 101").lines) == 101
