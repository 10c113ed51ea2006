"""Scenes with nodes, collections and devices, for players of any version."""

from __future__ import annotations

from typing import Any

from emu.content.knowledge import Component, Product, Recipe
from emu.content.tables import content_tables
from emu.rules.crafting import CraftEvent
from emu.rules.harvest import COMMON, HarvestItem, HarvestNode, HarvestTable
from emu.world.actors.dealings import Dealing, NodeSkill
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.nodes import verbs_of_device, verbs_of_node
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, player_of
from tests.support.world.worlds import Client

NODE: int = 9301
SURE = HarvestTable(0, 0, False, one=100.0, three=0, five=0, imbued=0, rare=0, ten=0)
"""A table of which each try gives one thing."""

ORE, COAL, STRAP = 910036, 910037, 910038
BOOK, RECIPE, BUCKLE, SLAG = 910035, 910001, 910039, 910040
METALWORKING = 4032608519
FORGE = 2
CRAFT_ROWS = (
    'id = 910035, name = "Primer", tradeskill_level = 1, recipe_books = {recipe_id = 910035}',
    'id = 910036, name = "Lump of Bog Ore", icon = 189, stack = 20',
    'id = 910037, name = "Basket of Charcoal", icon = 190, stack = 20',
    'id = 910038, name = "Leather Strap", icon = 191, stack = 20',
    'id = 910039, name = "Plain Belt Buckle", icon = 192, stack = 20',
    'id = 910040, name = "Cooling Slag", icon = 193, stack = 20',
)
"""The things of the recorded recipe."""


def buckle(number: int = RECIPE, *, level: int = 1, **changes: Any) -> Recipe:
    """Return the recorded recipe: an ore, two straps, two charcoals."""
    row = {one.name: one.default for one in content_tables()["recipes"].columns}
    row |= {
        "id": number, "name": "Plain Belt Buckle", "description": "Small work.", "level": level,
        "technique": METALWORKING, "knowledge": METALWORKING, "icon": 192, "bench": "forge",
        "is_complete": 1,
    }  # fmt: skip
    values: dict[str, Any] = {
        "primary": Component((ORE,), 1, "Lump of Bog Ore"),
        "secondary": (Component((STRAP,), 2, "Leather Strap"),),
        "fuel": Component((COAL,), 2, "Basket of Charcoal"),
        "phases": (
            Product(SLAG, 1, 0, 0), Product(SLAG, 2, 0, 0), Product(BUCKLE, 1, 0, 0),
            Product(BUCKLE, 1, 0, 0), Product(BUCKLE, 2, SLAG, 1),
        ),
    }  # fmt: skip
    return Recipe(row, **(values | changes))


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
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(1.0)
        self.targets(self.one, spawn)
        return spawn

    def learns(self, *recipes: Recipe) -> None:
        """Let all players of the scene have a book with recipes, and the first one learn it."""
        self.teaches(*recipes)
        self.one.types(f"/summonitem {BOOK}")
        self.scribes(self.one)

    def teaches(self, *recipes: Recipe, rows: tuple[str, ...] = CRAFT_ROWS) -> None:
        """Let a book have recipes, whose things there are."""
        self.harness.kinds = kinds.item_kinds(rows)
        self.harness.parts.items.kinds = self.harness.kinds
        made = {one.row["id"]: one for one in recipes or (buckle(),)}
        self.harness.crafts._recipes.update(made)
        self.harness.crafts._books[BOOK] = sorted(made)

    def scribes(self, client: Client) -> list[str]:
        """Let a client learn its first book; return what it reads."""
        book = player_of(client).holdings.inventory.of_kind(BOOK)[0]
        return client.types(f"/scribe_scroll_item {book.id}")

    def device(self, number: int = FORGE, name: str = "Forge", away: float = 1.0) -> Spawn:
        """Put a device beside the first player, and let it be the target."""
        dealing = Dealing(6, device=number)
        player = player_of(self.one)
        place = player.position._replace(x=player.position.x + away)
        spawn = Spawn(
            self.harness.zones.next_spawn_id(), SpawnKind.OBJECT, name, place,
            verbs=verbs_of_device(dealing, ()), dealing=dealing,
        )  # fmt: skip
        player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(1.0)
        self.targets(self.one, spawn)
        return spawn

    def gets(self, ore: int = 1, straps: int = 2, coal: int = 2) -> None:
        """Give the first player components."""
        for item, count in ((ORE, ore), (STRAP, straps), (COAL, coal)):
            if count:
                self.one.types(f"/summonitem {item} {count}")

    def begins(self, **changes: int) -> None:
        """Let the first client begin with what it has; `changes` are numbers of things."""
        self.says_begin(self.one, **changes)

    def says_begin(self, client: Client, **changes: int) -> None:
        """Send what a client's window sends when it begins."""
        inventory = player_of(client).holdings.inventory

        def number(name: str, item: int) -> int:
            found = inventory.of_kind(item)
            return changes.get(name, found[0].id if found else 0)

        ore, strap, coal = number("ore", ORE), number("strap", STRAP), number("coal", COAL)
        count = changes.get("count", 2)
        fields = {
            "primary_component_id": ore, "num_primary_selected_items": 1,
            "primary_selected_items_array": [{"item_id": ore, "qty": 1}],
            "num_build_components": 1,
            "component_array": [{
                "component_num": 0, "component_unknown": 1, "component_id": strap,
                "component_qty": count, "slot": 0, "num_selected_items": 1,
                "selected_item_array": [{"item_id": strap, "qty": count}],
            }],
            "unknown2": 1, "fuel_id": coal, "fuel_qty": count, "num_fuel_items": 1,
            "fuel_item_array": [{"item_id": coal, "qty": count}],
        }  # fmt: skip
        if client.dialect.version >= 1193:
            del fields["unknown2"]
        struct = "WS_BeginItemCreation"
        client.say("OP_BeginItemCreationMsg", client.dialect.encode_known(struct, fields))

    def events(self, *events: CraftEvent) -> None:
        """Let rounds of metalworking bring these events."""
        self.harness.crafts._events = {METALWORKING: events}

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
