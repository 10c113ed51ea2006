"""Fights: who strikes whom and when, and what becomes of each blow.

A fighter is a player with auto attack, or a creature that hates somebody. Only fighters have a
deadline: whoever does nothing costs nothing. Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emu.rules.combat import FightChance, Result, damage, mitigated, result
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.blows import LAST_DAMAGE_TYPE, Blow, show_blow
from emu.world.combat.figures import (
    PRIMARY,
    SECONDARY,
    attack_of,
    defense_of,
    delay_of,
    fraction,
    has_second_weapon,
    is_in_reach,
    side_of,
    whole,
)
from emu.world.combat.practice import Practice
from emu.world.deadlines import Deadlines
from emu.world.events import Died, Entered, LeftZone, Order, Struck, Targeted
from emu.world.minds.shared import Minds
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

WAIT: Final = 0.25
"""Seconds until a fighter whose target is out of reach tries again."""
COMBAT: Final = "combat"
"""The word of a spawn that fights."""
STARTED: Final = "You start fighting."
STOPPED: Final = "You stop fighting."
DEAD: Final = "You cannot do that right now."


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


class Fights:
    """The fighters of one world."""

    def __init__(
        self, world: World, minds: Minds, chat: Chat, chance: FightChance, skills: Skills
    ) -> None:
        """Let spawns strike each other; `chance` decides what becomes of the blows."""
        self._world = world
        self._minds = minds
        self._chat = chat
        self._chance = chance
        self._practice = Practice(skills)
        self._fighters: dict[Spawn, Fighter] = {}
        self.players: dict[Spawn, Player] = {}
        """The players who stand in zones, by their spawns."""
        self._swings: Deadlines[Fighter, str] = world.timetable.deadlines("blows", self._swing)
        subscribe = world.events.subscribe
        subscribe(Entered, self._entered, Order.OWNER)
        subscribe(LeftZone, self._left)
        subscribe(Targeted, self._targeted)
        subscribe(Died, self._died, Order.OWNER)

    # -- beginning and ending ---------------------------------------------------------------------

    def is_attacking(self, spawn: Spawn) -> bool:
        """Return whether a player has auto attack, or a creature strikes somebody."""
        return spawn in self._fighters

    def start(self, player: Player) -> None:
        """Switch a player's auto attack on; it strikes its target whenever it can."""
        if player.spawn.hp_percent <= 0:
            self._chat.line(player, DEAD, "error")
            return
        if player.spawn in self._fighters:
            return
        self._chat.line(player, STARTED, "fight")
        self.strike(player.zone, player.spawn, player=player)

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
        fighter.target = target
        self._arm(fighter, self._world.clock.now())

    def rest(self, spawn: Spawn) -> None:
        """Let a spawn strike no more."""
        fighter = self._fighters.pop(spawn, None)
        if fighter is not None:
            self._swings.clear(fighter, "")

    def _arm(self, fighter: Fighter, now: Monotonic) -> None:
        self._swings.set(fighter, "", Monotonic(max(now, fighter.ready)))

    # -- events -----------------------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        self.players[event.player.spawn] = event.player

    def _left(self, event: LeftZone) -> None:
        self.rest(event.player.spawn)
        self.players.pop(event.player.spawn, None)

    def _targeted(self, event: Targeted) -> None:
        fighter = self._fighters.get(event.player.spawn)
        if fighter is not None:
            self._arm(fighter, self._world.clock.now())

    def _died(self, event: Died) -> None:
        self.rest(event.victim)

    # -- blows ------------------------------------------------------------------------------------

    def enemy(self, fighter: Fighter) -> Spawn | None:
        """Return whom a fighter may strike now, at whatever distance."""
        player, zone = fighter.player, fighter.zone
        target = fighter.target if player is None else player.target
        if target is None or target is fighter.spawn or target.hp_percent <= 0:
            return None
        if player is not None:
            friend = self.players.get(target)
            if friend is not None:
                # The order to fight with a friend as target goes to the friend's enemy.
                target = friend.target
            if target is None or not self.may_fight(player, target):
                return None
        return target if zone.spawn(target.id) is target else None

    def may_fight(self, player: Player, target: Spawn) -> bool:
        """Return whether a player may strike a spawn: no one else's, and one that can be struck."""
        if target.kind is not SpawnKind.NPC or not target.attackable or target.hp_percent <= 0:
            return False
        if not target.may_be_seen_by(player.spawn):
            return False
        fighters = target.mind.fighters
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
            # A player's next target begins anew; a creature's mind chooses the next one.
            return
        self._refresh(fighter.zone, spawn, target)
        may = player is None or player.state in IN_ZONE
        if not may or not is_in_reach(spawn, target) or not self._sees(fighter, target):
            self._swings.set(fighter, "", Monotonic(now + WAIT))
            return
        fighter.ready = now + delay_of(spawn, PRIMARY)
        self._swings.set(fighter, "", Monotonic(fighter.ready))
        self._strike_with(fighter, target, PRIMARY)
        if has_second_weapon(spawn) and fighter.second_ready <= now:
            fighter.second_ready = now + delay_of(spawn, SECONDARY)
            self._strike_with(fighter, target, SECONDARY)
        more = fraction(spawn, "multi_attack")
        if more > 0 and self._chance.randint(0, 99) < more:
            self._strike_with(fighter, target, PRIMARY)
        if self._world.events.has_listener(Struck) and self._goes_on(fighter, target):
            self._world.events.publish(Struck(zone=fighter.zone, spawn=spawn, foe=target))

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
        self, zone: Zone, attacker: Spawn, victim: Spawn, hand: str, *, is_answer: bool = False
    ) -> Result:
        """Strike once, show it, and take the health."""
        striker, struck = self.players.get(attacker), self.players.get(victim)
        skill = self._practice.strike(striker, hand) if striker is not None else None
        attack, defense = attack_of(attacker, hand, skill), defense_of(victim)
        outcome = result(attack, defense, side_of(attacker, victim), self._chance)
        if outcome is Result.RIPOSTE and is_answer:
            outcome = Result.PARRY
        if struck is not None:
            self._practice.defend(struck, outcome)
        dealt, is_critical = 0, False
        if outcome is Result.HIT:
            points, is_critical = damage(attack, self._chance)
            dealt = mitigated(points, defense.mitigation, attacker.level)
            dealt = self._minds.harm.through(zone, victim, attacker, dealt)
        kind = min(whole(attacker, "attack_type"), LAST_DAMAGE_TYPE)
        show_blow(zone, attacker, victim, Blow(outcome, dealt, kind, is_critical))
        if victim.hp_percent > 0:
            self._minds.harm.take(zone, victim, attacker, dealt)
        return outcome
