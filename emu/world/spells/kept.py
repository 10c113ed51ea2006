"""Spells over a change of the zone, a logout and a restart: those that last go on.

They are stored with the character's past. Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from emu.facts import is_number, is_whole
from emu.model import SavedKind
from emu.spells.kinds import SpellKind
from emu.times import Moment, Monotonic
from emu.world.actors.looks import LARGEST_MODEL
from emu.world.actors.past import WRITTEN
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.sheet import LARGEST_POOL
from emu.world.actors.spawn import Spawn
from emu.world.events import Entered, LeftZone, Order
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import (
    NONE,
    NOTHING,
    CastPhase,
    LivingSpell,
    Proc,
    Remainder,
    SpellBonus,
    SpellGifts,
    Ward,
)
from emu.world.spells.pets import Pets
from emu.world.spells.remains import are_usable, redo

LONGEST: Final = 16_000
"""Characters of text for the spells of one character; what is too much is left out."""
MOST_RECASTS: Final = 200
POOLS: Final = "pools"
"""Health and power with the spells that go on: more than a player may have without them."""
RECASTS_WRITTEN: Final = "recasts_written"
"""When recasts were written down, by the wall clock."""
SHORT_RECAST: Final = 3.0
"""Seconds; shorter recasts are not worth a save."""
LARGEST: Final = 1e9
_U32: Final = 0xFFFFFFFF
_LONGEST_VALUE: Final = 200


class KeptSpells:
    """Lets the spells of the players of one world go on where they stand next."""

    def __init__(
        self, core: SpellCore, lasting: LastingSpells, pets: Pets,
        resume: Callable[[Spawn], object],
    ) -> None:  # fmt: skip
        """Subscribe before whoever ends the spells of those that leave.

        `resume` plans the ends of recasts.
        """
        world = self._world = core.world
        self._states = core.states
        self._company = core.company
        self._scripts = core.scripts
        self._kinds = core.kinds
        self._lasting = lasting
        self._pets = pets
        self._resume = resume
        self._now = world.clock.now
        lasting.changed.append(self._changed)
        world.events.subscribe(LeftZone, self._left, Order.OWNER)
        world.events.subscribe(Entered, self._entered, Order.OWNER)

    # -- leaving and storing ----------------------------------------------------------------------

    def _changed(self, spawn: Spawn) -> None:
        player = self._company.players.get(spawn)
        if player is not None and player.past.lasts_now is not None and player.state in IN_ZONE:
            self._world.saves.changed(player, SavedKind.PAST, self._now())

    def recast_began(self, player: Player, seconds: float) -> None:
        """Store that a player has to wait for a spell, if that takes long."""
        if seconds > SHORT_RECAST and player.past.lasts_now is not None:
            self._world.saves.changed(player, SavedKind.PAST, self._now())

    def _left(self, event: LeftZone) -> None:
        """Write down what goes on, before all spells of a player who leaves end."""
        event.player.past.stand_still()

    def rows(self, player: Player) -> dict[str, Any]:
        """Return what lasts on a player now, and until when it has to wait for its spells."""
        state = self._states.get(player.spawn)
        if state is None:
            return {}
        found: dict[str, Any] = {}
        effects: list[list[Any]] = []
        size = 0
        for spell in state.effects:
            if self.goes_on(spell, player):
                row = self._row(spell, player)
                size += len(json.dumps(row))
                if size > LONGEST:
                    break
                effects.append(row)
        now, moment = self._now(), self._world.clock.moment()
        if effects:
            found["effects"] = effects
            found[WRITTEN] = [round(moment, 1), player.played(now)]
            sheet = player.spawn.sheet
            found[POOLS] = [sheet.health.current, sheet.power.current]
        recasts = {
            str(number): round(moment + at - now, 1)
            for number, at in sorted(state.ready.items(), key=lambda one: -one[1])[:MOST_RECASTS]
            if at > now
        }
        if recasts:
            found["recasts"], found[RECASTS_WRITTEN] = recasts, round(moment, 1)
        return found

    def goes_on(self, spell: LivingSpell, player: Player) -> bool:
        """Return whether a spell goes on: a friendly one of its own, or a timed one of others.

        What others have cast on their group stays with them: EQ2Emulator's rule
        EnableCrossZoneGroupBuffs is 0. On a dead player only those go on that last through death.
        """
        kind = spell.kind
        return (
            kind.is_friendly and not spell.is_passive and not self._pets.has_of(spell)
            and (player.spawn.hp_percent > 0 or kind.lasts_through_death)
            and (
                spell.caster is player.spawn
                or (spell.ends is not None and not kind.is_for_group)
            )
        )  # fmt: skip

    def _row(self, spell: LivingSpell, player: Player) -> list[Any]:
        left = -1.0 if spell.ends is None else round(max(0.1, spell.ends - self._now()), 1)
        gifts = spell.gifts.get(player.spawn, SpellGifts())
        ward = spell.ward
        return [
            spell.kind.id, spell.tier.number, spell.level, left, spell.triggers,
            int(spell.is_free or spell.caster is not player.spawn), list(spell.tier.values),
            {
                "bonuses": {
                    str(number): [one.value, *one.only] for number, one in gifts.bonuses.items()
                },
                "skills": {str(number): value for number, value in gifts.skills.items()},
                "controls": sorted(gifts.controls),
                "immunities": sorted(gifts.immunities), "stealth": sorted(gifts.stealth),
                "procs": [[one.kind, one.chance] for one in gifts.procs if one.item is None],
                "snare": gifts.snare, "model": gifts.model,
                "remains": {name: [*values] for name, values in gifts.remains.items()},
                "ends": spell.ends_without_triggers, **self._times(spell),
            },
            None if ward is None else [
                ward.left, int(ward.kept), ward.kind, ward.percent, ward.redirect, ward.hits,
                ward.health, ward.base,
            ],
        ]  # fmt: skip

    def _times(self, spell: LivingSpell) -> dict[str, list[Any]]:
        """Return when a spell ticks and calls functions of its script, in seconds from now."""
        now = self._now()
        found: dict[str, list[Any]] = {}
        if spell.tier.period > 0:
            found["tick"] = [spell.ticks, round(max(0.0, spell.due - now), 1)]
        if spell.pending:
            found["calls"] = [
                [round(one.seconds_left(now), 1), one.function] for one in spell.pending
            ]
        return found

    # -- coming -----------------------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        player = event.player
        stored, player.past.lasting = player.past.lasting, {}
        rows, passed = stored.get("effects"), self._passed(player, stored.get(WRITTEN))
        with _as_before(player.spawn, stored.get(POOLS)):
            for row in rows if isinstance(rows, list) else ():
                self._begin(player, row, passed)
        self._take_recasts(player, stored.get("recasts"), stored.get(RECASTS_WRITTEN))
        player.past.lasts_now = lambda: self.rows(player)

    def _passed(self, player: Player, written: Any) -> float:
        """Return for how long spells went on after they were written; 0 for who left the world.

        The process of a character that stood in a zone has ended without it. Its last save says how
        long it played at least, and the next save would have come after the interval of saves.
        """
        if not isinstance(written, list) or len(written) != 2:
            return 0.0
        if not all(is_number(one, LARGEST * 10) for one in written):
            return 0.0
        began, seconds = map(float, written)
        played = max(0.0, player.character.played - seconds)
        most = played + self._world.rules.save_interval
        return max(played, min(self._world.clock.moment() - began, most))

    def _take_recasts(self, player: Player, found: Any, written: Any) -> None:
        if not isinstance(found, dict):
            return
        now, moment = self._now(), self._world.clock.moment()
        if is_number(written, LARGEST * 10):
            # A clock that was set back must not make a recast longer.
            moment = max(moment, Moment(written))
        state = self._states.of(player.spawn)
        for key, at in found.items():
            if _is_number_of_spell(key) and is_number(at, LARGEST * 10) and at > moment:
                state.ready[int(key)] = Monotonic(now + at - moment)
        self._states.tidy(player.spawn)
        self._resume(player.spawn)

    def _begin(self, player: Player, row: Any, passed: float) -> None:
        """Let a stored spell last again; one that is over or not usable any more is left out."""
        if not isinstance(row, list) or len(row) != len(_ROW):
            return
        if not all(fits(value) for fits, value in zip(_ROW, row, strict=True)):
            return
        number, tier_number, level, left, triggers, is_free, values, gifts, ward = row
        if left >= 0:
            left -= passed
            if left <= 0:
                return
        kind: SpellKind | None = self._kinds.get(number)
        tier = kind.tier(tier_number) if kind is not None else None
        if kind is None or tier is None or not kind.is_active:
            return
        spawn = player.spawn
        spell = LivingSpell(
            kind, replace(tier, values=tuple(values)), player.zone, spawn, target=spawn,
            targets=[spawn], level=level, phase=CastPhase.ACTING, is_free=bool(is_free),
            began=self._now(), triggers=triggers, gifts={spawn: _gifts(gifts)},
            ward=None if ward is None else Ward(ward[0], bool(ward[1]), *ward[2:]),
            ends_without_triggers=gifts.get("ends") is True,
        )  # fmt: skip
        if not self._scripts().begin(spell):
            return
        rest = _rest(gifts, None if left < 0 else left, passed, tier.period)
        if self._lasting.begin(spell, rest=rest):
            redo(spawn, spell.gifts_of(spawn).remains)


@contextmanager
def _as_before(spawn: Spawn, kept: Any) -> Iterator[None]:
    """Let spells begin that raise health and power, and give back what was there with them.

    Without them it was cut. What is full stays full, so that a zone change would heal.
    """
    pools = spawn.sheet.health, spawn.sheet.power
    were_full = [one.current >= one.most for one in pools]
    yield
    if not isinstance(kept, list) or len(kept) != len(pools):
        return
    # Read anew, so that the spells count by now.
    pools = spawn.sheet.health, spawn.sheet.power
    for pool, was_full, points in zip(pools, were_full, kept, strict=True):
        if was_full and is_whole(points, 1, LARGEST_POOL):
            pool.set_current(points)
    spawn.show_pools()


def _is_number_of_spell(key: Any) -> bool:
    digits = key.removeprefix("-") if isinstance(key, str) else ""
    return digits.isascii() and digits.isdecimal() and len(digits) <= 10


def _is_value(value: Any) -> bool:
    is_text = isinstance(value, str) and len(value) <= _LONGEST_VALUE
    return is_text or is_number(value, LARGEST)


def _are_numbers(found: Any) -> bool:
    return isinstance(found, list) and all(is_number(one, LARGEST) for one in found)


def _numbered(found: Any) -> dict[int, Any]:
    return {
        int(key): value for key, value in (found.items() if isinstance(found, dict) else ())
        if _is_number_of_spell(key)
    }  # fmt: skip


def _wholes(found: Any) -> frozenset[int]:
    numbers = found if isinstance(found, list) else ()
    return frozenset(one for one in numbers if is_whole(one, 0, _U32)) or NONE


def _gifts(stored: Mapping[str, Any]) -> SpellGifts:
    """Return the gifts of a stored spell, without what is not usable."""
    pairs = stored.get("procs")
    snare, model = stored.get("snare", 0.0), stored.get("model", 0)
    return SpellGifts(
        bonuses={
            number: SpellBonus(one[0], tuple(int(other) for other in one[1:]))
            for number, one in _numbered(stored.get("bonuses")).items()
            if one and _are_numbers(one)
        },
        skills={
            number: value for number, value in _numbered(stored.get("skills")).items()
            if is_number(value, LARGEST)
        },
        controls=_wholes(stored.get("controls")), immunities=_wholes(stored.get("immunities")),
        procs=[
            Proc(int(one[0]), one[1]) for one in (pairs if isinstance(pairs, list) else ())
            if _are_numbers(one) and len(one) == 2
        ],
        stealth=_wholes(stored.get("stealth")),
        snare=snare if is_number(snare, LARGEST) else 0.0,
        model=model if is_whole(model, 0, LARGEST_MODEL) else 0,
        remains=_remains(stored.get("remains")),
    )  # fmt: skip


def _rest(
    stored: Mapping[str, Any], seconds: float | None, passed: float, period: float
) -> Remainder:
    """Return what is left of a stored spell when so many seconds have passed without it."""
    tick, found = stored.get("tick"), stored.get("calls")
    calls = tuple(
        (max(0.0, one[0] - passed), one[1])
        for one in (found if isinstance(found, list) else ()) if _is_call(one)
    )  # fmt: skip
    if period <= 0 or not isinstance(tick, list) or not _is_tick(tick):
        return Remainder(seconds, 0, 0.0, calls)
    ticks, due = tick
    missed = max(0, math.ceil((passed - due) / period))
    return Remainder(
        seconds, max(1, ticks - missed) if ticks > 0 else -1, due + missed * period - passed, calls
    )


def _is_tick(found: list[Any]) -> bool:
    """Return whether a list is a number of ticks and the seconds until the next one."""
    return len(found) == 2 and is_whole(found[0], -_U32, _U32) and _is_time(found[1])


def _is_call(found: Any) -> bool:
    """Return whether a value is the seconds until a call, and the name of a function."""
    if not isinstance(found, list) or len(found) != 2 or not _is_time(found[0]):
        return False
    return isinstance(found[1], str) and 0 < len(found[1]) <= _LONGEST_VALUE


def _is_time(value: Any) -> bool:
    return is_number(value, LARGEST) and value >= 0


def _remains(found: Any) -> Mapping[str, tuple[float, ...]]:
    return {
        name: tuple(values) for name, values in (found.items() if isinstance(found, dict) else ())
        if _are_numbers(values) and are_usable(name, values)
    } or NOTHING  # fmt: skip


_WARDS: Final = (6, 7, 8)
"""How many numbers a ward has; those of older rows lack its first points, and its share of health.
"""
_ROW: Final[tuple[Callable[[Any], bool], ...]] = (
    lambda value: is_whole(value, 1, _U32),
    lambda value: is_whole(value, 0, 255),
    lambda value: is_whole(value, 0, 255),
    lambda value: is_number(value, LARGEST),
    lambda value: is_whole(value, 0, _U32),
    lambda value: is_whole(value, 0, 1),
    lambda value: isinstance(value, list) and all(map(_is_value, value)),
    lambda value: isinstance(value, dict),
    lambda value: value is None or (_are_numbers(value) and len(value) in _WARDS),
)
"""What each column of a stored spell has to be."""
