"""`Collecting`: collections of players: their pieces, the window, and handing them in.

A piece goes from the bags to the pieces that its character has put away. They are an owner of their
own, so the ledger counts them. A collection that was handed in keeps its pieces, with a mark.

Source: docs/protocol/world/crafting.md#collections; recorded in
../shared/data/recordings/items-546-deal and items-561-deal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from emu.content.crafts import Collection, CollectionReward
from emu.errors import EmuError
from emu.items.held import Place, Thing, Where
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal, Why
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason, ThingChanges
from emu.model import SavedKind
from emu.rules.coins import coins_text
from emu.world.actors.client import send_text
from emu.world.actors.player import Player, PlayerState
from emu.world.crafting.giving import Crafts, begin, whole_count
from emu.world.events import Arrived, LeftZone
from emu.world.item_events import CollectionDone
from emu.world.items.exchanges import Act, coins, things
from emu.world.items.items import Items
from emu.world.items.texts import RED, YELLOW, own_color

UPDATE, PIECE, FILTER = "WS_CollectionUpdate", "WS_CollectionItem", "WS_CollectionFilter"
ADDED: Final = "You added: {thing} to {collection}"
SOUND: Final = "quest_item"
POPUP_KIND, POPUP_SECONDS, POPUP_COLOR = 5, 3.5, (0x64, 0xFF, 0xFF)
"""As recorded."""
COINS: Final = "You receive {coins} for completing {collection}"
COINS_COLOR: Final = 75
NO_PLACE: Final = "You do not have enough free slots!  Free some slots and try again."
MOST_PIECES: Final = 0xFF
ITEM, SELECTABLE, COIN, EXPERIENCE = "item", "selectable", "coin", "xp"


class Collecting:
    """The collections of the players of one world."""

    def __init__(
        self,
        items: Items,
        crafts: Crafts,
        *,
        show_reward: Callable[[Player, Collection], object],
        give_experience: Callable[[Player, int], object],
    ) -> None:
        """`show_reward` opens the window of what a collection gives.

        `give_experience` gives a player points, and says so.
        """
        self._items = items
        self._world = items.world
        self._crafts = crafts
        self._show_reward = show_reward
        self._give_experience = give_experience
        self._offered: dict[int, int] = {}
        """The collection whose reward a character is shown."""
        self._unsure: Counter[int] = Counter()
        """Experience of rewards that the store was asked for, by character."""
        items.world.events.subscribe(LeftZone, self._left)
        items.world.events.subscribe(Arrived, self._arrived)

    def _left(self, event: LeftZone) -> None:
        """Forget what the client was shown: its windows close when it leaves the zone."""
        self._offered.pop(event.player.id, None)

    # -- what a player has ------------------------------------------------------------------------

    def _pieces_of(self, player: Player) -> list[Thing]:
        return player.holdings.put_away.setdefault(OwnerKind.PIECES, [])

    def found(self, player: Player, collection: int) -> dict[int, Thing]:
        """Return the pieces of a collection that a player has put away, by their place."""
        return {
            one.place.slot: one for one in self._pieces_of(player) if one.place.bag == collection
        }  # fmt: skip

    def begun(self, player: Player) -> list[Collection]:
        """Return the collections of which a player has a piece, by number."""
        numbers = sorted({one.place.bag for one in self._pieces_of(player)})
        return list(self._collections(numbers).values())

    def _collections(self, numbers: Iterable[int]) -> Mapping[int, Collection]:
        try:
            return self._crafts.collections(numbers)
        except EmuError:
            self._world.count("collection that could not be read")
            return {}

    def is_ready(self, player: Player, collection: Collection) -> bool:
        """Return whether a player has all pieces of a collection, and has not handed it in."""
        found = self.found(player, collection.id)
        return len(found) >= len(collection.pieces) and not _is_done(found)

    def ready(self, player: Player) -> list[Collection]:
        """Return the collections that a player can hand in."""
        return [one for one in self.begun(player) if self.is_ready(player, one)]

    # -- what is shown ----------------------------------------------------------------------------

    def fields(self, player: Player, only: Collection | None = None) -> dict[str, Any]:
        """Return the message about a player's collections, or about one of them."""
        shown = self.begun(player) if only is None else [only]
        rows = [self._row(player, one) for one in shown]
        return {
            "num_collections": len(rows), "collection_array": rows, "new_collection_flag": 1,
        }  # fmt: skip

    def _row(self, player: Player, collection: Collection) -> dict[str, Any]:
        found = self.found(player, collection.id)
        pieces = [
            self._piece(number, is_found=place in found)
            for place, number in enumerate(collection.pieces)
        ]
        return {
            "unknown": 1, "collection_name": collection.name,
            "collection_category": collection.category, "completed": int(_is_done(found)),
            "ready_to_turn_in": int(self.is_ready(player, collection)),
            "collection_id": collection.id, "level": collection.level,
            "num_items": len(pieces), "item_array": pieces,
        }  # fmt: skip

    def _piece(self, number: int, *, is_found: bool) -> dict[str, Any]:
        kind = self._items.kinds.get(number)
        return {
            "item_icon": kind.icon if kind is not None else 0,
            "item_name": kind.name if kind is not None else "",
            "item_flag": int(is_found),
            "item_id": number,
            "item_crc": _signed(kind.crc) if kind is not None else 0,
        }

    def send(self, player: Player, only: Collection | None = None) -> None:
        """Send a client its collections."""
        fields = self.fields(player, only)
        player.client.send(UPDATE, fields)

    def match(self, player: Player, number: int) -> None:
        """Show where a thing fits that a client names: by its number, its place or its kind."""
        inventory, place = player.holdings.inventory, player.session.items.number_at(number)
        thing = inventory.get(number) or (None if place is None else inventory.get(place))
        kind = inventory.kind(thing) if thing is not None else self._items.kinds.get(number)
        if kind is not None:
            self.show_filter(player, kind)

    def show_filter(self, player: Player, kind: ItemKind) -> None:
        """Show a player the collections that still need a thing."""
        rows = []
        for one in self._with(kind.id):
            place = one.place_of(kind.id)
            if place is not None and place not in self.found(player, one.id):
                rows.append({"collection_id": one.id, "collection_item_num": place & MOST_PIECES})
        fields = {
            "num_filters": len(rows), "filter_array": rows, "item_icon": kind.icon,
            "item_name": kind.name, "item_id": kind.id,
        }  # fmt: skip
        player.client.send(FILTER, fields)

    def _with(self, item_id: int) -> list[Collection]:
        try:
            return list(self._crafts.collections_with(item_id))
        except EmuError:
            self._world.count("collection that could not be read")
            return []

    # -- adding a piece ---------------------------------------------------------------------------

    def add_thing(self, player: Player, number: int, place: int) -> None:
        """Put the thing at a place of a client's list into a collection.

        What does not fit changes nothing.
        """
        collection = self._collections([number]).get(number)
        held = player.session.items.number_at(place)
        if collection is not None and held is not None:
            begin(self._world, player, lambda: self._add(player, collection, held))

    async def _add(self, player: Player, collection: Collection, held: int) -> None:
        added: list[tuple[Thing, ItemKind]] = []
        outcome, away = None, self._pieces_of(player)
        try:
            outcome = await self._items.exchange(
                Reason.COLLECTED, [player], lambda: self._take(player, collection, held, added)
            )
        finally:
            if outcome is not Outcome.DONE:
                away[:] = [one for one in away if one not in [piece for piece, _ in added]]
        if outcome is not Outcome.DONE:
            return
        ((piece, kind),) = added
        fields = {
            "collection_id": collection.id, "collection_item_num": piece.place.slot, "add": 1,
        }  # fmt: skip
        player.client.send(PIECE, fields)
        text = ADDED.format(thing=kind.name, collection=collection.name)
        send_text(player.client, text, YELLOW)
        red, green, blue = POPUP_COLOR
        player.client.send(
            "WS_OnScreenMsg",
            {
                "unknown": POPUP_KIND, "text": text, "message_type": SOUND,
                "size": POPUP_SECONDS, "red": red, "green": green, "blue": blue,
            },
        )  # fmt: skip
        self._items.changed(player)
        self.send(player, collection)

    def _take(
        self,
        player: Player,
        collection: Collection,
        held: int,
        added: list[tuple[Thing, ItemKind]],
    ) -> Act | None:
        """Take one piece out of the bags; return None for what does not fit."""
        inventory = player.holdings.inventory
        thing = inventory.get(held)
        if thing is None or thing.place.where is not Where.BAGS or held in inventory.locked:
            return None
        place, kind = collection.place_of(thing.item_id), inventory.kind(thing)
        if place is None or place > MOST_PIECES or place in self.found(player, collection.id):
            return None
        is_whole = thing.count == 1 or not kind.is_stackable
        count = thing.count if is_whole else 1
        piece = replace(
            thing, id=thing.id if is_whole else self._items.new_number(), count=count,
            place=Place(Where.HELD, collection.id, place),
        )  # fmt: skip
        inventory.use_up(thing, count)
        added[:] = [(piece, kind)]
        # Within the act: acts that wait begin before the caller of an earlier one goes on.
        self._pieces_of(player).append(piece)
        mine, away = Owner.character(player.id), Owner(OwnerKind.PIECES, player.id)
        parts = [things(mine, away, kind.id, count)]
        return Act(parts, [ThingChanges(away, (piece,))])

    # -- handing in -------------------------------------------------------------------------------

    def hand_in(self, player: Player) -> bool:
        """Show a player the reward of the first collection that it can hand in."""
        ready = self.ready(player)
        if not ready:
            return False
        self._offered[player.id] = ready[0].id
        self._show_reward(player, ready[0])
        return True

    def offered(self, player: Player) -> Collection | None:
        """Return the collection whose reward a player is shown."""
        number = self._offered.get(player.id, 0)
        found = self._collections([number]).get(number) if number else None
        return found if found is not None and self.is_ready(player, found) else None

    def answer(self, player: Player, choice: int) -> bool:
        """Take the reward that is shown, with one of its choices; return False if none is shown."""
        collection = self.offered(player)
        if collection is None:
            return False
        choices = [one for one in collection.rewards if one.kind == SELECTABLE]
        chosen = [one for one in choices if one.value == choice]
        if choices and not chosen:
            self._show_reward(player, collection)  # what the window does not offer is refused
            return True
        begin(self._world, player, lambda: self._give(player, collection, chosen))
        return True

    async def _give(
        self, player: Player, collection: Collection, chosen: list[CollectionReward]
    ) -> None:
        sure = [one for one in collection.rewards if one.kind == ITEM]
        refused: list[Refusal] = []
        # Filled by the act: what an earlier answer has marked while this one waited stays marked.
        before: list[Thing] = []
        outcome, points = None, _sum(collection, EXPERIENCE)
        try:
            outcome = await self._items.exchange(
                Reason.REWARDED, [player],
                lambda: self._reward(player, collection, sure + chosen, refused, before),
            )  # fmt: skip
        finally:
            self._unsure[player.id] -= points if before else 0
            if outcome is not Outcome.DONE:
                self._put_back(player, before)
                self._note_due(player, -points if before else 0)
        if outcome is not Outcome.DONE:
            self._refuse(player, collection, refused)
            return
        self._offered.pop(player.id, None)
        copper = _sum(collection, COIN)
        if copper:
            player.client.send("WS_PlaySound", {"name": "coin_cha_ching"})
            text = COINS.format(coins=coins_text(copper), collection=collection.name)
            send_text(player.client, text, own_color(player.client, COINS_COLOR))
        self._items.changed(player)
        self.send(player, collection)
        self._give_due(player)
        self._world.events.publish(CollectionDone(player, collection.id))
        self.hand_in(player)

    def _note_due(self, player: Player, points: int) -> None:
        """Note experience that a player is still to be given: a crash does not lose it."""
        if points:
            player.journal.points_due += points
            self._world.saves.changed(player, SavedKind.QUESTS, self._world.clock.now())

    def _give_due(self, player: Player) -> None:
        """Give a player the experience that is certain, unless it has left: then it comes later."""
        points = player.journal.points_due - self._unsure[player.id]
        if points > 0 and player.state is not PlayerState.GONE:
            self._note_due(player, -points)
            self._give_experience(player, points)

    def _arrived(self, event: Arrived) -> None:
        self._give_due(event.player)

    def _put_back(self, player: Player, pieces: Iterable[Thing]) -> None:
        """Replace pieces of a player by others of the same numbers."""
        fresh, away = {one.id: one for one in pieces}, self._pieces_of(player)
        away[:] = [fresh.get(one.id, one) for one in away]

    def _refuse(self, player: Player, collection: Collection, refused: list[Refusal]) -> None:
        if not refused:
            return
        if refused[0].reason is Why.NO_FREE_PLACE:
            send_text(player.client, NO_PLACE, RED)
        else:
            self._items.refuse(player, refused[0])
        self._show_reward(player, collection)

    def _reward(
        self,
        player: Player,
        collection: Collection,
        given: list[CollectionReward],
        refused: list[Refusal],
        before: list[Thing],
    ) -> Act | None:
        """Give what a collection gives, and mark its pieces; None if it cannot be given.

        `before` gets the pieces as they were.
        """
        if not self.is_ready(player, collection) or player.state is PlayerState.GONE:
            return None
        inventory, mine = player.holdings.inventory, Owner.character(player.id)
        giver, away = (
            Owner(OwnerKind.COLLECTION, collection.id),
            Owner(OwnerKind.PIECES, player.id),
        )
        wanted: list[tuple[ItemKind, int]] = []
        for one in given:
            kind = self._items.kinds.get(one.value)
            if kind is None:
                self._world.count("reward of a collection that nothing describes")
            else:
                wanted.append((kind, whole_count(kind, one.quantity)))
        reasons = [inventory.refuses(kind, count) for kind, count in wanted]
        refused[:] = [one for one in reasons if one is not None]
        if not refused and not inventory.has_space(wanted):
            refused[:] = [Refusal(Why.NO_FREE_PLACE)]
        if refused:
            return None
        parts: list[Part] = []
        for kind, count in wanted:
            inventory.add_things(kind, count, self._items.new_number)
            parts.append(things(giver, mine, kind.id, count))
        copper = _sum(collection, COIN)
        if copper:
            parts.append(coins(giver, mine, copper))
        before += self.found(player, collection.id).values()
        pieces = [replace(one, is_attuned=True) for one in before]
        self._put_back(player, pieces)
        points = _sum(collection, EXPERIENCE)
        self._unsure[player.id] += points
        self._note_due(player, points)
        return Act(parts, [ThingChanges(away, tuple(pieces))], has_facts=points > 0)


def _is_done(found: Mapping[int, Thing]) -> bool:
    """Return whether a collection was handed in: its pieces are marked."""
    return any(one.is_attuned for one in found.values())


def _sum(collection: Collection, kind: str) -> int:
    return sum(
        one.value * (one.quantity if kind == COIN else 1)
        for one in collection.rewards
        if one.kind == kind
    )


def _signed(number: int) -> int:
    return (number & 0xFFFFFFFF) - ((number & 0x80000000) << 1)
