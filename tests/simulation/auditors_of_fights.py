"""Auditors of fights: who is dead strikes nobody, and fights end with those who fight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from emu.world.actors.spawn import SpawnKind
from tests.simulation.auditing import Auditor, Moment, parts, worlds

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation


def _fighters(simulation: Simulation) -> Iterator[str]:
    """Whoever fights lives, and stands in its zone."""
    for server, found in parts(simulation):
        for spawn, fighter in found.combat.fights._fighters.items():
            if spawn.hp_percent <= 0:
                yield f"{spawn.name} is dead, and fights at {server.name}"
            if fighter.zone.spawn(spawn.id) is not spawn:
                yield f"{spawn.name} is gone, and fights at {server.name}"


def _dead(simulation: Simulation) -> Iterator[str]:
    """A character that is dead is stored as dead, and one that lives as alive."""
    stored = {row[0]: row[1] for row in simulation.rows("SELECT id, health FROM world_characters")}
    for server, world in worlds(simulation):
        for player in world.players:
            # It was changed a moment ago.
            if player.unsaved.kinds or player.id in world.saves.saver:
                continue
            is_dead, health = player.spawn.hp_percent <= 0, stored.get(player.id)
            if is_dead is not (health == 0):
                word = "dead" if is_dead else "alive"
                yield f"{player.name} is {word} at {server.name}, and stored is {health}"


def _over(simulation: Simulation) -> Iterator[str]:
    """Nobody fights and no duel lasts when all players have gone."""
    for server, found in parts(simulation):
        if names := sorted(spawn.name for spawn in found.combat.fights._fighters):
            yield f"{names} fight at {server.name}"
        if names := sorted(spawn.name for spawn in found.combat.fights.players):
            yield f"{server.name} has {names} as players who may fight"
        if found.combat.falls._dead:
            yield f"{server.name} has {len(found.combat.falls._dead)} dead players"
        if found.combat.duels._of:
            yield f"{server.name} has {len(found.combat.duels._of)} duels"


def _healed(simulation: Simulation) -> Iterator[str]:
    """Creatures that nobody fights any more have their health back."""
    for server, world in worlds(simulation):
        for zone in world.zones:
            for spawn in zone:
                if spawn.kind is SpawnKind.NPC and 0 < spawn.hp_percent < 100:
                    yield f"{spawn.name} has {spawn.hp_percent} % of its health at {server.name}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("the dead strike nobody", Moment.ANY, _fighters),
    Auditor("the dead are stored as dead", Moment.QUIET, _dead),
    Auditor("fights are over", Moment.EMPTY, _over),
    Auditor("creatures heal", Moment.EMPTY, _healed),
)
