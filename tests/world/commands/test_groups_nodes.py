"""Groups and raids of players at different nodes, as players use them."""

from __future__ import annotations

import pytest

from emu.world.events import HidingChanged
from emu.world.groups.shared import NOT_NOW
from tests.support.cluster.brokers import MemoryCluster, start
from tests.support.world.worlds import Client, WorldHarness
from tests.world.commands.test_groups import lines, sheet

ANTONICA = 12


class Nodes:
    """Three nodes with a player each."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster()
        self.worlds: dict[str, WorldHarness] = {}
        for name in ("east", "south", "west"):
            beside = self.worlds.get("east")
            world = WorldHarness(beside=beside, joined=self.cluster.add(name))
            # The answer of a lost node is waited for.
            world.start = start
            self.worlds[name] = world
        self.time = 0
        self.pass_time(8)
        self.one = self.worlds["east"].stand(5, name="Aldana")
        self.two = self.worlds["south"].stand(6, name="Borvik", zone_id=ANTONICA, level=12)
        self.three = self.worlds["west"].stand(7, name="Cestra")

    def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.cluster.run(1.0)
            self.time += 1
            for world in self.worlds.values():
                world.run(1.0)
                changes = world.world.groups
                changes.tick()  # type: ignore[attr-defined]
                if self.time % 5 == 0:
                    changes.publish_digest()  # type: ignore[attr-defined]
                    world.presence.tick()

    def group(self) -> None:
        for client in (self.two, self.three):
            assert client.player is not None
            self.one.types(f"/invite {client.player.name}")
            client.types("/accept")

    def members(self) -> list[list[str]]:
        """The members as the window of each player shows them."""
        return [shown(client) for client in (self.one, self.two, self.three)]


def shown(client: Client) -> list[str]:
    return [name for row in sheet(client)["group_members"] if (name := row["name"].strip("\0"))]


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def grouped(nodes: Nodes) -> Nodes:
    nodes.group()
    return nodes


def test_a_group_of_three_nodes_from_invitation_to_end(nodes: Nodes) -> None:
    one, two, three = nodes.one, nodes.two, nodes.three
    assert one.types("/invite borvik") == ["You invite Borvik to group with you."]
    assert lines(two)[-1] == "Aldana invites you to a group: accept or decline."
    assert two.types("/decline") == ["you declined"]
    assert lines(one)[-1] == "Borvik declines your invitation."
    nodes.group()
    assert lines(two)[-1] == "Cestra has joined the group."
    assert nodes.members() == [["Borvik", "Cestra"], ["Aldana", "Cestra"], ["Aldana", "Borvik"]]
    row = sheet(one)["group_members"][0]
    assert (row["level_current"], row["zone"].strip("\0")) == (12, "Antonica")
    assert (row["hp_current"], row["hp_max"]) == (388, 388)
    assert (row["zone_status"], row["spawn_id"]) == (0, 0xFFFFFFFF)
    assert three.types("/group") == ["Aldana leads", "Aldana, Borvik, Cestra"]
    three.types("/gsay hello all")
    for client in (one, two, three):
        assert client.hears() == [("15", "Cestra", "hello all")]
    assert one.types("/readycheck")[-1] == "the members of your group are asked"
    assert lines(three)[-1] == "Aldana asks whether you are ready."
    one.types("/makeleader Borvik")
    assert lines(three)[-1] == "Borvik leads the group now."
    assert one.types("/kickfromgroup Cestra") == ["only the leader of a group may do that"]
    assert two.types("/kickfromgroup Cestra")[-1] == "Cestra is no longer in your group"
    assert "Borvik has removed you from the group." in lines(three)
    assert nodes.members() == [["Borvik"], ["Aldana"], []]
    assert two.types("/disband") == ["you disbanded the group"]
    assert lines(one)[-1] == "Borvik has disbanded the group."
    assert nodes.members() == [[], [], []]


def test_a_raid_of_players_at_three_nodes(nodes: Nodes) -> None:
    worlds = nodes.worlds
    more = [
        worlds["west"].stand(8, name="Danika"), worlds["east"].stand(9, name="Elanor"),
    ]  # fmt: skip
    nodes.one.types("/invite Borvik")
    nodes.two.types("/accept")
    more[0].types("/invite Elanor")
    more[1].types("/accept")
    assert nodes.one.types("/raidinvite Elanor") == ["the group of Elanor is invited to your raid"]
    assert lines(more[0])[-1] == "Aldana invites your group to a raid: accept or decline."
    more[0].types("/accept")
    assert lines(nodes.two)[-1] == "Danika has joined the raid."
    more[1].types("/raidsay forward")
    for client in (nodes.one, nodes.two, *more):
        assert client.hears() == [("16", "Elanor", "forward")]
    assert "raid of 2 groups: Aldana, Borvik, Danika, Elanor" in nodes.two.types("/whogroup")
    assert more[0].types("/leaveraid") == ["your group left the raid"]
    assert lines(nodes.two)[-1] == "The group of Danika has left the raid."
    assert nodes.two.types("/raidsay alone") == ["you are in no raid"]


def test_who_may_not_be_invited_at_another_node(nodes: Nodes) -> None:
    nodes.two.types("/ignore Aldana")
    assert nodes.one.types("/invite Borvik") == ["Borvik ignores you"]
    nodes.three.types("/decline_groups")
    assert nodes.one.types("/invite Cestra") == ["Cestra declines such invitations"]
    assert nodes.one.types("/invite Nobody") == ["there is no player Nobody in the world"]
    assert nodes.three.types("/accept") == ["nobody has invited you"]


def test_who_camps_comes_back_to_the_group_at_any_node(grouped: Nodes) -> None:
    grouped.three.say("OP_RequestCampMsg", b"\1\1")
    grouped.pass_time(55)
    assert grouped.members()[:2] == [["Borvik", "Cestra"], ["Aldana", "Cestra"]]
    again = grouped.worlds["south"].stand(7, name="Cestra")
    grouped.pass_time(20)
    assert shown(again) == ["Aldana", "Borvik"]
    assert shown(grouped.one) == ["Borvik", "Cestra"]


def test_who_camps_or_is_hidden_leaves_the_group_everywhere(grouped: Nodes) -> None:
    grouped.three.say("OP_RequestCampMsg", b"\1\1")
    grouped.pass_time(67)
    assert lines(grouped.one)[-1] == lines(grouped.two)[-1] == "Cestra has left the group."
    assert grouped.members()[:2] == [["Borvik"], ["Aldana"]]
    assert grouped.two.player is not None
    grouped.worlds["south"].console("admin rank Borvik 100")
    player = grouped.two.player
    player.spawn.hidden = True
    grouped.worlds["south"].presence.seen(6, hidden=True)
    grouped.worlds["south"].world.events.publish(HidingChanged(player))
    assert lines(grouped.one)[-1] == "Borvik has left the group."
    assert shown(grouped.one) == []


def test_who_loses_the_connection_stays_until_it_has_left_the_world(grouped: Nodes) -> None:
    west, player = grouped.worlds["west"], grouped.three.player
    assert player is not None
    west.service.closed(player, grouped.three, "timeout", west.now)
    assert shown(grouped.one) == ["Borvik", "Cestra"]
    grouped.pass_time(round(west.world.rules.link_dead) + 2)
    assert shown(grouped.one) == ["Borvik"]


def test_who_changes_the_node_stays_in_the_group(grouped: Nodes) -> None:
    west, south = grouped.worlds["west"], grouped.worlds["south"]
    assert grouped.three.player is not None
    zone_id = grouped.three.player.zone.zone_id
    west.zone_servers.table[zone_id] = ("127.0.0.1", 9002)
    west.world.start(west.departures.send_to_other_node(grouped.three.player))
    assert west.world.players.get(7) is None
    assert shown(grouped.one) == ["Borvik", "Cestra"]
    assert grouped.one.types("/kickfromgroup Nobody") == ["there is no player Nobody in the world"]
    grouped.pass_time(5)
    again = south.stand(7)
    assert shown(again) == ["Aldana", "Borvik"]
    assert shown(grouped.one) == ["Borvik", "Cestra"]
    again.types("/gsay here I am")
    assert grouped.one.hears() == [("15", "Cestra", "here I am")]
    west.zone_servers.table.clear()
    south.zone_servers.table[zone_id] = ("127.0.0.1", 9003)
    assert again.player is not None
    south.world.start(south.departures.send_to_other_node(again.player))
    assert "Cestra is no longer in your group" in grouped.one.types("/kickfromgroup Cestra")


def test_who_enters_at_another_node_while_it_is_still_here_stays(grouped: Nodes) -> None:
    south = grouped.worlds["south"]
    south.world.start(south.service.fetch(7))
    assert grouped.worlds["west"].world.players.get(7) is None
    south.stand(7)
    grouped.pass_time(5)
    assert grouped.members()[:2] == [["Borvik", "Cestra"], ["Aldana", "Cestra"]]


def test_the_member_of_a_killed_node_is_forgotten(grouped: Nodes) -> None:
    grouped.cluster.kill("west")
    del grouped.worlds["west"]
    grouped.pass_time(20)
    assert lines(grouped.one)[-1] == "Cestra has left the group."
    assert [shown(grouped.one), shown(grouped.two)] == [["Borvik"], ["Aldana"]]


def test_while_nobody_orders_a_change_is_refused_and_chat_goes_on(grouped: Nodes) -> None:
    grouped.cluster.kill("east")
    del grouped.worlds["east"]
    grouped.pass_time(8)
    assert grouped.two.types("/leavegroup") == [NOT_NOW]
    grouped.two.types("/gsay still here")
    assert grouped.three.hears() == [("15", "Borvik", "still here")]
    grouped.pass_time(20)
    assert grouped.two.types("/leavegroup") == ["You have left the group"]
    assert grouped.three.types("/group") == ["you are in no group"]


def test_an_invitation_opens_the_window_at_another_node(nodes: Nodes) -> None:
    nodes.one.types("/invite Borvik")
    (offer,) = nodes.two.decoded("WS_ReceiveOffer")
    assert (offer["type"], offer["name"], offer["guild_name"]) == (1, "Aldana", "")
