"""Scripts of players: the levels that they forbid, and what they hear of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.content.figures import Figures
from emu.world.events import LetterRead
from emu.world.scripts.player_events import EVERYWHERE
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa")

CAP = """
function on_level_up(Zone, Player, Old, New, Points)
    Say(Player, GetZoneName(Zone) .. " " .. Old .. " " .. New .. " " .. Points)
    if New > 2 then
        local most = math.floor(GetExpRequiredByLevel(3) * 2.2) - Points
        if GetInfoStructUInt(Player, "xp") > most then
            SetInfoStructUInt(Player, "xp", most)
        end
        SendPopUpMessage(Player, "No further.", 255, 255, 255)
        return -1
    end
    return 1
end
function on_level_up_complete(Zone, Player, Old, New)
    SendMessage(Player, "done " .. Old .. " " .. New)
end
function on_player_kill(Zone, Dead, Killer)
    SendMessage(Killer, "killed " .. GetName(Dead))
end
function on_player_death(Zone, Dead, Killer)
    SendMessage(Dead, "died by " .. GetName(Killer))
end
"""


def scene_with(
    folder: Path, source: str, background: list[Callable[[], object]] | None = None
) -> ScriptScene:
    path = folder / EVERYWHERE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    scene = ScriptScene(
        folder, figures=Figures(experience={2: 600, 3: 800, 4: 1000}), background=background
    )
    scene.zone_script("")
    return scene


def gain(scene: ScriptScene, points: int) -> tuple[int, int]:
    scene.scripts.levels.gain(scene.player, points, scene.harness.now)
    return scene.player.character.level, scene.player.character.experience


def texts(scene: ScriptScene) -> list[str]:
    return [str(one["text"]) for one in scene.client.decoded("WS_DisplayText")]


def test_a_script_forbids_a_level_and_cuts_the_points(tmp_path: Path) -> None:
    """The game's own script does so: 2.2 times what the next level needs is kept."""
    scene = scene_with(tmp_path, CAP)
    assert gain(scene, 600) == (2, 0)
    assert "done 1 2" in texts(scene)
    assert gain(scene, 900) == (2, 900)
    assert scene.client.decoded("WS_OnScreenMsg")[-1]["text"] == "No further."
    assert gain(scene, 1000) == (2, 1760)
    assert gain(scene, 1000) == (2, 1760)
    assert "done 2 3" not in texts(scene)


def test_a_script_of_one_zone_is_asked_as_well(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, "function on_level_up() return 1 end")
    name = f"PlayerScripts/{scene.zone.definition.name}.lua"
    scene.script("function on_level_up() return -1 end", name)
    assert gain(scene, 700) == (1, 700)


def test_a_script_that_fails_forbids_nothing(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, "function on_level_up() error('wrong') end")
    assert gain(scene, 700) == (2, 100)


def test_a_level_waits_for_a_script_that_is_being_compiled(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    scene = scene_with(tmp_path, CAP + "-- long\n" * 20_000, background)
    assert gain(scene, 700) == (1, 700)
    for call in list(background):
        call()
    assert gain(scene, 1) == (2, 101)


def test_deaths_and_kills_call_functions(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, CAP)
    crab = scene.spawn("", "a crab")
    harm = scene.harness.parts.minds.harm
    harm.kill(scene.zone, crab, scene.player.spawn)
    assert "killed a crab" in texts(scene)
    guard = scene.spawn("", "a guard")
    harm.kill(scene.zone, scene.player.spawn, guard)
    assert "died by a guard" in texts(scene)


TRADE = """
function on_tradeskill_level_up(Zone, Player, Old, New, Points)
    SendMessage(Player, "may " .. Old .. " " .. New)
    if New > 3 then return -1 end
end
function on_tradeskill_level_up_complete(Zone, Player, Old, New)
    SendMessage(Player, "trade " .. Old .. " " .. New)
end
function on_class_change(Zone, Player, Old, New)
    SendMessage(Player, "class " .. Old .. " " .. New)
end
function on_mail_first_read(Zone, Player, Letter)
    SendMessage(Player, "letter " .. Letter)
end
"""


def test_tradeskill_levels_classes_and_letters_call_functions(tmp_path: Path) -> None:
    """Source: eq2-lua.md 2.5."""
    scene = scene_with(tmp_path, TRADE)
    levels, player, now = scene.scripts.levels, scene.player, scene.harness.now
    levels.set_trade_level(player, 2, now)
    levels.gain_trade(player, 900, now)
    levels.gain_trade(player, 1000, now)
    # 800 of 900 led to level 3; level 4 is forbidden, and its points stay.
    assert (player.character.tradeskill_level, player.character.tradeskill_experience) == (3, 1100)
    before = player.character.class_
    levels.set_class(player, 3, now)
    scene.harness.world.events.publish(LetterRead(player, 12))
    assert [one for one in texts(scene) if "level" not in one] == [
        "trade 1 2", "may 2 3", "trade 2 3", "may 3 4", f"class {before} 3", "letter 12",
    ]  # fmt: skip
