"""`Items`: the things of the players of one world.

An act of a player with its own things changes its inventory at once, is shown, and is stored a
little later. An act with another owner, or with coins, is an `exchange`: one transaction that is
stored before anybody is shown anything. While an exchange of a player is under way, its other acts
wait.

Source: docs/contributing/architecture.md#ledger, docs/protocol/world/items.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from emu.errors import CommandError, StoreError
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import Flag, ItemKind
from emu.items.refusals import Refusal
from emu.items.wearing import Wearer
from emu.ledger import (
    Moved,
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Reason,
    ThingChanges,
    What,
)
from emu.mailbox import PendingAnswer
from emu.model import WorldCharacter
from emu.processes.ports import ThingStore
from emu.times import UNKNOWN, Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.holdings import Holdings
from emu.world.actors.item_lists import APPEARANCE, MESSAGE, WORN
from emu.world.actors.player import IN_ZONE, Player, PlayerState
from emu.world.events import (
    Entered,
    ItemObtained,
    ItemRemoved,
    LeftWorld,
    Order,
    PlayedElsewhere,
    WornChanged,
)
from emu.world.items import windows
from emu.world.items.effects import set_weight, show_bonuses, show_worn
from emu.world.items.texts import refusal_text
from emu.world.ledger.ledger import Ledger
from emu.world.sheets import CharacterSheets
from emu.world.world import World

NUMBERS_AT_ONCE: Final = 1000
"""Numbers of new things that a process takes from the store at once."""
FEW_NUMBERS: Final = 300
"""With so few left, the process takes more."""
PAUSE: Final = 5.0
"""Seconds until things are stored again after a failure."""
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


@dataclass(frozen=True, slots=True)
class Act:
    """What an act with others moves: parts, and things of owners that no player is."""

    parts: Sequence[Part]
    things: Sequence[ThingChanges] = ()


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
        self._fetched: dict[int, Holdings] = {}
        """What was loaded of characters that are about to enter."""
        self._next = self._last = 0
        """The numbers for new things that are left."""
        self._is_reserving = False
        self._leaving: dict[int, Player] = {}
        """Players who have left and whose things are not all stored, by character."""
        self._again = world.timetable.deadlines("storing things again", self._store_due)
        world.saves.others.append(self.all_stored)
        world.events.subscribe(LeftWorld, self._left)
        world.events.subscribe(Entered, self._entered, Order.OWNER)

    # -- loading --------------------------------------------------------------------------------

    async def fetch(self, character: WorldCharacter) -> None:
        """Load the things of a character that enters. Raises `StoreError`."""
        if self._last - self._next < FEW_NUMBERS:
            await self._reserve()
        if self.world.players.get(character.id) is not None:
            return  # what it has here is newer
        if character.id in self._leaving:
            await self.all_stored(self._leaving[character.id])
        mine, account = (
            Owner.character(character.id),
            Owner(OwnerKind.ACCOUNT, character.account_id),
        )
        has_shared = not any(
            one.char_id != character.id
            for one in self.world.processes.presence.of_account(character.account_id)
        )
        found = await self._store.of([mine, account] if has_shared else [mine])
        things = [one for several in found.values() for one in several]
        kinds = await self.load_kinds(one.item_id for one in things)
        # A thing that nothing describes stays stored until its kind is known again.
        known = [one for one in things if one.item_id in kinds]
        if len(known) < len(things):
            self.world.count("thing of an unknown kind")
        holdings = Holdings(Inventory(known, kinds), self._answer, has_shared=has_shared)
        # Whoever has things already was here before, although that was not stored.
        if character.last_played == UNKNOWN and not found.get(mine):
            self._begin(character, holdings)
        self._fetched[character.id] = holdings

    def _begin(self, character: WorldCharacter, holdings: Holdings) -> None:
        """Give a new character the things of its class and race; it wears what it can."""
        giver, mine = Owner(OwnerKind.CLASS, character.class_), Owner.character(character.id)
        moment = self.world.clock.moment()
        for one in self.kinds.starting:
            kind = (
                self.kinds.get(one.item_id) if one.fits(character.class_, character.race) else None
            )
            if kind is None or holdings.inventory.refuses(kind, one.number) is not None:
                continue
            like = Thing(
                0, kind.id, Place(Where.HELD, 0, 0), 1, one.condition, one.is_attuned, one.creator,
                created=moment,
            )  # fmt: skip
            slots = kind.slots if one.is_worn else ()
            free = next((slot for slot in slots if not holdings.inventory.worn(slot)), None)
            if free is None:
                holdings.inventory.add(kind, one.number, self.new_number, like)
            else:
                holdings.inventory.add_worn(kind, one.number, free, self.new_number, like)
            holdings.flow(giver, mine, kind.id, one.number)

    def holdings(self, character: WorldCharacter) -> Holdings:
        """Return what `fetch` has loaded of a character; nothing without it."""
        found = self._fetched.pop(character.id, None)
        return found or Holdings(Inventory((), {}), self._answer, has_shared=False)

    def forget_fetched(self, char_id: int) -> None:
        """Forget what was loaded of a character that does not enter."""
        self._fetched.pop(char_id, None)

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
        refused = player.holdings.inventory.refuses(kind, count)
        if refused is not None:
            return refused
        made = player.holdings.inventory.add(kind, count, self.new_number, like)
        player.holdings.flow(giver, Owner.character(player.id), kind.id, count)
        if self.world.events.has_listener(ItemObtained):
            for one in made:
                self.world.events.publish(ItemObtained(player, one, kind))
        return made

    def obtained(self, player: Player, made: Iterable[Thing]) -> None:
        """Tell listeners that a player has got things of another owner."""
        if self.world.events.has_listener(ItemObtained):
            for one in made:
                kind = player.holdings.inventory.kind(one)
                self.world.events.publish(ItemObtained(player, one, kind))

    def use_up(self, player: Player, thing: Thing, count: int, taker: Owner) -> None:
        """Take some of a player's thing away; call `changed` afterwards."""
        kind = player.holdings.inventory.kind(thing)
        count = min(count, thing.count)
        left = player.holdings.inventory.use_up(thing, count)
        player.holdings.flow(Owner.character(player.id), taker, kind.id, count)
        if left is None and self.world.events.has_listener(ItemRemoved):
            self.world.events.publish(ItemRemoved(player, thing, kind))

    def take(self, player: Player, item_id: int, count: int, taker: Owner) -> bool:
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

    def changed(
        self, player: Player, settled: Iterable[int] = (), *, list_first: bool = False
    ) -> None:
        """Show a player what has changed of its things, and store it soon."""
        self.show(player, settled, list_first=list_first)
        if player.holdings.has_unsaved and not player.holdings.is_storing:
            self.world.start(self._store_soon(player))

    # -- showing --------------------------------------------------------------------------------

    def show(
        self, player: Player, settled: Iterable[int] = (), *, list_first: bool = False
    ) -> None:
        """Send a player the lists that have changed, the windows of changed bags, and its sheet.

        `settled` are new things that old clients are to know as if they had been there before.
        """
        holdings = player.holdings
        changed = holdings.inventory.changed_lists()
        if not changed:
            return
        is_dressed = bool(changed & {Where.WORN, Where.APPEARANCE})
        if is_dressed:
            show_worn(player)
            show_bonuses(player)
            self.world.events.publish(WornChanged(player))
        has_other_weight = set_weight(player)
        bags = holdings.inventory.take_touched_bags()
        if not player.is_online or player.state not in IN_ZONE:
            return
        self._send_changed(player, changed, settled, list_first=list_first)
        for number in bags:
            bag = holdings.inventory.get(number)
            if bag is not None:
                windows.send_window(player, bag)
        # To encode a sheet takes longer than all else of a change.
        if is_dressed or has_other_weight:
            self._sheets.send(player)

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
        payload = player.session.items.carried(player.holdings.inventory, settled)
        if payload is not None:
            player.client.send_bytes(MESSAGE, payload)

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
        show_bonuses(player)
        if player.holdings.has_unsaved:  # the things of a new character
            self.world.start(self._store_soon(player))

    def refuse(self, player: Player, refusal: Refusal) -> None:
        """Send a player why an act changes nothing."""
        found = refusal_text(refusal, player.client.version)
        if found is not None:
            send_text(player.client, found[1], found[0])

    def _entered(self, event: Entered) -> None:
        """Take away what may not leave the zone that a player has left."""
        player, holdings = event.player, event.player.holdings
        before, holdings.zone_id = holdings.zone_id, player.zone.zone_id
        if before in (0, holdings.zone_id):
            return
        bound = [
            one for one in holdings.inventory
            if Flag.NO_ZONE in holdings.inventory.kind(one).flags
            and not holdings.inventory.inside(one)
        ]  # fmt: skip
        for one in bound:
            self.use_up(player, one, one.count, Owner(OwnerKind.NOTHING))
        if bound:
            self.changed(player)

    # -- storing --------------------------------------------------------------------------------

    def _changes(self, player: Player) -> tuple[list[Part], list[ThingChanges]]:
        """Return what has to be stored of a player, and forget it."""
        holdings = player.holdings
        mine = Owner.character(player.id)
        account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
        kept: dict[Owner, list[Thing]] = {}
        gone: list[int] = []
        for number, thing in holdings.inventory.take_changes().items():
            if thing is None:
                gone.append(number)
            else:
                owner = account if thing.place.where is Where.SHARED else mine
                kept.setdefault(owner, []).append(thing)
        changes = [ThingChanges(owner, tuple(things)) for owner, things in kept.items()]
        if gone:
            changes.append(ThingChanges(mine, (), tuple(gone)))
        return holdings.take_parts(), changes

    def _movement(self, reason: Reason, players: Sequence[Player], act: Act) -> Movement | None:
        """Return the movement that stores everything that has changed of some players."""
        all_parts, things = list(act.parts), list(act.things)
        for player in players:
            own, changes = self._changes(player)
            all_parts += own
            things += changes
        if not all_parts and not things:
            return None
        kept = {one.id for changes in things for one in changes.kept}
        # What one player has lost, another one may have got.
        things = [
            ThingChanges(one.keeper, one.kept, tuple(n for n in one.gone if n not in kept))
            for one in things
        ]
        things = [one for one in things if one.kept or one.gone]
        made = self.ledger.movement(
            reason, all_parts, [one.character.account_id for one in players],
            things=things, terms=[(one.id, one.character.term) for one in players],
        )  # fmt: skip
        return made if made.parts or made.things else None

    async def _store_soon(self, player: Player) -> None:
        """Store what has changed of a player, until nothing is left."""
        holdings = player.holdings
        if holdings.is_storing:
            return
        holdings.is_storing = True
        try:
            while holdings.has_unsaved:
                holdings.unstored = holdings.unstored or self._movement(
                    Reason.OWN, [player], Act(())
                )
                if holdings.unstored is None:
                    return
                moved = await self.ledger.store_later(holdings.unstored)
                again = _in_present_terms(holdings.unstored, [player])
                if moved.outcome is Outcome.NO_OWNER and again != holdings.unstored:
                    holdings.unstored = again
                    continue
                holdings.unstored = None
                self._check(player, moved)
        except StoreError as error:
            self.world.count("things not stored")
            self.world.not_saved(player.character, error)
            self._store_again(player)
        finally:
            holdings.is_storing = False
            waiting, holdings.idle = holdings.idle, []
            for one in waiting:
                one.callback(None)

    def _store_again(self, player: Player) -> None:
        self._again.set(player, "", Monotonic(self.world.clock.now() + PAUSE))

    def _store_due(self, player: Player, _name: str, _now: Monotonic) -> None:
        self.world.start(self._finish(player))

    async def _finish(self, player: Player) -> None:
        """Store what is left of a player, who may have left the world."""
        await self._store_soon(player)
        if not player.holdings.has_unsaved:
            self._leaving.pop(player.id, None)

    def _check(self, player: Player, moved: Moved) -> None:
        if moved.outcome is Outcome.NO_OWNER and player.state is not PlayerState.GONE:
            self.world.events.publish(PlayedElsewhere(player))

    async def stored(self, player: Player) -> None:
        """Wait until all things of a player are stored. Raises `StoreError`."""
        while player.holdings.is_storing:
            done = self._answer()
            player.holdings.idle.append(done)
            await done
        if player.holdings.has_unsaved:
            await self._store_soon(player)
        if player.holdings.has_unsaved:
            raise StoreError("the things of a player could not be stored")

    async def all_stored(self, player: Player) -> None:
        """Wait for the acts of a player, and until all of it is stored. Raises `StoreError`."""
        await player.holdings.gate.pass_through()
        try:
            await self.stored(player)
        finally:
            player.holdings.gate.leave()

    def _left(self, event: LeftWorld) -> None:
        player = event.player
        holdings = player.holdings
        if holdings.has_unsaved or holdings.is_storing or holdings.gate.is_closed:
            self._leaving[player.id] = player
            self.world.start(self._leave(player))

    async def _leave(self, player: Player) -> None:
        try:
            await self.all_stored(player)
        except (StoreError, CommandError):
            return  # stored again later; until then the character does not enter
        self._leaving.pop(player.id, None)

    # -- acts with others -----------------------------------------------------------------------

    async def exchange(
        self,
        reason: Reason,
        players: Sequence[Player],
        act: Callable[[], Act | None],
    ) -> Outcome | None:
        """Carry out an act that moves things or coins between owners: all of it or nothing.

        `act` changes the inventories of the players and returns what it moves; with None
        it has changed nothing, and None is returned. What it did is undone if the store refuses it:
        the outcome says why. Nothing is shown before it is stored; call `changed` for each player
        then. Raises `StoreError`, and `CommandError` if too many acts of a player wait.
        """
        order = sorted(set(players), key=lambda one: one.id)
        entered = []
        try:
            for player in order:
                await player.holdings.gate.pass_through()
                entered.append(player)
                await self.stored(player)
            return await self._exchange(reason, order, act)
        finally:
            for player in entered:
                player.holdings.gate.leave()

    async def _exchange(
        self, reason: Reason, players: Sequence[Player], act: Callable[[], Act | None]
    ) -> Outcome | None:
        before = [(player, player.holdings.inventory.copy()) for player in players]

        def undo() -> None:
            for player, inventory in before:
                player.holdings.inventory.restore(inventory)
                player.holdings.flows.clear()

        try:
            done = act()
            if done is None:
                undo()
                return None
            movement = self._movement(reason, players, done)
            if movement is None:
                return Outcome.DONE
            moved = await self.ledger.settle(movement)
            again = _in_present_terms(movement, players)
            if moved.outcome is Outcome.NO_OWNER and again != movement:
                moved = await self.ledger.settle(again)
        except BaseException:
            undo()
            raise
        if not moved.is_done:
            undo()
            for player in players:
                self._check(player, moved)
        return moved.outcome


def _in_present_terms(movement: Movement, players: Sequence[Player]) -> Movement:
    """Return a movement with the terms that its players have now.

    A term grows when this process lets a character in again, whose player is still here; the store
    then refuses what was asked for before.
    """
    terms = tuple((one.id, one.character.term) for one in players)
    return movement if terms == movement.terms else replace(movement, terms=terms)


def coins(giver: Owner, taker: Owner, copper: int) -> Part:
    """Return the part of an exchange that moves coins."""
    return Part(giver, taker, copper)


def things(giver: Owner, taker: Owner, item_id: int, count: int) -> Part:
    """Return the part of an exchange that moves things of a kind."""
    return Part(giver, taker, count, What.THINGS, item_id)
