"""An event of a script outside of a world."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.world.reference.trial import Trial

pytest.importorskip("lupa", reason="the package lupa is not installed")


def trial(folder: Path, source: str, path: str = "SpawnScripts/a.lua") -> Trial:
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text(source, encoding="utf-8")
    return Trial(ScriptFolder(folder))


def test_every_call_is_noted(tmp_path: Path) -> None:
    one = trial(tmp_path, """function hailed(NPC, Spawn, more)
        print("begins")
        FaceTarget(NPC, Spawn)
        Say(NPC, "Well met, " .. GetName(Spawn) .. more, Spawn)
        SetTempVariable(NPC, "met", "yes")
        if GetTempVariable(NPC, "met") == "yes" and not HasQuest(Spawn, 5) then
            Despawn(GetSpawn(NPC, 7), 1.5)
        end
        local page = CreateConversation()
        StartConversation(page, NPC, nil, {}, true)
        return GetLevel(NPC) + MakeRandomInt(3, 9)
    end""")  # fmt: skip
    assert one.call("SpawnScripts/a.lua", "hailed", ["!"]) == (True, 23)
    assert one.printed == ["begins"]
    calls = [line.removesuffix("   (missing here)") for line in one.lines]
    assert calls == [
        "FaceTarget(NPC, Spawn)",
        'Say(NPC, "Well met, Spawn!", Spawn)',
        'SetTempVariable(NPC, "met", "yes")',
        "HasQuest(Spawn, 5)",
        "GetSpawn(NPC, 7)",
        "Despawn(another spawn, 1.5)",
        "CreateConversation()",
        "StartConversation(conversation, NPC, nil, a table, true)",
        "GetLevel(NPC)",
    ]


def test_the_visitor_is_the_only_player(tmp_path: Path) -> None:
    one = trial(
        tmp_path,
        """function hailed(NPC, Spawn)
        return tostring(IsPlayer(Spawn)) .. tostring(IsPlayer(NPC)) .. tostring(IsPlayer(nil))
    end""",
    )
    assert one.call("SpawnScripts/a.lua", "hailed") == (True, "truefalsefalse")


def test_what_is_missing_here_is_marked(tmp_path: Path) -> None:
    one = trial(tmp_path, "function hailed(NPC, Spawn) SetWorldTime(NPC) end")
    one.call("SpawnScripts/a.lua", "hailed")
    assert one.lines == ["SetWorldTime(NPC)   (missing here)"]


@pytest.mark.parametrize(
    ("path", "said"), [("ZoneScripts/a.lua", "Zone"), ("ItemScripts/a.lua", "Item")]
)
def test_other_files_get_other_arguments(tmp_path: Path, path: str, said: str) -> None:
    one = trial(tmp_path, "function go(first) Say(first) end", path)
    one.call(path, "go")
    assert one.lines == [f"Say({said})"]


def test_an_error_has_its_place(tmp_path: Path) -> None:
    one = trial(tmp_path, "function hailed()\nSay(1 + nil) end")
    with pytest.raises(ScriptError, match=r"SpawnScripts/a.lua:2: "):
        one.call("SpawnScripts/a.lua", "hailed")
    assert one.call("SpawnScripts/a.lua", "gone") == (False, None)
