"""The spells in the lists of the public content's creatures: a creature casts each of them once.

Its foe is a player who stands beside it. What lasts ticks three times, and ends with its creature.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest

from emu.spells.kinds import SpellKind, SpellTarget, SpellTier
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Cast
from emu.world.spells.living import WaitingCast
from emu.world.spells.pets import FIGHTERS, PetKind
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT, real_world

pytest.importorskip("lupa", reason="the package lupa is not installed")
pytestmark = [
    pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT),
    pytest.mark.slow,
    pytest.mark.usefixtures("collect_garbage"),
]
LISTED: Final = "SELECT spell_id, min(max(tier, 1)) FROM npc_spells GROUP BY spell_id"
STRONG: Final = 1_000_000
LEVEL: Final = 20
TICKS: Final = 3
LONGEST: Final = 60.0
"""Seconds after which nobody waits for a tick."""
SIDES: Final = (0.0, 2.0), (2.0, 0.0), (0.0, -2.0), (-2.0, 0.0)
"""Some arts ask for a place behind the foe."""
TRIES: Final = 40
"""Casts of a spell that is resisted."""
SUMMON: Final = 2
"""Spells that summon a creature which the content has; the content lacks that of 300203."""
NEED_STEALTH: Final = [380008, 380010]
"""Pounce and Shadow Blade: their casters have to hide before."""
WITH_FAULTS_OF_THEIR_OWN: Final = {
    # Names that nothing sets.
    "Spells/Fighter/Warrior/Guardian/Maim.lua", "Spells/Headbutt.lua",
    "Spells/Mage/Enchanter/MindJolt.lua", "Spells/Priest/Druid/Bloom.lua",
    "Spells/Commoner/StingingBarrage.lua",
    # Frozen Manacles gives it the reason of its end for the number of its snare.
    "Spells/Procs/Ensnare.lua",
}  # fmt: skip
"""Scripts whose errors are not this server's."""


class CastScene:
    """Creatures and a player of the public content who do not die."""

    def __init__(self) -> None:
        self.world = real_world()
        client = self.world.stand(5, 546, name="Aldana", class_=1, level=LEVEL)
        assert client.player is not None
        self.client, self.player = client, client.player
        self.parts = self.world.parts
        self._casts: list[Cast] = []
        self.world.world.events.subscribe(Cast, self._casts.append)
        self.world.run(5.0)

    def creature(self, side: int = 0) -> Spawn:
        """Return a hurt creature that stands on one of four sides of the player and hates it."""
        at, (x, z) = self.player.position, SIDES[side % len(SIDES)]
        spawn = Spawn(
            self.world.world.zones.next_spawn_id(), SpawnKind.NPC, "a shaman",
            at._replace(x=at.x + x, z=at.z + z), attackable=True,
        )  # fmt: skip
        spawn.level = LEVEL
        self.player.zone.add_spawn(spawn, self.world.now)
        for one in (spawn, self.player.spawn):
            for pool in (one.sheet.health, one.sheet.power):
                pool.fill(STRONG)
                pool.set_current(STRONG // 2)
        spawn.mind.add_hate(self.player.spawn, 100, spawn.position)
        return spawn

    def cast(self, spawn: Spawn, kind: SpellKind, tier: SpellTier) -> bool | None:
        """Let a creature cast at once, and what lasts tick; return whether it took hold.

        None: there was no cast.
        """
        self._casts.clear()
        target = spawn if kind.is_friendly else self.player.spawn
        self.parts.spells.casts.cast(
            self.player.zone, spawn, WaitingCast(kind, tier), target, cast_time=0.0
        )
        own = [one for one in self._casts if one.spell_id == kind.id and one.spawn is spawn]
        self.world.run(min(LONGEST, tier.period * TICKS + 0.5))
        return own[0].has_landed if own else None

    def remove(self, spawn: Spawn) -> None:
        """Let a creature go, and whoever else still has something of its spells."""
        self.player.zone.remove(spawn, self.world.now)
        for one in (spawn, self.player.spawn):
            self.parts.spells.forget(one)
        self.parts.combat.creatures.vanished(self.player.zone, spawn)
        self.world.run(0.5)


def listed() -> Iterator[tuple[int, int]]:
    with sqlite3.connect(f"file:{CONTENT}?mode=ro", uri=True) as database:
        yield from database.execute(LISTED).fetchall()


def test_every_spell_of_creatures_is_cast_by_one() -> None:
    scene = CastScene()
    spells, faults = scene.parts.spells, scene.parts.minds.errors.faults
    counts: Counter[str] = Counter()
    not_cast: list[int] = []
    for number, tier in listed():
        kind = spells.kinds.get(number)
        of_tier = kind.tier(tier) if kind is not None else None
        if kind is None or of_tier is None or not kind.is_active:
            counts["not active" if of_tier else "without its tier"] += 1
            continue
        before, landed = len(faults()), None
        for side in range(TRIES):
            spawn = scene.creature(side)
            if kind.target is SpellTarget.OWN_PET:
                spells.pets.take_pet(
                    scene.player.zone, spawn, scene.creature(), PetKind.COMBAT, None
                )
            landed = scene.cast(spawn, kind, of_tier)
            has_pet = spells.pets.of(spawn, *FIGHTERS) is not None
            scene.remove(spawn)
            assert spells.states.get(spawn) is None, kind.name
            assert spells.pets.of(spawn, *FIGHTERS) is None, kind.name
            if landed or len(faults()) > before:
                break
        counts["summon" if landed and has_pet else "land" if landed else "do not land"] += 1
        if not landed and len(faults()) == before:
            not_cast.append(number)
    failed = {str(one).partition(":")[0] for one in faults()}
    assert failed <= WITH_FAULTS_OF_THEIR_OWN
    assert not_cast == NEED_STEALTH
    assert sum(counts.values()) == len(list(listed()))
    assert counts["summon"] >= SUMMON
    assert counts["land"] > 0.95 * (sum(counts.values()) - counts["not active"])
