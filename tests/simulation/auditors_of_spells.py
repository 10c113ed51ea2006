"""Auditors of spells: effects, bonuses and pets end with those who have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from emu.world.actors.past import Past
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.simulation.auditing import Auditor, Moment, parts
from tests.simulation.content_of_spells import HEAL
from tests.simulation.content_of_things import SCROLL

if TYPE_CHECKING:
    from emu.world.world import World
    from tests.simulation.simulation import Simulation


def _is_there(world: World, spawn: Spawn) -> bool:
    return any(zone.spawn(spawn.id) is spawn for zone in world.zones)


def _effects(simulation: Simulation) -> Iterator[str]:
    """Whoever has effects or a pet stands in a zone, and no effect lasts beyond its time."""
    for server, found in parts(simulation):
        if server.reactor is None or server.reactor.is_still:
            continue  # nothing ends in a process that stands still
        spells, world = found.spells, found.world
        now = server.server.scheduler.now() if server.server is not None else 0.0
        for spawn, state in spells.states:
            if not _is_there(world, spawn):
                yield f"{spawn.name} is gone, and has spells at {server.name}"
            for effect in state.effects:
                if effect.ends is not None and effect.ends + 5.0 < now:
                    yield f"{effect.kind.name} of {spawn.name} ended at {effect.ends}"
                if effect.kind.name == "Call of the Pup" and not spells.pets.has_of(effect):
                    yield f"{spawn.name} has the spell of a pet, and no pet, at {server.name}"
        for spawn, pet in spells.pets._of.items():
            if not _is_there(world, spawn) or not _is_there(world, pet.master):
                yield f"the pet of {pet.master.name} is left at {server.name}"


def _bonuses(simulation: Simulation) -> Iterator[str]:
    """Who has no effect has no bonus of one, and holds no concentration."""
    for server, found in parts(simulation):
        for player in found.world.players:
            state = found.spells.states.get(player.spawn)
            marks = player.spawn.sheet.spells
            if (state is None or not state.effects) and marks.bonuses:
                yield f"{player.name} has {marks.bonuses} at {server.name}, and no spell"


def _scrolls(simulation: Simulation) -> Iterator[str]:
    """Who knows what a scroll teaches has used it up, and a scroll that is used up has taught."""
    used = {
        row[0] for row in simulation.rows(
            "SELECT giver_id FROM world_ledger WHERE giver = 'character' AND taker = 'nothing'"
            " AND number = ?", SCROLL,
        )
    }  # fmt: skip
    destroyers = {one.name for one in simulation.people if one.acted.get("destroy")}
    for number, name, past in simulation.rows("SELECT id, name, past FROM world_characters"):
        has_learned = Past(past).spell_tier(HEAL) > 1
        if has_learned and number not in used:
            yield f"{name} has learned from a scroll that was not used up"
        if number in used and not has_learned and name not in destroyers:
            yield f"{name} has used up a scroll, and has learned nothing"


def _over(simulation: Simulation) -> Iterator[str]:
    """No effect and no pet is left when all players have gone."""
    for server, found in parts(simulation):
        spells = found.spells
        if names := sorted(spawn.name for spawn, _ in spells.states):
            yield f"{names} have spells at {server.name}"
        if names := sorted(spawn.name for spawn in spells.pets._of):
            yield f"{names} are pets at {server.name}"
        if spells.casts._from:
            yield f"{len(spells.casts._from)} casts are left at {server.name}"
        for zone in found.world.zones:
            for spawn in zone:
                if spawn.kind is SpawnKind.NPC and spawn.name == "a pup":
                    yield f"a pup stands in {zone.definition.name} of {server.name}"


AUDITORS: tuple[Auditor, ...] = (
    Auditor("effects are of those who are there", Moment.ANY, _effects),
    Auditor("bonuses end with their spells", Moment.QUIET, _bonuses),
    Auditor("scrolls teach", Moment.QUIET, _scrolls),
    Auditor("spells are over", Moment.EMPTY, _over),
)
