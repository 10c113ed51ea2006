"""`Ledger`: every movement of coins between players, letters and others in one world.

A component names the giver and the taker of each part, and the reason. The store carries out all of
it with the new balances in one transaction, under an identity: a movement whose answer is lost is
asked for again, and carried out once. If the database does not answer then either, the movement is
barred as soon as it does, or turns out to be done.

A balance has a revision. An answer that is older than what a player has already changes nothing,
whichever comes first.

Source: docs/contributing/architecture.md#ledger.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from emu.errors import StoreAway, StoreError
from emu.ledger import (
    Balance,
    Moved,
    Movement,
    OwnerKind,
    Part,
    Placed,
    Reason,
    ThingChanges,
    What,
)
from emu.processes.ports import CAME, LOST, LedgerStore, Note
from emu.times import Moment
from emu.world.actors.player import Player
from emu.world.events import Entered
from emu.world.sheets import CharacterSheets
from emu.world.world import World

T = TypeVar("T")

CHANGED: Final = "ledger.changed"
"""Topic on the bus: the character ``char_id`` has ``coins`` since its movement ``revision``."""
DAY: Final = 86_400.0
PRUNED: Final = 600.0
"""Seconds between two calls of `prune`."""
MOST_REMEMBERED: Final = 1000
"""Balances of characters who are not here that are kept for those who enter just now."""


def nothing() -> None:
    """Do nothing when a movement turns out to be done after all."""


class Ledger:
    """The movements of one world."""

    def __init__(
        self, world: World, store: LedgerStore, sheets: CharacterSheets, draw: Callable[[], str]
    ) -> None:
        """`draw` returns a new identity; no process of the world may ever return it again."""
        self._world = world
        self._store = store
        self._sheets = sheets
        self._draw = draw
        self._unfinished: dict[str, Movement] = {}
        """Movements that must be carried out and could not be stored, by identity."""
        self._is_reading = False
        self._absent: dict[int, Balance] = {}
        """The newest balances of characters who are not here, by character."""
        world.events.subscribe(Entered, self._entered)
        world.processes.bus.subscribe(CHANGED, self._heard)
        for topic in (CAME, LOST):
            world.processes.bus.subscribe(topic, self._lost)

    def movement(
        self,
        reason: Reason,
        parts: Iterable[Part],
        account_ids: Iterable[int],
        *,
        things: Iterable[ThingChanges] = (),
        terms: Iterable[tuple[int, int]] = (),
        placed: Iterable[Placed] = (),
        banked: Iterable[tuple[int, tuple[int, ...]]] = (),
        request: str = "",
    ) -> Movement:
        """Return a new movement; `account_ids` are the accounts of its characters.

        `request` is its identity, if it has one that follows from what it is about.
        """
        return Movement(
            request or self._draw(), reason, tuple(parts), frozenset(account_ids),
            tuple(things), tuple(terms), tuple(placed), tuple(banked),
        )  # fmt: skip

    async def settle(self, movement: Movement) -> Moved:
        """Carry out a movement however long the database is away, and show the coins.

        Raises `StoreError` if it cannot be stored; then it was not carried out.
        """
        moved = await self._store.move_surely(movement, self._moment())
        self.learn(moved.balances)
        return moved

    async def store_later(self, movement: Movement) -> Moved:
        """Store a movement of one player's own things, together with those of others.

        Raises `StoreError`.
        """
        return await self._store.move_later(movement, self._moment())

    async def move(self, movement: Movement, late: Callable[[], object] = nothing) -> Moved:
        """Carry out a movement, and show its players what they have then.

        Raises `StoreError` if it is not carried out now; see `carry_out`.
        """
        moved = await self.carry_out(
            movement, lambda: self._store.move(movement, self._moment()), late
        )
        self.learn(moved.balances)
        return moved

    async def carry_out(
        self,
        movement: Movement,
        call: Callable[[], Awaitable[T]],
        late: Callable[[], object] = nothing,
    ) -> T:
        """Return the answer of a store's call that carries out a movement with others of its acts.

        `movement` has the identity of the call, and the characters of the movement. Raises
        `StoreError` if it is not carried out. If the database is away, its answer may be lost: then
        the movement is barred later, and `late` is called if it was carried out.
        """
        leaving = self._leaving(movement)
        for player, amount in leaving:
            player.holdings.coins_leaving += amount
        try:
            return await call()
        except StoreAway:
            # Only the connection may be lost: under the same identity nothing is done twice.
            try:
                return await call()
            except StoreAway:
                self._world.start(self._settle(movement, late))
                raise
        finally:
            # The caller shows the new balances before anything else happens.
            for player, amount in leaving:
                player.holdings.coins_leaving -= amount

    async def was_carried_out(self, movement: Movement) -> bool:
        """Return whether a movement was carried out; if it was not, it never will be.

        Raises `StoreError`.
        """
        moved = await self._store.bar(movement, self._moment())
        self.learn(moved.balances)
        return moved.is_done

    def undo(self, movement: Movement) -> None:
        """Give everything of a movement back that was carried out, once, and as soon as possible.

        For those whose takers are no holders: they have always enough.
        """
        back = tuple(part._replace(giver=part.taker, taker=part.giver) for part in movement.parts)
        undone = Movement(f"{movement.request}-back", Reason.REFUND, back, movement.accounts)
        self._world.start(self._finish(undone))

    def learn(self, balances: Sequence[Balance]) -> None:
        """Show players what they have, here and at other nodes; the newest balances count."""
        for balance in balances:
            if not self._apply(balance):
                present = self._world.processes.presence.find(balance.char_id)
                # Who is nowhere may be entering anywhere, with a row from before the movement.
                if present is None or present.process != self._world.processes.name:
                    self._world.processes.bus.publish(CHANGED, balance._asdict())
        if self._unfinished:
            # The store answers again.
            waiting, self._unfinished = self._unfinished, {}
            for movement in waiting.values():
                self._world.start(self._finish(movement))

    async def prune(self) -> None:
        """Remove entries above the limits of the settings; call it every `PRUNED` seconds."""
        rules, moment = self._world.rules, self._moment()
        before = Moment(moment - rules.ledger_days * DAY)
        try:
            # In portions, between which others are served.
            while await self._store.prune(before, rules.ledger_entries, moment):
                pass
        except StoreError:
            self._world.count("old entries of the ledger not removed")

    # -- internals ------------------------------------------------------------------------------

    def _leaving(self, movement: Movement) -> list[tuple[Player, int]]:
        """Return the coins that a movement takes from players here, without those of scripts."""
        if movement.reason is Reason.SCRIPT:  # counted by `emu.world.items.gifts`
            return []
        found = [
            (self._world.players.get(part.giver.number), part.amount)
            for part in movement.parts
            if part.giver.kind is OwnerKind.CHARACTER and part.what is What.COINS
        ]
        return [(player, amount) for player, amount in found if player is not None]

    def _apply(self, balance: Balance) -> bool:
        """Set the balance of a player, unless it has a newer one; return whether it is here."""
        player = self._world.players.get(balance.char_id)
        if player is None:
            self._remember(balance)
            return False
        if balance.revision > player.character.ledger_revision:
            player.character = replace(
                player.character, coins=balance.coins, ledger_revision=balance.revision
            )
            self._sheets.soon(player, 0.0)
        return True

    def _remember(self, balance: Balance) -> None:
        """Keep the balance of a character who is not here: its row may have been read already."""
        known = self._absent.pop(balance.char_id, balance)
        # The newest ones are the last of the dict.
        self._absent[balance.char_id] = max(known, balance, key=lambda one: one.revision)
        if len(self._absent) > MOST_REMEMBERED:
            del self._absent[next(iter(self._absent))]

    def _entered(self, event: Entered) -> None:
        known = self._absent.pop(event.player.id, None)
        if known is not None:
            self._apply(known)

    def _heard(self, note: Note) -> None:
        """Apply the balance of a player that another node has changed."""
        names = ("char_id", "coins", "revision")
        self._apply(Balance(*(int(note[name] or 0) for name in names)))

    def _lost(self, _note: Note) -> None:
        """Read the balances of all players here anew: notes about them may be lost."""
        if not self._is_reading:
            self._is_reading = True
            self._world.start(self._read_balances())

    async def _read_balances(self) -> None:
        try:
            for player in list(self._world.players):
                row = await self._world.saves.characters.find(player.id)
                if row is not None:
                    self._apply(Balance(row.id, row.coins, row.ledger_revision))
        except StoreError:
            self._world.count("balances not read after lost notes")
        finally:
            self._is_reading = False

    async def _settle(self, movement: Movement, late: Callable[[], object]) -> None:
        """Find out whether a movement was carried out; if it was not, it never will be."""
        try:
            moved = await self._store.bar(movement, self._moment())
        except StoreError:
            self._world.count("movement of unknown outcome")
            return
        self.learn(moved.balances)
        if moved.is_done:
            late()

    async def _finish(self, movement: Movement) -> None:
        """Carry out a movement however long the database is away."""
        try:
            moved = await self._store.move_surely(movement, self._moment())
        except StoreError:
            self._unfinished[movement.request] = movement
            self._world.count("movement not finished")
            return
        self.learn(moved.balances)

    def _moment(self) -> Moment:
        return self._world.clock.moment()
