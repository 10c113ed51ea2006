"""Fights: who strikes whom and when, and what becomes of each blow.

A fighter is a player with auto attack, or a creature that hates somebody. Only fighters have a
deadline: whoever does nothing costs nothing. Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.rules.combat import Result, damage, mitigated, multi_attacks, result
from emu.rules.stance import Encounter
from emu.times import Monotonic
from emu.world.actors.player import DEAD, IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.archery import Archery, Shot
from emu.world.combat.blows import LAST_DAMAGE_TYPE, Blow, show_blow
from emu.world.combat.figures import (
    PRIMARY,
    RANGED,
    SECONDARY,
    attack_of,
    defense_of,
    delay_of,
    fraction,
    gap,
    has_second_weapon,
    side_of,
    whole,
)
from emu.world.combat.practice import Practice
from emu.world.deadlines import Deadlines
from emu.world.events import (
    BlowAvoided,
    BlowLanded,
    Cast,
    Died,
    Entered,
    LeftZone,
    Order,
    PlayerEvent,
    Struck,
    Targeted,
)
from emu.world.knowledge import archetype
from emu.world.minds.shared import Minds
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

LOOK: Final = 1.0
"""Seconds until somebody looks again whether its target can be struck by now."""
WAIT: Final = 0.25
"""Seconds until a fighter whose target is out of reach tries again."""
CRUSH: Final = 1
"""A damage type."""
COMBAT: Final = "combat"
"""The word of a spawn that fights."""
CASTERS: Final = (11, 21)
"""The archetypes that do not strike because they cast: priests and mages."""
STARTED: Final = "You start fighting."
STOPPED: Final = "You stop fighting."


@dataclass(frozen=True, slots=True)
class StrikesEnded(PlayerEvent):
    """A script has ended the auto attack of a player, who reads nothing of it.

    Recorded when a sparring partner is beaten: real-quests-546-QueensColony-fighter.
    """


@dataclass(slots=True, eq=False)
class Fighter:
    """Somebody who strikes whenever it can."""

    spawn: Spawn
    zone: Zone
    player: Player | None = None
    target: Spawn | None = None
    """Whom a creature strikes; a player strikes its own target."""
    ready: float = 0.0
    """When its main hand can strike again."""
    second_ready: float = 0.0
    is_ranged: bool = False
    """Whether a player shoots instead of striking."""
    is_answered: bool = False
    """Whether a player's order was answered; no longer when its target has died."""
    shot_ready: float = 0.0
    fault: str = ""
    """Why it cannot shoot, as it has read."""


class Fights:
    """The fighters of one world."""

    def __init__(
        self, world: World, minds: Minds, chat: Chat, skills: Skills, archery: Archery
    ) -> None:
        """Let spawns strike each other; the chance of each zone decides what becomes of it."""
        self._world = world
        self._minds = minds
        self._chat = chat
        self._archery = archery
        self._practice = Practice(skills)
        self.hindrances: list[Callable[[Spawn], bool]] = []
        """Each returns whether a spawn cannot strike now: it casts, is stunned, is afraid ..."""
        self.switched: list[Callable[[Player], object]] = []
        """Called with each player whose auto attack begins or ends."""
        self.is_duel: Callable[[Player, Player], bool] = lambda _one, _other: False
        """Returns whether two players strike each other in a duel."""
        self._fighters: dict[Spawn, Fighter] = {}
        self.players: dict[Spawn, Player] = {}
        """The players who stand in zones, by their spawns."""
        self._swings: Deadlines[Fighter, str] = world.timetable.deadlines(
            "blows", self._swing, may_wait=True
        )
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered, Order.OWNER)
        subscribe(LeftZone, self._left)
        subscribe(Targeted, self._targeted)
        subscribe(Died, self._died, Order.OWNER)
        subscribe(Cast, self._cast)
        subscribe(StrikesEnded, lambda event: self.rest(event.player.spawn))

    # -- beginning and ending ---------------------------------------------------------------------

    def is_attacking(self, spawn: Spawn) -> bool:
        """Return whether a player has auto attack, or a creature strikes somebody."""
        return spawn in self._fighters

    def start(self, player: Player, *, is_ranged: bool = False) -> None:
        """Switch a player's auto attack on; it strikes its target, or shoots, whenever it can."""
        if player.spawn.hp_percent <= 0:
            self._chat.line(player, DEAD, "error")
            return
        fighter = self._fighters.get(player.spawn)
        is_on = fighter is not None and fighter.is_ranged is is_ranged
        if fighter is None or not is_on or not fighter.is_answered:
            self._chat.line(player, STARTED, "fight")
        # Also one that is on already: the order may come with a target that it has not seen yet.
        self.strike(player.zone, player.spawn, player=player)
        fighter = self._fighters[player.spawn]
        fighter.is_ranged, fighter.is_answered = is_ranged, True
        self._show_switch(player)

    def _show_switch(self, player: Player | None) -> None:
        if player is not None:
            for listener in self.switched:
                listener(player)

    def sheet_fields(self, player: Player) -> dict[str, int]:
        """Return the values of a player's sheet about its auto attack."""
        fighter = self._fighters.get(player.spawn)
        if fighter is None:
            return {}
        return {"ranged_auto_attack" if fighter.is_ranged else "auto_attack": 1}

    def shoots(self, player: Player) -> bool:
        """Return whether a player's auto attack is that of its bow."""
        fighter = self._fighters.get(player.spawn)
        return fighter is not None and fighter.is_ranged

    def pause(self, spawn: Spawn, until: Monotonic) -> None:
        """Let a fighter strike no more until a time, for instance because it casts."""
        fighter = self._fighters.get(spawn)
        if fighter is not None:
            fighter.ready = max(fighter.ready, until)
            fighter.shot_ready = max(fighter.shot_ready, until)
            self._arm(fighter, self._world.clock.now())

    def stop(self, player: Player) -> None:
        """Switch a player's auto attack off."""
        if player.spawn.hp_percent <= 0:
            self._chat.line(player, DEAD, "error")
        elif player.spawn in self._fighters:
            self._chat.line(player, STOPPED, "fight")
            self.rest(player.spawn)

    def strike(
        self, zone: Zone, spawn: Spawn, target: Spawn | None = None, player: Player | None = None
    ) -> None:
        """Let a spawn strike from now on; a creature strikes `target`."""
        fighter = self._fighters.get(spawn)
        if fighter is None or fighter.zone is not zone:
            self.rest(spawn)
            fighter = self._fighters[spawn] = Fighter(spawn, zone, player)
            self._show_switch(player)
        fighter.target = target
        self._arm(fighter, self._world.clock.now())

    def rest(self, spawn: Spawn) -> None:
        """Let a spawn strike no more."""
        fighter = self._fighters.pop(spawn, None)
        if fighter is not None:
            self._swings.clear(fighter, "")
            self._show_switch(fighter.player)

    def _arm(self, fighter: Fighter, now: Monotonic) -> None:
        ready = fighter.shot_ready if fighter.is_ranged else fighter.ready
        self._swings.set(fighter, "", Monotonic(max(now, ready)))

    # -- events -----------------------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        self.players[event.player.spawn] = event.player

    def _left(self, event: LeftZone) -> None:
        self.rest(event.player.spawn)
        self.players.pop(event.player.spawn, None)

    def _targeted(self, event: Targeted) -> None:
        self._arm_again(event.player)

    def _arm_again(self, player: Player) -> None:
        """Let a player who has auto attack look at its new target at once."""
        fighter = self._fighters.get(player.spawn)
        if fighter is not None:
            self._arm(fighter, self._world.clock.now())

    def _died(self, event: Died) -> None:
        self.rest(event.victim)
        for one in event.victim.mind.fighters:
            fighter = self._fighters.get(one)
            player = fighter.player if fighter is not None else None
            if fighter is not None and player is not None and player.target is event.victim:
                # EQ2Emulator's auto attack ends here, so that it answers the next order.
                fighter.is_answered = False

    def _cast(self, event: Cast) -> None:
        """Let fighters and scouts who harm a creature by a spell strike it as well.

        EQ2Emulator lets priests and mages strike, too (recorded), who stand far away. Nobody reads
        of it, and an order that comes later is not answered.
        """
        player, foe = event.player, event.foe
        if player is None or foe is None or not (event.is_harmful and event.has_landed):
            return
        if archetype(player.character.class_) in CASTERS or self.is_attacking(player.spawn):
            return
        if player.spawn.hp_percent > 0 and self.may_fight(player, foe):
            self.strike(player.zone, player.spawn, player=player)
            self._fighters[player.spawn].is_answered = True

    # -- blows ------------------------------------------------------------------------------------

    def aim_back(self, attacker: Spawn, victim: Spawn) -> None:
        """Let a player without a target target whoever strikes it (recorded: before the blow)."""
        player = self.players.get(victim)
        if player is not None and player.target is None and player.spawn.hp_percent > 0:
            player.aim(attacker)
            self._arm_again(player)

    def enemy(self, fighter: Fighter) -> Spawn | None:
        """Return whom a fighter may strike now, at whatever distance."""
        player, zone = fighter.player, fighter.zone
        target = fighter.target if player is None else player.target
        if target is None or target is fighter.spawn or target.hp_percent <= 0:
            return None
        if player is not None:
            friend = self.players.get(target)
            if friend is not None and self.is_duel(player, friend):
                return target if zone.spawn(target.id) is target else None
            if friend is not None:
                # The order to fight with a friend as target goes to the friend's enemy.
                target = friend.target
            if target is None or not self.may_fight(player, target):
                return None
        return target if zone.spawn(target.id) is target else None

    def has_enemy(self, player: Player) -> bool:
        """Return whether a player has a target that its auto attack would strike."""
        return self.enemy(Fighter(player.spawn, player.zone, player)) is not None

    def may_fight(self, player: Player, target: Spawn) -> bool:
        """Return whether a player may strike a spawn: no one else's, and one that can be struck."""
        if target.kind is not SpawnKind.NPC or not target.attackable or target.hp_percent <= 0:
            return False
        if not target.may_be_seen_by(player.spawn):
            return False
        mind, fighters = target.mind, target.mind.fighters
        # Who is attacked may strike back, whoever was the first one to do so.
        if mind.encounter is Encounter.BROKEN or player.spawn in mind.hates:
            return True
        return not fighters or player.spawn in fighters or self._shares(player, fighters)

    def _shares(self, player: Player, fighters: dict[Spawn, None]) -> bool:
        """Return whether somebody of a player's group is among fighters."""
        group = self._world.groups.table.of(player.id)
        if group is None:
            return False
        members = set(group.members)
        found = (self.players.get(one) for one in fighters)
        return any(one is not None and one.id in members for one in found)

    def _swing(self, fighter: Fighter, _name: str, now: Monotonic) -> None:
        spawn, player = fighter.spawn, fighter.player
        if spawn.hp_percent <= 0 or fighter.zone.spawn(spawn.id) is not spawn:
            self.rest(spawn)
            return
        target = self.enemy(fighter)
        if target is None:
            # A creature's mind chooses the next one. A player may get another target from a
            # command or a script, a friend may find an enemy, and a creature may become free.
            if player is not None:
                self._swings.set(fighter, "", Monotonic(now + LOOK))
            return
        self._refresh(fighter.zone, spawn, target)
        may = player is None or player.state in IN_ZONE
        if not may or any(one(spawn) for one in self.hindrances):
            self._swings.set(fighter, "", Monotonic(now + WAIT))
        elif player is not None and fighter.is_ranged:
            self._shoot(fighter, player, target, now)
        else:
            self._swing_at(fighter, target, now)

    def _swing_at(self, fighter: Fighter, target: Spawn, now: Monotonic) -> None:
        """Strike with both hands, if the target is in reach."""
        spawn = fighter.spawn
        reach = self._world.rules.in_zone(fighter.zone.zone_id).reach
        if gap(spawn, target) > reach or not self._sees(fighter, target):
            self._swings.set(fighter, "", Monotonic(now + WAIT))
            return
        fighter.ready = now + delay_of(spawn, PRIMARY)
        self._swings.set(fighter, "", Monotonic(fighter.ready))
        self._strike_with(fighter, target, PRIMARY)
        if has_second_weapon(spawn) and fighter.second_ready <= now:
            fighter.second_ready = now + delay_of(spawn, SECONDARY)
            self._strike_with(fighter, target, SECONDARY)
        more = multi_attacks(
            fraction(spawn, "multi_attack"), self._world.zones.chances.of(fighter.zone)
        )
        for _ in range(more):
            self._strike_with(fighter, target, PRIMARY)
        if self._world.events.has_listener(Struck) and self._goes_on(fighter, target):
            self._world.events.publish(Struck(zone=fighter.zone, spawn=spawn, foe=target))

    def _shoot(self, fighter: Fighter, player: Player, target: Spawn, now: Monotonic) -> None:
        """Shoot once, if bow, ammunition and distance allow it; else say what is wrong, once."""
        self._swings.set(fighter, "", Monotonic(now + WAIT))
        shot = self._archery.draw(player, gap(fighter.spawn, target))
        if isinstance(shot, str):
            if shot != fighter.fault:
                fighter.fault = shot
                self._chat.line(player, shot, "fight")
            return
        fighter.fault = ""
        if not self._sees(fighter, target):
            return
        fighter.shot_ready = now + delay_of(fighter.spawn, RANGED)
        self._swings.set(fighter, "", Monotonic(fighter.shot_ready))
        self._archery.loose(player, shot)
        self.blow(fighter.zone, fighter.spawn, target, RANGED, shot=shot)

    def _sees(self, fighter: Fighter, target: Spawn) -> bool:
        return self._minds.views.sees(fighter.zone, fighter.spawn, target)

    def _goes_on(self, fighter: Fighter, target: Spawn) -> bool:
        return (
            self._fighters.get(fighter.spawn) is fighter
            and fighter.spawn.hp_percent > 0
            and target.hp_percent > 0
        )

    def _refresh(self, zone: Zone, *spawns: Spawn) -> None:
        """Bring the places of walkers up to date."""
        for spawn in spawns:
            mover = self._minds.moves.get(spawn, zone)
            if mover is not None:
                mover.refresh()

    def _strike_with(self, fighter: Fighter, target: Spawn, hand: str) -> None:
        if not self._goes_on(fighter, target):
            return
        outcome = self.blow(fighter.zone, fighter.spawn, target, hand)
        # The answer of a parry is answered by no other one.
        if outcome is Result.RIPOSTE and fighter.spawn.hp_percent > 0 and target.hp_percent > 0:
            self.blow(fighter.zone, target, fighter.spawn, PRIMARY, is_answer=True)

    def blow(
        self, zone: Zone, attacker: Spawn, victim: Spawn, hand: str, *,
        is_answer: bool = False, shot: Shot | None = None,
    ) -> Result:  # fmt: skip
        """Strike or shoot once, show it, and take the health."""
        chance = self._world.zones.chances.of(zone)
        striker, struck = self.players.get(attacker), self.players.get(victim)
        skill, span = self._practice.strike(striker, hand) if striker is not None else (None, None)
        skills = self._practice.defenses(struck) if struck is not None else None
        rules = self._world.rules.in_zone(zone.zone_id)
        points = rules.strength_points if striker is not None else rules.creature_strength_points
        attack = attack_of(attacker, hand, skill, span, points)
        defense = defense_of(victim, skills)
        if shot is not None:
            attack = attack._replace(low=attack.low + shot.bonus, high=attack.high + shot.bonus)
        outcome = result(attack, defense, side_of(attacker, victim), chance)
        # A shot is not answered, nor is the answer of a parry.
        if outcome is Result.RIPOSTE and (is_answer or shot is not None):
            outcome = Result.PARRY
        if struck is not None:
            self._practice.defend(struck, outcome)
        kind = self._damage_type(attacker, shot)
        dealt, is_critical = 0, False
        if outcome is Result.HIT:
            points, is_critical = damage(attack, chance)
            dealt = mitigated(points, defense.mitigation, attacker.level)
            dealt = self._minds.harm.through(zone, victim, attacker, dealt, kind)
        look = shot.look if shot is not None else 0
        blow = Blow(
            outcome, dealt, kind, is_critical, is_ranged=shot is not None, look=look
        )  # fmt: skip
        self.aim_back(attacker, victim)
        show_blow(zone, attacker, victim, blow)
        if victim.hp_percent > 0:
            self._minds.harm.take_health(zone, victim, attacker, dealt, kind=kind)
        if outcome is Result.HIT:
            self._landed(zone, attacker, victim, blow)
        elif self._world.events.has_listener(BlowAvoided):
            avoided = BlowAvoided(zone=zone, spawn=victim, foe=attacker, result=outcome)
            self._world.events.publish(avoided)
        return outcome

    def _damage_type(self, attacker: Spawn, shot: Shot | None) -> int:
        if shot is not None:
            kind = shot.damage_type
        elif attacker in self.players and not whole(attacker, "primary_weapon_damage_high"):
            kind = CRUSH  # bare hands (recorded)
        else:
            kind = whole(attacker, "attack_type")
        return min(kind, LAST_DAMAGE_TYPE)

    def _landed(self, zone: Zone, attacker: Spawn, victim: Spawn, blow: Blow) -> None:
        if self._world.events.has_listener(BlowLanded):
            self._world.events.publish(
                BlowLanded(
                    zone=zone, spawn=attacker, foe=victim, damage=blow.damage,
                    damage_type=blow.damage_type, is_ranged=blow.is_ranged,
                    is_critical=blow.is_critical,
                )
            )  # fmt: skip
