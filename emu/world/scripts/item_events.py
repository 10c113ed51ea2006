"""Scripts of things: their handles, and the functions that are called when something happens.

A thing's script is that of its kind (`items.lua_script`). It is called as the scripts of spawns
are, with the thing and its player. Source: docs/guides/lua.md#items.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.items.held import Thing
from emu.items.kinds import ItemKind
from emu.scripts.signatures import Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.events import (
    Entered,
    Events,
    ItemDestroyed,
    ItemEquipped,
    ItemExamined,
    ItemObtained,
    ItemRemoved,
    ItemUnequipped,
    ItemUsed,
    LeftZone,
    Order,
    ThingEvent,
)
from emu.world.scripts.bodies import Homes
from emu.world.scripts.calls import Calls

FUNCTIONS = {
    ItemObtained: "obtained",
    ItemRemoved: "removed",
    ItemDestroyed: "destroyed",
    ItemExamined: "examined",
    ItemEquipped: "equipped",
    ItemUnequipped: "unequipped",
}


@dataclass(slots=True, eq=False)
class HeldItem:
    """A thing of a player, as scripts have it."""

    player: Player
    number: int
    kind: ItemKind
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.ITEM, self)

    @property
    def thing(self) -> Thing | None:
        """The thing as it is now; None if the player has it no more."""
        return self.player.holdings.inventory.get(self.number)


class ItemEvents:
    """Calls the functions of the scripts of things."""

    def __init__(self, calls: Calls, homes: Homes, events: Events) -> None:
        self._calls = calls
        self._homes = homes
        self._held: dict[int, dict[int, HeldItem]] = {}
        """The handles of things that scripts have seen, by player and thing."""
        for kind in FUNCTIONS:
            events.subscribe(kind, self._happened, Order.MINDS)
        events.subscribe(ItemUsed, self._used, Order.MINDS)
        events.subscribe(Entered, self._entered, Order.MINDS)
        events.subscribe(LeftZone, self._left, Order.MINDS)

    def item(self, player: Player, thing: Thing) -> HeldItem:
        """Return a thing of a player as scripts have it: one object for each thing."""
        kind = player.holdings.inventory.kind(thing)
        return self._item(player, thing.id, kind)

    def _item(self, player: Player, number: int, kind: ItemKind) -> HeldItem:
        held = self._held.setdefault(player.id, {})
        if number not in held:
            held[number] = HeldItem(player, number, kind)
        return held[number]

    def call(self, player: Player, number: int, kind: ItemKind, name: str) -> object:
        """Call a function of a thing's script; return its first result, None without any."""
        body = self._homes.body(player.spawn, player.zone)
        if body is None or not kind.script:
            return None
        item = self._item(player, number, kind)
        return self._calls.run(kind.script, name, item.handle, body).value

    def _happened(self, event: ThingEvent) -> None:
        if event.kind.script:
            self.call(event.player, event.thing.id, event.kind, FUNCTIONS[type(event)])
        if type(event) is ItemRemoved:
            held = self._held.get(event.player.id, {}).pop(event.thing.id, None)
            if held is not None:
                held.handle.end()

    def _used(self, event: ItemUsed) -> None:
        value = self.call(event.player, event.thing.id, event.kind, "used")
        if isinstance(value, int | float):
            event.answers.append(value)

    def _entered(self, event: Entered) -> None:
        """Call `equipped` of all worn things: their scripts may act on each zone."""
        inventory = event.player.holdings.inventory
        for thing in inventory:
            if thing.place.where in ("worn", "appearance") and inventory.kind(thing).script:
                self.call(event.player, thing.id, inventory.kind(thing), "equipped")

    def _left(self, event: LeftZone) -> None:
        for held in self._held.pop(event.player.id, {}).values():
            held.handle.end()
