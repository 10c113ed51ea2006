"""`Exchanges`: stores the things of players, and carries out acts that have two owners.

What a player has done with its own things is stored a little later. An exchange is one transaction
over all owners: it is stored before anybody is shown anything, and undone if the store refuses it.

Source: docs/contributing/architecture.md#ledger, docs/protocol/world/items.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from emu.errors import CommandError, StoreError
from emu.items.held import Thing, Where
from emu.ledger import (
    Moved,
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Placed,
    Reason,
    ThingChanges,
    What,
)
from emu.mailbox import PendingAnswer
from emu.times import Monotonic
from emu.world.actors.player import Player, PlayerState
from emu.world.events import CharacterClaimed, LeftWorld, PlayedElsewhere
from emu.world.ledger.ledger import Ledger
from emu.world.world import World

Carry = Callable[[Movement], Awaitable[Moved]]
"""Stores a movement, however long the database is away."""
PAUSE: Final = 5.0
"""Seconds until things are stored again after a failure."""


@dataclass(frozen=True, slots=True)
class Act:
    """What an act with others moves: parts, and things of owners that no player is."""

    parts: Sequence[Part]
    things: Sequence[ThingChanges] = ()
    request: str = ""
    """Its identity, if it may never be repeated; empty: a new one."""
    placed: Sequence[Placed] = ()
    """Where things that go to a house stand there."""
    has_facts: bool = False
    """Whether facts of the players change with it, such as their status points."""


class Exchanges:
    """What has to be stored of the things of a world's players, and acts with others."""

    def __init__(self, world: World, ledger: Ledger, answer: Callable[[], PendingAnswer]) -> None:
        """`answer` makes an object that a coroutine can wait for."""
        self.world = world
        self.ledger = ledger
        self._answer = answer
        self._leaving: dict[int, Player] = {}
        """Players who have left and whose things are not all stored, by character."""
        self._again = world.timetable.deadlines("storing things again", self._store_due)
        world.saves.others.append(self.all_stored)
        world.events.subscribe(LeftWorld, self._left)
        world.events.subscribe(CharacterClaimed, self._claimed)

    # -- storing --------------------------------------------------------------------------------

    def has_stored(self, account_id: int) -> bool:
        """Return whether the things of an account's characters that have left are stored."""
        return all(one.character.account_id != account_id for one in self._leaving.values())

    async def has_left(self, char_id: int) -> None:
        """Wait until a character that has left has stored its things. Raises `StoreError`."""
        if char_id in self._leaving:
            await self.all_stored(self._leaving[char_id])

    def _changes(self, player: Player) -> tuple[list[Part], list[ThingChanges], tuple[int, ...]]:
        """Return what has to be stored of a player, and forget it.

        The numbers are those of the things that come from the shared bank.
        """
        holdings = player.holdings
        mine = Owner.character(player.id)
        account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
        kept: dict[Owner, list[Thing]] = {}
        gone: list[int] = []
        changed = holdings.inventory.take_changes()
        banked = tuple(sorted(changed.keys() & holdings.shared))
        holdings.shared.difference_update(banked)
        for number, thing in changed.items():
            if thing is None:
                gone.append(number)
                continue
            is_shared = thing.place.where is Where.SHARED
            kept.setdefault(account if is_shared else mine, []).append(thing)
            if is_shared:
                holdings.shared.add(number)
        changes = [ThingChanges(owner, tuple(things)) for owner, things in kept.items()]
        if gone:
            changes.append(ThingChanges(mine, (), tuple(gone)))
        return holdings.take_parts(), changes, banked

    def _movement(self, reason: Reason, players: Sequence[Player], act: Act) -> Movement | None:
        """Return the movement that stores everything that has changed of some players."""
        all_parts, things, from_banks = list(act.parts), list(act.things), []
        for player in players:
            own, changes, banked = self._changes(player)
            all_parts += own
            things += changes
            if banked:
                from_banks.append((player.character.account_id, banked))
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
            placed=act.placed, banked=from_banks, request=act.request,
        )  # fmt: skip
        return made if made.parts or made.things else None

    async def store_soon(self, player: Player) -> None:
        """Store what has changed of a player, until nothing is left."""
        holdings = player.holdings
        if holdings.is_storing:
            return
        holdings.is_storing = True
        try:
            while holdings.has_unsaved:
                # A quest's step and its things are one transaction.
                await self.world.saves.begin(player)
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
        await self.store_soon(player)
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
            await self.store_soon(player)
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

    def _claimed(self, event: CharacterClaimed) -> None:
        """Store what a character has left unsaved with its new term: the store refuses the old one.

        If another process has played it since, what is stored there counts.
        """
        term = event.character.term
        player = self._leaving.get(event.character.id)
        if player is not None and player.character.term + 1 == term:
            player.character = replace(player.character, term=term)

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
        carry: Carry | None = None,
    ) -> Outcome | None:
        """Carry out an act that moves things or coins between owners: all of it or nothing.

        `act` changes the inventories of the players and returns what it moves; with None
        it has changed nothing, and None is returned. What it did is undone if the store refuses it:
        the outcome says why. Nothing is shown before it is stored; call `changed` for each player
        then. `carry` stores the movement, if the ledger is not to do it. Raises `StoreError`, and
        `CommandError` if too many acts of a player wait.
        """
        order = sorted(set(players), key=lambda one: one.id)
        entered = []
        try:
            for player in order:
                await player.holdings.gate.pass_through()
                entered.append(player)
                await self.stored(player)
            return await self._exchange(reason, order, act, carry or self.ledger.settle)
        finally:
            for player in entered:
                player.holdings.gate.leave()

    async def _exchange(
        self,
        reason: Reason,
        players: Sequence[Player],
        act: Callable[[], Act | None],
        carry: Carry,
    ) -> Outcome | None:
        before = [(player, player.holdings.inventory.copy()) for player in players]
        shared = {player: set(player.holdings.shared) for player in players}
        freed: dict[Player, set[int]] = {}

        def undo() -> None:
            for player, inventory in before:
                # Windows lock things, and free them, while the store is asked.
                locked = player.holdings.inventory.locked | freed.get(player, set())
                player.holdings.inventory.restore(inventory)
                player.holdings.inventory.locked = locked
                player.holdings.flows.clear()
                player.holdings.shared = set(shared[player])

        try:
            done = act()
            for player, inventory in before:
                freed[player] = inventory.locked - player.holdings.inventory.locked
            if done is None:
                undo()
                return None
            movement = self._movement(reason, players, done)
            if movement is None:
                return Outcome.DONE
            await self._begin_saves(players if done.has_facts else ())
            moved = await carry(movement)
            again = _in_present_terms(movement, players)
            if moved.outcome is Outcome.NO_OWNER and again != movement:
                moved = await carry(again)
        except BaseException:
            undo()
            raise
        if not moved.is_done:
            undo()
            for player in players:
                self._check(player, moved)
        return moved.outcome

    async def _begin_saves(self, players: Sequence[Player]) -> None:
        """Give the store what else has changed of players: it shares the next transaction."""
        for player in players:
            await self.world.saves.begin(player)


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
