"""Memory of fighters and of spells that last: what each adds to what is there already.

Counted: the bytes that Python has given out, and for a spell those of its Lua globals. The
creatures have one appearance object, as those of a row in the content file do, or each its own.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import Runtime
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import WaitingCast
from tests.support.world.fights import HERE, Fight
from tests.support.world.spell_scenes import BUFF_SCRIPT, SpellScene
from tools.bench.figures import Figure, Round

CREATURES = 200
LASTING = 110002
SECONDS = 20.0
HEALTH = 2_000_000_000
FIGHTER, CAST = 4096, 3072
"""The aims, in bytes."""


def _bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def fighter(*, own_appearance: bool = False) -> float:
    """Return what a creature takes more that fights a player than one that nobody fights.

    Those with an `own_appearance` have names of their own as well.
    """
    fight, look = Fight(), dict[str, Any]()
    creatures = [
        fight.creature(
            f"a crab {one}" if own_appearance else "a crab", HERE._replace(x=3.0 + one / 100),
            appearance=dict[str, Any]() if own_appearance else look,
        )
        for one in range(CREATURES)
    ]  # fmt: skip
    player = fight.player
    # Nothing that is made once counts: the last blow of a fight before has made it.
    _fight(fight, creatures[:10])
    before = _bytes()
    _fight(fight, creatures[10:])
    after = _bytes()
    assert all(player.spawn in one.mind.hates for one in creatures)
    return (after - before) / len(creatures[10:])


def _fight(fight: Fight, creatures: Sequence[Spawn]) -> None:
    player = fight.player
    player.spawn.sheet.health.fill(HEALTH)
    for one in creatures:
        one.sheet.health.fill(HEALTH)
        fight.harness.parts.combat.creatures.hate(player.zone, one, player.spawn, 50)
    for _ in range(int(SECONDS)):
        fight.run(1.0)
        fight.client.log.clear()


def cast(folder: Path) -> float:
    """Return what one more spell takes that lasts on a creature, without its Lua globals."""
    scene, look = SpellScene(folder), dict[str, Any]()
    creatures = [
        scene.creature("a crab", 4.0 + one / 100, appearance=look) for one in range(CREATURES)
    ]
    kind = scene.kind(LASTING)
    for number in (LASTING, LASTING + 1):
        _cast(scene, creatures, replace(kind, id=number))
    before = _bytes()
    _cast(scene, creatures, replace(kind, id=LASTING + 2))
    after = _bytes()
    assert all(len(scene.effects(one)) == 3 for one in creatures)
    return (after - before) / CREATURES


def _cast(scene: SpellScene, creatures: Sequence[Spawn], kind: Any) -> None:
    what = WaitingCast(kind, kind.tier(1))
    for one in creatures:
        scene.spells.casts.cast(scene.zone, one, what, one, cast_time=0.0)
    scene.run(2.0)
    scene.client.log.clear()


def lua_globals(folder: Path) -> float:
    """Return what the Lua globals of one cast take."""
    (folder / "buff.lua").write_text(BUFF_SCRIPT, encoding="utf-8")
    runtime = Runtime(ScriptFolder(folder), {})
    kept = [runtime.load("buff.lua")]
    before = _of_lua(runtime)
    kept += [runtime.load("buff.lua") for _ in range(CREATURES)]
    return (_of_lua(runtime) - before) / (len(kept) - 1)


def _of_lua(runtime: Runtime) -> int:
    runtime.begin_collection()
    runtime.collect_some(lambda: True)
    return runtime.memory


def report(rounds: int) -> list[Figure]:
    """Measure each once: memory is the same in every round."""
    tracemalloc.start()
    try:
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "scene").mkdir()
            spell = cast(folder / "scene") + lua_globals(folder)
            of_fighter, of_own = fighter(), fighter(own_appearance=True)
    finally:
        tracemalloc.stop()
    found = (
        ("memory of a creature that fights, beside one that does not", of_fighter, FIGHTER),
        ("the same of one with an appearance of its own", of_own, FIGHTER),
        ("memory of a spell that lasts, with the globals of its script", spell, CAST),
    )
    return [
        Figure(what, "bytes", "aim", [Round(size, aim)] * rounds, f"under {aim:,} bytes")
        for what, size, aim in found
    ]
