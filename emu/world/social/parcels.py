"""`Parcels`: the things of letters.

A thing is locked while a player writes its letter, and goes with the letter in one transaction. It
keeps its number and its values on the way.

Source: docs/protocol/world/mail.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from emu.correspondence import Letter, NewLetter, Postage, Posted, SendResult
from emu.errors import CommandError, OutOfDate
from emu.items.held import Place, Thing, Where
from emu.items.inventory import may_share
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal
from emu.ledger import Moved, Movement, Outcome, Owner, Reason, ThingChanges
from emu.processes.ports import MailStore
from emu.world.actors.player import MailWindow, Player
from emu.world.items.exchanges import Act, coins, things
from emu.world.items.items import Items
from emu.world.items.reward_windows import enclosed

NO_ITEM: Final = 0xFF
ADDRESSED: Final = Owner.letter(0)
"""The letter that is not stored yet; the store knows its number."""
NO_PLACE: Final = "You do not have any slots available for this item."


class Parcels:
    """The things that players send with letters."""

    def __init__(self, items: Items, store: MailStore) -> None:
        self._items = items
        self._store = store
        self._world = items.world

    # -- the window -------------------------------------------------------------------------------

    def attach(self, player: Player, window: MailWindow, place: int, count: int) -> None:
        """Attach the thing of a place of the client's list, or so many of a stack.

        Raises `CommandError`.
        """
        inventory = player.holdings.inventory
        number = player.session.items.number_at(place)
        thing = inventory.get(number) if number is not None else None
        if thing is None or thing.place.where is not Where.BAGS:
            raise CommandError("name the place of a thing in your bags")
        kind = inventory.kind(thing)
        most = thing.count if kind.is_stackable else 1
        if not 0 < count <= most:
            raise CommandError(f"you do not have {count} of it")
        if not may_share(thing, kind):
            raise CommandError(f"{kind.name} cannot be sent to others")
        if inventory.inside(thing):
            raise CommandError(f"empty {kind.name} first")
        if thing.id in inventory.locked and thing.id != window.thing:
            raise CommandError(f"{kind.name} is in use")
        self.release(player)
        inventory.locked.add(thing.id)
        # The charges of a thing are its count: they go with it.
        window.thing, window.count = thing.id, count if kind.is_stackable else thing.count

    def show_locks(self, player: Player) -> None:
        """Send a client what it carries again, with what is in its window."""
        if player.is_online:
            self._items.show_locks(player)

    def release(self, player: Player) -> bool:
        """Take the thing out of the window; return whether there was one."""
        window = player.mail
        if window is None or not window.thing:
            return False
        player.holdings.inventory.locked.discard(window.thing)
        window.thing = window.count = 0
        self.show_locks(player)
        return True

    def in_window(self, player: Player, window: MailWindow) -> dict[str, Any]:
        """Return the fields of the thing in a window."""
        thing = player.holdings.inventory.get(window.thing) if window.thing else None
        shown = replace(thing, count=window.count) if thing is not None else None
        return self.fields(player, shown, number=window.thing)

    def fields(self, player: Player, thing: Thing | None, *, number: int = 0) -> dict[str, Any]:
        """Return the fields of the thing of a letter; those that say that there is none without.

        `number` is the thing's, if its owner sees it.
        """
        kind = self._items.kinds.get(thing.item_id) if thing is not None else None
        if thing is None or kind is None:
            return no_item_fields(player)
        found = enclosed(player.client.version, kind, thing.count, number=number)
        return {
            "item_count": found["count"], "item_type": found["packettype"] & 0xFFFF,
            "item_type_high": found["packettype"] >> 16, "packetsubtype": found["packetsubtype"],
            "item": {"item": found["item"]},
        }  # fmt: skip

    async def load_kinds(self, letters: Iterable[Letter]) -> Mapping[int, ItemKind]:
        """Read the kinds of the things of letters, which are shown then."""
        wanted = {one.thing.item_id for one in letters if one.thing is not None}
        return await self._items.load_kinds(wanted) if wanted else {}

    def name_of(self, thing: Thing) -> str:
        """Return the name of the kind of a thing."""
        kind = self._items.kinds.get(thing.item_id)
        return kind.name if kind is not None else f"thing {thing.item_id}"

    # -- on the way -------------------------------------------------------------------------------

    async def send(
        self, player: Player, parcel: tuple[int, int], letter: NewLetter, postage: Postage
    ) -> Posted:
        """Send a letter with so many of a thing, in one transaction.

        Raises `CommandError` and `StoreError`.
        """
        number, count = parcel
        posted = Posted(SendResult.FAILED)

        def act() -> Act | None:
            inventory = player.holdings.inventory
            thing = inventory.get(number)
            if thing is None or thing.count < count:
                return None
            inventory.locked.discard(number)
            is_whole = count == thing.count
            inventory.use_up(thing, count)
            sent = replace(
                thing, id=number if is_whole else self._items.new_number(), count=count,
                place=Place(Where.HELD, 0, 0),
            )  # fmt: skip
            part = things(Owner.character(player.id), ADDRESSED, thing.item_id, count)
            return Act([part], [ThingChanges(ADDRESSED, (sent,))])

        async def carry(movement: Movement) -> Moved:
            nonlocal posted
            moment = self._world.clock.moment()
            try:
                posted = await self._store.send_surely(
                    letter, postage, moment, movement.request, movement
                )
            except OutOfDate:
                return Moved(Outcome.NO_OWNER)
            is_sent = posted.result is SendResult.SENT
            return Moved(Outcome.DONE if is_sent else Outcome.TOO_FEW)

        outcome = await self._items.exchanges.exchange(Reason.SENT, [player], act, carry)
        if outcome is Outcome.DONE:
            self._items.changed(player)
        return posted

    async def take(self, player: Player, letter: Letter, thing: Thing) -> bool:
        """Take thing and coins of a letter in one transaction; False if they have gone.

        Raises `CommandError` and `StoreError`.
        """
        kind = (await self.load_kinds([letter])).get(thing.item_id)
        if kind is None:
            raise CommandError(f"nothing describes the thing {thing.item_id}")
        refused: list[Refusal | None] = []
        taken: list[Thing] = []

        def act() -> Act | None:
            inventory = player.holdings.inventory
            refusal = inventory.refuses(kind, thing.count)
            if refusal is not None or not inventory.has_space([(kind, thing.count)]):
                refused.append(refusal)
                return None
            if kind.is_stackable:
                numbers = self._items.numbers_from(thing.id)
                taken[:] = inventory.add_things(kind, thing.count, numbers, thing)
            else:
                taken[:] = [inventory.accept(thing, kind)]
            mine, theirs = Owner.character(player.id), Owner.letter(letter.id)
            parts = [things(theirs, mine, kind.id, thing.count)]
            if letter.coins:
                parts.append(coins(theirs, mine, letter.coins))
            return Act(parts, [ThingChanges(theirs, (), (thing.id,))])

        async def carry(movement: Movement) -> Moved:
            moved = await self._store.take_things(
                player.character.account_id, player.id, letter.id, self._world.clock.moment(),
                movement,
            )  # fmt: skip
            self._items.ledger.learn(moved.balances)
            return moved

        outcome = await self._items.exchanges.exchange(Reason.TAKEN, [player], act, carry)
        if outcome is Outcome.DONE:
            self._items.changed(player)
            self._items.obtained(player, taken)
            return True
        if refused and refused[0] is not None:
            self._items.refuse(player, refused[0])
            raise CommandError("the letter keeps its thing")
        if refused:
            raise CommandError(NO_PLACE)
        return False


def no_item_fields(player: Player) -> dict[str, Any]:
    """Return the fields that say that there is no item."""
    return {"item_type": player.client.dialect.world_rules.no_item, "item_subtype": NO_ITEM}
