"""Who is there."""

from __future__ import annotations

from dataclasses import replace

from emu.world.commands.players import MOST_LISTED, MOST_SHOWN
from tests.support.running.processes import present
from tests.support.world.worlds import WorldHarness


def test_who_has_the_recorded_size_and_shows_the_zone_or_all(harness: WorldHarness) -> None:
    """331 bytes for 2, 491 for 3 (docs/protocol/world/recorded.md#examples)."""
    one = harness.stand(5, name="Aldana", account_id=101)
    harness.stand(6, name="Borvik")
    harness.stand(7, name="Cestra", zone_id=12)
    one.types("/who")
    one.types("/who all")
    one.types("/who bor")
    replies = [data for name, data in one.log if name == "OP_WhoQueryReplyMsg"]
    assert [len(data) for data in replies] == [331, 491, 171]
    assert replies[0][:10].hex() == "65000000ffffffff0202"
    [row] = one.decoded("WS_WhoQueryReply")[2]["characters_array"]
    assert row["char_name"].rstrip("\0") == "Borvik"
    assert row["zone"].rstrip("\0") == "Isle of Refuge"


def test_the_console_gets_lines_and_data(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana")
    reply = harness.console("players")
    assert reply.lines[0] == "1 player"
    assert "Aldana" in reply.lines[1]
    [row] = reply.data
    assert (row["name"], row["zone"], row["state"]) == ("Aldana", "IsleRefuge1", "in the zone")


def test_away_and_back(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.types("/afk")
    harness.run(0.2)
    assert two.fields_of("Name5")["activity_status"] == 32768
    two.types("/who")
    flags = [row["flags"] for row in two.decoded("WS_WhoQueryReply")[0]["characters_array"]]
    assert flags == [32, 0]
    one.types("/afk")
    harness.run(0.2)
    assert "activity_status" not in two.fields_of("Name5")


def test_players_of_other_processes_have_their_state(harness: WorldHarness) -> None:
    for number, name, link_dead in ((6, "Borvik", False), (7, "Cedric", True)):
        other = present(100 + number, number, 12, name)
        harness.presence._put(replace(other, process="12", link_dead=link_dead))
    states = {row["name"]: row["state"] for row in harness.console("players").data}
    assert states == {"Borvik": "in the process 12", "Cedric": "link-dead"}


def test_a_hidden_player_of_the_own_process_gets_no_private_message(harness: WorldHarness) -> None:
    """The process's name in its presence may be another object with the same letters."""
    one = harness.stand(5)
    own = str(harness.name.encode(), "ascii")
    harness.presence._put(replace(present(107, 7, 325, "Cedric"), process=own))
    assert one.types("/tell Cedric hi") == ["Unable to find client Cedric"]


def test_a_list_of_very_many_players_is_cut_and_counts_all(harness: WorldHarness) -> None:
    one = harness.stand(5)
    for number in range(10, MOST_LISTED + 20):
        harness.presence._put(present(100 + number, number, 12))
    one.types("/who all")
    [reply] = one.decoded("WS_WhoQueryReply")
    assert len(reply["characters_array"]) == MOST_SHOWN
    for line in ("players", "who all"):
        shown = harness.console(line)
        assert shown.lines[0] == "1011 players, 1000 of them listed", shown.lines[0]
        assert len(shown.data) == MOST_LISTED
    assert harness.console("who Name10").lines[0] == "31 players"
