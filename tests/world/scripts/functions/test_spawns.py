"""What scripts make, find and let see, with a zone of a content file."""

from pathlib import Path
from typing import Any

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.population import Population
from emu.content.sources import dump_parts
from emu.content.standing import Standing
from emu.content.strays import Stray, stray
from emu.errors import FileFormatError
from emu.world.actors.spawn import Spawn, SpawnTemplate
from emu.world.scripts.functions.spawns import SPAWNS
from emu.world.zones.zone import Zone
from tests.support.content.dumps import meadow, write_dumps
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


class FakePopulation:
    """Places 80 and 81, which are group 5; 81 can stand alone as well."""

    def __init__(self, scene: ScriptScene) -> None:
        self.scene = scene
        self.respawns: dict[int, int] = {}

    def make_at(self, location: int, _now: float, group: int = 0) -> Standing | None:
        if location not in (80, 81):
            return None
        return self.scene.standing("made.lua", location)._replace(group=group)

    def make_group(self, group: int, now: float) -> list[Standing]:
        made = [self.make_at(one, now, group) for one in (80, 81)] if group == 5 else []
        return [one for one in made if one is not None]

    def make_one(
        self, number: int, place: tuple[float, ...], _now: float, other: Stray | None = None
    ) -> Standing | None:
        if number != 980 and other is None:
            return None
        x, y, z, _heading = place
        return self.scene.standing("made.lua", 80)._replace(x=x, y=y, z=z)

    def set_respawn(self, location: int, seconds: int) -> bool:
        self.respawns[location] = seconds
        return location == 80


class FakeZones:
    def __init__(self, scene: ScriptScene) -> None:
        self.scene = scene
        self.places = FakePopulation(scene)
        self.kept: tuple[int, int, int] | None = None

    def population(self, _zone: Zone) -> Population | None:
        places: Any = self.places
        return places

    def put_spawn(
        self, _zone: Zone, standing: Standing, of: SpawnTemplate | None = None
    ) -> Spawn | None:
        return self.scene.put(standing, "Made" if of is None else of.name)

    def despawn(self, _zone: Any, _spawn: Any) -> None:
        """Nothing stands here."""

    def keep_dead(self, zone_id: int, location: int, seconds: int) -> bool:
        self.kept = (zone_id, location, seconds)
        return location == 80


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    scene = ScriptScene(tmp_path)
    scene.scripts.maker.zones = FakeZones(scene)
    scene.script("function spawn(NPC) Say(NPC, 'Here') end", "made.lua")
    return scene


def says(scene: ScriptScene, body: str) -> list[str]:
    guard = scene.spawn(f"function hailed(NPC, Spawn) local Z = GetZone(NPC)\n{body}\nend")
    return [text for name, text in scene.hail(guard) if name == "Guard"]


def test_each_call_makes_another_one(scene: ScriptScene) -> None:
    assert says(
        scene,
        "local one, two = SpawnByLocationID(Z, 80), SpawnByLocationID(Z, 80)"
        " Say(NPC, tostring(one == two)) Say(NPC, GetName(one)) Say(NPC, GetLevel(one))"
        " Say(NPC, tostring(SpawnByLocationID(Z, 5)))",
    ) == ["false", "Made", "12", "nil"]


def test_a_kind_that_the_zone_does_not_have_comes_from_the_content(
    scene: ScriptScene, tmp_path: Path
) -> None:
    # EQ2Emulator reads a spawn that a zone lacks when it is asked for, so pets come everywhere.
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), target)
    with ContentFile(target) as file:
        scene.scripts.maker.stray = lambda number: stray(file, number)
        assert says(
            scene,
            "Say(NPC, GetName(SpawnMob(Z, 90002, 0, 3, -8, 243, 90)))"
            " Say(NPC, tostring(SpawnMob(Z, 90009, 0, 3, -8, 243, 90)))",
        ) == ["a captain", "nil"]


def test_a_kind_that_cannot_be_read_is_not_made(scene: ScriptScene) -> None:
    def fail(_number: int) -> Stray | None:
        raise FileFormatError("damaged")

    scene.scripts.maker.stray = fail
    assert says(scene, "Say(NPC, tostring(SpawnMob(Z, 90002, 0, 3, -8, 243, 90)))") == ["nil"]


def test_what_is_made_comes_and_goes(scene: ScriptScene) -> None:
    gone = []
    scene.scripts.waits.despawn = lambda _zone, spawn: gone.append(spawn.name)
    assert says(
        scene,
        "local made = SpawnMob(Z, 980, 0, 3, -8, 243, 90) Say(NPC, GetX(made))"
        " AddTimer(made, 1000, 'Despawn') Despawn(made, 3000)"
        " Say(NPC, tostring(SpawnMob(Z, 980, 0, 0, 0, 0, 0)))"
        " Say(NPC, tostring(SpawnMob(Z, 5, 0, 1, 1, 1)))",
    ) == ["3.0", "nil", "nil"]
    scene.harness.run(1.0)
    assert "Made" in scene.client.sees()
    scene.harness.run(3.0)
    assert gone[0] == "Made"


def test_a_place_stays_dead_for_a_while(scene: ScriptScene) -> None:
    assert says(
        scene,
        "Say(NPC, tostring(CreatePersistedRespawn(80, 1, 3600, GetZoneID(Z)))"
        " .. tostring(CreatePersistedRespawn(5, 1, 3600, GetZoneID(Z))))",
    ) == ["truefalse"]
    zones = scene.scripts.maker.zones
    assert isinstance(zones, FakeZones)
    assert zones.kept == (325, 5, 3600)
    scene.scripts.maker.zones = None
    assert not scene.scripts.maker.keep_dead(325, 80, 9)


def test_groups(scene: ScriptScene) -> None:
    assert says(
        scene,
        "local made = SpawnGroupByID(Z, 5, 30)"
        " Say(NPC, #made .. ' ' .. GetLevel(made[2]) .. ' ' .. GetSpawnGroupID(made[1]))"
        " Say(NPC, tostring(IsSpawnGroupAlive(Z, 5)))"
        " KillSpawn(GetSpawnByGroupID(Z, 5)) Say(NPC, tostring(IsSpawnGroupAlive(Z, 5)))"
        " KillSpawn(GetSpawnByGroupID(Z, 5)) Say(NPC, tostring(IsSpawnGroupAlive(Z, 5)))"
        " Say(NPC, tostring(GetSpawnByGroupID(Z, 5)) .. tostring(SpawnGroupByID(Z, 6)))",
    ) == ["2 30 5", "true", "true", "false", "nilnil"]


def test_a_spawn_joins_a_group(scene: ScriptScene) -> None:
    assert says(
        scene,
        "Say(NPC, tostring(HasGroup(NPC)) .. tostring(GetGroup(NPC)) .. GetSpawnGroupID(NPC))"
        " Say(NPC, tostring(AddSpawnToGroup(NPC, 9)) .. tostring(SetSpawnGroupID(Spawn, 9)))"
        " Say(NPC, #GetGroup(NPC) .. tostring(HasGroup(NPC)) .. tostring(HasGroup(Spawn)))"
        " Say(NPC, tostring(GetGroup(Spawn)))",
    ) == ["falsenil0", "truefalse", "1truefalse", "nil"]


def test_a_spawn_that_leaves_a_group_or_the_zone_is_not_in_it(scene: ScriptScene) -> None:
    assert says(
        scene,
        "local made = SpawnGroupByID(Z, 5) AddSpawnToGroup(NPC, 5)"
        " Say(NPC, GetName(GetGroup(NPC)[1]) .. #GetGroup(NPC))"
        " SetSpawnGroupID(made[1], 7) Say(NPC, #GetGroup(NPC) .. #GetGroup(made[1]))"
        " SetSpawnGroupID(made[1], 0) Say(NPC, tostring(GetSpawnByGroupID(Z, 7)))",
    ) == ["Guard3", "21", "nil"]
    home = scene.scripts.homes.of(scene.zone)
    (other,) = [body for body in home.in_group(5) if body.name != "Guard"]
    scene.scripts.vanished(scene.zone, other.spawn)
    assert [body.name for body in home.in_group(5)] == ["Guard"]


def test_lists(scene: ScriptScene) -> None:
    assert says(
        scene,
        "SpawnByLocationID(Z, 80) SpawnByLocationID(Z, 80)"
        " local all = GetSpawnListBySpawnID(NPC, 980)"
        " Say(NPC, GetSpawnListSize(all) .. GetName(GetSpawnFromList(all, 0)))"
        " Say(NPC, tostring(GetSpawnFromList(all, 2)) .. tostring(GetSpawnFromList('ab', 0)))"
        " Say(NPC, tostring(GetSpawnListSize(5)) .. tostring(GetSpawnListSize('ab')))"
        " Say(NPC, GetName(GetRandomSpawnByID(NPC, 980)) .. tostring(GetRandomSpawnByID(NPC, 5)))"
        " Say(NPC, GetName(GetPlayersInZone(Z)[1]) .. #GetPlayersInZone(Z))",
    ) == ["2Made", "nilnil", "nilnil", "Madenil", "Aldana1"]


def test_a_place_is_emptied_with_its_group(scene: ScriptScene) -> None:
    gone = []
    scene.scripts.waits.despawn = lambda _zone, spawn: gone.append(spawn)
    assert says(
        scene,
        "SpawnGroupByID(Z, 5) Say(NPC, tostring(DespawnByLocationID(Z, 80, 500)))"
        " Say(NPC, tostring(DespawnByLocationID(Z, 5)) .. tostring(AddRespawn(Z, 80, 30)))",
    ) == ["true", "falsetrue"]
    scene.harness.run(1.0)
    assert len(gone) == 2


def test_a_private_spawn_is_seen_by_those_who_were_let(scene: ScriptScene) -> None:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    hidden = scene.spawn("", "Ghost", location=71)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            local ghost = GetSpawnByLocationID(GetZone(NPC), 71)
            if step == nil then AddSpawnAccess(ghost, ghost)
            elseif step == 1 then AddSpawnAccess(ghost, Spawn)
            else RemoveSpawnAccess(ghost, Spawn) end
            step = (step or 0) + 1
        end""")
    seen = []
    for _ in range(3):
        seen.append(("Ghost" in scene.client.sees(), "Ghost" in other.sees()))
        scene.hail(guard)
        scene.harness.run(1.0)
    seen.append(("Ghost" in scene.client.sees(), "Ghost" in other.sees()))
    assert seen == [(True, True), (False, False), (True, False), (False, False)]
    hidden.set_allowed(())
    scene.harness.run(1.0)
    assert "Ghost" in other.sees()


def test_access_to_all_of_a_number(scene: ScriptScene) -> None:
    assert (
        says(
            scene,
            "SpawnMob(Z, 980, 1, 3, -8, 243, 0) SpawnMob(Z, 980, 1, 3, -8, 243, 0)"
            " AddSpawnIDAccess(Spawn, 980)",
        )
        == []
    )
    scene.harness.run(1.0)
    made = list(scene.scripts.homes.of(scene.zone).of_spawn(980))
    assert [len(body.spawn.allowed) for body in made] == [2, 2]
    assert "Made" in scene.client.sees()
    other = scene.spawn("function hailed(NPC, Spawn) RemoveSpawnIDAccess(Spawn, 980) end", "Other")
    scene.hail(other)
    scene.harness.run(1.0)
    assert "Made" not in scene.client.sees()


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), SPAWNS) == []
