"""`ItemActs`: what players do with their things: the command `inventory`, and examining.

A client names a thing by the place of its record, and slots in the numbers of its version. What a
number cannot mean changes nothing.

Source: docs/protocol/world/items.md#acts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from emu.errors import MalformedMessage
from emu.items.held import Thing, Where
from emu.items.inventory import BASE, FIRST_FREE, SHARED
from emu.items.kinds import Crate, Flag, Slot
from emu.items.refusals import Refusal, Why
from emu.items.wearing import Equipped, equip, swap, unequip
from emu.ledger import Owner, OwnerKind
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.item_lists import server_slot
from emu.world.actors.player import IN_ZONE, Player, act_alive
from emu.world.item_events import (
    ItemDestroyed,
    ItemEquipped,
    ItemExamined,
    ItemMoved,
    ItemRemoved,
    ItemUnequipped,
    RecipeExamined,
    SpellExamined,
)
from emu.world.items.items import Items, keeper_of
from emu.world.items.texts import NOTHING_TO_EXAMINE, RED, YELLOW, link
from emu.world.messages import WorldMessages
from emu.world.sheets import COMBAT
from emu.world.speech.windows import Question, ask

USAGE: Final = (
    "Usage: /inventory {destroy|move|equip|unequip|swap_equip|pop|unpack|nosale} {item id}"
    " [to] [bag id]"
)
ATTUNE: Final = "{name} must be attuned before it can be equipped. Would you like to attune it now?"
OWN, BOTH, LINK, SPELL, EFFECT, RECIPE = 0, 1, 2, 3, 4, 5
"""Types of requests to examine something."""
ANYWHERE: Final = -999
"""The list that clients name in `unequip` if they do not say where the thing goes."""
APPEARANCE_TYPE: Final = 3
"""The type of appearances in `swap_equip`."""
LONGEST_QUESTION: Final = 50
FIGHTS: Final = "You cannot unpack that while you fight."
LEAST_EXAMINED, MOST_EXAMINED = 11, 36
"""The shortest and the longest request to examine something that was recorded."""


class ItemActs:
    """The acts of players with their own things."""

    def __init__(self, items: Items, has_bank: Callable[[Player], bool]) -> None:
        """`has_bank` returns whether a player has the bank open, and is near it."""
        self.has_bank = has_bank
        self._items = items
        self._world = items.world
        self._acts: Mapping[str, Callable[[Player, list[int]], None]] = {
            "destroy": self._destroy, "move": self._move, "equip": self._equip,
            "unequip": self._unequip, "swap_equip": self._swap, "pop": self._pop,
            "unpack": self._unpack, "nosale": self._nosale,
        }  # fmt: skip

    def register(self, messages: WorldMessages) -> None:
        """Add the requests of clients to examine something."""
        messages.add_handler("OP_ExamineInfoRequestMsg", self._examine, IN_ZONE)

    async def inventory(self, player: Player, text: str) -> None:
        """Carry out the command `inventory` after earlier acts; the dead do nothing."""
        words = text.split()
        act = self._acts.get(words[0]) if words else None
        if act is None:
            # Recorded: a word that is none of these has no answer.
            if not words:
                send_text(player.client, USAGE, YELLOW)
            return
        numbers = [_number(word) for word in words[1:]]
        await act_alive(player, lambda: act(player, numbers))

    def thing_at(self, player: Player, place: int) -> Thing | None:
        """Return the thing whose record stands at a place of a client's list."""
        number = player.session.items.number_at(place)
        return None if number is None else player.holdings.inventory.get(number)

    # -- the command --------------------------------------------------------------------------

    def _destroy(self, player: Player, numbers: list[int]) -> None:
        thing = self.thing_at(player, _first(numbers))
        if thing is None:
            return
        inventory = player.holdings.inventory
        gone = [thing, *inventory.inside(thing)]
        kinds = [inventory.kind(one) for one in gone]
        refused = inventory.destroy(thing.id)
        if refused is not None:
            self._items.refuse(player, refused)
            return
        for one, kind in zip(gone, kinds, strict=True):
            keeper, nobody = keeper_of(player, one), Owner(OwnerKind.NOTHING)
            player.holdings.flow(keeper, nobody, kind.id, one.count)
        self._items.changed(player)
        for one, kind in zip(gone, kinds, strict=True):
            self._world.events.publish(ItemDestroyed(player, one, kind))
            self._world.events.publish(ItemRemoved(player, one, kind))

    def _move(self, player: Player, numbers: list[int]) -> None:
        place, slot, inventory, count = _padded(numbers, 4)
        thing = self.thing_at(player, place)
        if thing is None:
            self._items.refuse(player, Refusal(Why.NO_THING))
            return
        if inventory == SHARED and not player.holdings.has_shared:
            self._items.refuse(player, Refusal(Why.NO_SUCH_PLACE))
            return
        things = player.holdings.inventory
        is_shared = Where.SHARED in (thing.place.where, things.where(inventory))
        shared = things.in_list(Where.SHARED) if is_shared else []
        made: list[int] = []

        def new() -> int:
            made.append(self._items.new_number())
            return made[-1]

        refused = things.move(thing.id, slot, inventory, count, new, has_bank=self.has_bank(player))
        if refused is not None:
            self._items.refuse(player, refused)
            return
        if is_shared:
            self._settle_shared(player, shared)
        self._items.changed(player, made)
        self._world.events.publish(ItemMoved(player, thing, things.kind(thing)))

    def _settle_shared(self, player: Player, before: Sequence[Thing]) -> None:
        """Note in the ledger what has gone to the shared bank of the account, or come from it.

        Two things of a kind that change places are noted both ways: what is stored of them depends
        on the entries.
        """
        things = player.holdings.inventory
        after = things.in_list(Where.SHARED)
        change = _counts(after)
        change.subtract(_counts(before))
        known, kept = {one.id for one in before}, {one.id for one in after}
        came = _counts(one for one in after if one.id not in known)
        left = _counts(one for one in before if one.id not in kept and things.get(one.id))
        mine = Owner.character(player.id)
        account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
        for item_id, count in change.items():
            both = min(came[item_id], left[item_id])
            if into := max(0, count) + both:
                player.holdings.flow(mine, account, item_id, into)
            if out := max(0, -count) + both:
                player.holdings.flow(account, mine, item_id, out)

    def _equip(self, player: Player, numbers: list[int]) -> None:
        thing = self.thing_at(player, _first(numbers))
        if thing is None:
            return
        slot = self._slot(player, numbers[1]) if len(numbers) > 1 and numbers[1] >= 0 else None
        if len(numbers) > 1 and numbers[1] >= 0 and slot is None:
            return
        is_appearance = len(numbers) > 3 and numbers[3] > 0
        self._put_on(player, thing, slot, is_appearance=is_appearance)

    def _put_on(
        self, player: Player, thing: Thing, slot: int | None, *, is_appearance: bool = False
    ) -> None:
        found = equip(
            player.holdings.inventory, thing.id, self._items.wearer(player), slot=slot,
            is_appearance=is_appearance,
        )  # fmt: skip
        if isinstance(found, Equipped):
            self._worn(player, found)
        elif found.reason is Why.MUST_ATTUNE:
            self._ask_to_attune(player, thing)
        else:
            self._items.refuse(player, found)

    def _worn(self, player: Player, found: Equipped) -> None:
        kind = player.holdings.inventory.kind(found.put_on)
        self._items.changed(player)
        if found.put_on.condition == 0:
            name = link(kind, player.client.version)
            text = f"Your {name} is worn out and will not be effective until repaired."
            send_text(player.client, text, RED)
        self._world.events.publish(ItemEquipped(player, found.put_on, kind))
        for one in found.taken_off:
            off = player.holdings.inventory.kind(one)
            self._world.events.publish(ItemUnequipped(player, one, off))

    def _ask_to_attune(self, player: Player, thing: Thing) -> None:
        name = player.holdings.inventory.kind(thing).name
        place = player.session.items.place_of(thing.id)
        ask(
            player,
            Question(
                ATTUNE.format(name=name), "Attune", f"attune_inv {place} 1 0 -1", "Cancel", "",
                0, has_line=False, is_needed=False, longest=LONGEST_QUESTION,
            ),
        )  # fmt: skip

    async def attune(self, player: Player, text: str) -> None:
        """Attune a thing to a player, and put it on: the answer to the question."""
        numbers = [_number(word) for word in text.split()]
        await act_alive(player, lambda: self._attune(player, numbers))

    def _attune(self, player: Player, numbers: list[int]) -> None:
        thing = self.thing_at(player, _first(numbers))
        inventory = player.holdings.inventory
        if thing is None or thing.place.where is not Where.BAGS or thing.id in inventory.locked:
            return
        if Flag.ATTUNEABLE not in inventory.kind(thing).flags or thing.is_attuned:
            return
        inventory.set(thing, is_attuned=True)
        found = equip(inventory, thing.id, self._items.wearer(player))
        if isinstance(found, Equipped):
            self._items.send_window(player, found.put_on)
            self._worn(player, found)
            return
        inventory.set(thing)  # it stays as it was
        self._items.changed(player)
        self._items.refuse(player, found)

    def _unequip(self, player: Player, numbers: list[int]) -> None:
        slot = self._slot(player, _first(numbers))
        if slot is None:
            return
        is_appearance = len(numbers) > 4 and numbers[4] > 0
        where = Where.APPEARANCE if is_appearance else Where.WORN
        to = None
        if len(numbers) > 2 and numbers[2] >= 0 and numbers[1] != ANYWHERE:
            to = player.holdings.inventory.place(numbers[1], numbers[2])
            if to is None:
                self._items.refuse(player, Refusal(Why.CANNOT_UNEQUIP))
                return
        found = unequip(player.holdings.inventory, slot, where, self._items.wearer(player), to=to)
        if isinstance(found, Refusal):
            self._items.refuse(player, found)
        elif isinstance(found, Equipped):
            self._worn(player, found)
        else:
            self._items.changed(player, list_first=to is None)
            kind = player.holdings.inventory.kind(found)
            self._world.events.publish(ItemUnequipped(player, found, kind))

    def _swap(self, player: Player, numbers: list[int]) -> None:
        one, two, kind = _padded(numbers, 3)
        slots = self._slot(player, one), self._slot(player, two)
        where = Where.APPEARANCE if kind == APPEARANCE_TYPE else Where.WORN
        refused: Refusal | None = Refusal(Why.CANNOT_SWAP)
        if slots[0] is not None and slots[1] is not None:
            wearer = self._items.wearer(player)
            refused = swap(player.holdings.inventory, slots[0], slots[1], where, wearer)
        if refused is not None:
            self._items.refuse(player, refused)
        else:
            self._items.changed(player)

    def _pop(self, player: Player, numbers: list[int]) -> None:
        slot, inventory = _padded(numbers, 2, FIRST_FREE, BASE)
        if inventory == SHARED and not player.holdings.has_shared:
            self._items.refuse(player, Refusal(Why.NO_SUCH_PLACE))
            return
        things = player.holdings.inventory
        shared = things.in_list(Where.SHARED)
        refused = things.pop(slot, inventory, has_bank=self.has_bank(player))
        if refused is not None:
            self._items.refuse(player, refused)
            return
        self._settle_shared(player, shared)
        self._items.changed(player)

    def _unpack(self, player: Player, numbers: list[int]) -> None:
        thing = self.thing_at(player, _first(numbers))
        inventory = player.holdings.inventory
        part = inventory.kind(thing).part if thing is not None else None
        if thing is None or not isinstance(part, Crate) or thing.id in inventory.locked:
            return
        if COMBAT in player.spawn.words:
            send_text(player.client, FIGHTS, RED)
            return
        found = [(self._items.kinds.get(one.item_id), one.number) for one in part.contents]
        things = [(kind, number) for kind, number in found if kind is not None]
        if not inventory.has_space(things):
            self._items.refuse(player, Refusal(Why.NO_FREE_PLACE))
            return
        crate = Owner(OwnerKind.CRATE, thing.item_id)
        made = self._items.make_all(
            player, things, crate, before=lambda: self._items.use_up(player, thing, 1, crate)
        )
        if isinstance(made, Refusal):
            self._items.refuse(player, made)
        else:
            self._items.changed(player)

    def _nosale(self, player: Player, numbers: list[int]) -> None:
        number, is_on = _padded(numbers, 2)
        inventory = player.holdings.inventory
        thing = inventory.get(number >> 32) if number >> 32 else inventory.get(number)
        if thing is not None:
            inventory.set(thing, is_not_for_sale=bool(is_on))
            self._items.changed(player)

    def _slot(self, player: Player, number: int) -> Slot | None:
        found = server_slot(number, player.client.version)
        return None if found is None else Slot(found)

    # -- examining ----------------------------------------------------------------------------

    def _examine(self, player: Player, body: bytes, _now: Monotonic) -> None:
        if not LEAST_EXAMINED <= len(body) <= MOST_EXAMINED:
            raise MalformedMessage("request to examine of unknown length")
        fields = player.client.dialect.layout("WS_ExamineInfoRequestMsg").decode_short(body)
        is_old = player.client.dialect.world_rules.older_windows
        if fields["type"] in (OWN, BOTH):
            self._examine_own(player, fields)
        elif fields["type"] == LINK:
            kind = self._items.kinds.get(fields["id"])
            if kind is not None:
                popup = fields["display"] if is_old else fields.get("unknown5", 0) >> 8
                self._items.send_kind(player, kind, is_popup=int(bool(popup)))
        elif fields["type"] == RECIPE:
            number = fields["unique_id" if is_old else "id"]
            self._world.events.publish(RecipeExamined(player, number))
        elif fields["type"] in (SPELL, EFFECT):
            tier = fields.get("tier", fields.get("unique_id_2", 0))
            self._world.events.publish(
                SpellExamined(player, fields["id"], tier, is_effect=fields["type"] == EFFECT)
            )
        else:
            send_text(player.client, NOTHING_TO_EXAMINE, ERROR_COLOR)

    def _examine_own(self, player: Player, fields: Mapping[str, int]) -> None:
        inventory = player.holdings.inventory
        for number in (fields.get("unique_id", 0), fields["id"]):
            thing = inventory.get(number)
            if thing is not None:
                self._items.send_window(player, thing)
                self._world.events.publish(ItemExamined(player, thing, inventory.kind(thing)))
                return
        waiting = inventory.waiting()
        kind = self._items.kinds.get(fields["id"])
        if waiting and kind is not None and waiting[0].item_id == kind.id:
            # Recorded: the client knows what waits by the number of its kind.
            self._items.send_window(player, replace(waiting[0], id=kind.id))
        elif kind is not None:
            self._items.send_kind(player, kind)


def _number(word: str) -> int:
    """Return a number that a client sends; -1 for what is none."""
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        return -1
    return int(word)


def _counts(things: Iterable[Thing]) -> Counter[int]:
    """Return how many things of each kind there are."""
    found: Counter[int] = Counter()
    for one in things:
        found[one.item_id] += one.count
    return found


def _first(numbers: list[int]) -> int:
    return numbers[0] if numbers else -1


def _padded(numbers: list[int], count: int, *beginning: int) -> list[int]:
    """Return so many numbers; those that are missing are 0, or those of `beginning`."""
    missing = [*beginning, *[0] * count]
    return [*numbers, *missing[len(numbers) : count]][:count]
