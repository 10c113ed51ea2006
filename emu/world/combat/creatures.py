"""The minds of creatures that fight: whom they attack, help and hunt, and when they give up.

A creature thinks only while it fights or goes back. Players look out for creatures and not the
other way round, so that idle ones cost nothing. Source: docs/guides/fights.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from emu.content.standing import Standing
from emu.rules.stance import GREY, SHOWN, Encounter, arrow_color, attitude
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.encounters import Encounters
from emu.world.combat.fights import COMBAT, Fights
from emu.world.combat.figures import fraction, shared_hate
from emu.world.combat.standings import Standings
from emu.world.deadlines import Deadlines
from emu.world.events import (
    Died,
    Entered,
    FightOver,
    Hated,
    Hurt,
    LeftZone,
    MayCast,
    Order,
    Provoked,
    Thinks,
)
from emu.world.minds.moves import Mover
from emu.world.minds.nearness import distance_between
from emu.world.minds.shared import Minds
from emu.world.minds.walks import NOTHING
from emu.world.rounds import Rounds
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

AGGRO_PAUSE: Final = 1.0
"""Seconds between two times that a player is noticed."""
USUAL_RADIUS: Final = 10.0
"""In which a creature without a radius of its own attacks."""
FARTHEST_AGGRO: Final = 50.0
AGGRO_HATE: Final = 50
FIRST_BLOW: Final = 50
HELP_RADIUS: Final = 20.0
"""How far a creature without a group calls others of its kind."""
GROUP_RADIUS: Final = 60.0
THINK: Final = 0.25
CHASE_SPEED: Final = 7.0
"""Of a creature that has no speed of its own."""
ARRIVED: Final = 2.0
NO_REWARD: Final = "{name} is no longer worth any experience or treasure."


class State(enum.Enum):
    """What a creature is doing."""

    FIGHTS = enum.auto()
    GOES_BACK = enum.auto()


@dataclass(slots=True, eq=False)
class Creature:
    """A creature that fights, or goes back."""

    spawn: Spawn
    zone: Zone
    mover: Mover
    state: State = State.FIGHTS
    target: Spawn | None = None


@dataclass(slots=True, eq=False)
class _Kinds:
    """What is known of the creatures of a zone."""

    radius: dict[Spawn, float] = field(default_factory=dict)
    group: dict[Spawn, int] = field(default_factory=dict)


class Creatures:
    """The fighting minds of one world."""

    def __init__(
        self, world: World, minds: Minds, fights: Fights, chat: Chat, standings: Standings
    ) -> None:
        """Subscribe to what makes creatures fight."""
        self._world = world
        self._minds = minds
        self._fights = fights
        self._chat = chat
        self._standings = standings
        self._kinds: dict[Zone, _Kinds] = {}
        self._fighting: dict[Spawn, Creature] = {}
        self._provoked: set[Spawn] = set()
        """Those whose scripts run now because they begin to fight."""
        self._held: set[Spawn] = set()
        """Those that cannot move from where they are."""
        self._scared: set[Spawn] = set()
        """Those that run away from whom they fight."""
        self.encounters = Encounters(world, fights)
        self._enemies: dict[Spawn, set[Spawn]] = {}
        """The creatures that hate each foe."""
        self._foes: dict[Spawn, dict[Spawn, None]] = {}
        """The foes that know that a creature hates them: scripts and spells end hate as well."""
        self._thoughts: Deadlines[Creature, str] = world.timetable.deadlines(
            "creatures that fight", self._think, may_wait=True
        )
        self._looks: Rounds[Player] = Rounds(
            world.timetable, "creatures that attack", AGGRO_PAUSE, self._look
        )
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered)
        subscribe(LeftZone, self._left)
        subscribe(Hurt, self._hurt, Order.OWNER)
        subscribe(Hated, self._hated)
        subscribe(Died, self._died)

    # -- spawns of the content file ---------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Remember the radius and the group of a creature that stands now."""
        if spawn.kind is not SpawnKind.NPC:
            return
        kinds = self._kinds.setdefault(zone, _Kinds())
        radius = float(standing.template.own.get("aggro_radius") or 0.0)
        if radius:
            kinds.radius[spawn] = radius
        if standing.group:
            kinds.group[spawn] = standing.group

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a creature that is gone."""
        kinds = self._kinds.get(zone)
        if kinds is not None:
            kinds.radius.pop(spawn, None)
            kinds.group.pop(spawn, None)
        self._held.discard(spawn)
        self._scared.discard(spawn)
        if spawn in self._fighting:
            self._forget(self._fighting[spawn])
            self._minds.moves.forget(spawn, zone)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._kinds.pop(zone, None)
        for controlled in (self._held, self._scared):
            controlled.difference_update([one for one in controlled if zone.spawn(one.id) is one])
        for creature in [one for one in self._fighting.values() if one.zone is zone]:
            self._forget(creature)
            self._minds.moves.forget(creature.spawn, zone)

    # -- attacking who comes near -----------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        self._looks.add(event.player, event.now)

    def _left(self, event: LeftZone) -> None:
        self._looks.discard(event.player)
        self._forget_foe(event.player.spawn)

    def _look(self, player: Player, _now: Monotonic) -> bool:
        """Let the creatures around a player notice it; return whether all have."""
        spawn, zone = player.spawn, player.zone
        if player.state not in IN_ZONE or spawn.hp_percent <= 0 or spawn.hidden:
            return True
        if spawn.sheet.is_invulnerable:
            return True
        # Most of those around are creatures without a faction.
        fierce = [
            other for other in zone.npcs_around(spawn.position, FARTHEST_AGGRO)
            if other.look.faction and self._attacks(other, player)
        ]  # fmt: skip
        for other in fierce:
            self._provoke(zone, other, spawn)
            if self._world.timetable.is_long():
                # The others notice it in the next turn.
                return False
        return True

    def _attacks(self, creature: Spawn, player: Player) -> bool:
        """Return whether a creature that stands near attacks a player by itself."""
        if not creature.attackable or creature.hp_percent <= 0 or creature in self._fighting:
            return False
        if self._standings.attitude(player, creature.faction) > -SHOWN:
            return False
        if arrow_color(creature.level, player.spawn.level) == GREY:
            return False
        zone = player.zone
        if distance_between(creature, player.spawn) > self.radius(zone, creature):
            return False
        if not creature.may_be_seen_by(player.spawn):
            return False
        return self._minds.views.may_attack(zone, creature, player.spawn)

    def radius(self, zone: Zone, creature: Spawn) -> float:
        """Return in which radius a creature attacks by itself."""
        own = creature.mind.aggro_radius
        if own is not None:
            return own
        kinds = self._kinds.get(zone)
        return (kinds.radius.get(creature) if kinds is not None else None) or USUAL_RADIUS

    # -- hate -------------------------------------------------------------------------------------

    def _hurt(self, event: Hurt) -> None:
        """Let a creature hate who strikes it; its encounter joins it."""
        spawn, foe = event.spawn, event.foe
        if spawn.kind is not SpawnKind.NPC or foe is None or foe is spawn or not foe.is_living:
            return
        mind = spawn.mind
        first = FIRST_BLOW if foe not in mind.hates else 0
        self._hate(event.zone, spawn, foe, event.damage + first, is_struck=True)

    def _provoke(self, zone: Zone, creature: Spawn, foe: Spawn) -> None:
        self._hate(zone, creature, foe, AGGRO_HATE)

    def _hated(self, event: Hated) -> None:
        """Let a creature fight that has begun to hate by a spell, a script or its master's order.

        It is helped as one that was struck, and locked for those who began the fight.
        """
        spawn, is_new = event.spawn, event.spawn not in self._fighting
        self._began(event.zone, spawn)
        if spawn in self._fighting:
            self.encounters.lock(spawn)
        if is_new and event.foe is not None and event.foe.hp_percent > 0:
            self._call(event.zone, spawn, event.foe)

    def _hate(
        self, zone: Zone, creature: Spawn, foe: Spawn, hate: int, *, is_struck: bool = False
    ) -> None:  # fmt: skip
        is_new = creature not in self._fighting
        self._add_hate(zone, creature, foe, hate, is_struck=is_struck)
        self._began(zone, creature)
        if is_new:
            self._call(zone, creature, foe)

    def _call(self, zone: Zone, creature: Spawn, foe: Spawn) -> None:
        """Let those who help a creature that has begun to fight hate its foe as well."""
        if creature not in self._fighting or creature.mind.has_master:
            return
        is_struck = foe in creature.mind.fighters
        for other in self._helpers(zone, creature):
            self._add_hate(zone, other, foe, AGGRO_HATE, is_struck=is_struck)
            self._began(zone, other)

    def hate(self, zone: Zone, creature: Spawn, foe: Spawn, amount: int) -> None:
        """Let a creature hate somebody who has not struck it; its encounter joins it."""
        if creature.kind is SpawnKind.NPC and creature.hp_percent > 0 and foe.hp_percent > 0:
            self._hate(zone, creature, foe, amount)

    def _add_hate(
        self, zone: Zone, creature: Spawn, foe: Spawn, amount: int, *, is_struck: bool
    ) -> None:  # fmt: skip
        """Let a creature hate somebody, changed by what the foe wears and who shares its hate.

        One that attacks by itself belongs to nobody until it is struck (fight-546-death-a).
        """
        if amount > 0:
            amount = max(1, round(amount * (1 + fraction(foe, "hate_mod") / 100)))
        for one, share in shared_hate(zone, foe, amount):
            if share:
                creature.mind.add_hate(one, share, creature.position)
            # A blow without damage adds nothing to a hate that is there already.
            if is_struck and one in creature.mind.hates and one in self._fights.players:
                self.encounters.joined(creature, one)

    def _helpers(self, zone: Zone, creature: Spawn) -> Iterator[Spawn]:
        """Yield the creatures that fight together with one: its group, or its kind nearby."""
        kinds = self._kinds.get(zone)
        groups = kinds.group if kinds is not None else {}
        group = groups.get(creature, 0)
        for other in zone.near(creature.position, GROUP_RADIUS if group else HELP_RADIUS):
            if other is creature or other.kind is not SpawnKind.NPC or not other.attackable:
                continue
            # What is somebody's pet fights for its master alone.
            if other.hp_percent <= 0 or other in self._fighting or other.mind.has_master:
                continue
            if group:
                if groups.get(other, 0) == group:
                    yield other
            elif other.name == creature.name and attitude(other.faction, {}) <= -SHOWN:
                yield other

    def _began(self, zone: Zone, spawn: Spawn) -> None:
        """Let a creature that hates somebody fight, if it does not yet."""
        mind, events = spawn.mind, self._world.events
        foe = mind.most_hated()
        if foe is None or spawn.hp_percent <= 0 or zone.spawn(spawn.id) is not spawn:
            return
        creature = self._fighting.get(spawn)
        for one in mind.hates:
            self._note_enemy(one, spawn)
        if creature is not None and creature.state is State.FIGHTS:
            return
        if creature is None:
            # Its script may let others attack, whose scripts let this one attack.
            if spawn in self._provoked:
                return
            self._provoked.add(spawn)
            try:
                # A script may want the marks of its walk: it is asked first.
                events.publish(Provoked(zone=zone, spawn=spawn, foe=foe))
            finally:
                self._provoked.discard(spawn)
            if spawn.hp_percent <= 0 or zone.spawn(spawn.id) is not spawn or not mind.hates:
                self._end_hates(spawn)
                return
            mover = self._minds.moves.of(spawn, zone, NOTHING)
            creature = self._fighting[spawn] = Creature(spawn, zone, mover)
        creature.state = State.FIGHTS
        spawn.set_word(COMBAT, on=True)
        self._thoughts.set(creature, "", self._world.clock.now())

    def _note_enemy(self, foe: Spawn, creature: Spawn) -> None:
        enemies = self._enemies.setdefault(foe, set())
        if not enemies:
            foe.set_word(COMBAT, on=True)
        enemies.add(creature)
        self._foes.setdefault(creature, {})[foe] = None

    def is_fighting(self, spawn: Spawn) -> bool:
        """Return whether a creature fights, or somebody hates a player."""
        creature = self._fighting.get(spawn)
        if creature is not None:
            return creature.state is State.FIGHTS
        return spawn in self._enemies

    # -- thinking ---------------------------------------------------------------------------------

    def _think(self, creature: Creature, _name: str, now: Monotonic) -> None:
        spawn, zone = creature.spawn, creature.zone
        if self._fighting.get(spawn) is not creature:
            return
        if spawn.hp_percent <= 0 or zone.spawn(spawn.id) is not spawn:
            self._forget(creature)
            return
        mind = spawn.mind
        self._thoughts.set(creature, "", Monotonic(now + (mind.tick / 1000 or THINK)))
        if creature.state is State.GOES_BACK:
            self._go_back(creature)
            return
        for foe in (*mind.hates, *self._foes.get(spawn, ())):
            if foe not in mind.hates or foe.hp_percent <= 0 or zone.spawn(foe.id) is not foe:
                self._end_hate(spawn, foe)
        self._decide(creature, mind.most_hated(), now)

    def _decide(self, creature: Creature, target: Spawn | None, now: Monotonic) -> None:
        """Let a creature do something about whom it hates most, or give up."""
        spawn, zone = creature.spawn, creature.zone
        if target is None:
            self._give_up(creature)
        elif spawn in self._scared:
            self._flee(creature)
        elif self._is_too_far(creature, target):
            self._show_fighters(creature)
            self._give_up(creature)
        elif spawn.mind.thinks_by_script:
            self._world.events.publish(Thinks(zone=zone, spawn=spawn, foe=target))
        else:
            if target is not creature.target:
                self._turn_to(creature, target)
            self._ask_cast(creature, target, now)

    def _ask_cast(self, creature: Creature, target: Spawn, now: Monotonic) -> None:
        """Let a creature cast, if it wants to; it does not strike for as long as that takes."""
        if not self._world.events.has_listener(MayCast):
            return
        asked = MayCast(zone=creature.zone, spawn=creature.spawn, foe=target)
        self._world.events.publish(asked)
        if asked.pauses and creature.spawn.hp_percent > 0:
            self._fights.pause(creature.spawn, Monotonic(now + max(asked.pauses)))

    def hold(self, spawn: Spawn, *, on: bool) -> None:
        """Let a creature stay where it is, for instance because it is rooted, or move again."""
        creature = self._fighting.get(spawn)
        if on:
            self._held.add(spawn)
            if creature is not None:
                creature.mover.stop_hunt()
        elif spawn in self._held:
            self._held.discard(spawn)
            if creature is not None and creature.state is State.FIGHTS:
                creature.target = None  # the next thought turns to it again
            elif creature is not None:
                self._run_back(creature)

    def scare(self, spawn: Spawn, *, on: bool) -> None:
        """Let a creature run away from whom it fights, or no longer."""
        if on:
            self._scared.add(spawn)
        elif spawn in self._scared:
            self._scared.discard(spawn)
            creature = self._fighting.get(spawn)
            if creature is not None and creature.state is State.FIGHTS:
                creature.mover.stop_hunt()
                creature.target = None

    def _flee(self, creature: Creature) -> None:
        """Let a scared creature run to one place after another; without a mesh it stands.

        Source: docs/protocol/maps.md#paths.
        """
        mover, spawn = creature.mover, creature.spawn
        if creature.target is not None:
            creature.target = None
            mover.stop_hunt()
        if mover.home is None:
            mover.home = spawn.position
        if spawn not in self._held and not mover.is_running:
            mover.flee(mover.speed or CHASE_SPEED)

    def _turn_to(self, creature: Creature, target: Spawn) -> None:
        spawn = creature.spawn
        creature.target = target
        spawn.set_target(target)
        creature.mover.look_at(target.position)
        if spawn not in self._held:
            creature.mover.hunt(
                target, lambda: self._give_up(creature), speed=creature.mover.speed or CHASE_SPEED
            )
        self._fights.strike(creature.zone, spawn, target)

    def _is_too_far(self, creature: Creature, target: Spawn) -> bool:
        spawn, home = creature.spawn, creature.spawn.mind.left_from
        leash = float(spawn.sheet.get("max_chase_distance", FieldKind.FRACTION) or 0)
        leash = leash or self._world.rules.in_zone(creature.zone.zone_id).leash
        creature.mover.refresh()
        if home is not None and home.distance_to(spawn.position) > leash:
            return True
        return distance_between(spawn, target) > leash

    def _show_fighters(self, creature: Creature) -> None:
        text = NO_REWARD.format(name=creature.spawn.name)
        for foe in creature.spawn.mind.fighters:
            player = self._fights.players.get(foe)
            if player is not None:
                self._chat.line(player, text, "narrative")

    # -- ends -------------------------------------------------------------------------------------

    def _give_up(self, creature: Creature) -> None:
        """Hate nobody any more, and go back with full health."""
        spawn, mind = creature.spawn, creature.spawn.mind
        if creature.state is State.GOES_BACK or self._fighting.get(spawn) is not creature:
            return
        creature.state, creature.target = State.GOES_BACK, None
        self._fights.rest(spawn)
        self._end_hates(spawn)
        mind.fighters.clear()
        # Until it is back nobody gets anything for it.
        spawn.set_encounter(Encounter.BROKEN, frozenset())
        spawn.set_target(None)
        spawn.set_word(COMBAT, on=False)
        creature.mover.stop_hunt()
        self._run_back(creature)
        self._world.events.publish(FightOver(zone=creature.zone, spawn=spawn))
        self._thoughts.set(creature, "", Monotonic(self._world.clock.now() + THINK))

    def _run_back(self, creature: Creature) -> None:
        """Let a creature set off to where its hunt began, unless it is held."""
        mover, home = creature.mover, creature.spawn.mind.left_from
        if creature.spawn in self._held:
            return
        speed = mover.speed or CHASE_SPEED
        if not mover.run_back(speed) and home is not None:
            mover.return_to(home, speed)

    def _go_back(self, creature: Creature) -> None:
        spawn, home = creature.spawn, creature.spawn.mind.left_from
        if spawn in self._held:
            return
        creature.mover.refresh()
        is_home = home is None or home.distance_to(spawn.position) <= ARRIVED
        if not is_home and creature.mover.is_running and creature.zone.is_watched:
            return
        if home is not None and not is_home:
            creature.mover.stop_where(home)
        self._forget(creature)
        if spawn.mind.has_master:
            # Its master could heal it by ending its fight and beginning it again.
            return
        for pool in (spawn.sheet.health, spawn.sheet.power):
            pool.restore()
        spawn.show_pools()

    def _end_hates(self, spawn: Spawn) -> None:
        for foe in (*spawn.mind.hates, *self._foes.get(spawn, ())):
            self._end_hate(spawn, foe)

    def _end_hate(self, spawn: Spawn, foe: Spawn) -> None:
        spawn.mind.hates.pop(foe, None)
        foes = self._foes.get(spawn, {})
        foes.pop(foe, None)
        if not foes:
            self._foes.pop(spawn, None)
        enemies = self._enemies.get(foe)
        if enemies is None:
            return
        enemies.discard(spawn)
        if not enemies:
            del self._enemies[foe]
            if foe not in self._fighting:
                foe.set_word(COMBAT, on=False)

    def _forget_foe(self, foe: Spawn) -> None:
        """Let all creatures forget a player who is gone or dead."""
        for spawn in list(self._enemies.get(foe, ())):
            self._end_hate(spawn, foe)
            spawn.mind.forget(foe)
            self.encounters.lock(spawn)

    def group_changed(self, player: Player) -> None:
        """Let the creatures that a player fights belong to those who are in its group now."""
        for spawn in self._enemies.get(player.spawn, ()):
            self.encounters.lock(spawn)

    def _forget(self, creature: Creature) -> None:
        """Forget a creature that fights no more."""
        spawn = creature.spawn
        if self._fighting.get(spawn) is creature:
            del self._fighting[spawn]
        self._thoughts.clear(creature, "")
        self._fights.rest(spawn)
        self._end_hates(spawn)
        spawn.mind.fighters.clear()
        spawn.mind.left_from = None
        spawn.set_encounter(Encounter.FREE, frozenset())

    def _died(self, event: Died) -> None:
        spawn = event.victim
        self._forget_foe(spawn)
        creature = self._fighting.get(spawn)
        if creature is not None:
            self._forget(creature)
        spawn.set_word(COMBAT, on=False)
        spawn.set_target(None)
