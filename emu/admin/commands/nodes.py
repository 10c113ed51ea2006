"""Commands about the nodes of a cluster: list them, drain one, and resume it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from emu.cluster.placement import load
from emu.cluster.ports import NodeRow, NodeState, NodeStore, clock_text
from emu.commands import Argument, Call, CommandSet, Reply
from emu.commands.registry import ADMINISTRATOR, GUIDE
from emu.errors import CommandError
from emu.texts import counted

LOST: Final = "lost"
"""What is shown as the state of a node whose lease has ended."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The context of these commands: the nodes, and which one this process is."""

    store: NodeStore
    own: str
    lease: float
    names: Callable[[], list[str]]
    """Returns the names of the nodes that live."""


NODE = Argument("node", help="its name; this one if it is left out", optional=True, default="")
COMMANDS = CommandSet[Nodes]()


def state_of(node: NodeRow, lease: float) -> str:
    """Return the state of a node as it is shown."""
    is_lost = node.state is not NodeState.STOPPED and not node.is_alive(lease)
    return LOST if is_lost else str(node.state)


@COMMANDS.command("nodes", "list the nodes of the cluster", rank=GUIDE)
async def _nodes(nodes: Nodes, _call: Call) -> Reply:
    rows: list[dict[str, Any]] = [
        {
            "node": one.name, "state": state_of(one, nodes.lease), "players": one.players,
            "capacity": one.about.capacity, "zones": one.instances, "load": round(load(one), 2),
            "host": one.about.host, "port": one.about.port, "version": one.about.version,
            "content": one.about.content, "clock_ahead": round(one.about.clock_ahead),
        }
        for one in await nodes.store.nodes()
    ]  # fmt: skip
    lines = [
        f"{row['node']:<16} {row['state']:<9} {counted(row['players'], 'player')} of"
        f" {row['capacity']}, {counted(row['zones'], 'zone')}"
        + (f", clock {clock_text(row['clock_ahead'])}" if row["clock_ahead"] else "")
        for row in rows
    ]
    return Reply(tuple(lines), rows)


@COMMANDS.command(
    "drain", "send all players of a node to the others, and give it no more zones", NODE,
    rank=ADMINISTRATOR, changes="node {node}", example="drain east",
)  # fmt: skip
async def _drain(nodes: Nodes, call: Call) -> str:
    name = await _changed(nodes, call, NodeState.DRAINING)
    return f"{name} sends its players to other nodes; resume ends that"


@COMMANDS.command(
    "resume",
    "end the drain of a node",
    NODE,
    rank=ADMINISTRATOR,
    changes="node {node}",
    example="resume east",
)
async def _resume(nodes: Nodes, call: Call) -> str:
    return f"{await _changed(nodes, call, NodeState.UP)} gets zones and players again"


async def _changed(nodes: Nodes, call: Call, state: NodeState) -> str:
    """Set the state of the node that a call names; return its name."""
    name = call["node"] or nodes.own
    if name not in nodes.names() or not await nodes.store.set_state(name, state):
        raise CommandError(f"there is no node {name} that lives; nodes lists all")
    return str(name)
