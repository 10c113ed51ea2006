"""Heroic opportunities: a starter, then a wheel whose spells must be cast, then its own spell.

Source: docs/guides/spells.md#opportunities, ../shared/data/recordings/fight-546-heroic-a.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from emu.spells.opportunities import ABILITIES, NO_ABILITY, HeroicStarter, HeroicWheel
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.events import Cast, Died, LeftZone
from emu.world.spells.casts import Casts
from emu.world.spells.core import SpellCore
from emu.world.spells.living import LONG_AGO, WaitingCast

SECONDS: Final = 10.0
"""How long a wheel waits for its spells."""
WHEEL, OVER, STARTER = 0, 2, 4
"""Kinds of messages."""
NOBODY: Final = 0xFFFFFFFF
FAILED, DONE = 1, 2
"""Results in a message of the kind `OVER`."""


@dataclass(slots=True, eq=False)
class Opportunity:
    """What somebody has started."""

    starter: Player
    class_: int
    wheel: HeroicWheel | None = None
    ends: Monotonic = LONG_AGO
    done: set[int] = field(default_factory=set)
    """The places of the abilities that were used."""


class Opportunities:
    """The heroic opportunities of one world."""

    def __init__(self, core: SpellCore, casts: Casts) -> None:
        """Subscribe to casts, and to what ends opportunities."""
        world = self._world = core.world
        self._kinds = core.kinds
        self._company = core.company
        self._chance = core.chance
        self._casts = casts
        self._running: dict[Player, Opportunity] = {}
        """By the player who has started it."""
        self._ends: Deadlines[Opportunity, str] = world.timetable.deadlines(
            "heroic opportunities", self._over
        )
        world.events.subscribe(Cast, self._cast)
        world.events.subscribe(LeftZone, self._left)
        world.events.subscribe(Died, self._died)

    def start(self, player: Player, class_: int) -> None:
        """Let a player start the opportunities of a class; a wheel that turns goes on."""
        running = self._of(player)
        starters = self._starters(class_)
        if not starters or (running is not None and running.wheel is not None):
            return
        if running is not None:
            self._forget(running.starter)
        self._running[player] = Opportunity(player, class_)
        self._show(
            self._running[player], STARTER, starter_icon=starters[0].icon,
            icons=tuple(one.ability for one in starters),
        )  # fmt: skip

    def _starters(self, class_: int) -> list[HeroicStarter]:
        return [one for one in self._kinds.opportunities().starters if one.class_ == class_]

    def _of(self, player: Player) -> Opportunity | None:
        """Return the opportunity of a player or of its group."""
        members = self._company.members(player)
        return next((self._running[one] for one in members if one in self._running), None)

    # -- casts ------------------------------------------------------------------------------------

    def _cast(self, event: Cast) -> None:
        player, kind = event.player, self._kinds.get(event.spell_id)
        running = self._of(player) if player is not None else None
        if player is None or running is None or kind is None or not event.has_landed:
            return
        if running.wheel is None:
            self._turn(running, player, kind.heroic_icon)
        else:
            self._advance(running, running.wheel, player, event.foe, kind.heroic_icon)

    def _turn(self, running: Opportunity, player: Player, icon: int) -> None:
        """Begin a wheel if a spell has the icon of a starter."""
        table = self._kinds.opportunities()
        fitting = {one.id for one in self._starters(running.class_) if one.ability == icon}
        wheels = [one for one in table.wheels if one.starter in fitting]
        if not wheels:
            return
        drawn = self._chance(player.zone).randint(0, 9999) / 10_000
        running.wheel = _drawn(wheels, drawn)
        running.ends = Monotonic(self._world.clock.now() + SECONDS)
        self._ends.set(running, "", running.ends)
        self._show(running, WHEEL)

    def _advance(
        self, running: Opportunity, wheel: HeroicWheel, player: Player, foe: Spawn | None,
        icon: int,
    ) -> None:  # fmt: skip
        """Note a spell that a wheel asks for; with the last one its own spell is cast."""
        open_places = [at for at in range(len(wheel.abilities)) if at not in running.done]
        asked = open_places[:1] if wheel.in_order else open_places
        place = next((at for at in asked if wheel.abilities[at] == icon), None)
        if place is None:
            return
        running.done.add(place)
        if len(running.done) < len(wheel.abilities):
            self._show(running, WHEEL)
            return
        self._show(running, OVER, DONE)
        self._forget(running.starter)
        kind = self._kinds.get(wheel.spell_id)
        tier = kind.tier(1) if kind is not None else None
        if kind is not None and tier is not None:
            self._casts.cast(
                player.zone, player.spawn, WaitingCast(kind, tier), foe, depth=1, cast_time=0.0,
                is_given=True,
            )  # fmt: skip

    # -- the end ----------------------------------------------------------------------------------

    def _over(self, running: Opportunity, _name: str, _now: Monotonic) -> None:
        self._show(running, OVER, FAILED)
        self._forget(running.starter)

    def _died(self, event: Died) -> None:
        player = self._company.players.get(event.victim)
        running = self._running.get(player) if player is not None else None
        if running is not None:
            self._show(running, OVER, FAILED)
            self._forget(running.starter)

    def _left(self, event: LeftZone) -> None:
        """End what a player has started, also at the clients of its group that stay."""
        running = self._running.get(event.player)
        if running is not None:
            self._show(running, OVER, FAILED, but=event.player)
            self._forget(event.player)

    def _forget(self, player: Player) -> None:
        running = self._running.pop(player, None)
        if running is not None:
            self._ends.forget(running, ("",))

    # -- showing ----------------------------------------------------------------------------------

    def _show(
        self, running: Opportunity, kind: int, result: int = 0, *, starter_icon: int = NO_ABILITY,
        icons: tuple[int, ...] = (), but: Player | None = None,
    ) -> None:  # fmt: skip
        """Show an opportunity to the group of the player who has started it, except one."""
        wheel = running.wheel
        spell = self._kinds.get(wheel.spell_id) if wheel is not None else None
        left = max(0.0, running.ends - self._world.clock.now()) if wheel is not None else 0.0
        shown = wheel.abilities if wheel is not None else icons
        fields = {
            "name": spell.name if spell is not None else "",
            "description": spell.description if spell is not None else "",
            "wheel_type": kind, "unknown": result,
            "order": int(wheel.in_order) if wheel is not None else 0,
            "shift_icon": wheel.shift_icon if wheel is not None else NO_ABILITY,
            "starter_icon": starter_icon, "time_total": SECONDS if wheel is not None else 0.0,
            "time_left": left,
            "icons": (*shown, *[NO_ABILITY] * ABILITIES)[:ABILITIES],
            "countered": [int(at in running.done) for at in range(ABILITIES)],
        }  # fmt: skip
        for one in self._company.members(running.starter):
            if one is but:
                continue
            index = one.index_of(running.starter.spawn)
            one.client.send("WS_HeroicOpportunity", fields | {"id": index or NOBODY})


def _drawn(wheels: list[HeroicWheel], share: float) -> HeroicWheel:
    """Return a wheel by a number from 0 to 1; the weights of all count."""
    left = share * sum(one.chance for one in wheels)
    for one in wheels:
        left -= one.chance
        if left < 0:
            return one
    return wheels[-1]
