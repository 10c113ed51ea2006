"""Things that players use: charges, food and drink, scrolls and recipe books, and books to read.

What a use does is the work of others: they subscribe to `ItemUsed`, `ItemConsumed` and
`ItemScribed`. Here a thing is found, its use is refused or carried out, and what it costs is taken.

Source: docs/protocol/world/items.md#use, recorded in ../shared/data/recordings/items-546-deal.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from emu.commands import Argument, ArgumentKind, Call
from emu.items.held import Thing, Where
from emu.items.kinds import Book, Food, ItemKind, Scroll, Slot, Sort
from emu.ledger import Owner, OwnerKind
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.item_lists import MESSAGE, WORN, server_slot
from emu.world.actors.player import IN_ZONE, Player, act_alive
from emu.world.commands.context import PlayerCommandSet
from emu.world.events import Entered, LeftZone
from emu.world.item_events import ItemConsumed, ItemScribed, ItemUsed, SpellExamined
from emu.world.items.items import Items
from emu.world.items.reading import show_book
from emu.world.items.texts import NARRATIVE, RED, link
from emu.world.subjects.subject import Subject

WORN_OUT: Final = "Your {link} is worn out and will not be effective until repaired."
OUT_OF_CHARGES: Final = "{name} is out of charges.  It has been removed."
EATEN, DRUNK = "You eat a {name}.", "You drink a {name}."
FULL_OF_FOOD: Final = "If you ate anymore you would explode!"
FULL_OF_DRINK: Final = "If you drank anymore you would explode!"
CHOICES: Final = {
    Slot.FOOD: (
        "You decide to eat immediately whenever you become hungry.",
        "You decide to eat only when you choose to.",
    ),
    Slot.DRINK: (
        "You decide to drink immediately whenever you become thirsty.",
        "You decide to drink only when you choose to.",
    ),
}
"""What a player reads that eats by itself, and one that does not; only the first was recorded."""
NO_ADORNMENTS: Final = "Adornments cannot be put on things on this server."
"""Other things that nobody answers for say nothing (recorded)."""
NOT_SCRIBED: Final = "You do not meet one of the requirements to scribe, due to class or level."
SCRIBED: Final = frozenset((Sort.SCROLL, Sort.RECIPE_BOOK))
USED_UP: Final = Owner(OwnerKind.NOTHING)
ENDLESS: Final = 0xFFFF
"""The charges of a kind that never ends."""
LONGEST_MEAL: Final = 7 * 86400.0
"""Seconds that the effect of food or drink lasts at most."""


class ThingUses(Subject):
    """Uses of the things of one world's players."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._world = items.world
        self._full: dict[tuple[int, Slot], Monotonic] = {}
        """When a character may eat or drink again."""
        self._automatic: dict[int, set[int]] = {}
        """The slots whose food or drink a character uses as soon as it may, by character."""
        self._hunger = items.world.timetable.deadlines("hungry players", self._is_hungry)
        items.world.events.subscribe(Entered, self._entered)
        items.world.events.subscribe(LeftZone, self._left)

    # -- charges --------------------------------------------------------------------------------

    async def use(self, player: Player, index: int) -> None:
        """Use a carried thing that a client names. Raises `CommandError`."""

        def found() -> Thing | None:
            number = player.session.items.number_used(index)
            thing = None if number is None else player.holdings.inventory.get(number)
            return thing if thing is not None and thing.place.where is Where.BAGS else None

        await act_alive(player, lambda: self._use(player, found()))

    async def use_worn(self, player: Player, slot: int) -> None:
        """Use what is worn in a slot, as the client numbers it. Raises `CommandError`."""
        await act_alive(player, lambda: self._use(player, self._worn(player, slot)))

    def _use(self, player: Player, thing: Thing | None) -> None:
        inventory = player.holdings.inventory
        kind = inventory.kind(thing) if thing is not None else None
        if thing is None or kind is None or not kind.is_usable or thing.id in inventory.locked:
            return
        if thing.condition == 0:
            text = WORN_OUT.format(link=link(kind, player.client.version))
            send_text(player.client, text, RED)
            return
        event = ItemUsed(player, thing, kind, player.target)
        self._world.events.publish(event)
        if event.answers and min(event.answers) >= 0:
            self._take_charge(player, thing.id, kind)
        elif not event.answers and kind.sort is Sort.ADORNMENT:
            send_text(player.client, NO_ADORNMENTS)

    def _take_charge(self, player: Player, number: int, kind: ItemKind) -> None:
        thing = player.holdings.inventory.get(number)
        # The use itself may have taken the thing away.
        if thing is None or not 0 < kind.most_charges < ENDLESS:
            return
        self._items.use_up(player, thing, 1, USED_UP)
        left = player.holdings.inventory.get(number)
        self._items.send_window(player, left or thing.counting(0))
        if left is None:
            text = OUT_OF_CHARGES.format(name=kind.name)
            send_text(player.client, text, NARRATIVE)
        self._items.changed(player)

    # -- food and drink -------------------------------------------------------------------------

    async def consume(self, player: Player, slot: int) -> None:
        """Eat or drink what is in a slot, as the client numbers it. Raises `CommandError`."""
        await act_alive(player, lambda: self._consume(player, self._worn(player, slot)))

    def _consume(self, player: Player, thing: Thing | None) -> None:
        kind = player.holdings.inventory.kind(thing) if thing is not None else None
        if thing is None or kind is None or not isinstance(kind.part, Food):
            return
        slot, now = Slot(thing.place.slot), self._world.clock.now()
        if self._full.get((player.id, slot), now) > now:
            text = FULL_OF_FOOD if kind.part.is_food else FULL_OF_DRINK
            send_text(player.client, text, NARRATIVE)
            return
        self._prune(now)
        until = Monotonic(now + min(max(kind.part.duration, 0.0), LONGEST_MEAL))
        self._full[player.id, slot] = until
        self._world.events.publish(ItemConsumed(player, thing, kind))
        text = (EATEN if kind.part.is_food else DRUNK).format(name=kind.name)
        send_text(player.client, text, NARRATIVE)
        rest = player.holdings.inventory.get(thing.id)
        if rest is not None:
            self._items.use_up(player, rest, 1, USED_UP)
            self._items.changed(player)
        self._wait(player, slot)

    def _prune(self, now: Monotonic) -> None:
        self._full = {key: until for key, until in self._full.items() if until > now}

    async def set_automatic(self, player: Player, slot: int, *, is_on: bool) -> None:
        """Let food or drink of a slot be used as soon as possible. Raises `CommandError`."""
        await act_alive(player, lambda: self._set_automatic(player, slot, is_on=is_on))

    def _set_automatic(self, player: Player, number: int, *, is_on: bool) -> None:
        slot = server_slot(number, player.client.version)
        if slot not in (Slot.FOOD, Slot.DRINK):
            return
        slots = self._automatic.setdefault(player.id, set())
        (slots.add if is_on else slots.discard)(slot)
        if not slots:
            del self._automatic[player.id]
        player.holdings.inventory.automatic = set(slots)
        thing = player.holdings.inventory.worn(slot)
        lists = player.session.items
        if thing is not None and lists.is_shown:
            lists.encode_again(thing.id)
            player.client.send_bytes(MESSAGE, lists.worn(player.holdings.inventory, WORN))
        always, by_hand = CHOICES[Slot(slot)]
        send_text(player.client, always if is_on else by_hand, NARRATIVE)
        self._wait(player, Slot(slot))

    def _wait(self, player: Player, slot: Slot) -> None:
        """Use the food or drink of a slot when its effect ends, if the player wants that."""
        name = slot.name
        if slot not in player.holdings.inventory.automatic:
            self._hunger.clear(player, name)
            return
        now = self._world.clock.now()
        self._hunger.set(player, name, max(now, self._full.get((player.id, slot), now)))

    def _is_hungry(self, player: Player, name: str, now: Monotonic) -> None:
        slot = Slot[name]
        thing = player.holdings.inventory.worn(slot)
        is_full = self._full.get((player.id, slot), now) > now
        if thing is None or player.state not in IN_ZONE:
            return  # new food, or the next zone, sets the deadline again
        if is_full or player.holdings.gate.is_closed or player.spawn.hp_percent <= 0:
            self._hunger.set(player, name, Monotonic(now + 1.0))
        else:
            self._consume(player, thing)

    def _entered(self, event: Entered) -> None:
        player = event.player
        slots = self._automatic.get(player.id)
        if slots:
            player.holdings.inventory.automatic = set(slots)
            for slot in slots:
                self._wait(player, Slot(slot))

    def _left(self, event: LeftZone) -> None:
        for slot in (Slot.FOOD, Slot.DRINK):
            self._hunger.clear(event.player, slot.name)

    # -- learning and reading -------------------------------------------------------------------

    async def scribe(self, player: Player, number: int) -> None:
        """Learn what a scroll or a recipe book teaches. Raises `CommandError`."""
        await act_alive(player, lambda: self._scribe(player, number))

    def _scribe(self, player: Player, number: int) -> None:
        inventory = player.holdings.inventory
        thing = inventory.get(number)
        if thing is None or thing.place.where is not Where.BAGS or number in inventory.locked:
            return
        kind = inventory.kind(thing)
        if kind.sort not in SCRIBED:
            return
        event = ItemScribed(player, thing, kind)
        self._world.events.publish(event)
        if True in event.answers:
            rest = inventory.get(number)
            if rest is not None:
                self._items.use_up(player, rest, 1, USED_UP)
            self._items.changed(player)
            if isinstance(kind.part, Scroll):
                # Recorded: the window of what was learned comes last.
                learned = kind.part.spell_id, kind.part.tier
                self._world.events.publish(SpellExamined(player, *learned, is_asked=False))
        elif not event.answers:
            send_text(player.client, NOT_SCRIBED, RED)

    def show_pages(self, player: Player, place: int) -> None:
        """Show the pages of a book that a client names by its place."""
        number = player.session.items.number_at(place)
        thing = None if number is None else player.holdings.inventory.get(number)
        kind = player.holdings.inventory.kind(thing) if thing is not None else None
        if kind is not None and isinstance(kind.part, Book):
            show_book(player, kind, self._world.knowledge)

    # -- all uses -------------------------------------------------------------------------------

    def _worn(self, player: Player, number: int) -> Thing | None:
        slot = server_slot(number, player.client.version)
        return None if slot is None else player.holdings.inventory.worn(slot)


COMMANDS = PlayerCommandSet[ThingUses]()
quiet = partial(COMMANDS.for_players, is_quiet=True)
WORDS: Final = Argument(
    "words", ArgumentKind.TEXT, "what the client's window sends", optional=True, default=""
)
MOST_DIGITS: Final = 20


def _numbers(call: Call, count: int) -> list[int]:
    """Return the numbers that a window has sent; what is missing or no number is -1."""
    words = (call["words"] or "").split()[:count]
    found = [
        int(one) if one.isascii() and one.isdigit() and len(one) <= MOST_DIGITS else -1
        for one in words
    ]
    return [*found, *[-1] * (count - len(found))]


@quiet("use_item", "use a thing that you carry", WORDS, example="use_item 255")
async def _use_item(uses: ThingUses, player: Player, call: Call) -> None:
    await uses.use(player, _numbers(call, 1)[0])


@quiet("use_equipped_item", "use a thing that you wear", WORDS, example="use_equipped_item 18")
async def _use_worn(uses: ThingUses, player: Player, call: Call) -> None:
    await uses.use_worn(player, _numbers(call, 1)[0])


@quiet("consume_food", "eat or drink what is in the slot", WORDS, example="consume_food 22")
async def _consume(uses: ThingUses, player: Player, call: Call) -> None:
    await uses.consume(player, _numbers(call, 1)[0])


@quiet("set_auto_consume", "eat or drink by yourself as soon as you can", WORDS,
       example="set_auto_consume 22 1")  # fmt: skip
async def _set_automatic(uses: ThingUses, player: Player, call: Call) -> None:
    slot, is_on = _numbers(call, 2)
    await uses.set_automatic(player, slot, is_on=is_on == 1)


@quiet("scribe_scroll_item", "learn what a scroll or a recipe book teaches", WORDS,
       example="scribe_scroll_item 1001")  # fmt: skip
async def _scribe(uses: ThingUses, player: Player, call: Call) -> None:
    await uses.scribe(player, _numbers(call, 1)[0])


@quiet("read", "read a book that you carry", WORDS, example="read read 0")
async def _read(uses: ThingUses, player: Player, call: Call) -> None:
    # The client repeats the word in front of the place.
    uses.show_pages(player, next((one for one in _numbers(call, 2) if one >= 0), -1))


ThingUses.COMMANDS = COMMANDS
