"""The repairs of a client that plays: worn things suffer when it dies, until they are of no use.

Its client marks what is nearly worn out. Then it goes to a mender: to one in sight, or to a zone
where it has met one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from emu.client.evening.errands import Errand, visit
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.visits import LATER, PastVisits
from emu.client.world import WorldClientCore
from emu.client.world.possessions import BROKEN, DAMAGED, WORN
from emu.client.world.windows import GoodsShown
from emu.times import Monotonic

MENDER: Final = "mender"
"""The word in the names of menders."""
REPAIR: Final = "repair"
"""Their verb."""


class Repairs:
    """The repairs of one player."""

    def __init__(
        self, core: WorldClientCore, journeys: PlayerJourneys, visits: PastVisits,
        note: Callable[[str, str], None],
    ) -> None:  # fmt: skip
        self._core = core
        self._journeys = journeys
        self._visits = visits
        self._note = note
        self._has_asked = False
        """Whether it has asked a mender for the list that comes next."""

    @property
    def is_needed(self) -> bool:
        """Whether something that it wears is nearly or wholly worn out."""
        owned = self._core.possessions
        return owned is not None and any(
            one.menu & (DAMAGED | BROKEN) for one in owned.things(WORN)
        )

    def errand(self, now: Monotonic) -> Errand | None:
        """Return the way to a mender, if it needs one and knows one."""
        if not self.is_needed:
            return None
        for one in self._journeys.near():
            is_meant = MENDER in one.name.casefold()
            if is_meant and self._visits.may_begin(one.name, REPAIR, now, LATER):
                return visit(one, REPAIR, now)
        plan = self._journeys.seen_before(
            lambda name: MENDER in name.casefold(), REPAIR, None, now
        )  # fmt: skip
        travels = self._journeys.travels
        for zone in travels.homes(MENDER) if plan is None else ():
            way = travels.way_to(zone) if zone != travels.zone else None
            if way is not None and self._visits.may_travel(zone, REPAIR, now, LATER):
                return self._journeys.by(way, None, now)
        return plan

    def ask(self, index: int, commands: Sequence[str]) -> bool:
        """Ask somebody with the verbs `commands` for a repair; return whether that is possible."""
        if REPAIR not in commands or not self.is_needed:
            return False
        self._has_asked = True
        self._core.use(index, REPAIR)
        return True

    def deal(self, event: GoodsShown) -> None:
        """Have all repaired that the list shows, or what it has the coins for."""
        owned = self._core.possessions
        if not self._has_asked or owned is None:
            return
        self._has_asked = False
        left, whole = owned.coins, sum(one.price for one in event.goods)
        if whole <= left:
            self._note("repair", f"all for {whole} c")
            self._core.command("mender_repair_all")
            return
        for one in sorted(event.goods, key=lambda one: one.price):
            if one.price <= left:
                left -= one.price
                self._note("repair", f"{one.name} for {one.price} c")
                self._core.command(f"mender_repair {one.item}")
