"""The first half of a first evening on the real content, in virtual time: by kills alone.

Fighter, priest, mage and scout reach level 6 on the Isle of Refuge, and level 10 in Antonica with a
class. They get each spell of ../shared/spec/eq2-spells.md 2 at its level and cast it, die twice,
pay their debt, eat and loot. It needs a content file (EMU_CONTENT) and the scripts
(EMU_CONTENT_SCRIPTS). EMU_EXPERIENCE_RATE is the rate of experience: 10 by default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import pytest

from emu.items.kinds import Slot
from emu.spells.kinds import SpellKind
from emu.versions import LAST_OLD_CLIENT
from tests.support.examples import nightly
from tests.support.world.adventurers import Adventurer
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT

pytestmark = [
    pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT),
    pytest.mark.slow,
    pytest.mark.usefixtures("collect_garbage"),
]
RATE = float(os.environ.get("EMU_EXPERIENCE_RATE", "10"))
FIGHTER, PRIEST, MAGE, SCOUT = 1, 11, 21, 31
CLASSES: Final = {FIGHTER: 3, PRIEST: 13, MAGE: 23, SCOUT: 39}
"""Guardian, templar, wizard and ranger."""
SPELLS: Final[Mapping[int, Mapping[str, float]]] = {
    FIGHTER: {"Wild Swing": 1, "Taunt": 3, "Kick": 5, "Intervene": 6, "Assault": 7, "Shout": 8},
    PRIEST: {"Smite": 1, "Minor Healing": 3, "Minor Arch Healing": 4, "Courage": 5,
             "Cure Noxious": 6, "Summon Food and Water": 6.6, "Weakness": 7, "Revive": 8,
             "Enduring Breath": 9},
    MAGE: {"Lightning Burst": 3, "Static Pulse": 3, "Arcane Bindings": 5, "Gift of the Magi": 7,
           "Storm of Lightning": 8},
    SCOUT: {"Tracking": 1, "Quick Strike": 1.8, "Sneak": 3, "Pathfinding": 4, "Evade": 4.6,
            "Sneak Attack": 5, "Cheap Shot": 6, "Ambush": 7, "Dirty Tricks": 8, "Ensnare": 9},
}  # fmt: skip
"""The spells of the four archetypes, and the level and its share at which each comes.

Pathfinding is a starting spell of new scouts as well (`starting_spells`), and Call to Arms, which
comes at level 9, one of guardians: so it is left out.
"""
NEEDS_TRAVEL = "You must leave the Isle to gain levels."
MUST_SNEAK = "You must be sneaking to use this ability."
NEED_A_FRIEND: Final = {"Intervene", "Revive"}
"""Spells for another one of the group, or for the dead."""
ISLE_CAP = 6
ANTONICA = 12
LAST = 10
MASTER = 200
TRIES = 8
FIT = 80
"""Percent of health and power with which a spell is cast."""
FOOD = 35009
"""A Hearty Mountain Thromelette."""
EVENINGS: Final = ((546, FIGHTER), (1208, PRIEST), (60114, MAGE), (546, SCOUT))


def evenings() -> list[object]:
    """Return the four archetypes with one version each, and the others for the night."""
    every = [(version, archetype) for version in (546, 1208, 60114) for archetype in CLASSES]
    return [one if one in EVENINGS else nightly(*one) for one in every]


class Beginner(Adventurer):
    """An adventurer who knows of spells what its client has read."""

    def __init__(self, version: int, class_: int, **changes: int) -> None:
        super().__init__(version, class_, RATE, admin_status=MASTER, **changes)
        self.first = self.level
        self.version = version
        self.world.run(2.0)

    def gained(self) -> dict[str, int]:
        """Return the spells that the client has read of, and at which level."""
        found: dict[str, int] = {}
        level, dialect = self.first, self.client.dialect
        for name, payload in self.client.log:
            if name == "OP_LevelChangedMsg":
                level = dialect.layout("WS_LevelChanged").decode(payload)["new_level"]
            elif name == "OP_SpellGainedMsg":
                spell = dialect.layout("WS_SpellGainedMsg").decode(payload)["spell_name"]
                found.setdefault(spell, level)
        return found

    def check_gained(self, expected: Mapping[str, float]) -> None:
        """Find each spell gained at its level; a kill may lead from below its share to the next."""
        gained = self.gained()
        for name, due in expected.items():
            at_most = int(due) if due == int(due) else int(due) + 1
            assert int(due) <= gained[name] <= at_most, (name, gained)

    def has_cast(self, number: int, since: int) -> bool:
        """Return whether the client has seen that its own player casts a spell."""
        layout = self.client.dialect.layout("WS_HearSpellCast")
        seen = [
            layout.decode(payload) for name, payload in self.client.log[since:]
            if name == "OP_EqHearSpellCastCmd"
        ]  # fmt: skip
        return any(one["spell_id"] == number and one["spawn_id"] == 1 for one in seen)

    def known(self, name: str) -> SpellKind:
        """Return a spell of the book."""
        kinds = self.world.parts.spells.kinds
        return next(
            one for number in self.player.past.spells
            if (one := kinds.get(number)) is not None and one.name == name
        )  # fmt: skip

    def use(self, kind: SpellKind) -> None:
        """Ask for a spell, and wait for its cast."""
        self.client.types(f"useability {kind.id}")
        self.world.run(kind.tiers[1].cast_time + 1.0)

    def casts(self, name: str) -> None:
        """Cast a spell of the book until the client sees it."""
        kind = self.known(name)
        for _ in range(TRIES):
            self.rest()
            if any(MUST_SNEAK in text for text in self.texts()[-TRIES:]):
                self.use(self.known("Sneak"))
            prey = self.prey()
            since = len(self.client.log)
            self.approach(prey)
            viewer = self.player.viewer
            index = viewer.interest.index_of(prey) if viewer is not None else None
            if index is not None and not kind.is_friendly:
                self.client.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
            self.use(kind)
            if self.has_cast(kind.id, since):
                return
            self.world.run(kind.tiers[1].recast)
        raise AssertionError(f"{name} was never seen to be cast")

    def rest(self) -> None:
        """Wait for health and power; return if dead."""
        for _ in range(100):
            if self.player.spawn.hp_percent <= 0:
                self.client.types("revive")
            if self.player.spawn.hp_percent >= FIT and self.player.spawn.power_percent >= FIT:
                return
            self.world.run(6.0)

    def eats(self) -> None:
        """Eat what a game master summons."""
        self.client.types(f"/summonitem {FOOD} 3")
        for index in range(20):
            self.client.types(f"/inventory equip {index}")
        slot = Slot.FOOD - 2 if self.version <= LAST_OLD_CLIENT else Slot.FOOD
        (said,) = self.client.types(f"/consume_food {slot}")
        assert said == "You eat a A Hearty Mountain Thromelette."

    def dies(self) -> None:
        """Fight the strongest until dead, and return."""
        while self.player.spawn.hp_percent > 0:
            self.fight(self.prey(is_strong=True))
        self.client.types("revive")
        assert self.player.spawn.hp_percent == 100


@pytest.mark.parametrize(("version", "archetype"), evenings())
def test_an_archetype_reaches_the_sixth_level_by_kills(version: int, archetype: int) -> None:
    one = Beginner(version, archetype)
    one.eats()
    one.dies()
    one.dies()
    assert one.player.character.experience_debt == 1000
    while one.player.character.experience_debt:
        one.hunt()
    one.hunt_until(NEEDS_TRAVEL, most=max(60, int(600 / RATE)))
    assert one.level == ISLE_CAP
    assert any("from the corpse of" in text for text in one.texts())
    expected = {name: level for name, level in SPELLS[archetype].items() if level < ISLE_CAP + 1}
    one.check_gained(expected)
    for name in sorted(expected.keys() - NEED_A_FRIEND):
        one.casts(name)


@pytest.mark.nightly
@pytest.mark.parametrize(("version", "archetype"), EVENINGS)
def test_a_class_reaches_the_tenth_level_in_antonica(version: int, archetype: int) -> None:
    one = Beginner(version, CLASSES[archetype], level=ISLE_CAP, zone_id=ANTONICA)
    most = max(100, int(1200 / RATE))
    while one.level < LAST:
        assert one.kills < most
        one.hunt()
    expected = {name: level for name, level in SPELLS[archetype].items() if level >= ISLE_CAP + 1}
    one.check_gained(expected)
    for name in sorted(expected.keys() - NEED_A_FRIEND):
        one.casts(name)
