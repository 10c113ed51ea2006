"""The strength of spawns: what their placement says, or else their own row."""

from __future__ import annotations

from typing import Any

from emu.content.file import Entry, Placement, Template
from emu.content.standing import Standing
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.strength import fill_sheet
from emu.world_stream.movement import Position


def filled(kind: str = "npcs", **placed: int) -> Spawn:
    spawn = Spawn(1, SpawnKind.NPC, "Guard", Position(0.0, 0.0, 0.0, 0.0), level=10)
    zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
    own = {"strength": 30, "stamina": 0, "difficulty": 7, "heroic": 1}
    template = Template(5, kind, {"health": 400, "power": 0}, own, {}, ())
    entry = Entry(1, 1, 5, 100.0, 0, "")
    standing = Standing(
        Placement(**zeros | placed), entry, template, 0.0, 0.0, 0.0, 10, 32, None, 0
    )
    fill_sheet(spawn, standing)
    return spawn


def test_the_row_of_a_spawn() -> None:
    spawn = filled()
    assert (spawn.sheet.health.most, spawn.sheet.power.most) == (400, 151)
    assert (spawn.sheet.attribute("str"), spawn.sheet.attribute("sta")) == (30, 20)
    assert (spawn.difficulty, spawn.heroic) == (7, 1)


def test_a_placement_wins() -> None:
    spawn = filled(health=900, power=50, strength=41, difficulty=9)
    assert (spawn.sheet.health.current, spawn.sheet.power.current) == (900, 50)
    assert (spawn.sheet.attribute("str"), spawn.difficulty) == (41, 9)


def test_things_have_health_alone() -> None:
    spawn = filled("objects")
    assert spawn.sheet.health.most == 400
    assert (spawn.sheet.attribute("str"), spawn.difficulty) == (20, 6)
