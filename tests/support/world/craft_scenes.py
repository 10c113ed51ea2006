"""Scenes with nodes, collections and devices, for players of any version."""

from __future__ import annotations

from typing import Any

from emu.rules.harvest import COMMON, HarvestItem, HarvestNode, HarvestTable
from emu.world.actors.dealings import Dealing, NodeSkill
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.nodes import verbs_of_node
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, player_of
from tests.support.world.worlds import Client

NODE: int = 9301
SURE = HarvestTable(0, 0, False, one=100.0, three=0, five=0, imbued=0, rare=0, ten=0)
"""A table of which each try gives one thing."""


class CraftScene(TradeScene):
    """A zone with a player, where nodes and devices can be put."""

    def node(
        self,
        name: str = "roots",
        *items: int,
        table: HarvestTable = SURE,
        skill: NodeSkill = NodeSkill.GATHERING,
        **changes: Any,
    ) -> Spawn:
        """Put a node beside the first player, and let it be the target."""
        number = NODE + len(self.harness.crafts._nodes)
        things = tuple(HarvestItem(one, COMMON, 0) for one in items or (kinds.PEBBLE,))
        self.harness.crafts._nodes[number] = HarvestNode((table,), things)
        dealing = Dealing(7, node=number, node_skill=skill)._replace(**changes)
        player = player_of(self.one)
        place = player.position._replace(x=player.position.x + 1.0)
        spawn = Spawn(
            self.harness.zones.next_spawn_id(), SpawnKind.GROUND, name, place,
            verbs=verbs_of_node(dealing, ()), dealing=dealing,
        )  # fmt: skip
        player.zone.add(spawn, self.harness.now)
        self.harness.run(1.0)
        self.targets(self.one, spawn)
        return spawn

    def uses(self, client: Client, spawn: Spawn, *, seconds: float = 6.0) -> list[str]:
        """Let a client use the first verb of a spawn; return what it reads until it is over."""
        before = len(client.log)
        verb = spawn.verbs[0]
        index = player_of(client).index_of(spawn) or 0
        fields = {"spawn_id": index, "command": verb.command}
        layout = client.dialect.layout("WS_EntityVerbsVerb")
        client.say("OP_EntityVerbsVerbMsg", layout.encode(fields))
        self.harness.run(seconds)
        return texts(client, before)


def texts(client: Client, before: int = 0) -> list[str]:
    """Return the lines that a client was sent from a place of its log on."""
    return [str(row["text"]) for row in rows(client, "WS_DisplayText", before)]


def rows(client: Client, struct: str, before: int = 0) -> list[dict[str, Any]]:
    """Return the messages of a struct that a client was sent from a place of its log on."""
    name = client.dialect.layout(struct).definition
    wanted = name.opcode_type or name.opcode_name
    return [
        client.dialect.layout(struct).decode(payload)
        for message, payload in client.log[before:]
        if message == wanted
    ]
