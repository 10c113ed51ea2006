"""The zones that a client that plays has seen, the ways between them, and who lives where.

Zones have the names that people see, in small letters and without an article: "willow wood". A way
is a thing that led to another zone, or whose window has offered to. So the player goes to a zone
that a task names, or where somebody lives whom a task names.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from emu.client.evening.reading import (
    GOOD,
    LEAST_NAME,
    TECHNICAL,
    fit,
    is_named_way,
    is_peaceful,
    leads_to,
    may_be_way,
    may_have_choices,
    words_of,
)
from emu.client.evening.seen import SeenSpawn
from emu.client.world.surroundings import Place

_ARTICLE: Final = "the "
_LEADS: Final = re.compile(r"(?:enter|go to|travel to|return to) (.+)", re.IGNORECASE)
"""Verbs that say where a thing leads."""
LEAST_FIT: Final = 0.9
"""How well the name of somebody in another zone has to fit a text."""
TOWN: Final = 8
"""How many people of a zone make it a town."""
MOST_FOES: Final = 3
"""A town has more people than this number for each kind of enemy."""
BEHIND: Final = 40.0
"""How far from its arrival in a zone the player takes a way for the one back."""
MOST_DOUBTS: Final = 2
"""How often it tries a guessed way."""
LEAST_APART: Final = 5.0
"""How far two things with one name are apart."""
LEAST_PART: Final = 6
"""Letters of a word that stands for the whole name of a zone."""
LEAST_WORDS: Final = 2
"""How many long words of a thing in another zone a text has to have."""


def zone_name(description: str) -> str:
    """Return a zone's name as it is compared."""
    return description.strip().casefold().removeprefix(_ARTICLE)


@dataclass(frozen=True, slots=True)
class KnownWay:
    """A thing that leads to another zone."""

    name: str
    place: Place
    choice: str = ""
    """What is chosen in its window; empty without one."""


def stands_in(word: str, text: str) -> bool:
    """Return whether a text says that something is in a place: "in Graystone".

    "Prove your loyalty to Freeport." does not send anybody to East Freeport.
    """
    return re.search(rf"\b(?:in|at|into|near|from|of) (?:the )?{word}", text.casefold()) is not None


def one_place(way: KnownWay, other: KnownWay) -> bool:
    """Return whether two ways begin with the same thing."""
    return way.name == other.name and way.place.distance_to(other.place) < LEAST_APART


class Travels:
    """What one player knows of the world beyond the present zone."""

    def __init__(self) -> None:
        self.zone = ""
        """The present zone."""
        self.description = ""
        """Its name as people see it."""
        self._visited: set[str] = set()
        """The zones where it was."""
        self._came_from: str | None = None
        """The zone that it comes from, until a way back was guessed."""
        self._guessed: set[tuple[str, str]] = set()
        """From where to where a way was guessed that was never taken."""
        self._doubts: Counter[tuple[str, str]] = Counter()
        """How often such a guessed way was tried."""
        self._ways: dict[str, dict[str, KnownWay]] = {}
        """For each zone, what leads to which other one."""
        self._vain: set[tuple[str, str]] = set()
        """The zones and names of signs and ways that were used and led nowhere."""
        self._choices: dict[tuple[str, KnownWay], dict[str, str]] = {}
        """For each zone and thing what its window has offered, by the zones where that leads."""
        self._homes: dict[str, str] = {}
        """The zone in which each person was seen first."""
        self._things: dict[str, dict[str, None]] = {}
        """The zones in which each thing with a technical name was seen, in this order."""
        self._signs: dict[str, dict[str, KnownWay]] = {}
        """The signs of each zone whose names say where they lead, by these names."""
        self._foes: dict[str, dict[str, int]] = {}
        """The names of the enemies of each zone, and the level of one of each name."""
        self._words: dict[str, frozenset[str]] = {}
        """The words of the name of each zone."""

    def use(self, sign: str) -> None:
        """Note that a way of the present zone is used: it is in vain until the player arrives."""
        self._vain.add((self.zone, sign))

    def renew(self) -> None:
        """Let each sign be of use again."""
        self._vain.clear()

    def is_vain(self, sign: str) -> bool:
        """Return whether a sign of the present zone was used and led nowhere."""
        return (self.zone, sign) in self._vain

    def arrive(self, description: str, used: KnownWay | None) -> None:
        """Note that the player has come into a zone, and by which thing."""
        zone = zone_name(description)
        self._came_from = None
        if used is not None and self.zone and zone != self.zone:
            self._drop_guesses(used, (zone,))
            self._vain.discard((self.zone, used.name))
            ways = self._ways.setdefault(self.zone, {})
            choice = self._choices.get((self.zone, used), {}).get(zone, "")
            ways[zone] = replace(used, choice=choice)
            self._guessed.discard((self.zone, zone))
            self._came_from = self.description
        self.zone, self.description = zone, description
        self._visited.add(zone)
        self._know(zone)

    def reads(self, thing: KnownWay, verb: str) -> bool:
        """Learn from a verb where a thing leads; return whether that is a zone where it was.

        "enter starcrest commune" leads to Starcrest Commune.
        """
        said = _LEADS.match(verb)
        zone = zone_name(said[1]) if said is not None else ""
        if zone not in self._visited or zone == self.zone or self.is_vain(thing.name):
            return False
        ways = self._ways.setdefault(self.zone, {})
        if zone not in ways:
            ways[zone] = thing
            self._guessed.add((self.zone, zone))
        return True

    def offered(self, used: KnownWay, descriptions: Iterable[str]) -> None:
        """Note where the window of a thing leads, and that it leads nowhere else."""
        ways = self._ways.setdefault(self.zone, {})
        shown = {zone_name(one): one for one in descriptions}
        self._choices[self.zone, used] = shown
        self._drop_guesses(used, shown)
        for zone, one in shown.items():
            self._know(zone)
            ways.setdefault(zone, KnownWay(used.name, used.place, one))

    def _drop_guesses(self, used: KnownWay, zones: Collection[str]) -> None:
        """Forget the guessed ways by a thing that leads to some zones only."""
        ways = self._ways.get(self.zone, {})
        for there in [one for one in ways if (self.zone, one) in self._guessed]:
            if there not in zones and one_place(ways[there], used):
                del ways[there]
                self._guessed.discard((self.zone, there))

    def doubt(self, used: KnownWay) -> None:
        """Note that a thing is used; a guess that it leads back is forgotten after two times.

        `arrive` knows the way again if it does lead there.
        """
        ways = self._ways.get(self.zone, {})
        for there in [one for one in ways if (self.zone, one) in self._guessed]:
            if one_place(ways[there], used):
                self._doubts[self.zone, there] += 1
                if self._doubts[self.zone, there] >= MOST_DOUBTS:
                    del ways[there]
                    self._guessed.discard((self.zone, there))

    def led_nowhere(self, used: KnownWay) -> None:
        """Note that a thing was used and does nothing: no guess that it leads elsewhere is left."""
        self._vain.add((self.zone, used.name))
        self._drop_guesses(used, ())

    def guess_way_back(self, here: Place, spawns: Iterable[SeenSpawn]) -> None:
        """Take the nearest thing that sounds like a way for the one back, as long as it is near.

        The player stands where it has arrived, or a few steps away.
        """
        if self._came_from is None:
            return
        ways = [
            one for one in spawns
            if may_be_way(one.name) and here.distance_to(one.place) < BEHIND
        ]  # fmt: skip
        nearest = min(ways, key=lambda one: here.distance_to(one.place), default=None)
        back = zone_name(self._came_from)
        known = self._ways.setdefault(self.zone, {})
        if nearest is not None and back not in known:
            known[back] = KnownWay(nearest.name, nearest.place, self._came_from)
            self._guessed.add((self.zone, back))
        if nearest is not None or back in known:
            self._came_from = None

    def look(self, spawns: Iterable[SeenSpawn]) -> None:
        """Note who lives in the present zone, and what is there."""
        for one in spawns:
            if is_named_way(one.name):
                here = self._signs.setdefault(self.zone, {})
                here[one.name] = KnownWay(one.name, one.place)
            if one.is_enemy:
                self._foes.setdefault(self.zone, {})[one.name] = one.level
            elif TECHNICAL in one.name and not may_have_choices(one.name):
                # "Use the bells to get to the Ruins" does not mean the zone with the bell.
                self._things.setdefault(one.name, {})[self.zone] = None
            elif one.name[:1].isupper() and one.level and not may_be_way(one.name):
                self._homes.setdefault(one.name, self.zone)

    def level_of_foe(self, name: str) -> int | None:
        """Return the level of an enemy of the present zone; None if it was not seen as one."""
        return self._foes.get(self.zone, {}).get(name)

    def knows_person(self, text: str) -> bool:
        """Return whether it has met somebody whom a text may name."""
        return any(fit(name, text) >= GOOD for name in self._homes)

    def homes(self, word: str) -> list[str]:
        """Return the zones where it has met people with a word in their names."""
        return list(dict.fromkeys(
            zone for name, zone in self._homes.items() if word in words_of(name)
        ))  # fmt: skip

    def towns(self) -> list[str]:
        """Return the zones where many people live and few kinds of enemies, the largest first."""
        return [zone for zone, number in self._peaceful_zones() if number >= TOWN]

    def likely_towns(self) -> list[str]:
        """Return the zones that may be towns: it has met only a few people there."""
        return [zone for zone, number in self._peaceful_zones() if number < TOWN]

    def _peaceful_zones(self) -> list[tuple[str, int]]:
        """Return zones with few kinds of enemies, and how many people it has met there."""
        people = Counter(self._homes.values())
        return [
            (zone, number) for zone, number in people.most_common()
            if number > MOST_FOES * len(self._foes.get(zone, ()))
        ]  # fmt: skip

    def foes_here(self) -> list[str]:
        """Return the names of the enemies that it has ever seen in the present zone."""
        return list(self._foes.get(self.zone, ()))

    def homes_of_foes(self, text: str) -> list[str]:
        """Return the zones where it has seen enemies whom a text names."""
        return [
            zone for zone, foes in self._foes.items()
            if any(fit(name, text) >= LEAST_FIT for name in foes)
        ]  # fmt: skip

    def foes_named(self, text: str) -> list[str]:
        """Return the names of enemies of any zone that a text means."""
        return list(dict.fromkeys(
            name for foes in self._foes.values() for name in foes if fit(name, text) >= LEAST_FIT
        ))  # fmt: skip

    def ways_out(self) -> dict[str, KnownWay]:
        """Return the ways of the present zone, by the zones to which they lead."""
        return dict(self._ways.get(self.zone, {}))

    def hunting_ground(
        self, least: int, most: int, *, fears: Callable[[str], bool] = lambda _name: False,
        is_deadly: Callable[[str], bool] = lambda _zone: False,
    ) -> str | None:  # fmt: skip
        """Return the zone that has the most kinds of enemies of some levels; None without one.

        The present zone comes before others with as many. Names that it `fears` do not count, nor
        do zones that are deadly for it.
        """
        grounds = {
            zone: sum(
                least <= level <= most and not fears(name) for name, level in foes.items()
            ) * (not is_deadly(zone))
            for zone, foes in self._foes.items()
            if zone == self.zone or self.way_to(zone) is not None
        }  # fmt: skip
        best = max(grounds, key=lambda zone: (grounds[zone], zone == self.zone), default=None)
        return best if best is not None and grounds[best] else None

    def destinations(
        self, text: str, *, is_prose: bool = False, has_people: bool = True
    ) -> list[str]:  # fmt: skip
        """Return the zones that a text means, the best first.

        A zone is meant by its name, by who lives there, by a long word that no other zone's name
        has ("in Graystone" means "Graystone Yard"), or else by a thing of which the text has
        several words: "enter the citizenship trial" means the zones with a
        "to_qey_citizenship_trial". Of the name of a way one long word is enough. In prose a word
        stands for no zone: "clean of vermin" does not mean "Vermin's Snye". Without `has_people`
        whom the text names does not matter.
        """
        have = frozenset(words_of(text))
        named = [zone for zone, words in self._words.items() if words and words <= have]
        if named:
            return sorted(named, key=lambda zone: -len(self._words[zone]))
        fits = [(fit(name, text), name) for name in self._homes]
        best = max(fits, default=(0.0, ""))
        # A part of a name is enough for somebody in sight, but not for a journey.
        if best[0] >= LEAST_FIT and has_people:
            return [self._homes[best[1]]]
        if is_peaceful(text) and not is_prose:
            # "I need to speak with Dagorel." means Master-at-Arms Dagorel if no other has the name.
            owners = Counter(one for name in self._homes for one in set(words_of(name)))
            only = {one for one in have if owners[one] == 1 and len(one) >= LEAST_PART}
            met = [name for name in self._homes if only.intersection(words_of(name))]
            if met:
                return [self._homes[name] for name in met]
        number = Counter(one for words in self._words.values() for one in words)
        parts = [
            zone for zone, words in self._words.items()
            if any(
                number[one] == 1 and len(one) >= LEAST_PART and stands_in(one, text)
                for one in words & have
            )
        ]  # fmt: skip
        if parts and not is_prose:
            return parts
        long = {one for one in have if len(one) >= LEAST_NAME}
        things = [
            (fit(name, text), name) for name in self._things
            if len(long.intersection(words_of(name))) >= LEAST_WORDS
        ]  # fmt: skip
        best = max(things, default=(0.0, ""))
        if best[0] >= GOOD:
            return list(self._things[best[1]])
        # "zone_to_qey_harbor" leads to Qeynos Harbor, where it has not been yet.
        return [] if is_prose else [
            zone for name, zones in self._things.items() if may_be_way(name)
            and any(len(one) >= LEAST_PART and one in have for one in words_of(name))
            for zone in zones
        ]  # fmt: skip

    def signs(self, text: str) -> list[tuple[str, KnownWay]]:
        """Return the signs to a zone that a text names, and where they are; the present one first.

        "North Qeynos" is where a "zone_to_qey_north" leads, though the player was never there.
        Without a known way to the zone of a sign it is left out, and so are all of them when the
        text names a zone to which the player knows the way.
        """
        have = frozenset(words_of(text))
        named = [zone for zone, words in self._words.items() if words and words <= have]
        if any(self.is_sure(zone) for zone in named):
            return []
        found = [
            (zone, way) for zone, signs in self._signs.items() for way in signs.values()
            if leads_to(way.name, text) and (zone, way.name) not in self._vain
            and (zone == self.zone or self.way_to(zone) is not None)
        ]  # fmt: skip
        return sorted(found, key=lambda one: one[0] != self.zone)

    def new_zones(self) -> list[str]:
        """Return the zones where it was never, in the order in which it has heard of them."""
        known = dict.fromkeys(zone for ways in self._ways.values() for zone in ways)
        return [zone for zone in known if zone not in self._visited and self.way_to(zone)]

    def new_signs(self) -> list[tuple[str, KnownWay]]:
        """Return the signs that were never taken, where they are; the present zone first.

        Of one zone those without numbers come first, then those with the shortest names:
        "zone_to_qey_north" leads to a part of the city, "zone_to_qey_epic07_p08_sneeds" into one of
        its houses. Without a known way to its zone a sign is left out, and so is one that was used
        in vain.
        """
        found = [
            (zone, sign) for zone, signs in self._signs.items() for sign in signs.values()
            if not self.is_known_way(sign.name, zone)
            and (zone, sign.name) not in self._vain
            and (zone == self.zone or self.way_to(zone) is not None)
        ]  # fmt: skip

        def rank(one: tuple[str, KnownWay]) -> tuple[bool, bool, int]:
            zone, name = one[0], one[1].name
            has_number = any(letter.isdigit() for letter in name)
            return zone != self.zone, has_number, name.count(TECHNICAL)

        return sorted(found, key=rank)

    def is_known_way(self, name: str, zone: str) -> bool:
        """Return whether it knows where a thing of a zone leads."""
        return any(way.name == name for way in self._ways.get(zone, {}).values())

    def names_zone(self, name: str) -> bool:
        """Return whether the name of a thing has a long word of a zone's name."""
        long = {one for one in words_of(name.replace(TECHNICAL, " ")) if len(one) > LEAST_NAME}
        return any(long & words for words in self._words.values())

    def is_of_zone(self, name: str, text: str) -> bool:
        """Return whether a thing has words of a text only because both name a zone.

        "I need to speak with Ilgar in South Qeynos." does not mean a "qeynos_sign_post01".
        """
        shared = set(words_of(name.replace(TECHNICAL, " "))) & {*words_of(text)}
        return bool(shared) and shared <= set().union(*self._words.values())

    def way_to(self, zone: str) -> KnownWay | None:
        """Return the first way on the shortest known route to a zone; None without one.

        Ways that have led nowhere since the last change are taken if there are no others.
        """
        return self._first_way(zone, self._vain) or self._first_way(zone, ())

    def is_sure(self, zone: str) -> bool:
        """Return whether it is in a zone, or knows a route there that has not failed."""
        return zone == self.zone or self._first_way(zone, self._vain) is not None

    def _first_way(self, zone: str, vain: Collection[tuple[str, str]]) -> KnownWay | None:
        first: dict[str, KnownWay | None] = {self.zone: None}
        waiting = deque((self.zone,))
        while waiting:
            here = waiting.popleft()
            for there, way in self._ways.get(here, {}).items():
                if there not in first and (here, way.name) not in vain:
                    first[there] = first[here] or way
                    waiting.append(there)
        return first.get(zone)

    def _know(self, zone: str) -> None:
        words = frozenset(words_of(zone))
        self._words[zone] = words if len(words) > 1 or len(zone) > len("isle") else frozenset()
