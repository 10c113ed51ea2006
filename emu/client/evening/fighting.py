"""The fights of a client that plays: it strikes until its enemy is dead, loots, wears, rests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from emu.client.evening.answers import NO_PLACE
from emu.client.evening.arts import Arts
from emu.client.evening.fears import Danger, Fears
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.evening.travels import zone_name
from emu.client.evening.visits import LONG_AGO
from emu.client.hunting import PATIENCE, STRIKES
from emu.client.world import WorldClientCore
from emu.client.world.events import (
    BlowSeen,
    DeathSeen,
    LineShown,
    ScreenShown,
    WorldEvent,
    ZoneToLoad,
)
from emu.client.world.possessions import HELD, Possessions
from emu.client.world.surroundings import Place
from emu.errors import CommandError
from emu.times import Monotonic

FOR_FIGHTS: Final = (0, 1)
"""The books of spells and of combat arts; the others are abilities and arts of crafts."""
SPELLS: Final = 0
"""The book of spells, which reach farther than arts."""
SPELL_REACH: Final = 18.0
"""From how far it begins to cast spells; the enemy comes the rest of the way, without its friends.
"""
OUT_OF_SIGHT: Final = 6.0
"""How long it casts from afar in vain before it comes closer, and strikes in vain before it goes
quite close: there may be an edge between them."""
CLOSE: Final = 1.0
"""How near that is."""
RESTED: Final = 0.9
"""The part of its health with which it begins a fight."""
POWERFUL: Final = 0.3
"""The part of its power with which it begins a fight."""
LONGEST_REST: Final = 120.0
LOOT_TIME: Final = 2.5
"""What it waits at a body for its window."""
LOOT_REACH: Final = 4.0
POP: Final = "inventory pop -1 0"
"""What moves a thing that waits to the first free place."""
WEAR_PAUSE: Final = 10.0
"""Between two looks at what can be worn."""
SHORT_TIME: Final = "a short time"
"""What a line says where the time is short: there it does not rest."""
CHASED: Final = 10.0
"""How long after a blow it runs on before it rests."""
TOO_STRONG: Final = 2
"""How many levels above its own something has that it does not strike back on a long way."""
NEAR: Final = 20.0
"""How near somebody is that fights it, so that it strikes before it is struck."""
DIES_FOR: Final = 1.0
"""How long it lies dead at least; the sheet may say so a moment later."""
LONGEST_DEATH: Final = 30.0
"""After so long it goes on, whatever its sheet says."""
FLEES_FOR: Final = 60.0
"""How long after its death it runs from what would kill it again beside the place of revival."""
AVOIDED: Final = 180.0
"""How long it leaves alone whom it could not kill."""
LEADS: Final = 3.0
"""How near it goes to whom it leads an enemy to."""
CALM: Final = 3.0
"""How long its enemy has not fought it any more when it ends the fight."""
SPARED: Final = 20.0
"""How long it leaves alone who has ended a fight: a sparring partner, or one that runs home."""


class Fighting:
    """The fights of one player."""

    def __init__(
        self,
        core: WorldClientCore,
        spawns: SeenSpawns,
        note: Callable[[str, str], None],
        speed: float,
        *,
        is_underway: Callable[[], bool] = lambda: False,
        is_wanted: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        """`is_underway` says whether it goes somewhere far away.

        `is_wanted` says whether a task may want a thing with a name.
        """
        self._core = core
        self._spawns = spawns
        self._note = note
        self._speed = speed
        self._is_underway = is_underway
        self._is_wanted = is_wanted
        self._chased = LONG_AGO
        """When something has struck it last from which it runs."""
        self.level = 0
        self.enemy: int | None = None
        self.kills = 0
        self._since = Monotonic(0.0)
        """When the fight began, or when the enemy was last seen to be hurt more than before."""
        self._harm = 0
        self._lead_to: Place | None = None
        """Where its enemy is to follow it, instead of a fight."""
        self._fought: Monotonic | None = None
        """When its enemy was last seen to fight it; None if it never was."""
        self._arts = Arts()
        self._body: tuple[int, Monotonic] | None = None
        self._asked_body = False
        self._wear_at = Monotonic(0.0)
        self._worn: set[int] = set()
        """The numbers of the things that it has tried to wear."""
        self._is_full = False
        self._rest_since: Monotonic | None = None
        self.is_striking = False
        """Whether its auto attack is on for its enemy."""
        self.is_short_of_time = False
        """Whether the zone's time is short, as a line has said."""
        self._avoided: dict[int, Monotonic] = {}
        self.fears = Fears()
        self._died = LONG_AGO
        """When it has died last."""
        self._zone = ""
        """The name of the present zone, as `Travels` has it."""

    # -- what it sees -----------------------------------------------------------------------------

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Handle an event of the client."""
        own = self._core.own_index
        self._arts.handle_event(event, own, now)
        match event:
            case ZoneToLoad(_, description):
                self._zone = zone_name(description)
                self.is_short_of_time = False
                self.enemy = self._body = None
                self._avoided.clear()
            case BlowSeen(attacker, defender, _) if defender == own and attacker != own:
                if self.enemy is None:
                    self._struck_by(attacker, now)
            case LineShown(_, text) if NO_PLACE in text:
                self._is_full = True
            case LineShown(_, text) | ScreenShown(text) if SHORT_TIME in text:
                self.is_short_of_time = True
            case DeathSeen(killer, dead) if dead == own:
                self._die(killer, now)
            case DeathSeen(killer, dead) if dead == self.enemy or killer == own:
                spawn = self._spawns.get(dead)
                name = spawn.name if spawn is not None else "something"
                self.kills += 1
                self._note("kill", f"{name} (level {spawn.level if spawn is not None else '?'})")
                self._body = (dead, now)
                self._asked_body = False
                if dead == self.enemy:
                    self.enemy = None

    def _struck_by(self, attacker: int, now: Monotonic) -> None:
        """Strike back; run on from what has killed it or would do so.

        It does that on a long way, or when it has been revived just now.
        """
        spawn = self._spawns.get(attacker)
        is_away = self._is_underway() or now < self._died + FLEES_FOR
        if spawn is not None and self._runs_from(spawn, now) and is_away:
            self._chased = now
        else:
            self._begin(attacker, now)

    def _runs_from(self, spawn: SeenSpawn, now: Monotonic) -> bool:
        is_strong = spawn.level > self.level + TOO_STRONG
        return is_strong or self.fears.fears(spawn.name, self.level, now)

    def _meet(self, now: Monotonic) -> None:
        """Strike the nearest of those that fight it: some cannot reach it, and do not go away."""
        found = [
            one for one in self._spawns.all()
            if one.fights_it and self._core.place.distance_to(one.place) < NEAR
            and self.may_attack(one, now) and not self._runs_from(one, now)
        ]  # fmt: skip
        if found:
            nearest = min(found, key=lambda one: self._core.place.distance_to(one.place))
            self._begin(nearest.index, now)

    def _die(self, killer: int, now: Monotonic) -> None:
        self.enemy = None
        self._died = now
        spawn = self._spawns.get(killer) if killer != self._core.own_index else None
        name = spawn.name if spawn is not None else ""
        self.fears.died(name, self._zone, self._core.place, self.level, now)
        by = f"killed by {name} (level {spawn.level})" if spawn is not None else "died"
        self._note("death", by)

    def lies_dead(self, now: Monotonic) -> bool:
        """Return whether it is dead: it can go nowhere, and its client asks where to revive."""
        since = now - self._died
        return since < DIES_FOR or (since < LONGEST_DEATH and self.health <= 0.0)

    def has_died_within(self, seconds: float, now: Monotonic) -> bool:
        """Return whether its last death is no longer ago than some seconds."""
        return now < self._died + seconds

    @property
    def health(self) -> float:
        """The part of its health that it has."""
        return self._part("hp")

    @property
    def power(self) -> float:
        """The part of its power that it has."""
        return self._part("power")

    def _part(self, pool: str) -> float:
        owned = self._core.possessions
        if owned is None:
            return 1.0
        sheet = owned.sheet
        most = sheet.get(f"max_{pool}", sheet.get(f"{pool}_max", 0))
        now = sheet.get(f"current_{pool}", sheet.get(f"{pool}_current", most))
        return float(now) / most if most else 1.0

    def danger(self, place: Place) -> Danger:
        """Return what it knows of a place of the present zone, and of the way there."""
        return self.fears.danger(self._zone, self._core.place, place, self.level)

    def may_attack(self, spawn: SeenSpawn, now: Monotonic, *, is_needed: bool = False) -> bool:
        """Return whether it would attack a ghost now; a needed one is feared for a while only."""
        avoided = self._avoided.get(spawn.index)
        if avoided is not None and now < avoided:
            return False
        if self.fears.fears(spawn.name, self.level, now, is_needed=is_needed):
            return False
        return spawn.is_enemy and not spawn.is_dead

    # -- what it does -----------------------------------------------------------------------------

    def attack(self, index: int, now: Monotonic, lead_to: Place | None = None) -> None:
        """Begin to fight somebody, or to lead it to a place once it fights back."""
        if self.enemy != index:
            self._begin(index, now)
            self._lead_to = lead_to

    def _begin(self, index: int, now: Monotonic) -> None:
        self.enemy, self._since, self._harm = index, now, 0
        self._rest_since = self._fought = self._lead_to = None
        try:
            self._core.target(index)
            self._core.command("autoattack 1")
            self.is_striking = True
        except CommandError:
            self.enemy = None

    def think(self, now: Monotonic) -> bool:
        """Go on with a fight, the loot, a rest; return False when there is nothing of these."""
        if self.enemy is None and not self._is_underway():
            self._meet(now)
        if self.enemy is not None:
            self._fight(now)
            return True
        if self._body is not None:
            self._loot(now)
            return True
        self._wear(now)
        return self._rest(now)

    def _fight(self, now: Monotonic) -> None:
        assert self.enemy is not None  # noqa: S101  # `think` has looked
        spawn = self._spawns.get(self.enemy)
        if spawn is None or spawn.is_dead or not spawn.is_enemy:
            self.enemy = None
            return
        if spawn.harm > self._harm:
            self._harm, self._since = spawn.harm, now
        if now - self._since > PATIENCE:
            self._avoided[spawn.index] = Monotonic(now + AVOIDED)
            self._note("fight", f"gives up {spawn.name} (level {spawn.level})")
            self.enemy = None
            return
        if spawn.fights_it:
            self._fought = now
        elif self._fought is not None and now - self._fought > CALM:
            self._avoided[spawn.index] = Monotonic(now + SPARED)
            self._note("fight", f"ends with {spawn.name} (level {spawn.level})")
            self._core.command("autoattack 0")
            self.enemy = None
            return
        if self._lead_to is not None and spawn.fights_it:
            self._lead(self._lead_to, now)
            return
        place = self._spawns.place_now(spawn, now)
        if self.approach(place, self._reach(now), now):
            self._core.stand_still(now)  # it may have been on its way elsewhere
            if self._lead_to is None:
                self._cast(now)

    def _lead(self, to: Place, now: Monotonic) -> None:
        """Let its enemy follow it to a place, and wait there without a blow."""
        if self.is_striking:
            self._core.command("autoattack 0")
            self.is_striking = False
        if self.approach(to, LEADS, now):
            self._core.stand_still(now)

    def _reach(self, now: Monotonic) -> float:
        """Return how near it goes to its enemy now; closer when it has hurt nobody for a while."""
        waited = now - self._since
        if self._casts_spells() and waited < OUT_OF_SIGHT:
            return SPELL_REACH
        return STRIKES if waited < 2 * OUT_OF_SIGHT else CLOSE

    def _known(self) -> list[dict[str, Any]]:
        """Return the records of what it can cast in fights."""
        owned = self._core.possessions
        known = owned.spells() if owned is not None else []
        return [one for one in known if one["type"] in FOR_FIGHTS]

    def _casts_spells(self) -> bool:
        """Return whether it knows more spells than combat arts."""
        kinds = Counter(one["type"] for one in self._known())
        return kinds[SPELLS] > kinds.total() / 2

    def _cast(self, now: Monotonic) -> None:
        known = [one["spell_id"] for one in self._known()]
        spell = self._arts.choose(known, now, self.health)
        if spell is not None:
            self._core.command(f"useability {spell}")

    def approach(self, to: Place, reach: float, now: Monotonic) -> bool:
        """Walk to a place; return whether it is in reach."""
        return self._core.approach(to, reach, now, self._speed)

    def _loot(self, now: Monotonic) -> None:
        assert self._body is not None  # noqa: S101  # `think` has looked
        index, since = self._body
        spawn = self._spawns.get(index)
        if spawn is None or now - since > LOOT_TIME * 4:
            self._body = None
        elif not self._asked_body:
            if self.approach(spawn.place, LOOT_REACH, now):
                self._core.use(index, "loot")
                self._asked_body = True
                self._body = (index, now)
        elif now - since > LOOT_TIME:
            self._body = None

    def _wear(self, now: Monotonic) -> None:
        """Try to wear and examine each thing once; with full bags, throw away what is not worn."""
        owned = self._core.possessions
        if owned is None or now < self._wear_at:
            return
        self._wear_at = Monotonic(now + WEAR_PAUSE)
        things = owned.things(HELD)
        if any(one.is_waiting for one in things) and self._throw_away(owned):
            # Nothing says so but the list: what was gathered, for instance, waits for a place.
            self._core.command(POP)
            return
        if self._is_full:
            self._is_full = False
            self._throw_away(owned)
            return
        for one in things:
            if one.unique not in self._worn and one.bag == 0 and not one.is_waiting:
                self._worn.add(one.unique)
                self._note("thing", f"{one.name} ({one.kind})")
                self._core.command(f"inventory equip {one.place}")
                # Some things have a story, and a quest behind it.
                self._core.examine(one.unique)
                return

    def _throw_away(self, owned: Possessions) -> bool:
        """Destroy a thing of which there are most; return False without one.

        It is the oldest one, and none that a task wants.
        """
        tried = [
            one for one in owned.things()
            if one.unique in self._worn and not one.is_waiting and not self._is_wanted(one.name)
        ]  # fmt: skip
        if not tried:
            return False
        kinds = Counter(one.kind for one in tried)
        worst = max(tried, key=lambda one: (kinds[one.kind], -one.unique))
        self._note("drop", worst.name)
        self._core.command(f"inventory destroy {worst.place}")
        return True

    def _rest(self, now: Monotonic) -> bool:
        """Wait until it has health and power again; return False when it has, or cannot."""
        if self.is_short_of_time or now < self._chased + CHASED:
            return False
        if self.health >= RESTED and self.power >= POWERFUL:
            self._rest_since = None
            return False
        if self._rest_since is None:
            self._rest_since = now
            self._core.stand_still(now)
        return now - self._rest_since < LONGEST_REST
