"""A channel whose members are in two processes."""

from __future__ import annotations

import pytest

from emu.processes.bus import LocalBus
from emu.processes.ports import CAME, GONE, LOST, Note
from emu.world.social.channels import DROPPED, HELD, Channel
from emu.world.social.chat import PARTLY_HEARD
from tests.support.world.worlds import Client, WorldHarness

YOU_JOINED, YOU_LEFT, OTHER_JOINED, OTHER_LEFT = range(4)


def two() -> tuple[WorldHarness, WorldHarness, Client, Client]:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    return here, there, here.stand(5, 1208, name="Aldana"), there.stand(6, 1208, name="Borvik")


def reported(client: Client) -> list[tuple[int, str, str]]:
    rows = client.decoded("WS_ChatChannelUpdate")
    return [(row["action"], row["channel_name"], row["player_name"]) for row in rows]


def members(client: Client) -> list[str]:
    client.types("/chatwho Trade")
    (*_, reply) = client.decoded("WS_WhoChannelQueryReply")
    return sorted(row["player_name"] for row in reply["player_array"])


def heard(client: Client) -> list[tuple[str, str, str]]:
    rows = client.decoded("WS_HearChat")
    return [(row["channel_name"], row["from"], row["message"]) for row in rows]


def test_members_hear_and_see_each_other_wherever_they_are() -> None:
    _, _, one, other = two()
    one.types("/joinchannel Trade secret")
    assert other.types("/joinchannel trade wrong") == ["the channel Trade has another password"]
    other.types("/joinchannel trade secret")
    assert reported(one)[-1] == (OTHER_JOINED, "Trade", "Borvik")
    assert members(one) == members(other) == ["Aldana", "Borvik"]
    other.types("/tellchannel Trade selling turnips")
    assert heard(one) == heard(other) == [("Trade", "Borvik", "selling turnips")]
    one.types("/ignore Borvik")
    other.types("/tellchannel Trade buying them back")
    assert len(heard(one)) == 1
    other.types("/chatleave Trade")
    assert reported(one)[-1] == (OTHER_LEFT, "Trade", "Borvik")
    assert members(one) == ["Aldana"]


def test_who_speaks_while_the_bus_is_away_gets_a_line() -> None:
    here, _, one, _ = two()
    one.types("/joinchannel Trade")
    assert one.types("/tellchannel Trade selling turnips") == []
    here.world.processes.bus.is_connected = False  # type: ignore[misc]  # a bus in memory
    assert one.types("/tellchannel Trade selling turnips") == [f"[Trade] {PARTLY_HEARD}"]
    assert len(heard(one)) == 2


def test_who_leaves_the_world_leaves_channels_of_others_too() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    other.say("OP_RequestCampMsg", b"\1\1")
    assert reported(one)[-1] == (OTHER_LEFT, "Trade", "Borvik")
    assert (len(there.chat.channels), len(here.chat.channels)) == (0, 1)
    one.say("OP_RequestCampMsg", b"\1\1")
    assert len(there.chat.channels) == len(here.chat.channels) == 0


def test_who_goes_over_to_the_other_process_stays_in_its_channels() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    one.say("OP_RequestCampMsg", b"\1\1")
    here.run(3.0)
    again = there.stand(5)
    assert members(other) == ["Aldana", "Borvik"]
    again.types("/tellchannel Trade here I am")
    assert heard(other)[-1] == ("Trade", "Aldana", "here I am")
    late = {"char_id": 5, "name": "Aldana", "kind": "left", "process": here.name}
    here.bus.publish(Channel("Trade").topic, late)
    assert members(other) == ["Aldana", "Borvik"], "a late report does not remove it"


def test_a_process_that_is_gone_takes_its_members_out_and_brings_them_back() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    here.bus.publish(GONE, {"process": there.name})
    assert members(one) == ["Aldana"]
    here.bus.publish(CAME, {"process": there.name})
    assert members(one) == ["Aldana", "Borvik"]


def test_channels_of_others_count_among_all() -> None:
    here, there, one, _ = two()
    for number in range(2100):
        note = {"channel": f"c{number}", "salt": "", "proof": "", "to": "", "process": there.name}
        here.bus.publish(HELD, note)
    assert len(here.chat.channels.elsewhere) == 2000
    assert here.world.faults.drops["too many channels of other processes"] == 100
    assert one.types("/joinchannel mine") == ["there are too many channels"]


def test_a_password_is_compared_everywhere_and_never_sent() -> None:
    here, there, one, other = two()
    notes: list[Note] = []
    for topic in (HELD, DROPPED, Channel("Club").topic):
        here.bus.subscribe(topic, notes.append)
    one.types("/joinchannel Club sesame")
    for wrong in ("", " open"):
        assert other.types(f"/joinchannel club{wrong}") == ["the channel Club has another password"]
    other.types("/joinchannel club sesame")
    other.types("/tellchannel Club hello")
    assert heard(one) == [("Club", "Borvik", "hello")]
    one.types("/chatleave Club")
    one.types("/joinchannel Club other")
    assert len(here.chat.channels) == 0, "the password holds while somebody is in it anywhere"
    assert notes
    assert "sesame" not in str(notes)
    other.types("/chatleave Club")
    one.types("/joinchannel Club other")
    assert len(here.chat.channels) == 1


def test_only_processes_with_members_hear_a_channel() -> None:
    here, there, one, other = two()
    topic = Channel("Trade").topic
    one.types("/joinchannel Trade")
    other.types("/joinchannel Trade")
    other.types("/chatleave Trade")
    assert here.chat.channels.find("Trade") is not None
    assert there.chat.channels.find("Trade") is None
    one.types("/chatleave Trade")
    assert isinstance(here.bus, LocalBus)
    assert not here.bus.hears(topic)
    assert here.chat.channels.elsewhere == there.chat.channels.elsewhere == {}


def test_a_member_that_another_process_has_let_in_is_not_here_any_more() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    here.run(600.0)
    # The other process lets the character in before this one has noticed that it is gone.
    there.claim(5)
    again = there.stand(5)
    assert here.chat.channels.of(5) == []
    assert here.chat.channels.find("Trade") is None
    assert members(again) == members(other) == ["Aldana", "Borvik"]
    here.service.closed(one.player, one, "lost", here.now)
    here.run(600.0)
    assert members(other) == ["Aldana", "Borvik"]


def test_members_that_a_broken_connection_has_lost_are_published_again() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    found = here.chat.channels.find("Trade")
    assert found is not None
    found.drop(6)
    found.put_member(7, there.name)
    here.bus.publish(LOST, {"process": there.name})
    assert found.members == {5: None, 6: there.name}


@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("is_alone", [True, False])
def test_who_changes_its_node_leaves_no_channel(arrives: bool, is_alone: bool) -> None:
    """The other members read that it had left and joined; one that does not come has left."""
    here = WorldHarness(elsewhere={12: ("192.0.2.9", 9002)})
    there = WorldHarness(beside=here)
    far = there.stand(6, 1208, name="Borvik", zone_id=12)
    near = [] if is_alone else [here.stand(7, 1208, name="Cestra")]
    traveller = here.stand(5, 1208, name="Aldana", admin_status=100)
    for client in (*near, far, traveller):
        client.types("/joinchannel Trade")
    before = [len(reported(client)) for client in (*near, far)]
    traveller.types("/zone 12")
    if arrives:
        again = there.stand(5, 1208, is_zoning=True)
        assert reported(again) == [(YOU_JOINED, "Trade", "")]
        again.types("/tellchannel Trade here I am")
        assert heard(far)[-1] == ("Trade", "Aldana", "here I am")
    for world in (here, there):
        world.run(61.0)
    news = [] if arrives else [(OTHER_LEFT, "Trade", "Aldana")]
    for client, count in zip((*near, far), before, strict=True):
        assert reported(client)[count:] == news
        assert ("Aldana" in members(client)) is arrives
