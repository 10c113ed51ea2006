"""The recurring work of a world: what comes again and again, until the world stops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from twisted.internet.task import Clock

from emu.net.scheduler import Scheduler, Tasks
from emu.net.world.recurring import GROUP_TICK, RecurringWork
from emu.processes.settings import REREAD
from emu.world.ledger.ledger import PRUNED
from tests.support.cluster.group_nodes import GroupNode, GroupNodes


class Scene:
    """The recurring work of a world with the groups of a node."""

    def __init__(self, node: GroupNode) -> None:
        self.clock = Clock()
        scheduler = Scheduler(self.clock)
        self.done: list[str] = []
        self.bus = SimpleNamespace(ticks=[])
        self.parts = SimpleNamespace(
            world=SimpleNamespace(
                groups=node.changes, settings=SimpleNamespace(refresh=self._refresh)
            ),
            ledger=SimpleNamespace(prune=self._prune),
            behaviors=SimpleNamespace(library=SimpleNamespace(has_others=False)),
        )
        ground = SimpleNamespace(bus=self.bus, scheduler=scheduler, tasks=Tasks(cast("Any", None)))
        self.work = RecurringWork(cast("Any", ground), cast("Any", self.parts))

    async def _refresh(self) -> None:
        self.done.append("settings")

    async def _prune(self) -> None:
        self.done.append("ledger")


def two_nodes() -> GroupNodes:
    nodes = GroupNodes(["east", "west"])
    nodes.pass_time(20)
    assert {node.changes.orderer for node in nodes.nodes.values()} == {"east"}
    return nodes


def test_settings_and_the_ledger_come_again_until_the_stop() -> None:
    scene = Scene(two_nodes()["east"])
    scene.work.begin()
    for _ in range(round(max(REREAD, PRUNED))):
        scene.clock.advance(1.0)
    assert scene.done.count("settings") == max(REREAD, PRUNED) // REREAD
    assert scene.done.count("ledger") == max(REREAD, PRUNED) // PRUNED
    scene.work.stop()
    assert scene.clock.getDelayedCalls() == []


def test_groups_of_a_cluster_are_looked_at_and_published_again() -> None:
    nodes = two_nodes()
    scene = Scene(nodes["west"])
    ticks: list[float] = []
    nodes["west"].changes.tick = lambda: ticks.append(scene.clock.seconds())  # type: ignore[method-assign]
    scene.work.begin()
    scene.clock.pump([GROUP_TICK] * 3)
    assert ticks == [1.0, 2.0, 3.0]
    assert scene.bus.ticks == [nodes["west"].changes.publish_digest]


def test_the_node_that_orders_groups_hands_them_over_when_it_stops() -> None:
    nodes = two_nodes()
    Scene(nodes["east"]).work.stop_groups()
    assert nodes["west"].changes.orderer == "west", "at once, not after seconds without an orderer"
