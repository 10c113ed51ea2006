"""Recorded conversations against this server: a small recording and scripts of our own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tools.replay_talks import main

pytest.importorskip("lupa", reason="the package lupa is not installed")

SCRIPT = """
function hailed(NPC, Spawn)
    FaceTarget(NPC, Spawn)
    PlayFlavor(NPC, "voice" .. math.random(1, 3) .. ".mp3", "", "agree", 0, 0, Spawn)
    local page = CreateConversation()
    AddConversationOption(page, "Where am I?", "where")
    AddConversationOption(page, "Bye.")
    StartConversation(page, NPC, Spawn, "Welcome, " .. GetName(Spawn) .. ".")
end

function where(NPC, Spawn)
    local page = CreateConversation()
    AddConversationOption(page, "Thanks.")
    StartConversation(page, NPC, Spawn, "On an island.")
end
"""


def hail(version: int, **changes: Any) -> dict[str, Any]:
    who = "Keeper"
    emotes = [{"k": "emote", "who": who}] if version <= 561 else []
    steps = [
        {"k": "chat", "sender": "Corvin", "text": "Hail, Keeper"},
        {"k": "emote", "who": "Somebody else"},
        *emotes,
        {"k": "flavor", "who": who, "f": ["voice2.mp3", who, "", ""]},
        {"k": "dialog", "id": 1, "who": who, "text": "Welcome, Corvin.",
         "answers": ["Where am I?", "Bye."]},
        {"k": "answer", "n": 0},
        {"k": "dialog", "id": 1, "who": who, "text": "On an island.", "answers": ["Thanks."]},
        {"k": "answer", "n": 0},
        {"k": "dialogclose", "id": 1},
    ]  # fmt: skip
    row = {"zone": "isle", "version": version, "name": who, "script": "SpawnScripts/keeper.lua",
           "loc": 3, "spawn": 4, "level": 5, "seq": steps}  # fmt: skip
    return row | changes


def replay(folder: Path, hails: list[dict[str, Any]]) -> int:
    (folder / "SpawnScripts").mkdir()
    (folder / "SpawnScripts" / "keeper.lua").write_text(SCRIPT, encoding="utf-8")
    recording = folder / "recording.json.gz"
    recording.write_bytes(gzip.compress(json.dumps(hails).encode()))
    return main([str(recording), "--scripts", str(folder)])


@pytest.mark.parametrize("version", [546, 1208])
def test_the_same_conversation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], version: int
) -> None:
    assert replay(tmp_path, [hail(version)]) == 0
    assert capsys.readouterr().out == "1 of 1 hails are the same\n"


def test_what_differs_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = hail(1208)
    other["seq"] = [
        step | ({"text": "On another island."} if step.get("text") == "On an island." else {})
        for step in other["seq"]
        if step["k"] != "dialogclose"
    ]
    assert replay(tmp_path, [hail(1208), other]) == 1
    out = capsys.readouterr().out
    assert "1 of 2 hails are the same" in out
    assert "-dialog | On another island. | ('Thanks.',)" in out
    assert "+dialog | On an island. | ('Thanks.',)" in out
    assert "+dialogclose" in out
