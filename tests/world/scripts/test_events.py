"""The events of spawns and zones: when each function is called, and with what."""

import pytest

from emu.dialects.dialect import AVATAR_READY
from emu.times import Moment
from emu.world.events import FightOver, Provoked, Struck, Thinks, WidgetUsed
from emu.world.item_events import NodeWorked
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_spawn_is_prepared_and_then_new_or_back(scene: ScriptScene) -> None:
    source = """
        order = ""
        function prespawn(NPC) order = order .. "prespawn " end
        function spawn(NPC) order = order .. "spawn " end
        function respawn(NPC) order = order .. "respawn " end
        function hailed(NPC) Say(NPC, order) end"""
    name = scene.script(source)
    first = scene.place(name)
    assert scene.hail(first) == [("Guard", "prespawn spawn ")]
    second = scene.place(name, is_back=True)
    assert scene.hail(second) == [("Guard", "prespawn spawn prespawn respawn ")]


def test_a_spawn_without_a_row_gets_the_script_of_its_name(scene: ScriptScene) -> None:
    folder = scene.zone.definition.name
    scene.script(
        "function hailed(NPC) Say(NPC, 'By name') end", f"SpawnScripts/{folder}/aGuard.lua"
    )
    assert scene.hail(scene.place("", "a 'Guard'")) == [("a 'Guard'", "By name")]
    assert scene.hail(scene.place("", "a guard")) == []


def test_who_fights_has_another_answer_to_a_hail(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC) Say(NPC, "Yes?") end
        function hailed_busy(NPC, Player) Say(NPC, "Not now, " .. GetName(Player)) end""")
    guard.set_word("combat", on=True)
    assert scene.hail(guard) == [("Guard", "Not now, Aldana")]


def test_the_target_hears_what_a_player_says(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hear_say(NPC, Player, text) Say(NPC, GetName(Player) .. ": " .. text) end""")
    scene.client.types("/say Nobody hears this")
    scene.player.set_target(guard)
    scene.heard()
    scene.client.types("/say Caf\xe9")
    assert scene.heard() == [("Guard", "Aldana: Caf\xc3\xa9")]  # UTF-8


def test_each_targeting_is_an_event(scene: ScriptScene) -> None:
    guard = scene.spawn("function targeted(NPC, P) Say(NPC, 'Yes, ' .. GetName(P)) end")
    scene.heard()
    scene.target(guard)
    scene.target(guard)
    assert scene.heard() == [("Guard", "Yes, Aldana")] * 2


def test_a_verb_calls_its_own_function_and_casted_on(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function push_it(NPC, P) Say(NPC, "pushed by " .. GetName(P)) end
        function casted_on(NPC, P, command) Say(NPC, command) end""")
    scene.heard()
    scene.use(guard, "Push")
    assert scene.heard() == [("Guard", "pushed by Aldana"), ("Guard", "push_it")]
    assert scene.harness.world.faults.drops["verb does nothing"] == 0


@pytest.mark.parametrize(
    ("result", "answers"),
    [("true", 1), ("0", 1), ("false", 0), ("", 0), ("nil + 1", 0)],
)
def test_a_script_forbids_a_verb(scene: ScriptScene, result: str, answers: int) -> None:
    guard = scene.spawn(f"""
        function can_use_command(NPC, P, name) return name == "push_it" and {result or "nil"} end
        function casted_on(NPC) Say(NPC, "done") end""")
    scene.heard()
    scene.use(guard, "Push")
    assert len(scene.heard()) == answers


def test_the_verb_of_a_shopkeeper_hails(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC) Say(NPC, 'Look around') end")
    scene.heard()
    scene.use(guard, "frommerchant")
    assert scene.heard() == [("Guard", "Look around")]


def test_fights_call_the_functions_of_both_sides(scene: ScriptScene) -> None:
    source = "\n".join(
        f"function {name}(NPC, Other, more) Say(NPC, '{name} ' .. (GetName(Other) or '-')) end"
        for name in (
            "aggro", "attacked", "auto_attack_tick", "death", "killed", "group_dead",
            "CombatReset",
        )
    )  # fmt: skip
    wolf, guard = scene.spawn(source, "Wolf"), scene.spawn(source, "Guard")
    scene.heard()
    events, zone = scene.scripts.events, scene.zone
    assert events.aggro(zone, wolf, scene.player.spawn)
    assert events.attacked(zone, wolf, guard)
    assert events.struck(zone, wolf, guard)
    assert events.fight_ended(zone, wolf)
    events.died(zone, guard, wolf)
    events.died(zone, guard, None)
    events.died(zone, guard, scene.player.spawn)
    assert events.group_died(zone, guard, wolf)
    assert scene.heard() == [
        ("Wolf", "aggro Aldana"), ("Wolf", "attacked Guard"), ("Wolf", "auto_attack_tick Guard"),
        ("Wolf", "CombatReset -"), ("Guard", "death Wolf"), ("Wolf", "killed Guard"),
        ("Guard", "death -"), ("Guard", "death Aldana"), ("Guard", "group_dead Wolf"),
    ]  # fmt: skip


def test_events_of_fights_call_the_functions(scene: ScriptScene) -> None:
    """Source: eq2-lua.md 2 (the events of spawns and zones)."""
    names = ("aggro", "attacked", "auto_attack_tick", "Think", "CombatReset")
    source = "\n".join(
        f"function {name}(NPC, Other) Say(NPC, '{name} ' .. (GetName(Other) or '-')) end"
        for name in names
    )
    scene.script(
        "function spawn_killed(Zone, Dead, Killer) Say(Dead, GetName(Killer) or '-') end",
        f"ZoneScripts/{scene.zone.definition.name}.lua",
    )
    wolf = scene.spawn(source, "Wolf")
    scene.scripts.zone_starts(scene.zone)
    scene.heard()
    publish, own = scene.harness.world.events.publish, scene.player.spawn
    for event in (Provoked, Struck, Thinks, FightOver):
        publish(event(zone=scene.zone, spawn=wolf, foe=own))
    said = [f"{name} Aldana" for name in names[:4]]
    assert [text for _, text in scene.heard()] == [*said, "CombatReset -"]
    publish(Provoked(zone=scene.zone, spawn=wolf))
    publish(Struck(zone=scene.zone, spawn=wolf))
    assert scene.heard() == []
    scene.scripts.events.died(scene.zone, wolf, own)
    assert scene.heard() == [("Wolf", "Aldana")]


@pytest.mark.parametrize(("source", "answers"), [
    ("function usedoor(NPC, P, is_open) Say(NPC, tostring(is_open)) end", ["a script"]),
    ("function other() end", []),
])  # fmt: skip
def test_a_script_answers_the_use_of_a_widget(
    scene: ScriptScene, source: str, answers: list[str]
) -> None:
    """Source: eq2-lua.md 2 (`usedoor`): with it the widget itself does nothing."""
    lift = scene.spawn(source, "Lift")
    scene.heard()
    used = WidgetUsed(scene.player, zone=scene.zone, target=lift, is_open=True)
    scene.harness.world.events.publish(used)
    assert used.answers[:1] == answers
    assert scene.heard() == [("Lift", "true")] * len(answers)


@pytest.mark.parametrize(
    ("result", "taken"),
    [("-1", 0), ("-7", 0), ("0", None), ("nil", None), ("true", None), ("12", 12), ("0/0", None)],
)
def test_a_script_changes_the_damage(scene: ScriptScene, result: str, taken: int | None) -> None:
    guard = scene.spawn(f"""
        function healthchanged(NPC, Attacker, damage)
            Say(NPC, GetName(Attacker) .. damage)
            return {result}
        end""")
    scene.heard()
    events = scene.scripts.events
    assert events.health_changes(scene.zone, guard, scene.player.spawn, 30) == taken
    assert scene.heard() == [("Guard", "Aldana30")]


def test_the_script_of_a_node_learns_of_the_ability(scene: ScriptScene) -> None:
    """The cellar of the Isle of Refuge asks `casted_on` for "Foresting" and "Mining"."""
    log = scene.spawn("function casted_on(NPC, Spawn, name) Say(NPC, name) end", "a fallen log")
    scene.heard()
    scene.harness.world.events.publish(NodeWorked(scene.player, log, "Foresting"))
    assert scene.heard() == [("a fallen log", "Foresting")]


ZONE = """
    log = "init"
    function note(P, text) SendMessage(P, text) end
    function preinit_zone_script(Zone) log = "preinit " .. GetZoneID(Zone) end
    function init_zone_script(Zone) log = log .. " init" end
    function new_client(Zone, P) note(P, log .. " new") end
    function player_entry(Zone, P) note(P, "entry " .. GetName(P)) end
    function player_loadcomplete(Zone, P) note(P, "loaded") end
    function signal_changed(Zone, P, signal) note(P, "signal " .. signal) end
    function dusk(Zone) log = log .. " dusk" end
    function dawn(Zone) log = log .. " dawn" end"""


def test_a_zone_is_ready_before_its_players_are_greeted(scene: ScriptScene) -> None:
    scene.script(ZONE, f"ZoneScripts/{scene.zone.definition.name}.lua")
    scene.scripts.zone_starts(scene.zone)
    scene.shown()
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    scene.scripts.entered(scene.player)
    scene.client.say("OP_DoneLoadingUIResourcesMsg")
    assert scene.shown() == []
    scene.scripts.zone_is_ready(scene.zone)
    assert scene.shown() == ["entry Aldana", "loaded"]
    lines = [one["text"] for one in other.decoded("WS_DisplayText")]
    assert lines[-4:] == [
        "preinit 325 init new", "entry Borvik", "loaded", f"signal {AVATAR_READY}",
    ]  # fmt: skip
    scene.client.say("OP_DoneLoadingUIResourcesMsg")
    assert scene.shown() == ["loaded"]


def test_a_zone_learns_of_the_signals_of_clients(scene: ScriptScene) -> None:
    """The tutorial of The Far Journey has a signal for each of its steps."""
    scene.zone_script(
        "function signal_changed(Zone, P, signal) SendMessage(P, signal) end"
    )  # fmt: skip
    scene.shown()
    layout = scene.client.dialect.layout("WS_Signal")
    for signal in ("introduction", "a" * 65, AVATAR_READY):
        scene.client.say("OP_SignalMsg", layout.encode({"signal": signal}))
    assert scene.shown() == ["introduction", "a" * 64, AVATAR_READY]


def test_a_row_names_the_script_of_a_zone(scene: ScriptScene) -> None:
    scene.script("function player_entry(Zone, P) SendMessage(P, 'ours') end", "own.lua")
    scene.scripts.zone_starts(scene.zone)
    scene.scripts.zone_is_read(scene.zone, "own.lua")
    scene.scripts.zone_is_ready(scene.zone)
    scene.shown()
    scene.scripts.entered(scene.player)
    assert scene.shown() == ["ours"]


def test_a_new_client_is_new_once(scene: ScriptScene) -> None:
    scene.zone_script(ZONE)
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    scene.scripts.left(other.player)
    scene.scripts.entered(other.player)
    lines = [one["text"] for one in other.decoded("WS_DisplayText")]
    assert lines.count("entry Borvik") == 2
    assert len([line for line in lines if line.endswith("new")]) == 1


def test_dusk_and_dawn_come_with_the_world_s_clock(scene: ScriptScene) -> None:
    scene.zone_script(
        "function dusk(Zone) say('dusk') end function dawn(Zone) say('dawn') end"
        " function player_entry(Zone, P) player = P end"
        " function say(text) SendMessage(player, text) end"
    )
    scene.scripts.entered(scene.player)
    scene.shown()
    called = []
    for hour in (12, 18, 19, 23, 7, 8):
        scene.harness.moment = Moment(1_800_000_000.0 // 4320.0 * 4320.0 + 180.0 * hour)
        scene.harness.run(10.1)
        called.append("".join(scene.shown()))
    assert called[1:] == ["", "dusk", "", "", "dawn"]


def test_players_elsewhere_have_no_part_in_it(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC) Say(NPC, 'Yes?') end")
    scene.scripts.ended(scene.zone)
    assert scene.hail(guard) == []
    scene.use(guard, "Push")
    assert scene.harness.world.faults.drops["verb does nothing"] == 1
    assert scene.player.position.distance_to(PLACE) < 5.0
