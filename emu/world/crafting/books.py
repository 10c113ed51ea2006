"""`RecipeBooks`: the recipes that players know: learning books, showing recipes.

A book that a player learns goes from the bags to those that its character has put away. They are an
owner of their own, so the ledger counts them; the recipes follow from the books.

Source: docs/protocol/world/crafting.md#recipes; recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from emu.errors import EmuError
from emu.items.held import Place, Thing, Where
from emu.items.kinds import ItemKind, Sort
from emu.ledger import Outcome, Owner, OwnerKind, Reason, ThingChanges
from emu.rules.stance import arrow_color
from emu.world.actors.client import send_text
from emu.world.actors.player import Player
from emu.world.crafting.giving import Crafts, begin
from emu.world.crafting.recipe_windows import (
    LIST,
    KnownRecipe,
    list_fields,
    old_book,
    send_details,
    show_recipe,
)
from emu.world.item_events import ItemScribed, RecipeExamined, TeachingShown
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.texts import NARRATIVE

LEARNED: Final = 'Recipe: "{name}" put in recipe book.'
NOTHING_NEW: Final = "You have already learned all you can from this item."
TOO_LOW: Final = "Your tradeskill level is not high enough to scribe this book."
WRONG_CLASS: Final = "Your tradeskill class cannot use this recipe."
BOOK: Final = "OP_UpdateRecipeBookMsg"
HARDEST: Final = 4
"""The highest color of a recipe; those of spawns go on (recorded: 3 for one of one's own level)."""


class RecipeBooks:
    """The recipe books of the players of one world."""

    def __init__(self, items: Items, crafts: Crafts) -> None:
        self._items = items
        self._world = items.world
        self._crafts = crafts
        items.world.events.subscribe(ItemScribed, self._scribed)
        items.world.events.subscribe(RecipeExamined, self._examined)
        items.world.events.subscribe(TeachingShown, self._shown)

    # -- what a player knows ----------------------------------------------------------------------

    def _books(self, player: Player) -> list[Thing]:
        return player.holdings.put_away.setdefault(OwnerKind.LIBRARY, [])

    def has_book(self, player: Player, item_id: int) -> bool:
        """Return whether a player has learned a book."""
        return any(one.item_id == item_id for one in self._books(player))

    def of(self, player: Player) -> dict[int, KnownRecipe]:
        """Return the recipes of a player by number."""
        found: dict[int, KnownRecipe] = {}
        for book in self._books(player):
            for one in self._taught(book.item_id):
                found.setdefault(one.id, one)
        return dict(sorted(found.items()))

    def recipe(self, player: Player, number: int) -> KnownRecipe | None:
        """Return a recipe that a player knows."""
        return self.of(player).get(number)

    def _taught(self, item_id: int) -> list[KnownRecipe]:
        """Return the recipes that a book teaches."""
        kind = self._items.kinds.get(item_id)
        name = kind.name if kind is not None else ""
        try:
            found = self._crafts.recipes(self._crafts.recipes_of_book(item_id))
        except EmuError:
            self._world.count("recipe that could not be read")
            return []
        return [KnownRecipe(one, name) for one in found.values()]

    # -- what is shown ----------------------------------------------------------------------------

    def send(self, player: Player) -> None:
        """Send a client its recipe book, if its version has one that EQ2Emulator sends."""
        client, known = player.client, self.of(player).values()
        if client.dialect.world_rules.older_windows:
            if client.dialect.world_rules.recipe_book:
                client.send_bytes(BOOK, old_book(client.dialect, known))
            return
        level = player.character.tradeskill_level
        fields = list_fields(known, lambda recipe: min(HARDEST, arrow_color(recipe, level)))
        if known:
            client.send(LIST, fields)

    def describe(self, player: Player, numbers: Iterable[int]) -> None:
        """Send a client the details of those recipes that its player knows."""
        known = self.of(player)
        send_details(player, [known[one] for one in dict.fromkeys(numbers) if one in known])

    def _examined(self, event: RecipeExamined) -> None:
        known = self.recipe(event.player, event.recipe)
        if known is not None and event.player.client.dialect.world_rules.recipe_window:
            show_recipe(event.player, known, self._items.kinds.get)

    def _shown(self, event: TeachingShown) -> None:
        if event.kind.sort is Sort.RECIPE_BOOK and self._taught(event.kind.id):
            event.answers.append({"scribed": int(not self._news(event.player, event.kind))})

    # -- learning ---------------------------------------------------------------------------------

    def _scribed(self, event: ItemScribed) -> None:
        if event.kind.sort is not Sort.RECIPE_BOOK:
            return
        event.answers.append(False)  # the book moves in an exchange of its own
        player, character, kind = event.player, event.player.character, event.kind
        classes = kind.tradeskill_classes
        if kind.tradeskill_level > character.tradeskill_level:
            send_text(player.client, TOO_LOW, NARRATIVE)
        elif classes and not classes >> character.tradeskill_class & 1:
            send_text(player.client, WRONG_CLASS, NARRATIVE)
        elif not self._news(player, kind):
            send_text(player.client, NOTHING_NEW, NARRATIVE)
        else:
            begin(self._world, player, lambda: self._learn(player, kind, event.thing.id))

    def _news(self, player: Player, kind: ItemKind) -> list[KnownRecipe]:
        """Return the recipes of a book that a player does not know yet."""
        known = self.of(player)
        return [one for one in self._taught(kind.id) if one.id not in known]

    async def _learn(self, player: Player, kind: ItemKind, number: int) -> None:
        news: list[KnownRecipe] = []
        books: list[Thing] = []
        outcome = None
        try:
            outcome = await self._items.exchange(
                Reason.LEARNED, [player], lambda: self._take(player, kind, number, news, books)
            )
        finally:
            if outcome is not Outcome.DONE:
                self._books(player)[:] = [one for one in self._books(player) if one not in books]
        if outcome is not Outcome.DONE:
            return
        for one in news:
            send_text(player.client, LEARNED.format(name=one.name), NARRATIVE)
        self._items.changed(player)
        self.send(player)

    def _take(
        self,
        player: Player,
        kind: ItemKind,
        number: int,
        news: list[KnownRecipe],
        books: list[Thing],
    ) -> Act | None:
        """Take a book out of the bags; return None if it is gone or teaches nothing new."""
        inventory = player.holdings.inventory
        thing = inventory.get(number)
        if thing is None or thing.place.where is not Where.BAGS or number in inventory.locked:
            return None
        news[:] = self._news(player, kind)
        if not news:
            return None
        inventory.use_up(thing, 1)
        return Act([things(Owner.character(player.id), _library(player), kind.id, 1)],
                   [self._put_away(player, thing, books)])  # fmt: skip

    def _put_away(self, player: Player, like: Thing, books: list[Thing]) -> ThingChanges:
        """Put a book into a player's library: within the act, for acts that wait begin then."""
        place = Place(Where.HELD, 0, 0)
        book = replace(like, id=self._items.new_number(), count=1, place=place)
        books.append(book)
        self._books(player).append(book)
        return ThingChanges(_library(player), (book,))

    # -- scripts ----------------------------------------------------------------------------------

    def give(self, player: Player, item_id: int) -> bool:
        """Let a player learn a book that a script gives; return whether it is a new one."""
        kind, is_new = self._items.kinds.get(item_id), not self.has_book(player, item_id)
        if kind is None or kind.sort is not Sort.RECIPE_BOOK or not is_new:
            return False
        begin(self._world, player, lambda: self._give(player, kind))
        return True

    async def _give(self, player: Player, kind: ItemKind) -> None:
        books: list[Thing] = []
        outcome = None

        def act() -> Act | None:
            if self.has_book(player, kind.id):
                return None
            like = Thing(0, kind.id, Place(Where.HELD, 0, 0))
            giver = Owner(OwnerKind.SCRIPT)
            return Act([things(giver, _library(player), kind.id, 1)],
                       [self._put_away(player, like, books)])  # fmt: skip

        try:
            outcome = await self._items.exchange(Reason.SCRIPT, [player], act)
        finally:
            if outcome is not Outcome.DONE:
                self._books(player)[:] = [one for one in self._books(player) if one not in books]
        if outcome is Outcome.DONE:
            self.send(player)

    def take_book(self, player: Player, item_id: int) -> bool:
        """Let a player forget a book, by its item or a recipe of it; return whether it had one."""
        gone = [
            one for one in self._books(player)
            if one.item_id == item_id
            or any(recipe.id == item_id for recipe in self._taught(one.item_id))
        ]  # fmt: skip
        if gone:
            begin(self._world, player, lambda: self._forget(player, gone))
        return bool(gone)

    async def _forget(self, player: Player, gone: list[Thing]) -> None:
        books, left = self._books(player), list[Thing]()
        outcome, taker = None, Owner(OwnerKind.SCRIPT)

        def act() -> Act | None:
            left[:] = [one for one in gone if one in books]
            if not left:
                return None
            books[:] = [one for one in books if one not in left]
            parts = [things(_library(player), taker, one.item_id, one.count) for one in left]
            numbers = tuple(one.id for one in left)
            return Act(parts, [ThingChanges(_library(player), (), numbers)])

        try:
            outcome = await self._items.exchange(Reason.SCRIPT, [player], act)
        finally:
            if outcome is not Outcome.DONE:
                books += left
        if outcome is Outcome.DONE:
            self.send(player)


def _library(player: Player) -> Owner:
    return Owner(OwnerKind.LIBRARY, player.id)
