"""A player of the real content in virtual time, who lives by kills."""

from __future__ import annotations

from typing import Any

from emu.rules.stance import GREY, arrow_color
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.world.real_content import real_world

PATIENCE = 60.0
"""Seconds after which another creature is looked for."""
RESPAWNS = 10
HEALTHY = 60
TOO_STRONG = 10_000
"""Health of what nobody kills: the totems of the isle have a million."""


class Adventurer:
    """A player who kills what is near, and returns from death."""

    def __init__(self, version: int, class_: int, rate: float, **changes: Any) -> None:
        self.world = real_world(experience_rate=rate)
        self.client = self.world.stand(1, version, name="Aldana", **({"class_": 0} | changes))
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
        for _ in range(RESPAWNS):
            found = self._prey(is_strong=is_strong)
            if found is not None:
                return found
            # Others come, and those that were out of sight are tried once more.
            self._avoided.clear()
            self.world.run(PATIENCE)
        raise AssertionError(f"nothing to kill at level {self.level} after {self.kills} kills")

    def _prey(self, *, is_strong: bool) -> Spawn | None:
        own, fights = self.player.spawn, self.world.parts.combat.fights
        found = [
            one for one in self.player.zone
            if one.kind is SpawnKind.NPC and one.id not in self._avoided
            and fights.may_fight(self.player, one) and one.sheet.health.most < TOO_STRONG
        ]  # fmt: skip
        if is_strong:
            return max(found, key=lambda one: one.level, default=None)
        weak = [one for one in found if arrow_color(one.level, own.level) != GREY]
        near = [one for one in weak if one.level <= own.level + 1]
        return min(near, key=lambda one: own.position.distance_to(one.position), default=None)

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
