"""The list of all functions for scripts."""

import importlib
import pkgutil
from random import Random

import pytest

from emu.scripts.signatures import FunctionTable, merged
from emu.world.scripts import functions
from emu.world.scripts.functions.every import EVERY
from tests.support.world.script_scenes import ScriptScene

VALUES = (
    "nil", "0", "-1", "1", "0.5", "1e308", "-1e308", "0/0", "1/0", "-1/0", "-0.0", "1 << 63",
    "(1 << 63) - 1", "1 << 32", "65536", "70", "970", '""', '"a"', '"hailed"', '"1e400"',
    '"nan"', '"-5"', '("x"):rep(4000)', '"\\0\\255\\128"', "{}", "{1, 2, 3}", "{{}}", "print",
    "true", "false", "NPC", "Player", "Here", "Gone",
)  # fmt: skip
HANDLES = {"S": ("NPC", "Player", "Gone"), "N": ("NPC", "Gone"), "P": ("Player",), "Z": ("Here",)}
CALLS = 40
"""Calls of each function."""


def test_the_functions_of_every_module_are_listed_once() -> None:
    modules = [
        importlib.import_module(f"{functions.__name__}.{found.name}")
        for found in pkgutil.iter_modules(functions.__path__)
    ]
    tables = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, FunctionTable)
    }
    assert {id(table) for table in EVERY} == set(tables)
    assert len(merged(EVERY)) == sum(len(table.functions) for table in EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_only_scripts_fail_and_the_world_goes_on(scene: ScriptScene, seed: int) -> None:
    rng = Random(seed)
    functions = merged(EVERY)
    source = ["function keep(npc) Gone = npc end"]
    for at, (name, function) in enumerate(sorted(functions.items())):
        for one in range(CALLS):
            letters = [argument.letter for argument in function.signature.arguments]
            arguments = [
                rng.choice(HANDLES.get(letter, VALUES) if rng.random() < 0.7 else VALUES)
                for letter in letters[: rng.randint(0, len(letters) + 2)]
                + ["v"] * rng.randint(0, 2)
            ]
            call = f"{name}({', '.join(arguments)})"
            source.append(f"function f{at}_{one}(NPC, Player) local Here = GetZone(NPC) {call} end")
    scene.script("\n".join(source))
    gone = scene.place("npc.lua", "Gone", 71)
    gone_body = scene.scripts.body_of(gone, scene.zone)
    assert gone_body is not None
    scene.scripts.call(gone_body, "keep", gone_body)
    scene.scripts.vanished(scene.zone, gone)
    for at in range(len(functions)):
        guard = scene.place("npc.lua", f"Guard{at}", 70)
        for one in range(CALLS):
            body = scene.scripts.body_of(guard, scene.zone)
            if body is not None:
                player = scene.scripts.player_body(scene.player)
                scene.scripts.run("npc.lua", f"f{at}_{one}", body, player)
        scene.harness.run(0.2)
    counters = scene.scripts.counters
    assert counters["functions failed"] == 0
    # The values are read as 0 or empty, so that few calls fail.
    assert counters["functions called"] >= len(functions) * CALLS * 0.9
    assert scene.player.is_online
