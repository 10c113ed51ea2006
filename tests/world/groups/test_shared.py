"""Groups of several nodes: who orders their changes, and what becomes of them in faults."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.processes.ports import Note
from emu.world.groups.changes import GroupAction
from emu.world.groups.groups import MOST_MEMBERS, GroupRow
from emu.world.groups.shared import (
    CLAIM,
    HANDOVER,
    MALFORMED,
    NOT_NOW,
    ORDERS,
    UNCLAIMED,
    GroupsClaim,
    Unreadable,
    read_row,
)
from tests.processes.contracts.cluster_bus import Nodes
from tests.support.cluster.brokers import InMemory, MemoryCluster
from tests.support.cluster.group_nodes import GroupNode, GroupNodes
from tests.support.coroutines import finish
from tests.world.social.contracts.groups import GroupsContract

NAMES = ("east", "south", "west")


class TestInMemory(GroupsContract):
    @pytest.fixture
    def nodes(self) -> Nodes:
        return InMemory(MemoryCluster())


def begun() -> GroupNodes:
    """Return three nodes, of which east orders, with two players at each."""
    nodes = GroupNodes(NAMES)
    nodes.pass_time(round(UNCLAIMED) + 2)
    for number, name in enumerate(NAMES):
        for char_id in (10 * number + 10, 10 * number + 11):
            nodes[name].enters(char_id)
    return nodes


def invites(nodes: GroupNodes, leader: tuple[str, int], guest: tuple[str, int]) -> None:
    nodes[leader[0]].asks(GroupAction.INVITE, leader[1], guest[1])
    nodes[guest[0]].asks(GroupAction.ACCEPT, guest[1])


def all_members(nodes: GroupNodes) -> list[list[list[int]]]:
    return [node.members for node in nodes.nodes.values()]


def orderers(nodes: GroupNodes) -> set[str]:
    return {node.changes.orderer for node in nodes.nodes.values()}


def grouped() -> GroupNodes:
    """Return the nodes with one group that has a member at each; the leader is at south."""
    nodes = begun()
    invites(nodes, ("south", 20), ("west", 30))
    invites(nodes, ("south", 20), ("east", 10))
    assert all_members(nodes) == [[[20, 30, 10]]] * 3
    return nodes


def test_a_node_alone_orders_after_a_moment() -> None:
    nodes = GroupNodes(["west"])
    nodes["west"].enters(10)
    nodes["west"].asks(GroupAction.INVITE, 10, 11)
    assert nodes["west"].failed == [NOT_NOW]
    nodes.pass_time(round(UNCLAIMED) + 2)
    assert nodes["west"].changes.orderer == "west"
    assert nodes["west"].asks(GroupAction.INVITE, 10, 11)[0].who == 11


def test_one_node_orders_for_all_and_a_later_one_takes_its_groups() -> None:
    nodes = grouped()
    assert orderers(nodes) == {"east"}
    assert nodes["west"].shown[-1] == ([20, 30], [20, 30, 10])
    late = nodes.add("north")
    nodes.pass_time(20)
    assert late.members == [[20, 30, 10]]
    assert orderers(nodes) == {"east"}


def test_each_change_is_the_same_everywhere() -> None:
    nodes = grouped()
    nodes["south"].asks(GroupAction.LEAD, 20, 30)
    assert all_members(nodes) == [[[30, 20, 10]]] * 3
    assert nodes["south"].asks(GroupAction.KICK, 20, 10) == []
    assert nodes["south"].failed == ["only the leader of a group may do that"]
    assert nodes["west"].asks(GroupAction.KICK, 30, 10)[0].members == (30, 20)
    assert all_members(nodes) == [[[30, 20]]] * 3
    nodes["west"].asks(GroupAction.DISBAND, 30)
    assert all_members(nodes) == [[]] * 3


def test_a_raid_of_groups_at_three_nodes() -> None:
    nodes = begun()
    for name, leader in (("east", 10), ("south", 20), ("west", 30)):
        nodes[name].joins(leader + 1, leader)
    for name, leader in (("south", 20), ("west", 30)):
        assert nodes["east"].asks(GroupAction.INVITE_TO_RAID, 10, leader + 1)[0].who == leader
        assert nodes[name].asks(GroupAction.ACCEPT, leader)[0].is_raid
    for node in nodes.nodes.values():
        assert node.groups.raid_of(31).members == [10, 11, 20, 21, 30, 31]
        assert node.groups.raid_of(31).leader == 10
    nodes["east"].asks(GroupAction.LEAVE_RAID, 10)
    assert {node.groups.raid_of(31).leader for node in nodes.nodes.values()} == {20}
    late = nodes.add("north")
    nodes.pass_time(2)
    assert late.groups.raid_of(21).members == [20, 21, 30, 31]
    nodes["south"].asks(GroupAction.KICK_FROM_RAID, 20, 31)
    for node in nodes.nodes.values():
        assert len(node.members) == 3
        with pytest.raises(CommandError, match="no raid"):
            node.groups.raid_of(21)


def test_who_goes_to_another_node_stays_and_who_does_not_arrive_is_removed() -> None:
    nodes = grouped()
    nodes["west"].goes(30)
    nodes.pass_time(50)
    assert all_members(nodes) == [[[20, 30, 10]]] * 3
    assert {node.changes.present(30).zone_id for node in nodes.nodes.values()} == {12}  # type: ignore[union-attr]
    nodes["south"].enters(30, zone_id=13)
    assert {node.changes.present(30).zone_id for node in nodes.nodes.values()} == {13}  # type: ignore[union-attr]
    assert nodes["west"].shown[-1] == ([20, 30, 10], [20, 30, 10])
    nodes.pass_time(100)
    assert all_members(nodes) == [[[20, 30, 10]]] * 3
    nodes["south"].goes(30)
    nodes.pass_time(70)
    assert all_members(nodes) == [[[20, 10]]] * 3
    assert nodes["east"].left == [("Name30", [20, 10])]


def test_who_leaves_the_world_leaves_the_group_although_messages_are_lost() -> None:
    nodes = grouped()
    nodes["west"].leaves(30)
    assert all_members(nodes) == [[[20, 10]]] * 3
    nodes = grouped()
    nodes.lose(1.0, random.Random(1))
    nodes["west"].leaves(30)
    assert all_members(nodes) == [[[20, 30, 10]]] * 3
    nodes.lose(0.0, random.Random(1))
    nodes.pass_time(6)
    assert all_members(nodes) == [[[20, 10]]] * 3


def test_who_is_back_before_its_leaving_was_heard_stays() -> None:
    nodes = grouped()
    nodes.lose(1.0, random.Random(1))
    nodes["west"].leaves(30)
    nodes.lose(0.0, random.Random(1))
    nodes["south"].enters(30)
    nodes.pass_time(20)
    assert all_members(nodes) == [[[20, 30, 10]]] * 3


@pytest.mark.parametrize("name", ["east", "west"])
def test_the_members_of_a_killed_node_are_forgotten_everywhere(name: str) -> None:
    nodes = grouped()
    nodes.kill(name)
    nodes.pass_time(20)
    gone = {"east": 10, "west": 30}[name]
    assert all_members(nodes) == [[[one for one in (20, 30, 10) if one != gone]]] * 2
    assert orderers(nodes) == {"south" if name == "east" else "east"}


def test_a_node_that_ends_hands_over_at_once() -> None:
    nodes = grouped()
    nodes["east"].goes(10)
    nodes["south"].enters(10)
    nodes.stop("east")
    assert orderers(nodes) == {"south"}
    assert nodes["west"].reported == nodes["south"].reported == ["east", "south"]
    nodes["south"].asks(GroupAction.LEAD, 20, 30)
    again = nodes.add("east")
    nodes.pass_time(20)
    assert orderers(nodes) == {"south"}, "one that comes later does not take it away"
    assert again.members == nodes["west"].members == [[30, 20, 10]]


def stand_still(nodes: GroupNodes, name: str, seconds: int) -> None:
    """Let a node stand still for a while; when it goes on, it has heard nobody since."""
    node, bus = nodes.nodes.pop(name), nodes.buses.pop(name)
    transport = nodes.cluster.transports[name]
    transport.is_connected = False
    nodes.pass_time(seconds)
    transport.is_connected = True
    nodes.buses[name], nodes.nodes[name] = bus, node
    bus.handle_timer(nodes.cluster.clock.now())


@pytest.mark.parametrize("name", ["east", "west"])
def test_a_node_that_stood_still_for_a_moment_changes_nothing(name: str) -> None:
    nodes = grouped()
    stand_still(nodes, name, 4)
    nodes.cluster.clock.seconds += 3.0
    nodes.buses[name].handle_timer(nodes.cluster.clock.now())
    nodes.pass_time(30)
    assert all_members(nodes) == [[[20, 30, 10]]] * 3
    assert orderers(nodes) == {"east"}


@pytest.mark.parametrize("name", ["east", "west"])
def test_a_node_that_stood_still_for_long_takes_the_groups_of_the_others(name: str) -> None:
    nodes = grouped()
    stand_still(nodes, name, 25)
    nodes.pass_time(30)
    gone = {"east": 10, "west": 30}[name]
    assert all_members(nodes) == [[[one for one in (20, 30, 10) if one != gone]]] * 3
    assert orderers(nodes) == {"south" if name == "east" else "east"}


def test_without_the_bus_nothing_changes_and_nobody_is_removed() -> None:
    nodes = grouped()
    for name in NAMES:
        nodes.cluster.cut(name)
    nodes.pass_time(40)
    nodes["east"].asks(GroupAction.LEAVE, 10)
    assert nodes["east"].failed == [NOT_NOW], "also at the node that orders"
    nodes["east"].leaves(10)
    for name in NAMES:
        nodes.cluster.restore(name)
        nodes.pass_time(2)
    nodes.pass_time(20)
    assert all_members(nodes) == [[[20, 30]]] * 3
    assert orderers(nodes) == {"east"}


def test_after_a_cut_the_later_claim_counts_everywhere() -> None:
    nodes = grouped()
    nodes.cluster.cut("east")
    nodes.pass_time(20)
    assert orderers(nodes) == {"south", "east"}
    assert nodes["west"].members == [[20, 30]]
    nodes.cluster.restore("east")
    nodes.pass_time(10)
    assert orderers(nodes) == {"south"}
    assert all_members(nodes) == [[[20, 30]]] * 3


def test_invitation_and_disband_at_the_same_time() -> None:
    for order in range(2):
        nodes = grouped()
        nodes["south"].asks(GroupAction.INVITE, 20, 31)
        nodes.cluster.hold()
        acts = [("west", GroupAction.ACCEPT, 31), ("south", GroupAction.DISBAND, 20)]
        for name, action, by in acts if order else reversed(acts):
            nodes[name].asks(action, by)
        nodes.cluster.release()
        nodes.pass_time(6)
        lists = all_members(nodes)
        assert lists[0] == lists[1] == lists[2]
        # The guest has joined a group that is disbanded then, or a new one of the former leader.
        assert lists[0] in ([], [[20, 31]])


def test_two_leaders_are_named_at_the_same_time() -> None:
    nodes = grouped()
    nodes.cluster.hold()
    nodes["south"].asks(GroupAction.LEAD, 20, 30)
    nodes["south"].asks(GroupAction.LEAD, 20, 10)
    nodes["south"].asks(GroupAction.KICK, 20, 10)
    nodes.cluster.release()
    assert all_members(nodes) == [[[30, 20, 10]]] * 3
    assert nodes["south"].failed == ["only the leader of a group may do that"] * 2


def test_an_inviter_that_has_left_or_hidden_gets_no_group() -> None:
    nodes = begun()
    nodes["south"].asks(GroupAction.INVITE, 20, 30)
    nodes["south"].leaves(20)
    nodes["south"].asks(GroupAction.INVITE, 21, 31)
    nodes["south"].presence.seen(21, hidden=True)
    for guest in (30, 31):
        nodes["west"].asks(GroupAction.ACCEPT, guest)
    assert nodes["west"].failed == ["nobody has invited you"] * 2
    assert all_members(nodes) == [[]] * 3


ROW = {"id": 3, "members": [1, 2], "raid": 0, "place": 0}
WRONG: list[Any] = [
    None, 3, [], {}, {"epoch": "1", "earlier": 1.0, "process": "west"},
    {"epoch": 1, "earlier": float("nan"), "process": "west"}, {**ROW, "id": 0}, {**ROW, "id": "3"},
    {**ROW, "members": []}, {**ROW, "members": [1, 1]}, {**ROW, "members": [1, -2]},
    {**ROW, "members": [1, "2"]}, {**ROW, "members": list(range(1, MOST_MEMBERS + 2))},
    {**ROW, "raid": -1}, {**ROW, "place": None},
]  # fmt: skip


@pytest.mark.parametrize("values", WRONG)
def test_a_malformed_row_is_dropped_and_counted(values: Any) -> None:
    assert isinstance(read_row(values), Unreadable)
    nodes = grouped()
    table = nodes["east"].changes._rows
    number = table.own.number + 1
    key = next(key for key in table.own.rows if key != CLAIM)
    note = {
        "process": "east", "run": nodes["east"].run, "number": number, "key": key + 100,
        "row": json.dumps(values),
    }  # fmt: skip
    nodes.buses["west"]._local.publish("groups.changed", note)
    west = nodes["west"]
    assert west.members == [[20, 30, 10]]
    assert west.counts[MALFORMED] == (0 if values is None else 1), "null is a removed row"


MEMBERS = st.lists(st.integers(1, 1 << 31), min_size=1, max_size=MOST_MEMBERS, unique=True)


@given(st.integers(1, 1 << 53), MEMBERS, st.integers(0, 99), st.integers(0, 99))
def test_rows_come_back_as_they_were(
    number: int, members: list[int], raid: int, place: int
) -> None:
    row = GroupRow(number, tuple(members), raid, place)
    assert read_row(json.loads(json.dumps(row._asdict()))) == row


def test_a_claim_comes_back_as_it_was() -> None:
    claim = GroupsClaim(7, -1_800_000_000.25, "west")
    assert read_row(json.loads(json.dumps(claim._asdict()))) == claim


@pytest.mark.parametrize(
    "note",
    [{}, {"do": "invite"}, {"do": "dance", "by": 1, "to": 2, "process": "west"},
     {"do": "invite", "by": "1", "to": 2, "process": "west"},
     {"do": None, "by": 1, "to": 2, "process": "west"}],
)  # fmt: skip
def test_a_malformed_question_is_refused_and_counted(note: Note) -> None:
    nodes = begun()
    with pytest.raises(CommandError):
        finish(nodes.buses["west"].request(f"{ORDERS}.east", note))
    assert nodes["east"].counts[MALFORMED] == 1


def test_a_malformed_answer_is_counted() -> None:
    nodes = begun()

    async def answer(_note: Note) -> Note:
        return {"members": "[1, x"}

    nodes.buses["east"].answer(f"{ORDERS}.east", answer)
    nodes["west"].asks(GroupAction.INVITE, 30, 10)
    assert nodes["west"].counts[MALFORMED] == 1
    assert nodes["west"].failed == [NOT_NOW]


def test_only_the_one_that_orders_can_hand_over() -> None:
    nodes = grouped()
    for note in ({}, {"process": "west", "to": "south"}, {"process": 1, "to": None}):
        nodes.buses["west"].publish(HANDOVER, note)
    assert orderers(nodes) == {"east"}


def test_an_asker_of_a_node_that_does_not_order_is_refused() -> None:
    nodes = begun()
    note = {"do": "invite", "by": 30, "to": 10, "process": "west"}
    with pytest.raises(CommandError, match="try again"):
        finish(nodes.buses["west"].request(f"{ORDERS}.south", note))


# --- any order of changes and faults

ACTS = (
    "join", "join", "join", "join", "ally", "ally", "invite", "accept", "raid", "lead", "kick",
    "leave", "disband", "leave raid", "enter", "enter", "enter", "move", "move", "move", "camp",
    "kill", "cut", "restore", "restore", "hold", "release", "release", "lose", "time", "time",
)  # fmt: skip
PLAYERS = range(1, 13)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(ACTS), st.integers(0, 2), st.sampled_from(PLAYERS), st.sampled_from(PLAYERS)
    ),
    min_size=20,
    max_size=60,
)


class Story:
    """Three nodes, and what happens to them and their players."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.nodes = GroupNodes(NAMES)
        self.cut: set[str] = set()
        self.nodes.pass_time(9)
        for char_id in PLAYERS:
            self.nodes[NAMES[char_id % 3]].enters(char_id)

    def where(self, char_id: int) -> GroupNode | None:
        return next((one for one in self.nodes.nodes.values() if char_id in one.inside), None)

    def act(self, act: str, number: int, one: int, other: int) -> None:
        node, player = self.nodes[NAMES[number]], self.where(one)
        asked = {
            "invite": GroupAction.INVITE, "accept": GroupAction.ACCEPT, "lead": GroupAction.LEAD,
            "raid": GroupAction.INVITE_TO_RAID, "kick": GroupAction.KICK,
            "leave": GroupAction.LEAVE, "disband": GroupAction.DISBAND,
            "leave raid": GroupAction.LEAVE_RAID,
        }  # fmt: skip
        if act in asked:
            self.ask(asked[act], one, other)
        elif act in ("join", "ally"):
            self.unite(act, one, other)
        elif act in ("enter", "move", "camp"):
            self.travel(act, one, node, player)
        elif act == "time":
            self.nodes.pass_time(other // 2)
        elif act == "lose":
            self.nodes.lose(0.3 if other > 6 else 0.0, self.chance)
        else:
            self.fail(act, node.name)

    def ask(self, action: GroupAction, one: int, other: int = 0) -> None:
        player = self.where(one)
        if player is not None:
            player.asks(action, one, other)

    def unite(self, act: str, one: int, other: int) -> None:
        """Invite a player or its group as the group's leader, and let its leader accept."""
        leader, asked = (
            one if player is None or (group := player.groups.of(one)) is None else group.leader
            for one, player in ((one, self.where(one)), (other, self.where(other)))
        )
        is_raid = act == "ally"
        self.ask(GroupAction.INVITE_TO_RAID if is_raid else GroupAction.INVITE, leader, other)
        self.ask(GroupAction.ACCEPT, asked if is_raid else other)

    def travel(self, act: str, one: int, node: GroupNode, player: GroupNode | None) -> None:
        if act == "camp" and player is not None:
            player.leaves(one)
        elif act == "move" and player is not None:
            player.goes(one)
            node.enters(one)
        elif act == "enter" and player is None:
            node.enters(one)

    def fail(self, act: str, name: str) -> None:
        cluster = self.nodes.cluster
        match act:
            case "kill":
                self.nodes.kill(name)
                self.nodes.add(name)
                self.cut.discard(name)
            case "cut" if name not in self.cut:
                self.cut.add(name)
                cluster.cut(name)
            case "restore" if name in self.cut:
                self.cut.discard(name)
                cluster.restore(name)
            case "hold":
                cluster.hold()
            case "release":
                cluster.release()

    def heal(self) -> None:
        self.nodes.lose(0.0, self.chance)
        self.nodes.cluster.release()
        for name in self.cut:
            self.nodes.cluster.restore(name)
        self.nodes.pass_time(100)


@pytest.mark.slow
@given(STEPS, st.integers(0, 1000))
def test_whatever_happens_all_nodes_end_with_the_same_groups(
    steps: list[tuple[str, int, int, int]], seed: int
) -> None:
    story = Story(seed)
    for step in steps:
        story.act(*step)
    story.heal()
    nodes = story.nodes.nodes.values()
    assert len({tuple(node.rows) for node in nodes}) == 1
    assert len(orderers(story.nodes)) == 1
    rows = story.nodes["west"].rows
    members = [member for row in rows for member in row.members]
    assert len(members) == len(set(members)), "each is in one group"
    assert all(2 <= len(row.members) <= MOST_MEMBERS for row in rows)
    raids = [row.raid for row in rows if row.raid]
    assert all(raids.count(raid) >= 2 for raid in raids)
    inside = set().union(*(node.inside for node in nodes))
    assert set(members) <= inside, "nobody is in a group who is not in the world"
    assert not any(node.changes._absent or node.changes._leaving for node in nodes)
