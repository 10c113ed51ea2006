"""The population of a zone: choices, groups, conditions, respawns and expiry.

A *location* is one placement with the entries of which one can stand there. A placement that is in
a group stands together with the others of its group, and of a set of associated groups one stands
at a time. Times are seconds of the caller's clock; random numbers come from the caller, so that a
zone can be repeated.

Source: docs/guides/content.md#population.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, Final, NamedTuple

from emu.content.file import Entry, Group, Placement, Template, ZoneContent
from emu.content.standing import Randomness, Standing, stand
from emu.content.strays import Stray
from emu.content.vacancies import Vacancy
from emu.rules.respawn import respawn_wait
from emu.times import Monotonic

ROUND: Final = 10.0
"""Seconds between two checks of respawns and expiries."""
ORDINARY: Final = 1
"""The bit of an ordinary day among those of holidays."""


class Condition(IntFlag):
    """When an entry may stand: bits of `Entry.condition`."""

    DAY = 1
    NIGHT = 2
    DRY = 4
    RAIN = 8


KNOWN_CONDITIONS: Final = range(Condition.RAIN * 2)
"""Numbers above them are mistakes, and mean nothing."""
_TIMES: Final = Condition.DAY | Condition.NIGHT
_WEATHERS: Final = Condition.DRY | Condition.RAIN


@dataclass(slots=True)
class Surroundings:
    """What conditions and flags are compared with."""

    now: Condition = Condition.DAY | Condition.DRY
    """The present time of the day and the weather: one bit of each."""
    expansions: int = 0
    """Bits of the expansions that are open; 0 opens all."""
    holidays: int = 0
    """Bits of the holidays that are celebrated; 0 lets all stand."""

    def meets(self, condition: int) -> bool:
        """Return whether an entry with a condition may stand now."""
        if condition not in KNOWN_CONDITIONS:
            return True
        for bits in (_TIMES, _WEATHERS):
            wanted = condition & bits
            if wanted and not wanted & self.now:
                return False
        return True

    def opens(self, template: Template) -> bool:
        """Return whether a spawn's expansion and holiday are open."""
        expansion, holiday = template.spawn["expansion"], template.spawn["holiday"]
        return (not expansion or not self.expansions or bool(expansion & self.expansions)) and (
            not holiday or not self.holidays or bool(holiday & self.holidays)
        )


@dataclass(slots=True)
class _Place:
    """One placement with its entries, and what stands there."""

    placement: Placement
    entries: Sequence[Entry]
    groups: tuple[int, ...] = ()
    standing: Standing | None = None
    returns: Monotonic | None = None
    """When it may be filled again; None while nothing was said of that, or for ever.

    While something stands there: until when the place stays empty once it has gone.
    """


class Death(NamedTuple):
    """A placement at which something died, or stands again."""

    placement_id: int
    is_dead: bool
    returns: Monotonic | None
    """When it returns, if it is dead; None: never."""


@dataclass(slots=True)
class Change:
    """What changed in a round: spawns that go, and spawns that come."""

    gone: list[Standing] = field(default_factory=list)
    come: list[Standing] = field(default_factory=list)


class Population:
    """What stands in one running zone."""

    def __init__(
        self,
        content: ZoneContent,
        randomness: Randomness,
        surroundings: Surroundings,
        dead: Mapping[int, float | None] | None = None,
    ) -> None:
        """Prepare the places of a zone.

        `dead` has the placements at which something died before the last stop of the server, each
        with the seconds until it returns; None: it never does.
        """
        self._random = randomness
        self.surroundings = surroundings
        self._templates = content.templates
        self._spawn_scripts = content.spawn_scripts
        self.factions = content.factions
        """All factions by number."""
        self.alliances = content.alliances
        """The friends and enemies of factions, by number."""
        self._dead = dict(dead or {})
        self._groups: dict[int, Group] = {group.id: group for group in content.groups}
        self._sets: dict[int, list[Group]] = {}
        self._chosen: set[int] = set()
        """The groups that were chosen last, one of each set."""
        for group in content.groups:
            self._sets.setdefault(group.set_id, []).append(group)
        member_of: dict[int, list[int]] = {}
        for group in content.groups:
            for placement in group.placements:
                member_of.setdefault(placement, []).append(group.id)
        self._places: dict[int, _Place] = {
            one.id: _Place(one, content.entries[one.location_id], tuple(member_of.get(one.id, ())))
            for one in content.placements
            if one.location_id in content.entries and not one.instance
        }
        at_location: dict[int, list[_Place]] = {}
        for place in self._places.values():
            at_location.setdefault(place.placement.location_id, []).append(place)
        # Tuples: nearly all locations have one place, for which a list takes twice the memory.
        self._at_location = {number: tuple(places) for number, places in at_location.items()}
        self._next_round = Monotonic(0.0)
        self._turned: dict[int, None] = {}
        """Placements at which something died or returned since `take_deaths`."""
        self._bodies: dict[int, tuple[Standing, Monotonic | None]] = {}
        """By placement, the body that lies there, and the earliest time of its return."""

    def __iter__(self) -> Iterator[Standing]:
        """All that stands now."""
        return (place.standing for place in self._places.values() if place.standing is not None)

    def at(self, placement_id: int) -> Standing | None:
        """Return what stands at a placement."""
        place = self._places.get(placement_id)
        return place.standing if place is not None else None

    def empty(self) -> Iterator[Placement]:
        """Yield the placements at which nothing stands."""
        return (place.placement for place in self._places.values() if place.standing is None)

    def vacancy(self, placement_id: int, now: Monotonic) -> Vacancy | None:
        """Return what decides whether something stands at a placement; None for an unknown one."""
        place = self._places.get(placement_id)
        if place is None:
            return None
        rivals = {group.id for group in self._candidates(place)} & self._chosen - {*place.groups}
        returns = None if place.returns is None else max(0.0, place.returns - now)
        return Vacancy(
            place.placement, place.entries, place.groups, rivals, self._is_dead(place), returns,
            self._templates, {one.id for one in place.entries if self._may_stand(one)},
        )  # fmt: skip

    def parts(self) -> Sequence[Collection[object]]:
        """Return all that is large, for who frees it in slices."""
        return self._places.values(), self._at_location.values(), self._sets.values()

    # -- opening ----------------------------------------------------------------------------------

    def open(self, now: Monotonic) -> list[Standing]:
        """Fill the zone for the first time; return what stands."""
        for placement_id, seconds in self._dead.items():
            place = self._places.get(placement_id)
            if place is not None and seconds is not None:
                place.returns = Monotonic(now + seconds)
        settled: set[int] = set()
        come: list[Standing] = []
        for place in self._places.values():
            if place.placement.id in settled:
                continue
            if place.groups:
                come += self._fill_set(place, settled, now)
            else:
                come += self._fill(place, now, 0)
        self._next_round = Monotonic(now + ROUND)
        return come

    # -- time -------------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic:
        """Return when `handle_timer` must be called next."""
        return self._next_round

    def handle_timer(self, now: Monotonic) -> Change:
        """Let what has expired go, and fill the places whose time has come."""
        self._next_round = Monotonic(now + ROUND)
        change = Change()
        for place in self._places.values():
            standing = place.standing
            if standing is not None and standing.expires is not None and standing.expires <= now:
                self._leave(place, now)
                change.gone.append(standing)
        due = [
            place for place in self._places.values()
            if place.returns is not None and place.returns <= now
        ]  # fmt: skip
        settled: set[int] = set()
        for place in due:
            if place.standing is not None:
                self._revive(place)
            elif place.placement.id not in settled:
                change.come += self._return(place, settled, now)
        return change

    def changed(self, now: Monotonic) -> Change:
        """Apply a change of the surroundings: who may not stand goes, who may now comes."""
        change = Change()
        for place in self._places.values():
            standing = place.standing
            if standing is not None and not self._may_stand(standing.entry):
                place.standing = None
                change.gone.append(standing)
        for place in self._places.values():
            is_empty = place.standing is None and place.returns is None
            # Only places of which an entry waits for this: others are empty for another reason.
            if is_empty and place.placement.id not in self._dead:
                group = next((one for one in place.groups if one in self._chosen), 0)
                conditions = [entry.condition for entry in place.entries if entry.weight > 0]
                # Of groups that exclude each other, only places of the one that stands.
                if any(conditions) and (group or not place.groups):
                    change.come += self._fill(place, now, group)
        return change

    def removed(self, placement_id: int, now: Monotonic) -> None:
        """Record that what stood at a placement died and its corpse went, or that it was removed.

        It returns after the respawn time of its placement, or never if that is 0.
        """
        place = self._places.get(placement_id)
        if place is not None and place.standing is not None:
            self._leave(place, now)

    def died(self, placement_id: int, now: Monotonic) -> None:
        """Record that what stands at a placement died; it returns only after its body went."""
        place = self._places.get(placement_id)
        if place is not None and place.standing is not None:
            wait = place.placement.respawn
            self._bodies[placement_id] = place.standing, Monotonic(now + wait) if wait else None
            self._turned[placement_id] = None

    def waiting(self, now: Monotonic) -> dict[int, float | None]:
        """Return the placements whose spawn is dead, with the seconds until it returns.

        None: it never returns. This is what `dead` takes after a restart.
        """
        return {
            number: max(0.0, place.returns - now) if place.returns is not None else None
            for number, place in self._places.items()
            if self._is_dead(place)
        }

    def take_deaths(self) -> list[Death]:
        """Return what died or returned since the last call."""
        turned = [self._places[one] for one in self._turned]
        self._turned.clear()
        return [self._death(one) for one in turned]

    def _death(self, place: _Place) -> Death:
        number = place.placement.id
        body = self._bodies.get(number)
        if body is not None and body[0] is place.standing:
            return Death(number, is_dead=True, returns=body[1])
        return Death(number, self._is_dead(place), place.returns)

    # -- another content --------------------------------------------------------------------------

    def renewed(self, content: ZoneContent) -> Population:
        """Return a population of another content that can take this one over."""
        return Population(content, self._random, self.surroundings)

    def take_over(
        self, before: Population, places: Collection[int], spawns: Collection[int], now: Monotonic
    ) -> Change:
        """Continue the population of an older content; return what goes and what comes.

        `places` are the placements that have changed, with all of their sets, and `spawns` the
        templates. What is at other placements stays, and what is dead stays dead.
        """
        self.surroundings, self._next_round = before.surroundings, before._next_round
        self._bodies = before._bodies
        self._turned = {one: None for one in before._turned if one in self._places}
        change = Change()
        groups: dict[int, int] = {}
        """The group of each spawn that goes only because its template has changed."""
        for number, was in before._places.items():
            if number in self._places:
                # What is dead stays dead, also where something else is to stand now.
                self._places[number].returns = was.returns
                if number in before._dead:
                    self._dead[number] = None
            stays = number not in places and self._keep(number, was, spawns)
            if was.standing is not None and not stays:
                change.gone.append(was.standing)
                if number not in places:
                    groups[number] = was.standing.group
        settled: set[int] = set()
        for number in sorted({*places, *groups} & set(self._places)):
            place = self._places[number]
            if not place.groups or number in groups:
                change.come += self._fill(place, now, groups.get(number, 0))
            elif number not in settled:
                change.come += self._fill_set(place, settled, now)
        return change

    def _keep(self, number: int, was: _Place, spawns: Collection[int]) -> bool:
        """Leave a placement as it was; return whether what stands there stays."""
        place, standing = self._places.get(number), was.standing
        if place is None or (standing is not None and standing.template.id in spawns):
            return False
        place.standing = standing
        return True

    # -- what is made besides ---------------------------------------------------------------------

    def make_at(self, location: int, now: Monotonic, group: int = 0) -> Standing | None:
        """Return one more spawn of a location, whatever stands there; None if there is none.

        The caller keeps it: it takes no place, and nothing returns when it is gone.
        """
        places = self._at_location.get(location)
        return self._make(places[0], now, group) if places else None

    def make_group(self, group: int, now: Monotonic) -> list[Standing]:
        """Return one more spawn for each place of a group."""
        known = self._groups.get(group)
        numbers = known.placements if known is not None else ()
        made = [self._make(self._places[one], now, group) for one in numbers if one in self._places]
        return [standing for standing in made if standing is not None]

    def make_one(
        self, number: int, place: tuple[float, float, float, float], now: Monotonic,
        other: Stray | None = None,
    ) -> Standing | None:  # fmt: skip
        """Return a spawn of a number for a place with its heading; None without a template.

        `other` is what is made if the zone does not have the number.
        """
        template = self._templates.get(number) or (other.template if other is not None else None)
        if template is None:
            return None
        script = self._spawn_scripts.get(number) or (other.script if other is not None else "")
        x, y, z, heading = place
        values: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
        placement = Placement(**values | {"x": x, "y": y, "z": z, "heading": heading})
        entry = Entry(0, 0, number, 100.0, 0, script)
        return stand(placement, entry, template, now, self._random)

    def set_respawn(self, location: int, seconds: int) -> bool:
        """Set after how long what dies at a location returns, until the zone ends."""
        places = self._at_location.get(location, ())
        for place in places:
            place.placement = place.placement._replace(
                respawn=max(0, seconds), respawn_low=0, respawn_high=0
            )
        return bool(places)

    def keep_dead(self, location: int, seconds: int, now: Monotonic) -> bool:
        """Let a location stay empty for so long, once what stands there has gone.

        It stays empty from the start in a zone that starts meanwhile, if the caller stores what
        `take_deaths` returns. Returns False for an unknown location.
        """
        places = self._at_location.get(location, ())
        for place in places:
            place.returns = Monotonic(now + max(0, seconds))
            self._turned[place.placement.id] = None
        return bool(places)

    def _make(self, place: _Place, now: Monotonic, group: int) -> Standing | None:
        entries = [one for one in place.entries if one.spawn_id in self._templates]
        if not entries:
            return None
        # Where no entry has a weight, each is as likely as the others.
        weights = [entry.weight for entry in entries]
        if not any(weights):
            weights = [1.0] * len(entries)
        roll = self._random.random() * sum(weights)
        chosen = entries[-1]
        for entry, weight in zip(entries, weights, strict=True):
            if roll < weight:
                chosen = entry
                break
            roll -= weight
        template = self._templates[chosen.spawn_id]
        return stand(place.placement, chosen, template, now, self._random, group=group)

    # -- internals --------------------------------------------------------------------------------

    def _is_dead(self, place: _Place) -> bool:
        return place.returns is not None or place.placement.id in self._dead

    def _leave(self, place: _Place, now: Monotonic) -> None:
        placement = place.placement
        place.standing = None
        self._bodies.pop(placement.id, None)
        self._turned[placement.id] = None
        if place.returns is not None and place.returns > now:
            return
        low, high = placement.respawn_low, placement.respawn_high
        wait = respawn_wait(placement.respawn, low, high, self._random)
        if wait is None:
            self._dead[placement.id] = None
        else:
            place.returns = Monotonic(now + wait)

    def _return(self, place: _Place, settled: set[int], now: Monotonic) -> list[Standing]:
        if not place.groups:
            self._revive(place)
            return self._fill(place, now, 0)
        # A set returns as a whole, when nothing of any of its groups stands any more.
        members = [
            self._places[one]
            for group in self._candidates(place)
            for one in group.placements
            if one in self._places
        ]
        if any(one.standing is not None for one in members):
            return []
        for one in members:
            self._revive(one)
        return self._fill_set(place, settled, now)

    def _revive(self, place: _Place) -> None:
        place.returns = None
        self._dead.pop(place.placement.id, None)
        self._turned[place.placement.id] = None

    def _candidates(self, place: _Place) -> list[Group]:
        """Return all groups of the sets that a placement belongs to, by number."""
        sets = {self._groups[group].set_id for group in place.groups}
        return sorted(group for one in sets for group in self._sets[one])

    def _fill_set(self, place: _Place, settled: set[int], now: Monotonic) -> list[Standing]:
        """Choose one of the groups that exclude each other, and fill its places."""
        candidates = self._candidates(place)
        for group in candidates:
            settled.update(group.placements)
        chosen = self._dying(candidates) or self._choose(candidates)
        self._chosen.difference_update(group.id for group in candidates)
        self._chosen.add(chosen.id)
        return [
            standing
            for one in chosen.placements
            if one in self._places
            for standing in self._fill(self._places[one], now, chosen.id)
        ]

    def _dying(self, candidates: Sequence[Group]) -> Group | None:
        """Return the group of which the most is dead: it stood there before; None if all live."""
        dead = [
            sum(one in self._places and self._is_dead(self._places[one])
                for one in group.placements)
            for group in candidates
        ]  # fmt: skip
        return candidates[dead.index(max(dead))] if any(dead) else None

    def _choose(self, candidates: Sequence[Group]) -> Group:
        weights = [group.weight for group in candidates]
        if len({group.set_id for group in candidates}) > 1:
            # A placement of several sets: their groups have equal shares of one whole.
            weights = [group.chance or 100 // len(candidates) for group in candidates]
        roll = self._random.random() * sum(weights)
        for group, weight in zip(candidates, weights, strict=True):
            if roll < weight:
                return group
            roll -= weight
        return candidates[-1]

    def _fill(self, place: _Place, now: Monotonic, group: int) -> list[Standing]:
        """Let one of a location's entries stand there, if one may."""
        if self._is_dead(place) or place.standing is not None:
            return []
        roll = self._random.random() * sum(entry.weight for entry in place.entries)
        for entry in place.entries:
            if entry.weight <= 0 or not self._may_stand(entry):
                continue
            if entry.weight >= roll:
                template = self._templates[entry.spawn_id]
                place.standing = stand(
                    place.placement, entry, template, now, self._random, group=group
                )
                return [place.standing]
            roll -= entry.weight
        return []

    def _may_stand(self, entry: Entry) -> bool:
        template = self._templates.get(entry.spawn_id)
        return (
            template is not None
            and self.surroundings.meets(entry.condition)
            and self.surroundings.opens(template)
        )
