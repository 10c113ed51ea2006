"""`Items`: the things of the players of one world.

An act of a player with its own things changes its inventory at once, is shown, and is stored a
little later. An act with another owner, or with coins, is an `exchange`: one transaction that is
stored before anybody is shown anything. While an exchange of a player is under way, its other acts
wait.

Source: docs/contributing/architecture.md#ledger, docs/protocol/world/items.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Protocol

from emu.errors import CommandError, StoreError
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory, portions
from emu.items.kinds import Flag, ItemKind, RecipeBook, Scroll
from emu.items.refusals import Refusal, Why
from emu.items.wearing import Wearer
from emu.ledger import (
    PUT_AWAY,
    Outcome,
    Owner,
    OwnerKind,
    Reason,
)
from emu.mailbox import PendingAnswer
from emu.model import WorldCharacter
from emu.processes.claiming import OwnedThings
from emu.processes.ports import ThingStore
from emu.rules.experience import REST_PAUSE
from emu.times import UNKNOWN
from emu.world.actors.client import send_text
from emu.world.actors.holdings import Holdings
from emu.world.actors.item_lists import APPEARANCE, MESSAGE, WORN
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.events import ClassChanged, Entered, LevelGained, Order, TenthGained
from emu.world.item_events import (
    BagsChanged,
    ItemDescribed,
    ItemObtained,
    ItemRemoved,
    ScrollCarried,
    TeachingShown,
    Traded,
    WornChanged,
)
from emu.world.items import windows
from emu.world.items.effects import set_weight, show_bonuses, show_worn
from emu.world.items.exchanges import Act, Exchanges
from emu.world.items.texts import refusal_text
from emu.world.knowledge import class_line
from emu.world.ledger.ledger import Ledger
from emu.world.sheets import COMBAT, CharacterSheets
from emu.world.world import World

NUMBERS_AT_ONCE: Final = 1000
"""Numbers of new things that a process takes from the store at once."""
FEW_NUMBERS: Final = 300
"""With so few left, the process takes more."""
EVIL: Final = frozenset((1, 10, 12, 13, 14, 17, 18))
GOOD: Final = frozenset((0, 2, 4, 7, 8, 15, 16))
"""Races that are only evil, or only good; all others are both."""


class Kinds(Protocol):
    """The kinds of things; `emu.content.items.ItemKinds` has them."""

    def get(self, number: int) -> ItemKind | None:
        """Return the kind of a number; None if nothing describes it."""

    def load(self, numbers: Iterable[int]) -> Mapping[int, ItemKind]:
        """Return the kinds of some numbers; those that nothing describes are left out."""

    @property
    def starting(self) -> Sequence[Any]:
        """The things of new characters, as `emu.content.beginners.StartingThing`."""

    def search(self, word: str, most: int = 50) -> Sequence[tuple[int, str]]:
        """Return number and name of items whose name contains a word."""


class NoNumbers(StoreError):
    """There is no number for a new thing: the store does not answer."""


class Items:
    """Loads, changes, shows and stores the things of players."""

    def __init__(
        self,
        world: World,
        store: ThingStore,
        ledger: Ledger,
        sheets: CharacterSheets,
        kinds: Kinds,
        *,
        answer: Callable[[], PendingAnswer],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        """`in_thread` carries out a call that may wait for the content file."""
        self.world = world
        self.kinds = kinds
        self.ledger = ledger
        self._store = store
        self._sheets = sheets
        self._answer = answer
        self._in_thread = in_thread
        self._next = self._last = 0
        """The numbers for new things that are left."""
        self._is_reserving = False
        self.exchanges = Exchanges(world, ledger, answer)
        world.events.subscribe(Entered, self._entered, Order.OWNER)
        # Behind the books of spells, which learn some themselves.
        for kind in (LevelGained, TenthGained, ClassChanged):
            world.events.subscribe(kind, lambda event: self._learned(event.player), Order.MINDS)

    # -- loading --------------------------------------------------------------------------------

    async def load(
        self, character: WorldCharacter, stored: OwnedThings | None = None
    ) -> Holdings | None:
        """Load the things of a character that enters. Raises `StoreError`.

        `stored` are those of the character and of its account as the store has them; None to read
        them. Returns None for a character that is in the world: what it has there is newer.
        """
        if self._last - self._next < FEW_NUMBERS:
            await self._reserve()
        if self.world.players.get(character.id) is not None:
            return None
        await self.exchanges.has_left(character.id)
        mine, account = (
            Owner.character(character.id),
            Owner(OwnerKind.ACCOUNT, character.account_id),
        )
        has_shared = not any(
            one.char_id != character.id
            for one in self.world.processes.presence.of_account(character.account_id)
        )
        away = [Owner(kind, character.id) for kind in PUT_AWAY]
        if stored is None:
            stored = await self._store.of([mine, *away, *([account] if has_shared else [])])
        found = dict(stored)
        if not has_shared:
            found.pop(account, None)
        put_away = {owner.kind: [*found.pop(owner, ())] for owner in away}
        things = [one for several in found.values() for one in several]
        kinds = await self.load_kinds(one.item_id for one in things)
        # A thing that nothing describes stays stored until its kind is known again.
        known = [one for one in things if one.item_id in kinds]
        if len(known) < len(things):
            self.world.count("thing of an unknown kind")
        holdings = Holdings(Inventory(known, kinds), self._answer, has_shared=has_shared)
        holdings.put_away = put_away
        self._expire(character, holdings)
        # Whoever has things already was here before, although that was not stored.
        if character.last_played == UNKNOWN and not found.get(mine):
            self._begin(character, holdings)
        return holdings

    def _expire(self, character: WorldCharacter, holdings: Holdings) -> None:
        """Take away the temporary things of a character that was away too long.

        A bag that is not empty stays, and what lies in the bank of the account. The rest of who
        leaves was counted some minutes before: these are added, so that nothing goes too early.
        """
        away = self.world.clock.moment() - character.rested
        if character.rested == UNKNOWN or away <= self.world.rules.temporary_seconds + REST_PAUSE:
            return
        inventory = holdings.inventory
        mine, nobody = Owner.character(character.id), Owner(OwnerKind.NOTHING)
        for one in list(inventory):
            kind = inventory.kind(one)
            is_own = one.place.where is not Where.SHARED
            if Flag.TEMPORARY in kind.flags and is_own and not inventory.inside(one):
                inventory.use_up(one, one.count)
                holdings.flow(mine, nobody, kind.id, one.count)

    def _begin(self, character: WorldCharacter, holdings: Holdings) -> None:
        """Give a new character the things of its class and race; it wears what it can."""
        giver, mine = Owner(OwnerKind.CLASS, character.class_), Owner.character(character.id)
        moment, line = self.world.clock.moment(), class_line(character.class_)
        rows = (one for one in self.kinds.starting if one.fits(line, character.race))
        # Of several rows for one kind the last one counts (EQ2Emulator, WorldDatabase.cpp).
        for one in {row.item_id: row for row in rows}.values():
            kind = self.kinds.get(one.item_id)
            if kind is None or holdings.inventory.refuses(kind, one.number) is not None:
                continue
            like = Thing(
                0, kind.id, Place(Where.HELD, 0, 0), 1, one.condition, one.is_attuned, one.creator,
                created=moment,
            )  # fmt: skip
            slots = kind.slots if one.is_worn else ()
            free = next((slot for slot in slots if not holdings.inventory.worn(slot)), None)
            if free is None:
                holdings.inventory.add_things(kind, one.number, self.new_number, like)
            else:
                holdings.inventory.add_worn(kind, one.number, free, self.new_number, like)
            holdings.flow(giver, mine, kind.id, one.number)

    async def load_kinds(self, numbers: Iterable[int]) -> Mapping[int, ItemKind]:
        """Return many kinds; a thread reads those that are not known yet."""
        wanted = frozenset(numbers)
        if not wanted:  # the thread may be busy with zones
            return {}
        found: Mapping[int, ItemKind] = await self._in_thread(lambda: self.kinds.load(wanted))
        return found

    def new_number(self) -> int:
        """Return the number of a new thing. Raises `NoNumbers`."""
        if self._last - self._next < FEW_NUMBERS:
            self.world.start(self._reserve_again())
        if self._next >= self._last:
            raise NoNumbers("the database does not answer")
        self._next += 1
        return self._next - 1

    async def _reserve(self) -> None:
        if self._is_reserving:
            return
        self._is_reserving = True
        try:
            first = await self._store.reserve(NUMBERS_AT_ONCE)
        finally:
            self._is_reserving = False
        self._next, self._last = first, first + NUMBERS_AT_ONCE

    async def _reserve_again(self) -> None:
        try:
            await self._reserve()
        except StoreError:
            self.world.count("no numbers for new things")

    # -- what a player is -----------------------------------------------------------------------

    def wearer(self, player: Player) -> Wearer:
        """Return what a player is, for the question whether it may wear something."""
        one = player.character
        skills = one.skills or self.world.knowledge.beginners.skills(one)
        return Wearer(
            one.class_, one.level, one.tradeskill_class, one.tradeskill_level,
            frozenset(skill.id for skill in skills),
            is_good=one.race not in EVIL, is_evil=one.race not in GOOD,
            may_equip=COMBAT not in player.spawn.words
            or self.world.rules.in_zone(player.zone.zone_id).equip_in_fights,
        )  # fmt: skip

    # -- own acts -------------------------------------------------------------------------------

    def make(
        self,
        player: Player,
        kind: ItemKind,
        count: int,
        giver: Owner,
        *,
        like: Thing | None = None,
    ) -> Refusal | list[Thing]:
        """Give a player new things of an owner that has no places, such as a script.

        Returns why not, or the things. Call `changed` afterwards. Raises `NoNumbers`.
        """
        return self.make_all(player, [(kind, count)], giver, like=like)

    def make_all(
        self,
        player: Player,
        wanted: Sequence[tuple[ItemKind, int]],
        giver: Owner,
        *,
        like: Thing | None = None,
        before: Callable[[], object] = lambda: None,
    ) -> Refusal | list[Thing]:
        """Give a player new things of several kinds, all or none, as `make`.

        `before` is called when nothing can fail any more, for instance to use up their crate.
        """
        inventory = player.holdings.inventory
        for kind, count in wanted:
            refused = inventory.refuses(kind, count)
            if refused is not None:
                return refused
        # All numbers first: without them nothing is given.
        numbers = [[self.new_number() for _ in portions(*one)] for one in wanted]
        before()
        made = []
        for (kind, count), own in zip(wanted, numbers, strict=True):
            made += inventory.add_things(kind, count, iter(own).__next__, like)
            player.holdings.flow(giver, Owner.character(player.id), kind.id, count)
        self.obtained(player, made)
        return made

    def make_in_bank(
        self, player: Player, kind: ItemKind, count: int, giver: Owner
    ) -> Refusal | list[Thing]:
        """Put new things into the bank of a player, all or none, as `make`."""
        inventory = player.holdings.inventory
        refused = inventory.refuses(kind, count)
        if refused is not None:
            return refused
        made = inventory.add_to_bank(kind, count, self.new_number)
        if not made:
            return Refusal(Why.NO_FREE_BANK)
        player.holdings.flow(giver, Owner.character(player.id), kind.id, count)
        return made

    def numbers_from(self, first: int) -> Callable[[], int]:
        """Return a function for the numbers of a thing that changes its owner: its own first.

        More are needed for a stack that is larger than its kind allows by now.
        """
        return chain([first], iter(self.new_number, None)).__next__

    def obtained(self, player: Player, made: Iterable[Thing]) -> None:
        """Tell listeners that a player has got things of another owner."""
        if self.world.events.has_listener(ItemObtained):
            for one in made:
                kind = player.holdings.inventory.kind(one)
                self.world.events.publish(ItemObtained(player, one, kind))

    def traded(self, player: Player, partner: Spawn, kind: ItemKind, count: int) -> None:
        """Tell listeners what a player has got from a merchant or a player, or has given."""
        if self.world.events.has_listener(Traded):
            self.world.events.publish(Traded(player, partner, kind, count))

    def use_up(self, player: Player, thing: Thing, count: int, taker: Owner) -> None:
        """Take some of a player's thing away; call `changed` afterwards."""
        kind = player.holdings.inventory.kind(thing)
        count = min(count, thing.count)
        left = player.holdings.inventory.use_up(thing, count)
        player.holdings.flow(keeper_of(player, thing), taker, kind.id, count)
        if left is None and self.world.events.has_listener(ItemRemoved):
            self.world.events.publish(ItemRemoved(player, thing, kind))

    def take_things(self, player: Player, item_id: int, count: int, taker: Owner) -> bool:
        """Take things of a kind out of a player's bags; return False if there are too few.

        Call `changed` afterwards.
        """
        inventory = player.holdings.inventory
        found = [one for one in inventory.of_kind(item_id, (Where.BAGS,))
                 if one.id not in inventory.locked]  # fmt: skip
        if not 0 < count <= sum(one.count for one in found):
            return False
        for one in found:
            part = min(count, one.count)
            if part:
                self.use_up(player, one, part, taker)
                count -= part
        return True

    def in_turn(
        self, player: Player, act: Callable[[], object], left_out: Callable[[], object]
    ) -> None:
        """Carry out an act now, or after the exchange that a player is in.

        An exchange that is refused would undo what happens while the store is asked. `left_out` is
        called instead of the act if too many wait.
        """
        if player.holdings.gate.is_closed:
            self.world.start(self._later(player, act, left_out))
        else:
            act()

    async def _later(
        self, player: Player, act: Callable[[], object], left_out: Callable[[], object]
    ) -> None:
        try:
            await player.holdings.gate.carry_out(act)
        except CommandError:
            left_out()

    def use_in_turn(self, player: Player, act: Callable[[], object]) -> None:
        """Use things up now, or after the exchange that a player is in; see `in_turn`."""
        reason = "things not used up: too many acts wait"
        self.in_turn(player, act, lambda: self.world.count(reason))

    def changed(
        self, player: Player, settled: Iterable[int] = (), *, list_first: bool = False
    ) -> None:
        """Show a player what has changed of its things, and store it soon."""
        self.show(player, settled, list_first=list_first)
        if player.holdings.has_unsaved and not player.holdings.is_storing:
            self.world.start(self.exchanges.store_soon(player))

    # -- showing --------------------------------------------------------------------------------

    def show(
        self, player: Player, settled: Iterable[int] = (), *, list_first: bool = False
    ) -> None:
        """Send a player the lists that have changed, the windows of changed bags, and its sheet.

        `settled` are new things that old clients are to know as if they had been there before.
        """
        changed = player.holdings.inventory.changed_lists()
        if not changed:
            return
        self._show(player, changed, settled, list_first=list_first)
        if Where.BAGS in changed and self.world.events.has_listener(BagsChanged):
            self.world.events.publish(BagsChanged(player))

    def _show(
        self,
        player: Player,
        changed: frozenset[Where],
        settled: Iterable[int],
        *,
        list_first: bool,
    ) -> None:
        holdings = player.holdings
        is_dressed = bool(changed & {Where.WORN, Where.APPEARANCE})
        if is_dressed:
            show_worn(player)
            show_bonuses(player, self.world.knowledge.skills)
            self.world.events.publish(WornChanged(player))
        has_other_weight = set_weight(player)
        bags = holdings.inventory.take_touched_bags()
        if not player.is_online or player.state not in IN_ZONE:
            return
        self._send_changed(player, changed, settled, list_first=list_first)
        for number in bags:
            bag = holdings.inventory.get(number)
            if bag is not None:
                self.send_window(player, bag)
        # To encode a sheet takes longer than all else of a change: coins and things share one.
        if is_dressed or has_other_weight:
            self._sheets.soon(player, 0.0)

    def send_window(self, player: Player, thing: Thing) -> None:
        """Show a player the window of a thing, with the description that its script gives it."""
        kind, description = player.holdings.inventory.kind(thing), None
        if kind.script and self.world.events.has_listener(ItemDescribed):
            event = ItemDescribed(player, thing, kind)
            self.world.events.publish(event)
            description = event.texts[0] if event.texts else None
        windows.send_window(
            player, thing, description=description, lesson=self.lesson_of(player, kind)
        )

    def send_kind(self, player: Player, kind: ItemKind, *, is_popup: int = 0) -> None:
        """Show a player the window of a kind, which a link names."""
        lesson = self.lesson_of(player, kind)
        windows.send_kind(player.client, kind, is_popup=is_popup, lesson=lesson)

    def lesson_of(self, player: Player, kind: ItemKind) -> dict[str, Any] | None:
        """Return what a scroll or a recipe book teaches, for a reader; None if nobody knows it."""
        if not isinstance(kind.part, Scroll | RecipeBook):
            return None
        event = TeachingShown(player, kind)
        self.world.events.publish(event)
        return event.answers[0] if event.answers else None

    def _send_changed(
        self,
        player: Player,
        changed: frozenset[Where],
        settled: Iterable[int],
        *,
        list_first: bool,
    ) -> None:
        """Send the lists that have changed: what is worn comes first, unless it is taken off."""
        lists, inventory = player.session.items, player.holdings.inventory
        if not lists.is_shown:
            return
        if list_first:
            self._send_carried(player, settled)
        for where, number in ((Where.WORN, WORN), (Where.APPEARANCE, APPEARANCE)):
            if where in changed:
                player.client.send_bytes(MESSAGE, lists.worn(inventory, number))
        if not list_first and changed - {Where.WORN, Where.APPEARANCE}:
            self._send_carried(player, settled)

    def _send_carried(self, player: Player, settled: Iterable[int] = ()) -> None:
        player.holdings.inventory.lessons = self._lessons(player)
        payload = player.session.items.carried(player.holdings.inventory, settled)
        if payload is not None:
            player.client.send_bytes(MESSAGE, payload)

    def _lessons(self, player: Player) -> frozenset[int]:
        """Return the kinds of scrolls from which a player can learn something now."""
        inventory = player.holdings.inventory
        found = {one.item_id: inventory.kind(one).part for one in inventory}
        events = [
            (number, ScrollCarried(player, part))
            for number, part in found.items()
            if isinstance(part, Scroll)
        ]
        for _, event in events:
            self.world.events.publish(event)
        return frozenset(number for number, event in events if True in event.answers)

    def _learned(self, player: Player) -> None:
        """Send a client its list again if it shows other scrolls as lessons now."""
        is_seen = player.is_online and player.state in IN_ZONE and player.session.items.is_shown
        if is_seen and player.holdings.inventory.lessons != self._lessons(player):
            self._send_carried(player)

    def show_locks(self, player: Player) -> None:
        """Send a client what it carries again: some of it was locked, or is free again."""
        if player.session.items.is_shown:
            self._send_carried(player)

    def send_lists(self, player: Player) -> None:
        """Send a client all lists: its avatar stands, and its player may just have come."""
        holdings, lists = player.holdings, player.session.items
        holdings.inventory.changed_lists()
        holdings.inventory.take_touched_bags()
        if not lists.is_shown:
            return
        self._send_carried(player)
        for number in (WORN, APPEARANCE):
            player.client.send_bytes(MESSAGE, lists.worn(holdings.inventory, number))
        if lists.is_cut:
            self._send_carried(player)

    def dress(self, player: Player) -> None:
        """Let a player that enters look as it is dressed, with what its things add."""
        show_worn(player)
        show_bonuses(player, self.world.knowledge.skills)
        if player.holdings.has_unsaved:  # the things of a new character
            self.world.start(self.exchanges.store_soon(player))

    def refuse(self, player: Player, refusal: Refusal) -> None:
        """Send a player why an act changes nothing."""
        # Game masters read which skill is missing (recorded).
        is_named = refusal.reason is Why.NO_SKILL and player.character.admin_status > 0
        row = self.world.knowledge.skills.get(refusal.number) if is_named else None
        found = refusal_text(refusal, player.client.version, row.name if row else "")
        if found is not None:
            send_text(player.client, found[1], found[0])

    def _entered(self, event: Entered) -> None:
        """Take away what may not leave the zone that a player has left."""
        player, holdings = event.player, event.player.holdings
        before, holdings.zone_id = holdings.zone_id, player.zone.zone_id
        if before not in (0, holdings.zone_id):
            self.use_in_turn(player, lambda: self._drop_bound(player))

    def _drop_bound(self, player: Player) -> None:
        holdings = player.holdings
        bound = [
            one for one in holdings.inventory
            if Flag.NO_ZONE in holdings.inventory.kind(one).flags
            and not holdings.inventory.inside(one)
        ]  # fmt: skip
        for one in bound:
            self.use_up(player, one, one.count, Owner(OwnerKind.NOTHING))
        if bound:
            self.changed(player)

    async def exchange(
        self, reason: Reason, players: Sequence[Player], act: Callable[[], Act | None]
    ) -> Outcome | None:
        """Carry out an act between owners, as `Exchanges.exchange` does."""
        return await self.exchanges.exchange(reason, players, act)


def keeper_of(player: Player, thing: Thing) -> Owner:
    """Return who has a thing of a player: the character, or the account in its shared bank."""
    if thing.place.where is Where.SHARED:
        return Owner(OwnerKind.ACCOUNT, player.character.account_id)
    return Owner.character(player.id)
