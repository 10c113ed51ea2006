from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.atlas import read_atlas
from emu.world.zones.definitions import Atlas
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness
from tests.support.world.zone_files import write_zones, zone_text

PEOPLE = """
behavior = "weather"
behavior_options = { rain = true }

[[spawn]]
kind = "npc"
name = "Ann"
place = [2.0, 2.0, 3.0]
behavior = "greeter"
behavior_options = { greeting = "Hm" }

[[spawn]]
kind = "object"
name = "a crate"
place = [3.0, 2.0, 3.0]
"""


def atlas_of(folder: Path, more: str = PEOPLE) -> Atlas:
    return read_atlas(write_zones(folder, mine=zone_text(900, "Mine", more)))


class Given:
    """Notes who is given which behavior."""

    def __init__(self, harness: WorldHarness) -> None:
        self.names: list[tuple[str, Mapping[str, Any], str | None]] = []
        self.taken: list[int] = []
        self.forgotten: list[str] = []
        harness.population.subscribe(self)

    def start_behavior(
        self,
        name: str,
        options: Mapping[str, Any],
        _zone: Zone,
        spawn: Spawn | None,
        *,
        key: str = "",
    ) -> None:
        assert key == (spawn.name if spawn else "")
        self.names.append((name, options, spawn.name if spawn else None))

    def forget_zone(self, zone: Zone) -> None:
        self.taken.append(zone.zone_id)

    def forget_spawn(self, spawn: Spawn) -> None:
        self.forgotten.append(spawn.name)

    def forget_own(self, zone: Zone) -> None:
        self.taken.append(zone.zone_id)


def test_whoever_comes_in_sees_what_the_file_says(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    client = harness.stand(1, zone_id=900)
    assert client.sees() == {"Ann", "a crate"}
    assert client.fields_of("Ann")["npc"] == 1


def test_every_instance_has_its_own(tmp_path: Path) -> None:
    atlas = atlas_of(tmp_path, "population = 1\n" + PEOPLE)
    harness = WorldHarness(atlas=atlas)
    one, other = harness.stand(1, zone_id=900), harness.stand(2, zone_id=900)
    assert one.player.zone is not other.player.zone
    assert one.sees() == other.sees() == {"Ann", "a crate"}
    ids = [spawn.id for client in (one, other) for spawn in client.player.zone]
    assert len(set(ids)) == len(ids) == 6


def test_behaviors_are_given_by_name_with_their_options(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    given = Given(harness)
    harness.stand(1, zone_id=900)
    assert given.names == [
        ("weather", {"rain": True}, None),
        ("greeter", {"greeting": "Hm"}, "Ann"),
    ]


def test_a_zone_that_ends_is_forgotten(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    given = Given(harness)
    client = harness.stand(1, zone_id=900)
    harness.console(f"kick {client.player.name}")
    harness.run(400.0)
    assert len(harness.zones) == 0
    assert given.taken == [900]


def test_files_that_changed_change_what_stands_there(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    given = Given(harness)
    client = harness.stand(1, zone_id=900)
    made = Spawn(
        harness.world.zones.next_spawn_id(), SpawnKind.NPC, "a rat", Position(2.0, 2.0, 4.0)
    )
    client.player.zone.add_spawn(made, harness.now)
    harness.run(0.5)
    crate = next(one.id for one in client.player.zone if one.name == "a crate")
    fresh = atlas_of(tmp_path, PEOPLE.replace("Ann", "Bea"))
    finish(harness.population.reload(fresh, harness.now))
    harness.run(0.5)
    assert client.sees() == {"Bea", "a crate", "a rat"}
    assert client.player.zone.definition is fresh.get(900)
    assert given.taken == [], "the zone's own behavior goes on"
    assert given.forgotten == ["Ann"]
    assert given.names[-1] == ("greeter", {"greeting": "Hm"}, "Bea")
    assert next(one.id for one in client.player.zone if one.name == "a crate") == crate


def test_another_behavior_of_the_zone_begins_before_those_of_new_spawns(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    given = Given(harness)
    harness.stand(1, zone_id=900)
    people = PEOPLE.replace("rain = true", "rain = false").replace("Hm", "Ho")
    finish(harness.population.reload(atlas_of(tmp_path, people), harness.now))
    assert (given.taken, given.forgotten) == ([900], ["Ann"])
    assert given.names[-2:] == [
        ("weather", {"rain": False}, None), ("greeter", {"greeting": "Ho"}, "Ann"),
    ]  # fmt: skip


def test_a_zone_that_is_gone_stays_for_those_who_are_in_it(tmp_path: Path) -> None:
    harness = WorldHarness(atlas=atlas_of(tmp_path))
    client = harness.stand(1, zone_id=900)
    finish(harness.population.reload(read_atlas(), harness.now))
    harness.run(0.5)
    client.walk(2.0, 2.0, 3.0)
    client.walk(2.5, 2.0, 3.0)
    assert client.types("/loc")[0].startswith("The Mine")


def test_who_was_in_a_zone_that_is_gone_begins_anew(harness: WorldHarness) -> None:
    client = harness.stand(1, zone_id=900, class_=0)
    assert client.player.zone.zone_id == 325
    assert client.player.position == Position(1.56, -7.97, 243.45, 92.0)
