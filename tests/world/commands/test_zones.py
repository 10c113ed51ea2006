"""Running the world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.commands.zones import MOST_AROUND
from emu.world.population.atlas import read_atlas
from tests.support.coroutines import finish
from tests.support.running.processes import present
from tests.support.world.worlds import WorldHarness


def test_zones(harness: WorldHarness) -> None:
    harness.stand(5)
    rows = {row["zone"]: row for row in harness.console("zones").data}
    assert rows["IsleRefuge1"]["instances"] == [{"instance": 0, "players": 1, "spawns": 1}]
    assert rows["Antonica"]["instances"] == []


def test_zones_and_processes_of_a_world_that_has_several() -> None:
    harness = WorldHarness(elsewhere={12: ("192.0.2.9", 9002)})
    harness.stand(5)
    harness.presence._put(replace(present(102, 6, 12, "Borvik"), process="12"))
    lines = {line.split()[1]: line for line in harness.console("zones").lines}
    assert lines["Antonica"].endswith("on 12: 1 player")
    assert lines["IsleRefuge1"].endswith("instance 0: 1 player, 1 spawn")
    rows = harness.console("processes").data
    assert [(row["process"], row["port"], row["players"]) for row in rows] == [
        (harness.name, 9001, 1), ("12", 9002, 1),
    ]  # fmt: skip
    assert harness.console("processes").lines[1].endswith("192.0.2.9:9002, 1 player")


def test_save_stores_all(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.walk(3.0, 1.0, 244.0)
    assert harness.console("save").text == "saving 1 player"
    assert harness.store.rows[5].place[0] == 3.0


def test_spawn_target_and_despawn(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    assert master.types("/spawn Rat 131") == ["Rat stands here"]
    harness.run(0.3)
    assert master.sees() == {"Rat"}
    assert master.fields_of("Rat")["model_type"] == 131
    assert master.types("/around") == ["   0.0  Rat (npc)"]
    assert master.types("/despawn") == ["target the spawn to remove; players cannot be removed"]
    master.say("OP_UpdateTargetMsg", b"\2\0")
    assert master.types("/despawn") == ["Rat is gone"]
    assert master.sees() == set()


def test_around_goes_as_far_as_one_sees(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    master.types("/spawn Rat 131")
    assert master.types("/around 1000000000") == ["   0.0  Rat (npc)"]


@pytest.mark.parametrize(
    ("what", "reported"),
    [
        ("x" * 65, "name does not fit"),
        ("\N{GREEK SMALL LETTER OMEGA}" * 33, "name does not fit"),
        ("Rat\x1b", "name has control characters"),
        ("Rat -1", "looks: model_type does not fit"),
        ("Rat 70000", "looks: model_type does not fit"),
    ],
)
def test_what_no_client_can_be_sent_is_not_spawned(
    harness: WorldHarness, what: str, reported: str
) -> None:
    master = harness.stand(5, admin_status=100)
    (answer,) = master.types(f"/spawn {what}")
    assert reported in answer
    harness.run(0.3)
    assert master.sees() == set()


def test_around_lists_the_nearest_and_how_many_more_there_are(harness: WorldHarness) -> None:
    one = harness.stand(5)
    here = one.player.position
    for number in range(MOST_AROUND + 1):
        place = here._replace(x=here.x + number + 1)
        spawn = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, f"Rat{number}", place)
        one.player.zone.add_spawn(spawn, harness.now)
        if number == MOST_AROUND - 1:
            found = one.types("around 100")
            assert len(found) == MOST_AROUND
            assert "Rat0 " in found[0]
    found = one.types("around 100")
    assert len(found) == MOST_AROUND + 1
    assert found[-1] == "and 1 more"


def test_around_shows_tenths_of_units(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    master.types("/spawn Rat 131")
    assert master.player is not None
    at = master.player.position
    master.walk(at.x + 1.3, at.y, at.z)
    assert master.types("/around") == ["   1.3  Rat (npc)"]


def test_a_spawn_is_saved_and_exists_once_after_a_reload(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=read_atlas())
    master = harness.stand(5, admin_status=100)

    def target(name: str) -> list[str]:
        harness.run(0.3)
        (index,) = [
            index for index in master.view.indexes if master.view.fields(index)["name"] == name
        ]
        master.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
        return [one.name for one in master.player.zone.near(master.player.position, 3.0)]

    assert master.types("/spawn Rat 131 7 wanderer") == ["Rat stands here"]
    target("Rat")
    assert master.types("/spawn save") == ["there is no folder to save in; set world.zones"]
    harness.zones_folder = tmp_path
    assert master.types("/spawn save isle") == [
        "Rat is saved in isle.toml; `reload zones` adds it to other instances"
    ]
    assert master.types("/spawn save isle") == ["Rat is in a zone file already; change it there"]
    finish(harness.population.reload(read_atlas(tmp_path), harness.now))
    assert target("Rat").count("Rat") == 1
    rat = master.player.target
    assert (rat.level, rat.appearance["model_type"]) == (7, 131)
    assert rat.position.distance_to(master.player.position) < 0.01
    assert harness.behaviors.of(rat) == ("wanderer", {})
    assert [verb.name for verb in rat.verbs] == ["Hail"]
    master.types("/despawn")
    assert harness.behaviors.of(rat) == ("", {})


def test_a_spawn_that_is_gone_is_not_saved(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=read_atlas())
    harness.zones_folder = tmp_path
    one, other = (harness.stand(number, name=name, admin_status=100)
                  for number, name in ((5, "Aldana"), (6, "Borvik")))  # fmt: skip
    one.types("/spawn Rat 131")
    harness.run(0.3)
    for master in (one, other):
        master.types("/target rat")
    other.types("/despawn")
    assert one.types("/spawn save isle") == ["Rat is not in this zone any more"]
    assert list(tmp_path.iterdir()) == []


def test_a_spawn_keeps_its_behavior_through_a_reload() -> None:
    harness = WorldHarness(atlas=read_atlas())
    master = harness.stand(5, admin_status=100)
    master.types("/spawn Rat 131 7 wanderer")
    harness.run(0.3)
    master.types("/target rat")
    rat = master.player.target
    assert rat is not None
    finish(harness.population.reload(read_atlas(), harness.now))
    assert harness.behaviors.of(rat) == ("wanderer", {})


def test_what_cannot_be_spawned_or_saved_is_refused(harness: WorldHarness) -> None:
    master, player = harness.stand(5, admin_status=100), harness.stand(6, name="Borvik")
    assert master.types("/spawn Rat 131 256") == ["level: must be 1 to 255"]
    assert master.types("/spawn Rat 131 1 wandrer") == [
        "unknown behavior 'wandrer'; did you mean wanderer?"
    ]
    assert master.types("/spawn save") == ["target the spawn to save; players cannot be saved"]
    assert not harness.console("spawn save").ok
    assert "spawn" not in harness.remote.allowed(player.player)
