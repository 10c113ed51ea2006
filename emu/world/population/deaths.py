"""Dead spawns of the content file, kept over the end of a zone and of the server.

Source: docs/guides/content.md#deaths.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from emu.content.population import Death
from emu.facts import PlacementFact, Time
from emu.processes.ports import PlacementFactStore
from emu.times import Clock, Moment
from emu.world.deadlines import Timetable
from emu.world.saving.facts import FactSaver


@dataclass(frozen=True, slots=True)
class DeadSpawn(PlacementFact):
    """A placement of a content file at which something died."""

    table: ClassVar[str] = "dead_spawns"
    ends: ClassVar[str] = "returns"
    returns: Annotated[Moment | None, Time("time of its return", may_be_missing=True)]
    """When something stands there again; None: never."""
    is_dead: bool = True
    """False: something stands there again, so that nothing is stored of it."""

    @property
    def is_stored(self) -> bool:
        """Whether it has a row."""
        return self.is_dead


class Deaths(FactSaver[DeadSpawn]):
    """What is dead in all running zones of a process."""

    def __init__(
        self,
        store: PlacementFactStore,
        start: Callable[[Coroutine[Any, Any, None]], object],
        clock: Clock,
        timetable: Timetable,
        failed: Callable[[str], object],
        *,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """The arguments are those of `FactSaver`."""
        super().__init__(
            DeadSpawn, "what died", store,
            start=start, clock=clock, timetable=timetable, failed=failed,
            pause=pause,
            state="what was dead in it",
        )  # fmt: skip

    async def dead_in(self, zone_id: int, instance: int) -> dict[int, float | None]:
        """Return the placements that are dead, with the seconds until they return; None: never."""
        rows = await self.of_zone(zone_id, instance)
        now = self._clock.moment()
        return {
            one.placement_id: None if one.returns is None else one.returns - now
            for one in rows
            if one.returns is None or one.returns > now
        }

    def died(self, zone_id: int, instance: int, deaths: Iterable[Death], *, for_ever: bool) -> None:
        """Store a little later what died, and remove what stands again.

        `for_ever`: what never returns is stored, too. In a public zone it is not: a zone that runs
        for months would become empty.
        """
        now, moment = self._clock.now(), self._clock.moment()
        rows = []
        for one in deaths:
            is_dead = one.is_dead and (for_ever or one.returns is not None)
            returns = None if one.returns is None else Moment(moment + one.returns - now)
            rows.append(DeadSpawn(zone_id, instance, one.placement_id, returns, is_dead))
        self.note(rows)
