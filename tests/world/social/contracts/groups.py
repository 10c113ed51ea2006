"""What groups of several nodes must do over every bus of several processes.

An implementation's test class gives a fixture `nodes`, as for the contract of the bus.
"""

from __future__ import annotations

import pytest

from emu.errors import CommandError
from emu.world.groups.changes import GroupAction
from emu.world.groups.shared import ORDERS, UNCLAIMED
from tests.processes.contracts.cluster_bus import Nodes
from tests.support.cluster.group_nodes import GroupNode
from tests.support.times import ManualClock


class Scene:
    """Nodes on one bus, each with a player; the time of groups is in the test's hand."""

    def __init__(self, nodes: Nodes) -> None:
        self.bus = nodes
        self.clock = ManualClock()
        self.nodes: dict[str, GroupNode] = {}

    async def begin(self) -> None:
        """Start three nodes; the first by name orders."""
        for number, name in enumerate(("east", "north", "west")):
            self.add(name).enters(10 + number)
        await self.bus.settle()
        await self.pass_time()
        assert self.orderers() == {"east"}

    def add(self, name: str) -> GroupNode:
        made = self.nodes[name] = GroupNode(self.bus.add(name), name, self.clock)
        return made

    def orderers(self) -> set[str]:
        return {node.changes.orderer for node in self.nodes.values()}

    def members(self) -> list[list[list[int]]]:
        return [node.members for node in self.nodes.values()]

    async def pass_time(self) -> None:
        """Let as much time pass as a node waits before it orders."""
        for _ in range(2):
            for node in self.nodes.values():
                node.changes.tick()
            self.clock.seconds += UNCLAIMED
        await self.bus.settle()

    async def digests(self) -> None:
        """Let every node say what it has, and the others ask for what they lack."""
        for node in self.nodes.values():
            node.presence.tick()
            node.changes.publish_digest()
        await self.bus.settle()

    async def agree(self, orderer: str) -> None:
        """Wait, with a bound, until every node follows the one that must order now.

        A node that hears the new claim may ask for rows it has missed before it follows.
        """
        for _ in range(5):
            await self.bus.settle()
            if self.orderers() == {orderer}:
                return
        assert self.orderers() == {orderer}

    async def group(self) -> None:
        """Form a group of all three, which west leads."""
        for guest, name in ((10, "east"), (11, "north")):
            await self.nodes["west"].changes.make(GroupAction.INVITE, 12, guest)
            await self.nodes[name].changes.make(GroupAction.ACCEPT, guest)
        await self.bus.settle()
        assert self.members() == [[[12, 10, 11]]] * 3


class GroupsContract:
    """Subclass it, with a fixture `nodes`."""

    async def test_all_nodes_have_the_same_groups(self, nodes: Nodes) -> None:
        scene = Scene(nodes)
        await scene.begin()
        await scene.group()
        outcome = await scene.nodes["west"].changes.make(GroupAction.LEAD, 12, 11)
        assert outcome.members == (11, 12, 10)
        with pytest.raises(CommandError, match="only the leader"):
            await scene.nodes["west"].changes.make(GroupAction.DISBAND, 12)
        await nodes.settle()
        assert scene.members() == [[[11, 12, 10]]] * 3
        late = scene.add("south")
        await nodes.settle()
        await scene.digests()
        assert late.members == [[11, 12, 10]]
        assert scene.orderers() == {"east"}

    async def test_a_node_that_was_cut_off_gets_what_it_has_missed(self, nodes: Nodes) -> None:
        scene = Scene(nodes)
        await scene.begin()
        await scene.group()
        await nodes.cut("north")
        with pytest.raises(CommandError, match="try again"):
            await scene.nodes["north"].changes.make(GroupAction.LEAVE, 11)
        await scene.nodes["west"].changes.make(GroupAction.KICK, 12, 10)
        await nodes.restore("north")
        await nodes.settle()
        await scene.digests()
        assert scene.members() == [[[12, 11]]] * 3

    async def test_another_node_goes_on_after_one_that_ends(self, nodes: Nodes) -> None:
        scene = Scene(nodes)
        await scene.begin()
        await scene.group()
        scene.nodes.pop("east").changes.stop()
        await nodes.leave("east")
        await scene.agree("north")
        await scene.nodes["west"].changes.make(GroupAction.LEAD, 12, 11)
        await nodes.settle()
        assert [lists[0][0] for lists in scene.members()] == [11, 11]

    async def test_another_node_goes_on_after_one_that_is_killed(self, nodes: Nodes) -> None:
        scene = Scene(nodes)
        await scene.begin()
        await scene.group()
        del scene.nodes["east"]
        await nodes.kill("east")
        await nodes.pass_silence()
        await scene.pass_time()
        assert scene.orderers() == {"north"}
        await scene.pass_time()
        assert scene.members() == [[[12, 11]]] * 2

    async def test_what_is_malformed_changes_nothing(self, nodes: Nodes) -> None:
        scene = Scene(nodes)
        await scene.begin()
        await scene.group()
        own = scene.nodes["east"].changes._rows
        own.put(99, {"id": 99, "members": "all", "raid": 0, "place": 0})
        await nodes.settle()
        with pytest.raises(CommandError):
            await scene.nodes["west"].changes._bus.request(f"{ORDERS}.east", {"do": "dance"})
        counts = [sum(scene.nodes[name].counts.values()) for name in ("east", "north", "west")]
        assert counts == [1, 1, 1]
        assert scene.members() == [[[12, 10, 11]]] * 3
