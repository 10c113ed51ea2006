"""Calls of functions for scripts without one of their arguments."""

from __future__ import annotations

from emu.scripts.signatures import FunctionTable
from tests.support.world.script_scenes import ScriptScene

HANDLES = {
    "S": "NPC", "N": "NPC", "A": "NPC", "P": "Player", "Z": "GetZone(NPC)",
    "C": "CreateConversation()", "O": "CreateOptionWindow()",
}  # fmt: skip
"""What a script has for a letter of a signature; of other handles it has none here."""
VALUES = {"t": '"a"', "b": "true"}


def failing_without(scene: ScriptScene, table: FunctionTable) -> list[str]:
    """Return the calls that fail when an argument is missing, or all of them.

    A missing argument is nothing that a script does wrong: the world answers with nothing.
    """
    calls = []
    for name, function in sorted(table.functions.items()):
        letters = [one.letter for one in function.signature.arguments]
        given = [HANDLES.get(one) or VALUES.get(one, "1") for one in letters]
        calls.append(f"{name}()")
        for at, letter in enumerate(letters):
            if letter in HANDLES:
                calls.append(f"{name}({', '.join((*given[:at], 'nil', *given[at + 1 :]))})")
    scene.script("\n".join(
        f"function f{at}(NPC, Player) {call} end" for at, call in enumerate(calls)
    ))  # fmt: skip
    failing, counters, spawn = [], scene.scripts.counters, None
    for at, call in enumerate(calls):
        body = scene.scripts.body_of(spawn, scene.zone) if spawn is not None else None
        if body is None:
            spawn = scene.place("npc.lua", f"Guard{at}", 70)
            body = scene.scripts.body_of(spawn, scene.zone)
        before = counters["functions failed"]
        scene.scripts.run("npc.lua", f"f{at}", body, scene.scripts.player_body(scene.player))
        if counters["functions failed"] != before:
            failing.append(call)
    return failing
