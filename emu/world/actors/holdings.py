"""`Holdings`: the things of a player, what of them is not stored yet, and the order of acts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.errors import CommandError
from emu.items.held import Thing, Where
from emu.items.inventory import Inventory
from emu.ledger import Movement, Owner, OwnerKind, Part, What
from emu.mailbox import PendingAnswer

Rgb = tuple[int, int, int]
MOST_WAITING: Final = 20
"""Acts of one player that wait for an earlier one; a further one is refused."""
MUST_WAIT: Final = "wait a moment: your earlier acts are not stored yet"


class Gate:
    """Lets one act of a player at a time through; the others wait for their turn."""

    __slots__ = ("_answer", "_waiting", "is_closed")

    def __init__(self, answer: Callable[[], PendingAnswer]) -> None:
        """`answer` makes an object that a coroutine can wait for."""
        self._answer = answer
        self._waiting: deque[PendingAnswer] = deque()
        self.is_closed = False

    async def pass_through(self) -> None:
        """Wait for one's turn; then call `leave`. Raises `CommandError` if too many wait."""
        if self.is_closed:
            if len(self._waiting) >= MOST_WAITING:
                raise CommandError(MUST_WAIT)
            mine = self._answer()
            self._waiting.append(mine)
            await mine  # the one before leaves the gate closed for this act
        self.is_closed = True

    async def carry_out(self, act: Callable[[], object]) -> None:
        """Carry out an act that waits for nobody in its turn. Raises `CommandError`.

        The gate is open meanwhile: what scripts do because of the act belongs to it.
        """
        await self.pass_through()
        self.is_closed = False
        try:
            act()
        finally:
            # An exchange that the act has begun leaves the gate itself.
            if not self.is_closed:
                self.leave()

    def leave(self) -> None:
        """End one's turn."""
        if self._waiting:
            self.is_closed = True  # for the next one
            self._waiting.popleft().callback(None)
        else:
            self.is_closed = False


@dataclass(slots=True, eq=False, weakref_slot=True)
class Loaded:
    """What was loaded of a character that enters."""

    char_id: int
    holdings: Holdings | None = None
    """None: the character is in the world, and keeps what it has there."""
    was_hidden: bool = False
    """Whether it was hidden when it had to leave, because another client plays it from now on."""
    is_stale: bool = False
    """Whether it has left the world since, with changes that this lacks."""


class Holdings:
    """What belongs to the things of one player."""

    __slots__ = (
        "bonuses", "coins_due", "coins_leaving", "coins_moving", "flows", "gate", "has_shared",
        "idle", "inventory", "is_storing", "put_away", "shared", "shown", "unstored", "zone_id",
    )  # fmt: skip

    def __init__(
        self, inventory: Inventory, answer: Callable[[], PendingAnswer], *, has_shared: bool = True
    ) -> None:
        self.inventory = inventory
        self.gate = Gate(answer)
        self.has_shared = has_shared
        """Whether it has the shared bank; not while another character of its account has it."""
        self.shared = {one.id for one in inventory if one.place.where is Where.SHARED}
        """The numbers of what the store has in the shared bank."""
        self.put_away: dict[OwnerKind, list[Thing]] = {}
        """Pieces of collections and learned recipe books, by the kind of their owner."""
        self.flows: Counter[tuple[Owner, Owner, int]] = Counter()
        """Things that were made or used up and are not stored: giver, taker and kind."""
        self.unstored: Movement | None = None
        """What the store could not store; it is repeated before anything else."""
        self.is_storing = False
        self.coins_due = 0
        """Coins that scripts have given, less those that they have taken, and no movement has."""
        self.coins_moving = 0
        """The same of the movement that is under way."""
        self.coins_leaving = 0
        """Coins that own acts of the player move away, and the store has not answered."""
        self.zone_id = 0
        """The zone in which it was last; 0 before it stands in one."""
        self.idle: list[PendingAnswer] = []
        """Those that wait for the end of the store's present call."""
        self.shown: dict[int, tuple[int, Rgb, Rgb]] = {}
        """What others see of its worn things, by slot: model, color and highlight."""

    def flow(self, giver: Owner, taker: Owner, item_id: int, count: int) -> None:
        """Note that things were made or used up, for the ledger."""
        self.flows[giver, taker, item_id] += count

    def take_parts(self) -> list[Part]:
        """Return what was made or used up since the last call, and forget it."""
        flows, self.flows = self.flows, Counter()
        return [
            Part(giver, taker, count, What.THINGS, item_id)
            for (giver, taker, item_id), count in flows.items()
            if count
        ]

    @property
    def has_unsaved(self) -> bool:
        """Whether something has to be stored."""
        return self.unstored is not None or bool(self.flows) or self.inventory.has_changed

    @property
    def are_waiting(self) -> bool:
        """Whether something waits for the store's present call, to be stored next."""
        return self.is_storing and (bool(self.flows) or self.inventory.has_changed)
