"""Players reach level 6 by kills alone on the real Isle of Refuge, in virtual time.

It needs a content file (EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). EMU_EXPERIENCE_RATE is
the rate of experience: 10 by default, and about 200 kills at 1.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from emu.rules.stance import GREY, arrow_color
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.real_content import CONTENT, SCRIPTS, WHY_NOT, real_world

pytestmark = [
    pytest.mark.skipif(not (CONTENT and SCRIPTS), reason=WHY_NOT),
    pytest.mark.slow,
    pytest.mark.usefixtures("collect_garbage"),
]
RATE = float(os.environ.get("EMU_EXPERIENCE_RATE", "10"))
ISLE_CAP, COMMONER_CAP = 6, 3
NEEDS_CLASS = "You must select your archetype to gain levels."
NEEDS_TRAVEL = "You must leave the Isle to gain levels."
PATIENCE = 60.0
"""Seconds after which another creature is looked for."""
HEALTHY = 60
TOO_STRONG = 10_000
"""Health of what nobody kills: the totems of the isle have a million."""


class Adventurer:
    """A player who kills what is near, and returns from death."""

    def __init__(self, version: int, class_: int) -> None:
        self.world = real_world(experience_rate=RATE)
        self.client = self.world.stand(1, version, name="Aldana", class_=0)
        assert self.client.player is not None
        self.player = self.client.player
        self.world.run(10.0)
        if class_:
            self.world.parts.levels.set_class(self.player, class_, self.world.now)
        self.kills = 0
        self._avoided: set[int] = set()
        self._seen = 0

    @property
    def level(self) -> int:
        return self.player.character.level

    def texts(self) -> list[str]:
        return [one["text"] for one in self.client.decoded("WS_DisplayText")]

    def is_shown(self, text: str) -> bool:
        """Return whether a text was shown since the last call, in the middle of the screen."""
        seen, self._seen = self._seen, len(self.client.log)
        layout = self.client.dialect.layout("WS_OnScreenMsg")
        shown = [one for name, one in self.client.log[seen:] if name == "OP_OnscreenMsgMsg"]
        return any(layout.decode(one)["text"] == text for one in shown)

    def prey(self, *, is_strong: bool = False) -> Spawn:
        """Return the nearest creature that gives experience, or the strongest of all."""
        own, fights = self.player.spawn, self.world.parts.combat.fights
        found = [
            one for one in self.player.zone
            if one.kind is SpawnKind.NPC and one.id not in self._avoided
            and fights.may_fight(self.player, one) and one.sheet.health.most < TOO_STRONG
        ]  # fmt: skip
        if is_strong:
            return max(found, key=lambda one: one.level)
        weak = [one for one in found if arrow_color(one.level, own.level) != GREY]
        near = [one for one in weak if one.level <= own.level + 1]
        return min(near, key=lambda one: own.position.distance_to(one.position))

    def approach(self, spawn: Spawn) -> None:
        mover = self.world.parts.minds.moves.get(spawn, self.player.zone)
        if mover is not None:
            mover.refresh()
        place: Position = spawn.position._replace(x=spawn.position.x + 2.0)
        self.player.teleport(place, self.world.now)
        self.world.run(1.0)

    def fight(self, spawn: Spawn) -> None:
        """Strike a creature until one of both is dead, or it is out of reach for long."""
        self.approach(spawn)
        viewer = self.player.viewer
        index = viewer.interest.index_of(spawn) if viewer is not None else None
        if index is None:
            self._avoided.add(spawn.id)
            return
        self.client.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
        self.client.types("autoattack 1")
        end = self.world.now + PATIENCE
        while spawn.hp_percent > 0 and self.player.spawn.hp_percent > 0 and self.world.now < end:
            self.world.run(1.0)
            if self.player.position.distance_to(spawn.position) > 5.0:
                self.approach(spawn)
        self._avoided.add(spawn.id)
        if spawn.hp_percent <= 0:
            self.kills += 1
            self.client.types("loot")

    def hunt(self) -> None:
        """Kill the next creature; rest before it, and return if dead."""
        if self.player.spawn.hp_percent <= 0:
            self.client.types("revive")
            assert self.player.spawn.hp_percent == 100
        while self.player.spawn.hp_percent < HEALTHY:
            self.world.run(6.0)
            if self.player.spawn.hp_percent <= 0:
                return
        self.fight(self.prey())

    def hunt_until(self, text: str, most: int) -> None:
        """Hunt until a text is shown."""
        for _ in range(most):
            self.hunt()
            if self.is_shown(text):
                return
        raise AssertionError(f"no text {text!r} after {self.kills} kills at level {self.level}")


@pytest.mark.parametrize(
    ("version", "class_"), [(546, 1), (1208, 31), (60114, 21)]
)  # fmt: skip
def test_kills_lead_to_the_sixth_level_and_no_further(version: int, class_: int) -> None:
    one = Adventurer(version, class_)
    one.hunt_until(NEEDS_TRAVEL, most=max(60, int(600 / RATE)))
    assert one.level == ISLE_CAP
    levels = Counter(text for text in one.texts() if text.startswith("You are now level"))
    expected = [f"You are now level {level}!" for level in range(2, ISLE_CAP + 1)]
    assert levels == Counter(expected), "each level counts once"
    assert one.world.store.rows[1].level == ISLE_CAP
    assert one.kills >= 10
    while not any("from the corpse of" in text for text in one.texts()):
        assert one.kills < 100, "nothing was looted"
        one.hunt()


def test_a_commoner_stops_at_the_third_level() -> None:
    one = Adventurer(546, 0)
    one.hunt_until(NEEDS_CLASS, most=max(40, int(200 / RATE)))
    assert one.level == COMMONER_CAP
    one.world.parts.levels.set_class(one.player, 1, one.world.now)
    while one.level == COMMONER_CAP and one.kills < 60:
        one.hunt()
    assert one.level == COMMONER_CAP + 1


def test_who_walks_to_its_shard_recovers_debt() -> None:
    """Recorded with the same script at 546, 1208 and 60114 (fight-546-death-a and its kin)."""
    one = Adventurer(1208, 1)
    while one.player.spawn.hp_percent > 0:
        one.fight(one.prey(is_strong=True))
    (shard,) = one.player.character.shards
    one.client.types("revive")
    one.world.run(5.0)
    assert one.player.character.experience_debt == 500
    one.player.teleport(Position(shard.x, shard.y, shard.z, 0.0, shard.grid), one.world.now)
    one.world.run(5.0)
    assert "You recover a spirit shard and recovered some experience debt." in one.texts()
    assert one.player.character.experience_debt == 50
    assert one.player.character.shards == ()
    assert not [spawn for spawn in one.player.zone if spawn.name.endswith("spirit shard")]


def test_death_on_the_isle_costs_debt_that_kills_pay() -> None:
    one = Adventurer(1208, 1)
    while one.player.spawn.hp_percent > 0:
        one.fight(one.prey(is_strong=True))
    assert one.player.character.experience_debt == 500
    one.hunt()
    texts = one.texts()
    assert any(text.startswith("Reviving in Isle of Refuge at ") for text in texts)
    while not one.kills:
        one.hunt()
    assert one.player.character.experience_debt < 500
