"""Casts of creatures: what they choose from their lists of spells, when, and at whom.

Source: docs/guides/spells.md#creatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from emu.content.spells import ListedSpell
from emu.rules.combat import FightChance
from emu.spells.kinds import SpellKind, SpellTarget, SpellTier
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.figures import gap
from emu.world.deadlines import Deadlines
from emu.world.events import Died, FightOver, MayCast
from emu.world.spells.casts import Casts
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import SILENCING, LivingSpell, WaitingCast
from emu.world.zones.zone import Zone

USUAL_PERCENTAGE: Final = 10
"""How often of a hundred thoughts a creature casts that no row describes."""
STOP: Final = 30
"""Percent with which a creature takes the spell that it looks at, and looks no further."""
PREFERENCE: Final = 80
"""Percent of the choices in which a creature follows its strategy."""
REST: Final = 2.0
"""Seconds from a cast with its recovery, or the end of a spell, until a creature chooses again."""
FIRST: Final = 1.0
"""Seconds from the appearance of a creature to the spells with which it begins."""


class _Choice(NamedTuple):
    """A spell that a creature can cast now, and at whom."""

    kind: SpellKind
    tier: SpellTier
    target: Spawn


class _Fight(NamedTuple):
    """A creature and whom it fights."""

    zone: Zone
    spawn: Spawn
    foe: Spawn


def _is_first(row: ListedSpell) -> bool:
    """Return whether a creature has a spell of its list on itself whenever it rests."""
    return row.on_spawn or row.strengthens


def _is_for_one_friend(kind: SpellKind) -> bool:
    is_for_one = kind.target is SpellTarget.ONE and not kind.is_group
    return kind.is_friendly and is_for_one


def _may_rest(zone: Zone, spawn: Spawn) -> bool:
    """Return whether a creature lives in a zone and fights nobody."""
    return spawn.hp_percent > 0 and not spawn.mind.hates and zone.spawn(spawn.id) is spawn


class CreatureCasts:
    """Lets the creatures of one world cast."""

    def __init__(self, core: SpellCore, casts: Casts, lasting: LastingSpells) -> None:
        """Subscribe to the thoughts of creatures, and to the ends of their spells."""
        world = core.world
        self._kinds = core.kinds
        self._states = core.states
        self._company = core.company
        self._chance_of = core.chance
        self._casts = casts
        self._now = world.clock.now
        self._rests: dict[Spawn, Monotonic] = {}
        """Until when those who fight choose no spell."""
        self._opened: dict[Spawn, set[int]] = {}
        """The spells that those who fight have opened the fight with."""
        self._strengtheners: dict[tuple[Zone, int], dict[Spawn, None]] = {}
        """The creatures of each group that strengthen others of it."""
        self._firsts: Deadlines[tuple[Zone, Spawn], str] = world.timetable.deadlines(
            "creatures that appear with spells", self._begin, may_wait=True
        )
        lasting.ended.append(self._ended)
        world.events.subscribe(MayCast, self._may_cast)
        world.events.subscribe(FightOver, self._fight_over)
        world.events.subscribe(Died, lambda event: self._rested(event.victim))

    def _fight_over(self, event: FightOver) -> None:
        """Let a creature that has given up begin anew with what it has lost."""
        self._rested(event.spawn)
        self._begin_soon(event.zone, event.spawn, self._rows(event.zone, event.spawn))

    def _rested(self, spawn: Spawn) -> None:
        self._rests.pop(spawn, None)
        self._opened.pop(spawn, None)

    def _rows(self, zone: Zone, spawn: Spawn) -> list[ListedSpell]:
        """Return the lists of a creature: those that its script has set, else those of its row."""
        mind = spawn.mind
        if mind.spell_list or mind.second_spell_list:
            return self._lists(mind.spell_list, mind.second_spell_list)
        return self._rows_of_its_row(zone, spawn)

    def _rows_of_its_row(self, zone: Zone, spawn: Spawn) -> list[ListedSpell]:
        row = self._company.row_of(zone, spawn)
        return self._lists(int(row.get("spell_list", 0)), int(row.get("second_spell_list", 0)))

    def _lists(self, *numbers: int) -> list[ListedSpell]:
        return [one for number in numbers if number for one in self._kinds.listed(number)]

    # -- out of fights ----------------------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn) -> None:
        """Let a creature cast upon itself and its group soon, if its list has spells for that.

        Those of its group that do the same do it for this one.
        """
        rows, group = self._rows_of_its_row(zone, spawn), self._company.group_of(zone, spawn)
        self._begin_soon(zone, spawn, rows)
        if not group:
            return
        for one in self._strengtheners.get((zone, group), ()):
            self._firsts.set((zone, one), "", Monotonic(self._now() + FIRST))
        if any(map(self._is_for_others, rows)):
            self._strengtheners.setdefault((zone, group), {})[spawn] = None

    def _is_for_others(self, row: ListedSpell) -> bool:
        """Return whether a creature casts a spell of its list on others of its group at rest."""
        what = self._castable(row) if _is_first(row) else None
        return what is not None and _is_for_one_friend(what.kind)

    def _begin_soon(self, zone: Zone, spawn: Spawn, rows: Iterable[ListedSpell]) -> None:
        if any(map(_is_first, rows)):
            self._firsts.set((zone, spawn), "", Monotonic(self._now() + FIRST))

    def _ended(self, spell: LivingSpell) -> None:
        """Let a creature renew what it has on itself at rest: after its pause and the recast.

        In a fight it does not; at the end of one it begins anew with what it has lost.
        """
        spawn, zone = spell.caster, spell.zone
        if spawn.kind is not SpawnKind.NPC or not spell.has_lasted or not _may_rest(zone, spawn):
            return
        if any(row.spell_id == spell.kind.id for row in self._rows(zone, spawn) if _is_first(row)):
            due = max(self._now() + REST, spell.began + spell.tier.recast)
            self._firsts.set((zone, spawn), "", Monotonic(due))

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a creature that is gone."""
        self._firsts.clear((zone, spawn), "")
        key = zone, self._company.group_of(zone, spawn)
        found = self._strengtheners.get(key)
        if found is not None:
            found.pop(spawn, None)
            if not found:
                del self._strengtheners[key]
        self._rested(spawn)

    def _begin(self, owner: tuple[Zone, Spawn], _name: str, _now: Monotonic) -> None:
        zone, spawn = owner
        if not _may_rest(zone, spawn):
            return
        for one in self._rows(zone, spawn):
            what = self._castable(one)
            if not _is_first(one) or what is None:
                continue
            for friend in self._to_strengthen(zone, spawn, what):
                self._casts.cast(zone, spawn, what, friend, cast_time=0.0)

    def _to_strengthen(self, zone: Zone, spawn: Spawn, what: WaitingCast) -> list[Spawn]:
        """Return on whom a creature at rest casts a spell: itself, then others of its group."""
        friends = [spawn]
        if _is_for_one_friend(what.kind):
            friends = [
                one for one in self._company.encounter(zone, spawn)
                if one is spawn or (_may_rest(zone, one) and gap(spawn, one) <= what.tier.range)
            ]  # fmt: skip
        return [one for one in friends if not self._has(one, what.kind.id)]

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        for key in [one for one in self._strengtheners if one[0] is zone]:
            del self._strengtheners[key]

    # -- in fights --------------------------------------------------------------------------------

    def _may_cast(self, event: MayCast) -> None:
        seconds = self.cast(event.zone, event.spawn, event.foe) if event.foe is not None else None
        if seconds is not None:
            event.pauses.append(seconds)

    def has_recovered(self, spawn: Spawn) -> bool:
        """Return whether a creature may choose a spell: it casts nothing and has rested."""
        now = self._now()
        return self._rests.get(spawn, now) <= now and not self._casts.is_casting(spawn)

    def cast(self, zone: Zone, spawn: Spawn, foe: Spawn) -> float | None:
        """Let a creature cast if it wants to; return how long that takes, None if it does not."""
        rows = self._rows(zone, spawn) if self.has_recovered(spawn) else ()
        if not rows:
            return None
        chance, now = self._chance_of(zone), self._now()
        row = self._company.row_of(zone, spawn)
        fight = _Fight(zone, spawn, foe)
        choice = self._opening(fight, rows)
        if choice is None:
            if chance.randint(0, 99) > int(row.get("cast_percentage", USUAL_PERCENTAGE)):
                return None
            choice = self._chosen(fight, rows, str(row.get("strategy", "")), chance)
        what = WaitingCast(choice.kind, choice.tier) if choice is not None else None
        if choice is None or what is None:
            return None
        if self._casts.cast(zone, spawn, what, choice.target, pays=True) is None:
            return None
        seconds = choice.tier.cast_time
        self._rests[spawn] = Monotonic(now + seconds + choice.tier.recovery + REST)
        return seconds

    def has_opened(self, zone: Zone, spawn: Spawn) -> bool:
        """Return whether a creature has cast all with which it opens a fight."""
        done = self._opened.get(spawn, set())
        return all(one.spell_id in done for one in self._rows(zone, spawn) if one.on_aggro)

    def set_opened(self, zone: Zone, spawn: Spawn, *, is_done: bool) -> bool:
        """Note whether a creature has cast all with which it opens a fight; return it."""
        self._opened.pop(spawn, None)
        if is_done:
            self._opened[spawn] = {one.spell_id for one in self._rows(zone, spawn) if one.on_aggro}
        return is_done

    def _opening(self, event: _Fight, rows: Sequence[ListedSpell]) -> _Choice | None:
        """Return the next spell with which a creature opens a fight: each once.

        One that can cast nothing keeps them for when it can.
        """
        state = self._states.get(event.spawn)
        if state is not None and not state.controls.isdisjoint(SILENCING):
            return None
        done = self._opened.get(event.spawn, set())
        for one in rows:
            if one.on_aggro and one.spell_id not in done:
                choice = self._choice(event, one)
                if choice is not None:
                    self._opened.setdefault(event.spawn, set()).add(one.spell_id)
                    return choice
        return None

    def _chosen(
        self, event: _Fight, rows: Sequence[ListedSpell], strategy: str, chance: FightChance
    ) -> _Choice | None:
        """Return the last spell that a creature looks at, of those that it can cast."""
        wanted: bool | None = None
        if strategy in ("offensive", "defensive"):
            is_usual = chance.randint(0, 99) < PREFERENCE
            wanted = (strategy == "defensive") is is_usual
        found: _Choice | None = None
        for one in rows:
            choice = None if one.on_aggro or one.on_spawn else self._choice(event, one)
            if choice is None or wanted not in (None, choice.kind.is_friendly):
                continue
            found = choice
            if chance.randint(0, 99) < STOP:
                break
        return found

    def _choice(self, event: _Fight, row: ListedSpell) -> _Choice | None:
        spawn, what = event.spawn, self._castable(row)
        if what is None or what.kind.is_toggle:
            return None
        kind, tier = what
        health = spawn.sheet.health.percent
        if health >= row.health_ratio > 0 or health <= -row.health_ratio > 0:
            return None
        if self._casts.ready_at(spawn, kind) > self._now() or not self._casts.affords(spawn, what):
            return None
        target = self._friend(event, what) if kind.is_friendly else event.foe
        if target is None or (not kind.is_friendly and self._has(target, kind.id, spawn)):
            return None
        is_near = target is spawn or gap(spawn, target) <= max(tier.range, tier.radius)
        return _Choice(kind, tier, target) if is_near else None

    def _friend(self, event: _Fight, what: WaitingCast) -> Spawn | None:
        """Return whom a helpful spell is for: the most hurt of the creature's group."""
        friends = [
            one for one in self._company.encounter(event.zone, event.spawn)
            if one.kind is SpawnKind.NPC and one.hp_percent > 0
        ]  # fmt: skip
        if what.kind.lasts(what.tier):
            return next((one for one in friends if not self._has(one, what.kind.id)), None)
        hurt = min(friends, key=lambda one: one.sheet.health.percent, default=None)
        return hurt if hurt is not None and hurt.sheet.health.percent < 100 else None

    def _castable(self, row: ListedSpell) -> WaitingCast | None:
        kind = self._kinds.get(row.spell_id)
        tier = kind.tier(max(1, row.tier)) if kind is not None else None
        if kind is None or tier is None or not kind.is_active:
            return None
        return WaitingCast(kind, tier)

    def _has(self, spawn: Spawn, spell_id: int, caster: Spawn | None = None) -> bool:
        """Return whether a spell lasts on a spawn, from one caster or from anybody."""
        state = self._states.get(spawn)
        return any(
            one.kind.id == spell_id and caster in (None, one.caster)
            for one in (state.effects if state is not None else ())
        )
