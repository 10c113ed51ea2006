"""Functions of scripts for doors, transporters and zones."""

from pathlib import Path

import attrs
import pytest

from emu.world.actors.spawn import Destination
from emu.world.events import Entered
from emu.world.scripts.functions.travel import TRAVEL
from emu.world.travel.tables import TravelTables, Way
from emu.world.travel.widgets import WidgetForm
from emu.world_stream.movement import Position
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

WAYS = {3: [Way(1, "North", Destination(12)), Way(2, "South", Destination(27))]}


def on_hail(scene: ScriptScene, code: str, name: str = "Guard") -> list[tuple[str, str]]:
    guard = scene.spawn(f"function hailed(NPC, Spawn) {code} end", name)
    said = scene.hail(guard)
    scene.harness.run(0.1)
    assert scene.lines == []
    return said


def test_zone_sends_a_player_to_a_zone_that_does_not_run(scene: ScriptScene) -> None:
    said = on_hail(scene, "Zone(GetZone('Antonica'), Spawn, 1, 2, 3, 370) Say(NPC, GetName(Spawn))")
    # The player is still there for the rest of the call.
    assert said == [("Guard", "Aldana")]
    assert scene.player.journey.destination == Destination(12, Position(1.0, 2.0, 3.0, 10.0))


@pytest.mark.parametrize("call", ["Zone(GetZone(12), Spawn)", "Zone(GetZone(12), Spawn, 0, 0, 0)"])
def test_zone_without_a_place_leads_to_the_safe_place(scene: ScriptScene, call: str) -> None:
    on_hail(scene, call)
    safe = scene.harness.zones.definition(12).safe
    assert scene.player.journey.destination == Destination(12, safe)


def test_zone_within_the_zone_is_a_jump(scene: ScriptScene) -> None:
    on_hail(scene, "Zone(GetZone(Spawn), Spawn, 5, -7.5, 250, 90)")
    assert scene.player.position == Position(5.0, -7.5, 250.0, 90.0)


@pytest.mark.parametrize(
    "call", ["Zone(GetZone('Nowhere'), Spawn)", "Zone(GetZone(12), NPC)", "Zone(nil, Spawn)",
             "Zone(GetZone(12), Spawn, 9999999, 0, 0)"],
)  # fmt: skip
def test_zone_of_nothing_does_nothing(scene: ScriptScene, call: str) -> None:
    on_hail(scene, call)
    assert scene.player.journey.destination is None


def test_a_zone_that_does_not_run_is_empty(scene: ScriptScene) -> None:
    assert on_hail(
        scene, "Z = GetZone('Antonica') Say(NPC, GetZoneID(Z))"
        " Say(NPC, tostring(GetSpawnByLocationID(Z, 70)))"
    ) == [("Guard", "12"), ("Guard", "nil")]  # fmt: skip
    assert scene.harness.zones.find(12) is None


def test_a_script_opens_closes_and_asks_a_door(scene: ScriptScene) -> None:
    door = scene.spawn("", "Door", location=71)
    form = WidgetForm("door", open_heading=200.0)
    scene.travel.widgets.add_widget(scene.zone, door, 971, form)
    said = on_hail(scene, """
        local door = GetSpawn(NPC, 971)
        Say(NPC, tostring(IsOpen(door)))
        OpenDoor(door) Say(NPC, tostring(IsOpen(door)))
        CloseDoor(door, true) Say(NPC, tostring(IsOpen(door)))
        UseWidget(door)
        Say(NPC, tostring(IsOpen(NPC)))""")  # fmt: skip
    assert [text for _, text in said] == ["false", "true", "false", "false"]
    assert scene.travel.widgets.is_open(door)
    assert door.position.heading == 200.0


def test_usedoor_answers_in_the_place_of_the_door(scene: ScriptScene) -> None:
    door = scene.spawn("""
        function usedoor(NPC, Spawn, Open)
            Say(NPC, tostring(Open) .. " " .. tostring(GetName(Spawn)) .. " " .. type(Spawn))
            if not Open then OpenDoor(NPC) end
        end""", "Door", location=71)  # fmt: skip
    scene.travel.widgets.add_widget(scene.zone, door, 971, WidgetForm("door", open_heading=200.0))
    now = scene.harness.now
    assert scene.travel.use_widget(door, scene.player, now)
    # A script that uses it gives a handle of nobody, which is not nil.
    on_hail(scene, "UseWidget(GetSpawn(NPC, 971))")
    assert scene.travel.widgets.is_open(door)
    assert [text for _, text in scene.heard()] == []
    texts = [one["message"] for one in scene.client.decoded("WS_HearChat") if one["from"] == "Door"]
    assert texts == ["false Aldana userdata", "true nil userdata"]


def test_a_script_makes_a_transport_and_hears_of_its_passengers(scene: ScriptScene) -> None:
    boat = scene.spawn("""
        function spawn(NPC) AddTransportSpawn(NPC) end
        function board(NPC, Player) Say(NPC, "Welcome " .. GetName(Player)) end
        function deboard(NPC, Player) Say(NPC, "Off goes " .. GetName(Player)) end
        function hailed(NPC, Player)
            local aboard = GetPassengerSpawnList(NPC)
            Say(NPC, tostring(IsTransportSpawn(NPC)) .. tostring(IsTransportSpawn(Player))
                .. tostring(aboard and GetName(aboard[1])))
            AddTransportSpawn(Player) Say(NPC, tostring(IsTransportSpawn(Player)))
        end""", "Boat")  # fmt: skip
    assert [text for _, text in scene.hail(boat)] == ["truefalsenil", "false"]
    for away in (1.5, 1.0):
        scene.client.walk(PLACE.x + away, PLACE.y, PLACE.z)
    assert [text for _, text in scene.heard()] == ["Welcome Aldana"]
    assert [text for _, text in scene.hail(boat)] == ["truefalseAldana", "false"]
    scene.harness.run(1.0)
    scene.client.walk(PLACE.x + 4.0, PLACE.y, PLACE.z)
    assert [text for _, text in scene.heard()] == ["Off goes Aldana"]
    assert scene.lines == []


def test_a_transport_of_prespawn_carries_who_stands_on_it_from_floor_to_floor(
    scene: ScriptScene,
) -> None:
    lift = scene.spawn("""
        function prespawn(NPC) SetSpeed(NPC, 4) AddMultiFloorLift(NPC) end
        function spawn(NPC) AddTimer(NPC, 2000, "sets_off") end
        function sets_off(NPC)
            MoveToLocation(NPC, GetX(NPC), GetY(NPC) + 20, GetZ(NPC), 0, "arrived")
        end
        function arrived(NPC)
            Say(NPC, "Next floor")
            MoveToLocation(NPC, GetX(NPC) + 8, GetY(NPC), GetZ(NPC))
        end""", "Lift")  # fmt: skip
    scene.travel.appeared(scene.zone, lift, scene.standing("Lift.lua"))
    scene.harness.run(3.5)
    assert PLACE.y + 8 < scene.player.position.y < PLACE.y + 16
    scene.harness.run(5.0)
    # It turned round to go along +x, with the player who stood one unit beside its middle.
    assert scene.player.position[:3] == pytest.approx((PLACE.x + 7.0, PLACE.y + 20, PLACE.z))


def test_send_transporters_shows_the_window_of_a_list(scene: ScriptScene) -> None:
    scene.travel.reload(TravelTables(WAYS))
    on_hail(scene, "SendTransporters(NPC, Spawn, 3) SendTransporters(NPC, Spawn, 4)")
    (window,) = scene.client.decoded("WS_TeleportList")
    assert [row["display_name"] for row in window["destination_array"]] == ["North", "South"]
    assert scene.client.decoded("WS_DisplayText")[-1]["text"] == "There is no such transporter."


def test_a_list_is_chosen_for_a_player(scene: ScriptScene) -> None:
    assert on_hail(
        scene, "Say(NPC, GetTemporaryTransportID(Spawn)) SetTemporaryTransportID(Spawn, 3)"
        " Say(NPC, GetTemporaryTransportID(Spawn))"
    ) == [("Guard", "0"), ("Guard", "3")]  # fmt: skip


def test_the_safe_place_of_a_zone(scene: ScriptScene) -> None:
    x, y, z = scene.harness.zones.definition(325).safe[:3]
    (said,) = on_hail(scene, "x, y, z = GetCurrentZoneSafeLocation(NPC) Say(NPC, x + y + z)")
    assert float(said[1]) == pytest.approx(x + y + z, abs=0.01)


def test_a_player_is_bound_and_gates(scene: ScriptScene) -> None:
    assert on_hail(
        scene, "Bind(Spawn, 12, 1, 2, 3, 45) Say(NPC, GetBoundZoneID(Spawn)) Gate(Spawn)"
    ) == [("Guard", "12")]
    assert scene.player.journey.destination == Destination(12, Position(1.0, 2.0, 3.0, 45.0))


def test_what_a_zone_allows_can_be_asked_and_changed(scene: ScriptScene) -> None:
    said = on_hail(scene, """
        Say(NPC, GetCanBind(NPC) .. GetCanGate(NPC) .. GetCanEvac(NPC))
        SetCanBind(NPC, 0) SetCanGate(NPC, false) SetCanEvac(NPC, 0)
        Say(NPC, GetCanBind(NPC) .. GetCanGate(NPC) .. GetCanEvac(NPC))
        Say(NPC, tostring(IsBindAllowed(Spawn)) .. tostring(IsGateAllowed(Spawn)))
        SetCanBind(NPC, 1) Say(NPC, tostring(IsBindAllowed(Spawn)))""")  # fmt: skip
    assert [text for _, text in said] == ["111", "000", "falsefalse", "true"]
    # Other instances of the zone are as they were.
    assert scene.harness.zones.definition(325).can_gate


def test_evac_puts_a_player_at_the_safe_place_where_that_is_allowed(scene: ScriptScene) -> None:
    on_hail(scene, "SetCanEvac(NPC, 0) Evac(Spawn)")
    assert scene.player.position != scene.zone.definition.safe
    on_hail(scene, "SetCanEvac(NPC, 1) Evac(Spawn) Evac(1, 2, 3, 4)", "Other")
    assert scene.player.position == scene.zone.definition.safe


def test_scripts_end_copies_and_ask_for_times_and_levels(scene: ScriptScene) -> None:
    definition = attrs.evolve(
        scene.zone.definition, instance="solo", lockout=7200.0, reenter=3600.0
    )
    scene.zone.definition = definition
    scene.zone.instance = 1_000_000
    scene.travel.instances._standing(Entered(scene.player, scene.harness.now))
    said = on_hail(scene, """
        local z = GetZone(NPC)
        Say(NPC, GetZonePlayerMinLevel(z) + GetZonePlayerMaxLevel(z))
        Say(NPC, GetZonePlayerAvgLevel(z) + GetZonePlayerFirstLevel(z))
        Say(NPC, GetZoneLockoutTimer(Spawn, 325, 1))
        SetFailureTimer(Spawn) Say(NPC, GetZoneLockoutTimer(Spawn, 325, 1))
        SetSuccessTimer(Spawn) Say(NPC, GetZoneLockoutTimer(Spawn, 325))""")  # fmt: skip
    level = scene.player.character.level
    assert [text for _, text in said] == [str(2 * level), str(2 * level), "0", "3600", "7200"]
    assert (
        scene.client.decoded("WS_DisplayText")[-1]["text"] == "You may enter again in 61 minutes."
    )


def test_scripts_give_and_take_waypoints(scene: ScriptScene) -> None:
    on_hail(
        scene,
        """AddWaypoint(Spawn, "Here") AddWaypoint(Spawn, "There", 5)
        AddWaypoint(Spawn, "Usual", 0) AddWaypoint(NPC, "Nobody's")
        RemoveWaypoint(Spawn, "Here") SendWaypoints(Spawn) SendWaypoints(NPC)""",
    )
    (update,) = scene.client.decoded("WS_WaypointUpdate")
    rows = [(row["waypoint_name"], row["waypoint_category"]) for row in update["update_array"]]
    assert rows == [("There", 5), ("Usual", 2)]


def test_a_flight_takes_a_player_to_the_end_of_its_path(scene: ScriptScene) -> None:
    here, there = Position(6.0, -7.5, 243.0), Position(9.0, 9.0, 9.0)
    scene.travel.reload(
        TravelTables(flights={4: Destination(scene.zone.zone_id, here), 5: Destination(99, there)})
    )
    ask = "Say(NPC, tostring(IsOnAutoMount(Spawn)))"
    said = on_hail(
        scene,
        f"StartAutoMount(Spawn, 5) StartAutoMount(Spawn, 6) StartAutoMount(NPC, 4) {ask}"
        f" StartAutoMount(Spawn, 4) {ask} EndAutoMount(Spawn) {ask} EndAutoMount(nil)"
        " Say(NPC, tostring(IsOnAutoMount(nil)))",
    )
    assert [text for _, text in said] == ["false", "true", "false", "false"]
    assert scene.player.spawn.position[:3] == here[:3]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), TRAVEL) == []
