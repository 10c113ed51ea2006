"""Casts: one with a script and one target, and many spells that last and act again and again.

The clock is virtual. What the client is sent is encoded as in sessions, and nothing is decoded.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from emu.session.codec import MessageCodec
from emu.session.configuration import Role
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import WaitingCast
from tests.support.world.spell_scenes import HEAL, SMITE, SpellScene
from tools.bench.fights import CONFIG, HEALTH, KEY
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

CASTS = 500
EFFECTS = 500
SECONDS = 60.0
SMITE_ID, ROT_ID = 110014, 600
ROT = """
[[spell]]
id = 600
name = "Slow Rot"
icon = 152
backdrop = 315
target = 0
is_friendly = true
effect = "DoT"
script = "Spells/Rot.lua"
[[spell.tier]]
duration1 = 360000
call_frequency = 40
values = [9, 1, 3]
"""
ROT_SCRIPT = """
function cast(Caster, Target, Type, Low, High)
    SpellDamage(Target, Type, Low, High)
end

function tick(Caster, Target, Type, Low, High)
    SpellDamage(Target, Type, Low, High)
end
"""
AIM_CAST = "at most 250 us"
AIM_TICKS = "at most 30,000 us: 3 % of a core"


def _scene(folder: Path) -> SpellScene:
    scene = SpellScene(folder, toml=SMITE.replace("cast_time = 200", "cast_time = 0") + HEAL + ROT)
    scene.script(ROT_SCRIPT, "Spells/Rot.lua")
    codec, client = MessageCodec(CONFIG, Role.SERVER, KEY), scene.client
    client.send = client.send_later = codec.encode  # type: ignore[method-assign,assignment]
    return scene


def _cast(scene: SpellScene, crab: Spawn) -> float:
    kind, player = scene.kind(SMITE_ID), scene.player
    what = WaitingCast(kind, kind.tiers[1])
    cast = scene.spells.casts.cast
    began = process_time()
    for _ in range(CASTS):
        cast(scene.zone, player.spawn, what, crab, cast_time=0.0)
    return (process_time() - began) / CASTS


def _last(scene: SpellScene) -> None:
    """Let a spell last on each of many creatures, which its owner has cast upon itself."""
    kind = scene.kind(ROT_ID)
    what = WaitingCast(kind, kind.tiers[1])
    for number in range(EFFECTS):
        crab = scene.creature(f"a crab {number}", 4.0 + number / 50)
        crab.sheet.health.fill(HEALTH)
        scene.spells.casts.cast(scene.zone, crab, what, crab, cast_time=0.0)
    scene.run(5.0)
    lasting = sum(bool(state.effects) for _, state in scene.spells.states)
    assert lasting == EFFECTS, lasting


def _second(scene: SpellScene) -> float:
    began = process_time()
    scene.run(SECONDS)
    return (process_time() - began) / SECONDS


def report(rounds: int) -> list[Figure]:
    """Cast at a creature before its caster alone; let many spells act before one player."""
    with TemporaryDirectory() as folder:
        scene = _scene(Path(folder) / "casts")
        crab = scene.creature()
        for spawn in (crab, scene.player.spawn):
            spawn.sheet.health.fill(HEALTH)
        casts = [Round(_cast(scene, crab) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        alone = _scene(Path(folder) / "alone")
        for number in range(EFFECTS):
            alone.creature(f"a crab {number}", 4.0 + number / 50)
        still = [Round(_second(alone) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
        scene = _scene(Path(folder) / "ticks")
        _last(scene)
        ticks = [Round(_second(scene) * 1e6, rc4_loop().cpu * 1e9) for _ in range(rounds)]
    what = f"a second of a player and {EFFECTS} creatures"
    return [
        Figure("a cast with a script and one target", "us", RC4_KILOBYTE, casts, AIM_CAST),
        Figure(what, "us", RC4_KILOBYTE, still),
        Figure(f"{what} on which a spell acts each 4 s", "us", RC4_KILOBYTE, ticks, AIM_TICKS),
    ]
