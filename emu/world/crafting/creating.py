"""`Creating`: creations of players, from the window of their components to the product.

A creation locks its components and plays rounds. At its end one transaction takes the components
and gives the product: who leaves before has lost nothing and got nothing.

Source: docs/protocol/world/crafting.md#creations, docs/guides/crafting.md#crafting; recorded in
../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from emu.content.knowledge import Product
from emu.errors import EmuError
from emu.items.held import FULL, Place, Thing, Where
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason
from emu.rules.crafting import (
    MOST,
    Bonus,
    CraftChange,
    CraftEvent,
    RoundEnd,
    brings_event,
    experience,
    made_phase,
    play_round,
)
from emu.rules.loot import Chance
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.player import IN_ZONE, Player, refuses_dead
from emu.world.actors.spawn import Spawn
from emu.world.crafting.books import RecipeBooks
from emu.world.crafting.components import Taken, choose, offers
from emu.world.crafting.creation_windows import send_round, show_components, show_creation
from emu.world.crafting.giving import (
    ActChances,
    Crafts,
    SkillUse,
    begin,
    in_turn,
    whole_count,
)
from emu.world.crafting.recipe_windows import (
    ANY_DEVICE,
    NAMES,
    KnownRecipe,
    bench_of,
    show_device,
)
from emu.world.events import Cast, Entered, LeftZone
from emu.world.item_events import Crafted, CraftingChanged, ItemRemoved
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.texts import RED, STATUS, YELLOW, link, own_color
from emu.world.speech.spoken import play_animation

FIRST_ROUND, ROUND = 0.5, 4.0
"""Seconds until the first round, and between two (recorded)."""
REACH: Final = 10.0
"""How far a device may be whose verb has no distance of its own (recorded)."""
ART_DURABILITY, ART_PROGRESS, ART_SUCCESS = 801, 802, 804
"""The types of the bonuses that arts of crafting give."""
CREATE_VERB: Final = "create"
SMILE: Final = 2441
"""The animation of who has finished a creation (recorded)."""
NO_DEVICE: Final = "You do not have a tradeskill device targeted"
WRONG_DEVICE: Final = "You must be at a {device} in order to craft this recipe"
NO_RECIPE: Final = "You do not have {name} ({number}) in your recipe book."
UNKNOWN: Final = ("Unknown", 0)
"""How EQ2Emulator names a recipe that a player does not have (recorded)."""
NOT_ENOUGH: Final = "You do not have the components of this recipe."
NOT_DESCRIBED: Final = "Nobody knows what this recipe makes."
CRITICAL: Final = {
    RoundEnd.GREAT_SUCCESS: "Critical success!", RoundEnd.GREAT_FAILURE: "Critical failure!",
}  # fmt: skip
COUNTERED: Final = "You successfully countered {event}."
MISSED: Final = "You failed to counter {event}."
CREATED: Final = "You created {link}."
BYPRODUCT: Final = "You received {link} as a byproduct."
GAINED: Final = "You gain {points} Tradeskill XP!"
GAINED_COLOR: Final = 34
STOP: Final = "WS_StopItemCreation"


@dataclass(slots=True)
class Creation:
    """What one player is making."""

    player: Player
    known: KnownRecipe
    device: Spawn
    taken: Mapping[int, int]
    """How many of which things it takes at its end."""
    durability: int = MOST
    progress: int = 0
    event: CraftEvent | None = None
    """What has happened in the last round, until somebody answers it."""
    bonus: CraftChange = field(default_factory=CraftChange)
    """What the next round adds."""


class Creating:
    """The creations of the players of one world."""

    def __init__(
        self,
        items: Items,
        crafts: Crafts,
        books: RecipeBooks,
        *,
        skills: SkillUse,
        chances: ActChances,
        gain: Callable[[Player, int], object],
        art: Callable[[int], int | None],
    ) -> None:
        """`gain` gives a player points of tradeskill experience.

        `art` returns the icon of a spell that is an art of crafting; None for all other spells.
        """
        self._items = items
        self._world = items.world
        self._crafts = crafts
        self._books = books
        self._skills = skills
        self._chances = chances
        self._gain = gain
        self._art = art
        self._windows: dict[int, KnownRecipe] = {}
        """The recipe whose components a character is shown."""
        self._last: dict[int, int] = {}
        """The recipe that a character has opened last."""
        self._running: dict[int, Creation] = {}
        self._rounds = items.world.timetable.deadlines("rounds of crafting", self._round)
        items.world.events.subscribe(LeftZone, self._left)
        items.world.events.subscribe(Cast, self._cast)
        items.world.events.subscribe(Entered, lambda event: self._drop(event.player))

    # -- devices and windows ----------------------------------------------------------------------

    def open_device(self, player: Player) -> None:
        """Open a player's recipe book at the device that it has targeted."""
        device = self._device(player)
        if device is None:
            send_text(player.client, NO_DEVICE, YELLOW)
        else:
            show_device(player, device.look.dealing.device)

    def _device(self, player: Player) -> Spawn | None:
        """Return the device that a player has targeted and can reach."""
        target = player.target
        is_device = target is not None and target.look.dealing.device in NAMES
        return target if target is not None and is_device and _reaches(player, target) else None

    def open(self, player: Player, number: int) -> None:
        """Show a player the components of a recipe; 0 is the last one again."""
        if player.id in self._running:
            return
        number = number or self._last.get(player.id, 0)
        known = self._books.recipe(player, number)
        if known is None:
            name, number = UNKNOWN
            send_text(player.client, NO_RECIPE.format(name=name, number=number), RED)
        elif self._may_make(player, known) is not None:
            self._show(player, known)

    def _may_make(self, player: Player, known: KnownRecipe) -> Spawn | None:
        """Return the device at which a player can make a recipe; say so if there is none."""
        if refuses_dead(player):
            return None
        bench, device = bench_of(known.recipe), self._device(player)
        if device is not None and bench.number in (ANY_DEVICE, device.look.dealing.device):
            return device
        send_text(player.client, WRONG_DEVICE.format(device=bench.name), YELLOW)
        return None

    def _show(self, player: Player, known: KnownRecipe) -> None:
        product = self._items.kinds.get(known.recipe.phases[-1].item_id)
        if product is None:
            self._world.count("product that nothing describes")
            send_text(player.client, NOT_DESCRIBED, YELLOW)
            return
        self._windows[player.id] = known
        self._last[player.id] = known.id
        show_components(player, known, product, offers(known.recipe, player.holdings.inventory))

    # -- a creation -------------------------------------------------------------------------------

    def begin(self, player: Player, wanted: Mapping[int, list[Taken]]) -> None:
        """Begin a creation of the recipe that a player is shown, with the chosen components."""
        in_turn(self._items, player, lambda: self._begin(player, wanted))

    def _begin(self, player: Player, wanted: Mapping[int, list[Taken]]) -> None:
        shown = self._windows.pop(player.id, None)
        if shown is None or player.id in self._running:
            return
        # What the window showed may be forgotten or changed by now.
        known = self._books.recipe(player, shown.id)
        if known is None:
            send_text(player.client, NO_RECIPE.format(name=shown.name, number=shown.id), RED)
            return
        device = self._may_make(player, known)
        if device is None:
            return
        inventory = player.holdings.inventory
        taken = choose(known.recipe, inventory, wanted)
        if taken is None:
            send_text(player.client, NOT_ENOUGH, YELLOW)
            self._show(player, known)
            return
        self._running[player.id] = Creation(player, known, device, taken)
        inventory.locked |= set(taken)
        show_creation(player, known.recipe, self._items.kinds.get)
        self._items.show_locks(player)
        self._rounds.set(player, "", Monotonic(self._world.clock.now() + FIRST_ROUND))
        self._world.events.publish(CraftingChanged(player, is_begun=True))

    def _round(self, player: Player, _name: str, now: Monotonic) -> None:
        creation = self._running.get(player.id)
        if creation is None:
            return
        if not player.is_online or player.state not in IN_ZONE:
            self._drop(player)
            return
        is_able = player.spawn.hp_percent > 0 and _reaches(player, creation.device)
        if not is_able:
            self.stop(player)
            return
        self._play(player, creation, self._chances.next(player.zone, creation.device))
        if creation.progress >= MOST or creation.durability <= 0:
            self.stop(player)
        else:
            self._rounds.set(player, "", Monotonic(now + ROUND))

    def _play(self, player: Player, creation: Creation, chance: Chance) -> None:
        bonus = _bonus_of(player, creation.bonus)
        played = play_round(creation.durability, creation.progress, chance, bonus)
        creation.durability, creation.progress = played.durability, played.progress
        creation.bonus = CraftChange()
        creation.event = self._event(creation, chance)
        text = CRITICAL.get(played.effect)
        if text is not None:
            send_text(player.client, text, YELLOW)
        send_round(player, played, creation.event, player.index_of(creation.device) or 0)
        self._skills.practise(player, creation.known.technique)

    def _event(self, creation: Creation, chance: Chance) -> CraftEvent | None:
        if not brings_event(chance):
            return None
        try:
            events = self._crafts.events(creation.known.technique)
        except EmuError:
            self._world.count("event of crafting that could not be read")
            return None
        return events[int(chance.random() * len(events))] if events else None

    def _cast(self, event: Cast) -> None:
        """Let an art of somebody who makes something answer what has happened."""
        for creation in list(self._running.values()):
            if creation.player.spawn is event.spawn:
                icon = self._art(event.spell_id)
                if icon is not None:
                    self.answer(creation.player, icon)

    def answer(self, player: Player, icon: int) -> bool:
        """Answer the event of a player's last round with an art; False if there is none."""
        creation = self._running.get(player.id)
        if creation is None or creation.event is None:
            return False
        event, creation.event = creation.event, None
        is_right = event.icon == icon
        change = event.countered if is_right else event.missed
        creation.bonus = creation.bonus.plus(change)
        text = COUNTERED if is_right else MISSED
        send_text(player.client, text.format(event=event.name), YELLOW)
        return True

    # -- the end ----------------------------------------------------------------------------------

    def stop(self, player: Player) -> None:
        """End a creation: what it takes goes, and what it has made so far comes."""
        creation = self._running.pop(player.id, None)
        if creation is None:
            return
        self._rounds.clear(player, "")
        player.client.send(STOP, {})
        self._world.events.publish(CraftingChanged(player, is_begun=False))
        begin(self._world, player, lambda: self._finish(player, creation))

    def _left(self, event: LeftZone) -> None:
        self._windows.pop(event.player.id, None)
        self._last.pop(event.player.id, None)
        self._drop(event.player)

    def _drop(self, player: Player) -> None:
        """Give up a creation: nothing is taken, and nothing is made."""
        creation = self._running.pop(player.id, None)
        self._rounds.clear(player, "")
        if creation is not None:
            self._unlock(player, creation)
            self._world.events.publish(CraftingChanged(player, is_begun=False))

    def _unlock(self, player: Player, creation: Creation) -> None:
        """Free the components at once: an exchange under way restores only its own locks."""
        player.holdings.inventory.locked -= set(creation.taken)
        if player.is_online and player.state in IN_ZONE:
            self._items.show_locks(player)

    async def _finish(self, player: Player, creation: Creation) -> None:
        made = _Made(player, creation, self._items)
        outcome = None
        try:
            outcome = await self._items.exchange(Reason.CRAFTED, [player], made.act)
        finally:
            if outcome is not Outcome.DONE:
                self._unlock(player, creation)
        if outcome is not Outcome.DONE:
            for refused in made.refused:
                self._items.refuse(player, refused)
            return
        self._items.changed(player)
        for text, kind in made.texts:
            version = player.client.version
            send_text(player.client, text.format(link=link(kind, version)), STATUS)
        self._reward(player, creation, made)

    def _reward(self, player: Player, creation: Creation, made: _Made) -> None:
        events, known = self._world.events, creation.known
        phase, own = made.phase, player.character.tradeskill_level
        points = experience(known.level, own, phase)
        if points:
            text, color = GAINED.format(points=points), own_color(player.client, GAINED_COLOR)
            send_text(player.client, text, color)
            self._gain(player, points)
        standing = list(self._world.players.standing_in(player.zone))
        play_animation(player.spawn, standing, SMILE)
        for thing, kind in made.gone:
            events.publish(ItemRemoved(player, thing, kind))
        self._items.obtained(player, made.things)
        for kind, count in made.products:
            events.publish(Crafted(player, known.id, kind, count))


class _Made:
    """The end of one creation: what it takes, and what it gives."""

    def __init__(self, player: Player, creation: Creation, items: Items) -> None:
        self._player = player
        self._creation = creation
        self._items = items
        self.phase = made_phase(creation.durability, creation.progress)
        self.refused: list[Refusal] = []
        self.texts: list[tuple[str, ItemKind]] = []
        self.things: list[Thing] = []
        self.gone: list[tuple[Thing, ItemKind]] = []
        """What the player has no more."""
        self.products: list[tuple[ItemKind, int]] = []

    def act(self) -> Act | None:
        """Take the components and give the products; None if something forbids it."""
        inventory, taken = self._player.holdings.inventory, self._creation.taken
        held = {number: inventory.get(number) for number in taken}
        if any(one is None or one.place.where is not Where.BAGS for one in held.values()):
            return None
        recipe = Owner(OwnerKind.RECIPE, self._creation.known.id)
        mine = Owner.character(self._player.id)
        parts: list[Part] = []
        inventory.locked -= set(taken)
        for number, count in taken.items():
            thing = held[number]
            if thing is None:
                return None
            kind = inventory.kind(thing)
            # A thing with charges goes as a whole.
            used = count if kind.is_stackable else thing.count
            if used > thing.count:
                return None
            if inventory.use_up(thing, used) is None:
                self.gone.append((thing, kind))
            parts.append(things(mine, recipe, kind.id, used))
        product = self._creation.known.recipe.phases[self.phase]
        gifts = self._gifts(product)
        if gifts is None:
            return None
        for kind, count, text in gifts:
            refused = inventory.refuses(kind, count)
            if refused is not None:
                self.refused.append(refused)
                return None
            self.things += inventory.add_things(
                kind, count, self._items.new_number, self._like(kind)
            )
            parts.append(things(recipe, mine, kind.id, count))
            self.texts.append((text, kind))
            if text is CREATED:
                self.products.append((kind, count))
        return Act(parts)

    def _gifts(self, product: Product) -> list[tuple[ItemKind, int, str]] | None:
        """Return what a phase gives: kind, count and text; None if nothing describes it."""
        gifts = []
        for item, quantity, text in (
            (product.item_id, product.quantity, CREATED),
            (product.byproduct, product.byproduct_quantity, BYPRODUCT),
        ):
            if not item or quantity <= 0:
                continue
            kind = self._items.kinds.get(item)
            if kind is None:
                self._items.world.count("product that nothing describes")
                return None
            gifts.append((kind, whole_count(kind, quantity), text))
        return gifts

    def _like(self, kind: ItemKind) -> Thing:
        """Return a thing with the name of its creator."""
        return Thing(
            0, kind.id, Place(Where.HELD, 0, 0), 1, FULL,
            creator=self._player.character.name, created=self._items.world.clock.moment(),
        )  # fmt: skip


def _bonus_of(player: Player, change: CraftChange) -> Bonus:
    """Return what a round has beside its own: an answered event, and the arts that last still."""
    bonus = player.spawn.sheet.bonus
    arts = CraftChange(int(bonus(ART_DURABILITY)), int(bonus(ART_PROGRESS)))
    return Bonus(change.plus(arts), bonus(ART_SUCCESS))


def _reaches(player: Player, device: Spawn) -> bool:
    is_there = player.zone.spawn(device.id) is device and player.index_of(device) is not None
    verbs = (*device.verbs, *device.more_verbs)
    reach = max((one.distance for one in verbs if one.command == CREATE_VERB), default=0.0) or REACH
    return is_there and player.position.distance_to(device.position) <= reach
