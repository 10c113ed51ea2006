"""A channel whose members are in two processes."""

from __future__ import annotations

from emu.processes.ports import CAME, GONE
from tests.support.world.worlds import Client, WorldHarness

YOU_JOINED, YOU_LEFT, OTHER_JOINED, OTHER_LEFT = range(4)


def two() -> tuple[WorldHarness, WorldHarness, Client, Client]:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    return here, there, here.stand(5, name="Aldana"), there.stand(6, name="Borvik")


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


def test_who_leaves_the_world_leaves_channels_of_others_too() -> None:
    here, there, one, other = two()
    for client in (one, other):
        client.types("/joinchannel Trade")
    other.say("OP_RequestCampMsg", b"\1\1")
    assert reported(one)[-1] == (OTHER_LEFT, "Trade", "Borvik")
    assert len(there.chat.channels) == len(here.chat.channels) == 1
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
    late = {"char_id": 5, "name": "Aldana", "channel": "Trade", "process": here.name}
    here.bus.publish("channel.left", late)
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
        here.bus.publish(
            "channel.joined",
            {"char_id": 6, "name": "Borvik", "channel": f"c{number}", "password": "",
             "process": there.name},
        )  # fmt: skip
    assert len(here.chat.channels) == 2000
    assert here.world.counters["too many channels of other processes"] == 100
    assert one.types("/joinchannel mine") == ["there are too many channels"]
