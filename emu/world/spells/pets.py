"""Pets: creatures that belong to somebody, follow it, fight for it and go with their spell.

Players and creatures have pets. That of a creature obeys nobody: it fights whom its master fights,
can be attacked as its master can, is worth nothing, and goes when its master gives up.

Source: docs/guides/spells.md#pets.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.model import SavedKind
from emu.world.actors.player import Player
from emu.world.actors.sheet import ShownPet
from emu.world.actors.spawn import Spawn, SpawnKind, Verb
from emu.world.events import Died, FightOver, Hated, Hurt, Provoked
from emu.world.minds.moves import Mover
from emu.world.minds.walks import NOTHING
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import End, LivingSpell
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

NEAR: Final = 4.0
"""How near a pet follows its master."""
AWAY: Final = 1.0
"""From where a charmed creature that is free goes back to where it stood."""
HATE: Final = 100
"""The hate with which a pet begins an attack."""
GUARDS_MASTER, GUARDS_ITSELF = 1, 2
"""Whom a pet guards, as bits."""
OPTIONS: Final = Verb("Pet Options", 10.0, "petoptions")
"""The verb of summoned pets (EQ2Emulator's code)."""


class PetKind(enum.Enum):
    """Kinds of pets; a master has one of each at most."""

    COMBAT = "combat"
    CHARMED = "charmed"
    DEITY = "deity"
    COSMETIC = "cosmetic"
    DUMB_FIRE = "dumb-fire"


FIGHTERS: Final = (PetKind.COMBAT, PetKind.CHARMED)
"""Those that obey, the first one first."""
NAMED: Final = (PetKind.COMBAT, PetKind.DUMB_FIRE)
"""Those that get the name that their master has chosen."""


@dataclass(slots=True, eq=False)
class Pet:
    """A creature that belongs to somebody."""

    spawn: Spawn
    master: Spawn
    zone: Zone
    kind: PetKind
    spell: LivingSpell | None
    """The spell that ends with it, and it with the spell."""
    own_name: str
    """Its name before it had a master."""
    home: Position
    """Where it stood before that."""
    stays: bool = False
    was_attackable: bool = False
    guards: int = GUARDS_MASTER | GUARDS_ITSELF
    sent_against: set[Spawn] = field(default_factory=set)
    """Whom its master has sent it against."""


class Pets:
    """The pets of one world."""

    def __init__(
        self, core: SpellCore, lasting: LastingSpells, despawn: Callable[[Zone, Spawn], object]
    ) -> None:
        """`despawn` removes a summoned creature from its zone."""
        self._states = core.states
        self._company = core.company
        self._moves = core.minds.moves
        self._lasting = lasting
        self._despawn = despawn
        self._names = core.kinds.pet_names
        self._chance = core.chance
        self._saves = core.world.saves
        self._events = core.world.events
        self._now = core.world.clock.now
        self._of: dict[Spawn, Pet] = {}
        """Pets by their spawns."""
        self._own: dict[Spawn, list[Pet]] = {}
        """The pets of each master, the oldest first."""
        lasting.ended.append(self._spell_over)
        self._events.subscribe(Died, self._died)
        self._events.subscribe(Hurt, self._hurt)
        self._events.subscribe(Provoked, self._provoked)
        self._events.subscribe(FightOver, self._rested)

    # -- having -----------------------------------------------------------------------------------

    def get(self, spawn: Spawn) -> Pet | None:
        """Return the pet that a spawn is."""
        return self._of.get(spawn)

    def of(self, master: Spawn, *kinds: PetKind) -> Spawn | None:
        """Return a master's pet of one of some kinds, the first kind first; None without one."""
        own = self._own.get(master, ())
        return next((one.spawn for kind in kinds for one in own if one.kind is kind), None)

    def has_of(self, spell: LivingSpell) -> bool:
        """Return whether a spell has a pet."""
        return any(one.spell is spell for one in self._of.values())

    def take_pet(
        self, zone: Zone, master: Spawn, spawn: Spawn, kind: PetKind, spell: LivingSpell | None
    ) -> None:
        """Let a creature belong to somebody; its pet of this kind before goes."""
        before = self.of(master, kind)
        if before is not None and kind is not PetKind.DUMB_FIRE:
            self.dismiss(before)
        # Its own pets would fight whoever was the foe of both.
        self._dismiss_all(spawn)
        pet = Pet(
            spawn, master, zone, kind, spell, spawn.name, spawn.mind.left_from or spawn.position,
            was_attackable=spawn.attackable,
        )  # fmt: skip
        self._of[spawn] = pet
        self._own.setdefault(master, []).append(pet)
        self._company.owners[spawn] = master
        if kind is not PetKind.CHARMED:
            self._dress(pet)
        self._make_peace(pet)
        is_creatures = self._is_creatures(pet)
        spawn.mind.is_worthless = is_creatures
        spawn.set_visibility(attackable=is_creatures and master.attackable)
        self._lead(pet)
        self._show(master)
        foe = master.mind.most_hated() if is_creatures and kind in FIGHTERS else None
        if foe is not None:
            self._attack(zone, spawn, foe, HATE)

    def _make_peace(self, pet: Pet) -> None:
        """Let a pet hate neither its master nor, if that is a player, any other player."""
        spawn = pet.spawn
        spawn.mind.has_master = True
        for foe in (*spawn.mind.hates, *spawn.mind.fighters):
            is_friend = not self._is_creatures(pet) and self._company.player(foe) is not None
            if foe is pet.master or is_friend:
                spawn.mind.forget(foe)

    def _is_creatures(self, pet: Pet) -> bool:
        """Return whether a pet belongs to a creature, and not to a player."""
        return pet.master.kind is not SpawnKind.PLAYER

    def dismiss(self, spawn: Spawn) -> bool:
        """Let a pet go: what was summoned is gone, what was charmed is free."""
        pet = self._of.pop(spawn, None)
        if pet is None:
            return False
        own = self._own[pet.master]
        own.remove(pet)
        if not own:
            del self._own[pet.master]
        self._company.owners.pop(spawn, None)
        mover = self._moves.get(spawn, pet.zone)
        if mover is not None and mover.follows is pet.master:
            if mover.is_following:
                mover.toggle_follow()
            mover.follow(None, NEAR)
        spawn.mind.has_master = False
        if pet.kind is PetKind.CHARMED:
            self._set_free(pet, mover)
        elif pet.zone.spawn(spawn.id) is spawn and spawn.hp_percent > 0:
            self._despawn(pet.zone, spawn)
            # One that no file has placed is removed here.
            if pet.zone.spawn(spawn.id) is spawn:
                pet.zone.remove(spawn, self._now())
        if pet.spell is not None and not pet.spell.is_over:
            self._lasting.end(pet.spell, End.CANCELED)
        self._show(pet.master)
        return True

    def _set_free(self, pet: Pet, mover: Mover | None) -> None:
        """Let a charmed creature be as it was, and go back to where it stood."""
        spawn = pet.spawn
        spawn.set_info(name=pet.own_name)
        spawn.set_visibility(attackable=pet.was_attackable)
        is_away = spawn.position.distance_to(pet.home) > AWAY
        if mover is not None and spawn.hp_percent > 0 and is_away and not spawn.mind.hates:
            mover.return_to(pet.home)

    def forget(self, spawn: Spawn) -> None:
        """Let the pets of somebody who is gone go, or forget a pet that is gone."""
        self.dismiss(spawn)
        self._dismiss_all(spawn)

    def _dismiss_all(self, master: Spawn) -> None:
        for pet in list(self._own.get(master, ())):
            self.dismiss(pet.spawn)

    def _show(self, master: Spawn) -> None:
        """Show a master its pet in the window for that."""
        player = self._company.players.get(master)
        if player is None:
            return
        spawn = self.of(master, *FIGHTERS)
        marks = self._states.marks(master)
        pet = self._of[spawn] if spawn is not None else None
        marks.pet = None
        if pet is not None:
            marks.pet = ShownPet(pet.spawn.id, stays=pet.stays, guards=pet.guards)
        self._states.changed(master)

    # -- names ------------------------------------------------------------------------------------

    def _dress(self, pet: Pet) -> None:
        """Give a summoned pet its name, the line below it, and the verb for its window."""
        spawn, player = pet.spawn, self._company.players.get(pet.master)
        line = {"guild": f"{pet.master.name}'s {spawn.guild}"} if spawn.guild else {}
        name = "" if self._is_creatures(pet) else self._name(pet, player)
        spawn.set_info(name=name or spawn.name, **line)
        spawn.faction = pet.master.faction
        if self._is_creatures(pet):
            return
        options = OPTIONS._replace(only=frozenset((pet.master.id,)))
        spawn.set_verbs(more_verbs=(*spawn.more_verbs, options))

    def _name(self, pet: Pet, player: Player | None) -> str:
        """Return the name of its master's choice, or one by chance; empty if there is none."""
        chosen = player.past.pet_name if player is not None and pet.kind in NAMED else ""
        names = self._names()
        if chosen or not names:
            return chosen
        name = names[self._chance(pet.zone).randint(0, len(names) - 1)]
        if player is not None and pet.kind is PetKind.COMBAT:
            # Its next pets have the same name.
            self._keep(player, name)
        return name

    def _keep(self, player: Player, name: str) -> None:
        player.past.pet_name = name
        self._saves.changed(player, SavedKind.PAST, self._now())

    def name_pet(self, player: Player, name: str, spawn: Spawn | None = None) -> None:
        """Give the pets of a player that fight a name, from now on; `spawn` is another of its pets.

        An empty name is forgotten: the next pet gets one by chance.
        """
        self._keep(player, name)
        named = spawn or self.of(player.spawn, PetKind.COMBAT)
        pet = self._of.get(named) if named is not None else None
        if name and pet is not None and pet.master is player.spawn:
            pet.spawn.set_info(name=name)
            self._show(player.spawn)

    # -- what ends it -----------------------------------------------------------------------------

    def _spell_over(self, spell: LivingSpell) -> None:
        for pet in [one for one in self._of.values() if one.spell is spell]:
            self.dismiss(pet.spawn)

    def _died(self, event: Died) -> None:
        self.forget(event.victim)

    # -- walking and fighting ---------------------------------------------------------------------

    def _lead(self, pet: Pet) -> None:
        mover = self._moves.of(pet.spawn, pet.zone, NOTHING)
        mover.follow(pet.master, NEAR)
        if mover.is_following is pet.stays:
            mover.toggle_follow()

    def _rested(self, event: FightOver) -> None:
        """Let a pet follow again, and those of a creature that has given up go."""
        pet = self._of.get(event.spawn)
        if pet is not None and not pet.stays:
            # It goes to its master, and not to where the fight began.
            event.spawn.mind.left_from = None
            self._lead(pet)
        self._dismiss_all(event.spawn)

    def _provoked(self, event: Provoked) -> None:
        """Let a creature and its pet fight whom one of them begins to fight."""
        if event.foe is not None and (event.spawn in self._own or event.spawn in self._of):
            self._stand_by(event.zone, event.spawn, event.foe)

    def _stand_by(self, zone: Zone, spawn: Spawn, foe: Spawn) -> None:
        """Let a creature and its pet fight the foe of one of them together."""
        pet = self._of.get(spawn)
        master = pet.master if pet is not None else spawn
        if master.kind is SpawnKind.PLAYER:
            return
        for one in (master, self.of(master, *FIGHTERS)):
            if one is None or one in (spawn, foe) or one.hp_percent <= 0 or foe.hp_percent <= 0:
                continue
            if foe not in one.mind.hates:
                self._attack(zone, one, foe, HATE)

    def _hurt(self, event: Hurt) -> None:
        """Let a pet and its master fight whoever hurts one of them, or is hurt by one of them."""
        foe = event.foe
        if foe is None or not self._of:
            return
        pet = self._of.get(foe)
        if pet is not None and event.spawn.kind is SpawnKind.NPC and event.spawn.hp_percent > 0:
            if pet.master not in event.spawn.mind.hates:
                self._attack(pet.zone, event.spawn, pet.master, 1)
            event.spawn.mind.fighters[pet.master] = None
        for one, other in ((event.spawn, foe), (foe, event.spawn)):
            if one in self._own or one in self._of:
                self._stand_by(event.zone, one, other)
        is_players = foe.kind is not SpawnKind.NPC or (
            pet is not None and not self._is_creatures(pet)
        )
        if not is_players:
            self._guard(event.zone, event.spawn, foe)

    def _guard(self, zone: Zone, spawn: Spawn, foe: Spawn) -> None:
        """Let the pet of a player answer who hurts it or its master, if it guards that one."""
        own = self._of.get(spawn)
        if own is not None and not own.guards & GUARDS_ITSELF:
            if foe not in own.sent_against:
                spawn.mind.forget(foe)
            return
        guard = self.of(spawn, *FIGHTERS)
        if guard is None or not self._of[guard].guards & GUARDS_MASTER:
            return
        if foe not in guard.mind.hates and foe.hp_percent > 0:
            self._attack(zone, guard, foe, HATE)

    def _attack(self, zone: Zone, creature: Spawn, foe: Spawn, hate: int) -> None:
        creature.mind.add_hate(foe, hate, creature.position)
        self._events.publish(Hated(zone=zone, spawn=creature, foe=foe))

    # -- orders -----------------------------------------------------------------------------------

    def attack(self, master: Spawn, target: Spawn) -> None:
        """Send a pet against a spawn that its master may harm."""
        spawn = self.of(master, *FIGHTERS)
        if spawn is not None and target.hp_percent > 0:
            pet = self._of[spawn]
            fought = {foe for foe in pet.sent_against if foe in spawn.mind.hates}
            pet.sent_against = fought | {target}
            self._attack(pet.zone, spawn, target, HATE)

    def back_off(self, master: Spawn) -> None:
        """Let a pet fight nobody any more."""
        spawn = self.of(master, *FIGHTERS)
        if spawn is not None:
            pet = self._of[spawn]
            pet.sent_against.clear()
            for foe in list(spawn.mind.hates):
                spawn.mind.forget(foe)
            self._lead(pet)

    def stay(self, master: Spawn, *, on: bool, spawn: Spawn | None = None) -> None:
        """Let a pet stay where it is, or follow; `spawn` is another one than the first."""
        spawn = spawn or self.of(master, *FIGHTERS)
        if spawn is not None:
            pet = self._of[spawn]
            pet.stays = on
            self._lead(pet)
            self._show(master)

    def toggle_guard(self, master: Spawn, whom: int) -> bool:
        """Turn around whether a pet guards its master or itself; return whether it does now."""
        spawn = self.of(master, *FIGHTERS)
        is_on = spawn is not None and not self._of[spawn].guards & whom
        self.guard(master, whom, on=is_on)
        return is_on

    def guard(self, master: Spawn, whom: int, *, on: bool, spawn: Spawn | None = None) -> None:
        """Let a pet guard its master or itself, or not: `GUARDS_MASTER`, `GUARDS_ITSELF`.

        `spawn` is another pet than the first.
        """
        spawn = spawn or self.of(master, *FIGHTERS)
        if spawn is not None:
            pet = self._of[spawn]
            pet.guards = pet.guards | whom if on else pet.guards & ~whom
            self._show(master)
