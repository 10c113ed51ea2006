"""The interface to the stored houses of the world's characters; see `emu.processes.ports`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from emu.houses import AccessLevel, Dealt, House, HouseBooks, Payment, Price
from emu.items.held import Thing
from emu.ledger import Placed
from emu.times import Moment


class HouseStore(Protocol):
    """The houses of the world's characters; `emu.store.houses.HouseRepository` has the calls."""

    async def owned(self, char_id: int) -> Sequence[House]:
        """Return the houses of a character."""

    async def find(self, house_id: int, char_id: int) -> tuple[House, AccessLevel] | None:
        """Return a house and what a character may do in it."""

    async def of_home(
        self, home: int, char_id: int, most: int
    ) -> Sequence[tuple[House, AccessLevel]]:
        """Return who owns a house of the content file, and what a character may do there."""

    async def books(self, house_id: int) -> HouseBooks:
        """Return the lists of a house."""

    async def buy(self, payment: Payment) -> Dealt:
        """Let a character buy a house, or do nothing."""

    async def deposit(self, payment: Payment) -> Dealt:
        """Put coins and status points into the deposit of a house, or do nothing."""

    async def pay(self, payment: Payment) -> Dealt:
        """Pay the upkeep of a week, or do nothing."""

    async def settle(self, house_id: int, upkeep: Price, moment: Moment) -> House | None:
        """Pay the weeks that are due from the deposit; return the house."""

    async def set_public(self, house_id: int, level: AccessLevel) -> None:
        """Set the access level of those without one of their own."""

    async def set_access(self, house_id: int, char_id: int, level: AccessLevel) -> bool:
        """Set the access level of a character."""

    async def remove_access(self, house_id: int, char_id: int) -> bool:
        """Take a character's own access level away."""

    async def things(self, house_id: int) -> Sequence[tuple[Thing, Placed]]:
        """Return the things of a house, and where each stands."""

    async def stand(self, placed: Placed) -> None:
        """Store a new place of a thing in its house."""
