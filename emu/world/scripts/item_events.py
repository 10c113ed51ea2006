"""Scripts of things: their handles, and the functions that are called when something happens.

A thing's script is that of its kind (`items.lua_script`). It is called as the scripts of spawns
are, with the thing and its player. Source: docs/guides/lua.md#items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from emu.items.held import Thing, Where
from emu.items.kinds import ItemKind
from emu.scripts.signatures import Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.conversations import Conversations, DialogPage
from emu.world.events import DialogAnswered, Entered, Events, LeftZone, MayDrop, Order
from emu.world.item_events import (
    ItemConsumed,
    ItemDescribed,
    ItemDestroyed,
    ItemEquipped,
    ItemExamined,
    ItemObtained,
    ItemOffered,
    ItemRemoved,
    ItemUnequipped,
    ItemUsed,
    ThingEvent,
)
from emu.world.scripts.bodies import Body, Homes, shown
from emu.world.scripts.calls import NO_ANSWER, CallAnswer, Calls

WORN: Final = (Where.WORN, Where.APPEARANCE)
FUNCTIONS: Final[Mapping[type[ThingEvent], str]] = {
    ItemObtained: "obtained",
    ItemRemoved: "removed",
    ItemDestroyed: "destroyed",
    ItemExamined: "examined",
    ItemEquipped: "equipped",
    ItemUnequipped: "unequipped",
    ItemConsumed: "cast",
}
OF_ZONES: Final[Mapping[type[ThingEvent], str]] = {
    ItemEquipped: "item_equipped",
    ItemUnequipped: "item_unequipped",
}
"""Functions of the zone's script."""


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
    """Calls the functions of the scripts of things, and has the talks of things."""

    def __init__(
        self, calls: Calls, homes: Homes, events: Events, conversations: Conversations
    ) -> None:
        self._calls = calls
        self._homes = homes
        self._conversations = conversations
        self._held: dict[int, dict[int, HeldItem]] = {}
        """The handles of things that scripts have seen, by player and thing."""
        for kind in FUNCTIONS:
            events.subscribe(kind, self._happened, Order.MINDS)
        for kind in OF_ZONES:
            events.subscribe(kind, self._zone_hears, Order.MINDS)
        events.subscribe(ItemUsed, self._used, Order.MINDS)
        events.subscribe(ItemDescribed, self._described, Order.MINDS)
        events.subscribe(ItemOffered, self._offered, Order.MINDS)
        events.subscribe(MayDrop, self._may_drop, Order.MINDS)
        events.subscribe(DialogAnswered, self._answered, Order.MINDS)
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

    def ask(self, item: HeldItem, name: str, *more: Handle | None) -> CallAnswer:
        """Call a function of a thing's script with the thing and its player."""
        body = self._homes.body(item.player.spawn, item.player.zone)
        if body is None or not item.kind.script:
            return NO_ANSWER
        return self._calls.run(item.kind.script, name, item.handle, body, *more)

    def _happened(self, event: ThingEvent) -> None:
        player, number = event.player, event.thing.id
        if event.kind.script:
            self.ask(self._item(player, number, event.kind), FUNCTIONS[type(event)])
        if type(event) is ItemRemoved:
            held = self._held.get(player.id, {}).pop(number, None)
            if held is not None:
                if self._conversations.has(player, held):
                    self._conversations.close(player, held)
                held.handle.end()

    def _zone_hears(self, event: ThingEvent) -> None:
        home = self._homes.get(event.player.zone)
        if home is not None:
            self._calls.call(
                home, OF_ZONES[type(event)], self._homes.player(event.player), event.kind.id,
                event.kind.name, event.thing.id,
            )  # fmt: skip

    def _used(self, event: ItemUsed) -> None:
        if not event.kind.script:
            return
        target = event.target
        other = self._homes.body(target, event.player.zone) if target is not None else None
        item = self._item(event.player, event.thing.id, event.kind)
        answer = self.ask(item, "used", other.handle if other is not None else None)
        if answer.is_found and not answer.has_failed:
            is_number = isinstance(answer.value, int | float)
            event.answers.append(answer.value if is_number else 0)

    def placed(self, player: Player, thing: Thing, kind: ItemKind, body: Body) -> None:
        """Call the function of a thing that stands in a house now, with its spawn."""
        if kind.script:
            self.ask(self._item(player, thing.id, kind), "placed", body.handle)

    def _described(self, event: ItemDescribed) -> None:
        if event.player.holdings.inventory.get(event.thing.id) is None:
            return  # the last charge was taken
        item = self._item(event.player, event.thing.id, event.kind)
        value = self.ask(item, "item_description").value
        if isinstance(value, str):
            event.texts.append(shown(value))

    def _offered(self, event: ItemOffered) -> None:
        """Call the function for a kind that nobody has: its handle has the kind alone."""
        name = "buyback_display_flags" if event.is_bought_back else "buy_display_flags"
        item = HeldItem(event.player, 0, event.kind)
        value = self.ask(item, name).value
        item.handle.end()
        if isinstance(value, int | float):
            event.flags.append(int(value))

    def _may_drop(self, event: MayDrop) -> None:
        """Ask the zone's script about a loot table of many creatures: 0 refuses it."""
        home = self._homes.get(event.zone)
        body = self._homes.body(event.spawn, event.zone)
        if home is None or body is None or not home.script:
            return
        answer = self._calls.ask(
            home, f"loot_criteria_{event.kind}", body, event.table, *event.levels
        )
        if answer.is_found and not answer.has_failed:
            event.answers.append(answer.value != 0)

    # -- talks ----------------------------------------------------------------------------------

    def talk(self, item: HeldItem, answers: Sequence[tuple[str, str]], page: DialogPage) -> None:
        """Show the player of a thing a page with answers, each with the name of a function."""
        if item.thing is None:
            return
        texts = [(shown(text), function) for text, function in answers]
        page = replace(page, text=shown(page.text), voice=shown(page.voice))
        player = item.player
        self._conversations.open(player, player.spawn, page, texts, owner=item)

    def _answered(self, event: DialogAnswered) -> None:
        item = event.owner
        if isinstance(item, HeldItem) and item.player is event.player:
            if item.thing is not None:
                self.ask(item, event.reply)
            else:
                self._conversations.close(event.player, item)

    # -- zones ----------------------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        """Call `equipped` of all worn things: their scripts may act on each zone."""
        inventory = event.player.holdings.inventory
        for thing in inventory:
            if thing.place.where in WORN and inventory.kind(thing).script:
                self.ask(self.item(event.player, thing), "equipped")

    def _left(self, event: LeftZone) -> None:
        for held in self._held.pop(event.player.id, {}).values():
            held.handle.end()
