"""Players of two nodes, each with a bus of its own, joined by a broker in memory."""

from __future__ import annotations

import pytest

from emu.processes.ports import LOST, Note
from tests.support.cluster.brokers import MemoryCluster
from tests.support.world.worlds import Client, WorldHarness


class Nodes:
    """Two nodes, and a player at each."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster()
        self.west = WorldHarness(joined=self.cluster.add("west"))
        self.east = WorldHarness(beside=self.west, joined=self.cluster.add("east"))
        self.lost: list[Note] = []
        for node in (self.west, self.east):
            node.bus.subscribe(LOST, self.lost.append)
        self.one = self.west.stand(5, name="Aldana")
        self.other = self.east.stand(6, name="Borvik", zone_id=12)


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def members(client: Client) -> list[str]:
    client.types("/chatwho Trade")
    return sorted(
        row["player_name"] for row in client.decoded("WS_WhoChannelQueryReply")[-1]["player_array"]
    )


def test_who_private_messages_and_friends(nodes: Nodes) -> None:
    nodes.one.types("/who all")
    rows = nodes.one.decoded("WS_WhoQueryReply")[-1]["characters_array"]
    assert sorted(row["char_name"].rstrip("\0") for row in rows) == ["Aldana", "Borvik"]
    nodes.one.types("/tell borvik are you there")
    assert nodes.other.decoded("WS_HearChat")[-1]["message"] == "are you there"
    nodes.other.types("/tell aldana yes")
    assert nodes.one.decoded("WS_HearChat")[-1]["message"] == "yes"
    nodes.one.types("/friend Borvik")
    nodes.other.say("OP_RequestCampMsg", b"\1\1")
    nodes.east.run(30.0)
    assert lines(nodes.one)[-1] == "Borvik has logged out."
    assert nodes.one.types("/tell borvik gone?") == ["Unable to find client borvik"]
    nodes.east.stand(6)
    assert lines(nodes.one)[-1] == "Borvik has logged in."


def test_a_kick_and_a_ban(nodes: Nodes) -> None:
    assert nodes.west.console("kick Borvik spam").ok
    assert nodes.other.is_closed
    assert nodes.west.presence.find(6) is None
    again = nodes.east.stand(6)
    assert nodes.west.console("ban Borvik").ok
    assert again.is_closed
    assert nodes.west.presence.find(6) is None
    assert nodes.east.world.players.get(6) is None


def test_a_mute_and_its_end(nodes: Nodes) -> None:
    nodes.one.types("/joinchannel Trade")
    nodes.other.types("/joinchannel Trade")
    assert nodes.west.console("mute Borvik 5").text == "Borvik is muted for 5 minutes"
    assert nodes.other.types("/tellchannel Trade buy") == ["you are muted"]
    assert nodes.west.console("unmute Borvik").ok
    nodes.other.types("/tellchannel Trade buy")
    assert nodes.one.decoded("WS_HearChat")[-1]["message"] == "buy"


def test_a_broadcast_reaches_players_of_all_nodes(nodes: Nodes) -> None:
    assert nodes.west.console("broadcast The end is near").text == "sent to 2 players"
    assert lines(nodes.one)[-1] == lines(nodes.other)[-1] == "The end is near"


def test_a_lock_holds_at_every_node(nodes: Nodes) -> None:
    assert nodes.west.console("lock").ok
    assert nodes.east.admission.locked
    assert nodes.east.console("unlock").ok
    assert not nodes.west.admission.locked


def test_channels_and_their_passwords(nodes: Nodes) -> None:
    nodes.one.types("/joinchannel Trade sesame")
    wrong = nodes.other.types("/joinchannel trade open")
    assert wrong == ["the channel Trade has another password"]
    nodes.other.types("/joinchannel trade sesame")
    assert members(nodes.one) == members(nodes.other) == ["Aldana", "Borvik"]
    for _ in range(2):
        nodes.other.types("/tellchannel Trade hello")
        assert nodes.one.decoded("WS_HearChat")[-1]["message"] == "hello"
        nodes.other.types("/chatleave Trade")
        nodes.one.types("/tellchannel Trade alone")
        nodes.other.types("/joinchannel Trade sesame")
        nodes.west.run(30.0)
        nodes.east.run(30.0)
    nodes.cluster.run(10.0)
    assert nodes.lost == [], "who has not heard a channel for a time has lost nothing"


def test_a_node_that_was_cut_off_gets_the_members_again(nodes: Nodes) -> None:
    for client in (nodes.one, nodes.other):
        client.types("/joinchannel Trade")
    nodes.cluster.cut("east")
    nodes.one.types("/chatleave Trade")
    nodes.cluster.run(30.0)
    nodes.west.run(30.0)
    nodes.one.types("/joinchannel Trade")
    nodes.cluster.restore("east")
    nodes.cluster.run(10.0)
    assert members(nodes.one) == members(nodes.other) == ["Aldana", "Borvik"]


def test_a_killed_node_takes_its_players_out_of_channels_and_lists(nodes: Nodes) -> None:
    for client in (nodes.one, nodes.other):
        client.types("/joinchannel Trade")
    nodes.cluster.kill("east")
    nodes.cluster.run(30.0)
    assert members(nodes.one) == ["Aldana"]
    assert nodes.west.presence.find(6) is None
    assert nodes.west.chat.channels.elsewhere == {}


def test_a_guild_of_two_nodes(nodes: Nodes) -> None:
    nodes.one.types("/guild create The Wolves")
    assert nodes.one.types("/guild invite borvik") == ["Borvik is invited to The Wolves"]
    nodes.other.types("/guild accept")
    nodes.one.types("/guildsay hello far away")
    assert nodes.other.hears()[-1] == ("18", "Aldana", "hello far away")
