"""The record of a player: what an operator of which rank is shown of it."""

from __future__ import annotations

from itertools import count

from emu.items.kinds import Slot
from emu.world.subjects.records import connection_row
from tests.support.world.item_scenes import player_of, scene
from tests.support.world.worlds import Client, WorldHarness


def test_a_player_in_the_world_has_place_connection_sheet_and_things() -> None:
    harness, client = scene(name="Borvik", zone_id=325)
    inventory, numbers = player_of(client).holdings.inventory, count(2001)
    satchel, hat, marble = (harness.kinds.get(one) for one in (910003, 910008, 910001))
    assert satchel and hat and marble  # noqa: PT018  # three kinds of the set
    inventory.add_things(satchel, 1, numbers.__next__)
    inventory.add_things(marble, 2, numbers.__next__)
    inventory.add_worn(hat, 1, Slot.HEAD, numbers.__next__)
    inventory.add_to_bank(marble, 1, numbers.__next__)
    found = harness.console("player show borvik").data
    assert (found["name"], found["online"], found["state"]) == ("Borvik", True, "in the zone")
    assert (found["zone_id"], found["client_version"]) == (325, 546)
    assert found["address"] == "127.0.0.1"
    assert found["connection"] == {
        "delay": 50, "timeout": 300, "loss": 0.02, "resent": 1, "dropped": 2, "queue": 120,
        "in_flight": 3, "held": 0, "datagrams_in": 40, "datagrams_out": 50, "bytes_in": 4000,
        "bytes_out": 5000,
    }  # fmt: skip
    assert found["sheet"]["health"] == found["sheet"]["health_most"] > 0
    assert found["guild"] is None
    assert [(one["where"], one["place"], one["name"], one["bag"]) for one in found["things"]] == [
        ("worn", "head", "Dented Iron Cap", 0), ("bags", "1", "Patched Satchel", 0),
        ("bags", "1", "Chipped Marble", 2001), ("bags", "2", "Chipped Marble", 2001),
        ("bank", "1", "Chipped Marble", 0),
    ]  # fmt: skip


def test_a_guide_is_not_shown_the_address(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana")
    guide = harness.stand(6, name="Olwyn", admin_status=10)
    lines = guide.types("player show Aldana")
    assert lines[2] == "client version 546"
    assert lines[3] == "delay 50 ms, loss 2.0 %, queue 120 B"
    master = harness.stand(7, name="Ragn", admin_status=100)
    assert master.types("player show Aldana")[2] == "client version 546 at 127.0.0.1"


def test_the_time_in_the_world_counts_from_now(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana")
    before = harness.console("player show Aldana").data["played"]
    harness.run(90.0)
    assert harness.console("player show Aldana").data["played"] == before + 90


def test_a_character_that_is_away_is_shown_as_stored(harness: WorldHarness) -> None:
    harness.exist("Borvik")
    found = harness.console("player show Borvik").data
    assert (found["online"], found["state"]) == (False, "not in the world")
    assert (found["connection"], found["sheet"], found["things"]) == (None, None, [])
    assert harness.console("player show Nobody").text == "there is no character Nobody"


def test_friends_and_guild_are_shown(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", relations=((0, "Borvik"), (2, "Rude")))
    harness.console("guild create Wanderers Aldana")
    found = harness.console("player show Aldana").data
    assert (found["friends"], found["ignored"]) == (["Borvik"], ["Rude"])
    leave(one)
    found = harness.console("player show Aldana").data
    assert (found["friends"], found["ignored"]) == (["Borvik"], ["Rude"])


def leave(client: Client) -> None:
    client.say("OP_RequestCampMsg", b"\1\1")


def test_operators_see_hidden_players(harness: WorldHarness) -> None:
    harness.stand(5, name="Boss", admin_status=200).types("hide")
    assert harness.console("player show Boss").data["state"] == "in the zone, hidden"


def test_a_connection_that_has_sent_nothing_has_no_loss() -> None:
    row = connection_row(_Silent())  # type: ignore[arg-type]
    assert (row["loss"], row["delay"]) == (0.0, None)


class _Silent:
    """Counters of a session that has only begun."""

    smoothed_round_trip = None

    def __getattr__(self, _name: str) -> int:
        return 0


def test_the_loss_is_a_share_with_four_digits_and_at_most_everything() -> None:
    assert connection_row(_Lossy(3, 1))["loss"] == 0.3333  # type: ignore[arg-type]
    assert connection_row(_Lossy(2, 5))["loss"] == 1.0  # type: ignore[arg-type]


class _Lossy(_Silent):
    """Counters of a session whose datagrams get lost."""

    def __init__(self, sent: int, again: int) -> None:
        self.datagrams_sent, self.retransmissions = sent, again
