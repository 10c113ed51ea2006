from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.files import data_file
from emu.schema import key_lines, lines
from emu.schema.lines import Keys
from emu.world.actors.spawn import SpawnKind
from emu.world.population.atlas import read_atlas
from emu.world.reports import BehaviorFailed
from emu.world.zones.definitions import Atlas
from emu.world_stream.movement import Position
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import WorldHarness
from tests.support.world.zone_files import write_zones, zone_text


def ways(atlas: Atlas, zone_id: int) -> Iterator[int]:
    """Numbers of the zones that a zone leads to, through its spawns."""
    for fixture in atlas.fixtures(zone_id):
        if fixture.template.destination is not None:
            yield fixture.template.destination.zone_id
        zone = atlas.named(str(fixture.behavior_options.get("zone", "")))
        if zone is not None:
            yield zone.id


def test_the_shipped_zones_have_the_names_and_files_of_the_client() -> None:
    assert {(zone.id, zone.name, zone.file) for zone in read_atlas()} == {
        (12, "Antonica", "antonica"),
        (27, "FarJourneyFreeport", "boat_06p_tutorial02"),
        (166, "SouthFreeport", "fprt_south"),
        (325, "IsleRefuge1", "tutorial_island02"),
    }


def test_every_shipped_zone_is_reached_from_the_isle_and_leads_back_but_for_the_ship() -> None:
    atlas = read_atlas()
    reached, open_ways = {325}, [325]
    while open_ways:
        for zone_id in ways(atlas, open_ways.pop()):
            if zone_id not in reached:
                reached.add(zone_id)
                open_ways.append(zone_id)
    assert reached == {12, 166, 325}
    assert set(ways(atlas, 27)) == {325}
    assert 325 in set(ways(atlas, 12)) & set(ways(atlas, 166))


def test_who_stands_in_a_shipped_zone_looks_to_where_players_arrive() -> None:
    atlas = read_atlas()
    arrivals = {zone.id: [zone.safe] for zone in atlas}
    for zone in atlas:
        for fixture in atlas.fixtures(zone.id):
            if (
                fixture.template.destination is not None
                and fixture.template.destination.position is not None
            ):
                arrivals[fixture.template.destination.zone_id].append(
                    fixture.template.destination.position
                )
    for zone in atlas:
        for fixture in atlas.fixtures(zone.id):
            if fixture.template.kind is SpawnKind.NPC:
                here = fixture.place
                nearest = min(arrivals[zone.id], key=here.distance_to)
                off = abs(here.heading_to(nearest) - here.heading) % 360.0
                assert min(off, 360.0 - off) <= 45.0, fixture.template.name


def test_the_shipped_zones_are_complete() -> None:
    atlas = read_atlas()
    kinds = {fixture.template.kind for zone in atlas for fixture in atlas.fixtures(zone.id)}
    assert kinds == set(SpawnKind) - {SpawnKind.PLAYER}
    behaviors = {fixture.behavior for zone in atlas for fixture in atlas.fixtures(zone.id)}
    assert behaviors == {"", "greeter", "wanderer", "teleporter"}
    for zone_id in (12, 166, 325):
        zone = atlas.get(zone_id)
        assert zone is not None
        near = [one for one in atlas.fixtures(zone_id) if one.place.distance_to(zone.safe) < 30]
        assert len(near) >= 3, "whoever arrives at the safe place sees something"


@pytest.mark.parametrize("called", ["isleREFUGE1", "325", "tutorial_island02"])
def test_a_zone_is_found_by_name_number_and_file(called: str) -> None:
    found = read_atlas().named(called)
    assert found is not None
    assert found.id == 325


def test_a_name_goes_before_a_file_that_is_called_the_same(tmp_path: Path) -> None:
    first = zone_text(900, "one").replace("one_file", "two")
    atlas = read_atlas(write_zones(tmp_path, a=first, b=zone_text(901, "two")))
    found = atlas.named("two")
    assert found is not None
    assert found.id == 901
    assert atlas.named("nowhere") is None


def test_login_servers_hear_of_zones_by_number() -> None:
    described = read_atlas().described()
    assert [item.zone_id for item in described] == [12, 27, 166, 325]
    assert described[-1].description == "Isle of Refuge"


def test_an_operators_zone_stands_in_for_the_shipped_one(tmp_path: Path) -> None:
    atlas = read_atlas(write_zones(tmp_path, isle=zone_text(325, "Isle", "replaces = true\n")))
    assert atlas.faults == ()
    zone = atlas.get(325)
    assert zone is not None
    assert zone.name == "Isle"
    assert zone.safe == Position(1.0, 2.0, 3.0, 90.0)
    assert atlas.fixtures(325) == ()
    assert len(atlas) == 4


def test_a_file_that_extends_adds_things_and_changes_what_it_names(tmp_path: Path) -> None:
    text = """
        [zone]
        id = 325
        extends = true
        motd = "Ours."
        [[spawn]]
        kind = "object"
        name = "our crate"
        place = [0.0, 0.0, 0.0]
    """
    shipped, atlas = read_atlas(), read_atlas(write_zones(tmp_path, more=text))
    zone = atlas.get(325)
    assert zone is not None
    assert (zone.name, zone.motd) == ("IsleRefuge1", "Ours.")
    assert atlas.fixtures(325)[:-1] == shipped.fixtures(325)
    assert atlas.fixtures(325)[-1].template.name == "our crate"


def test_an_operators_starting_places_are_asked_first(tmp_path: Path) -> None:
    starts = """
        [[start]]
        zone = "Mine"
        race = [5]
        place = [4.0, 5.0, 6.0]
    """
    atlas = read_atlas(write_zones(tmp_path, mine=zone_text(900, "Mine"), starts=starts))
    mine = atlas.start_of(world_character(1, race=5, class_=9))
    assert (mine.zone_id, mine.place) == (900, Position(4.0, 5.0, 6.0))
    assert atlas.start_of(world_character(2, race=6, class_=1)).zone_id == 325


@pytest.mark.parametrize(
    ("changes", "zone_id"),
    [
        ({}, 325),
        ({"class_": 9}, 166),
        ({"class_": 10}, 12),
        ({"starting_zone": 2, "client_version": 60114}, 166),
        ({"starting_zone": 1, "client_version": 60114}, 12),
        ({"starting_zone": 1, "client_version": 546}, 325),
    ],
)
def test_shipped_starting_places_go_by_class_and_city(changes: dict, zone_id: int) -> None:
    character = world_character(1, **({"class_": 0, "starting_zone": 0} | changes))
    assert read_atlas().start_of(character).zone_id == zone_id


def test_a_starting_place_without_its_zone_is_passed_over(tmp_path: Path) -> None:
    text = "[[start]]\nzone = 999\n"
    atlas = read_atlas(write_zones(tmp_path, starts=text))
    assert atlas.start_of(world_character(1, class_=0)).zone_id == 325


@pytest.mark.parametrize(
    ("files", "reported"),
    [
        ({"a": "["}, "not a TOML file"),
        ({"a": ""}, r"zone: the table is missing"),
        ({"a": "[zone]\nid = '1'"}, r"zone: the table is missing"),
        ({"a": zone_text(1, "a") + "[extra]\n"}, "extra: unknown"),
        ({"a": zone_text(1, "a"), "b": zone_text(1, "b")}, "zone 1 is also in a.toml"),
        ({"a": "[zone]\nid = 1\nextends = true"}, "there is no zone 1 to extend"),
        ({"a": zone_text(1, "a").replace("safe", "extends = 1\nsafe")}, "true or false"),
        ({"starts": "[zone]\n"}, r"only \[\[start\]\] tables"),
        ({"starts": "[[start]]\nzone = 'Nowhere'\n"}, "start 1: there is no zone 'Nowhere'"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, files: dict, reported: str) -> None:
    with pytest.raises(FileFormatError, match=reported) as caught:
        read_atlas(write_zones(tmp_path, **files))
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_misspelled_zone_gets_the_nearest_name(tmp_path: Path) -> None:
    starts = "[[start]]\nzone = 'meadw'\n"
    with pytest.raises(FileFormatError, match=r"no zone 'meadw'; did you mean Meadow\?"):
        read_atlas(write_zones(tmp_path, a=zone_text(900, "Meadow"), starts=starts))


@pytest.mark.parametrize(
    ("name", "is_fault"),
    [
        ("b.toml.txt", True), ("b.TOML", True), ("b.tml", True),
        ("b.toml.bak", False), ("b.toml~", False), ("README.md", False),
    ],
)  # fmt: skip
def test_a_zone_file_with_another_ending_is_a_fault(
    tmp_path: Path, name: str, is_fault: bool
) -> None:
    folder = write_zones(tmp_path, a=zone_text(900, "a"))
    (folder / name).write_text(zone_text(901, "b"))
    atlas = read_atlas(folder)
    named = [line for line in atlas.faults if f"{name}: is not read" in line]
    assert len(named) == is_fault
    assert atlas.get(901) is None


def test_a_folder_that_is_not_there_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"world\.zones"):
        read_atlas(tmp_path / "none")


def test_components_that_share_an_atlas_see_it_change(tmp_path: Path) -> None:
    atlas = read_atlas(write_zones(tmp_path / "before", a=zone_text(900, "old")))
    fresh = read_atlas(write_zones(tmp_path / "after", b=zone_text(901, "new")))
    atlas.replace(fresh, keep=[900])
    assert atlas.named("new") is not None
    assert atlas.get(900) is not None, "players stand in it"
    atlas.replace(fresh)
    assert atlas.get(900) is None


def test_the_shipped_files_are_where_they_are_looked_for() -> None:
    assert (data_file("world", "zones") / "starts.toml").is_file()


def test_the_behaviors_of_the_shipped_zones_work() -> None:
    harness = WorldHarness(atlas=read_atlas())
    for char_id, zone in enumerate(read_atlas(), 1):
        client = harness.stand(char_id, zone_id=zone.id)
        assert client.sees()
    harness.run(30.0)
    failed = [event for event in harness.events if isinstance(event, BehaviorFailed)]
    assert failed == []
    guard = next(one for one in harness.zones.find(325) if one.name == "Guard Ysolde")
    assert guard.position != guard.origin


def test_a_zone_with_the_id_of_another_one_says_that_it_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "isle.toml"
    atlas = read_atlas(write_zones(tmp_path, isle=zone_text(325, "Isle")))
    assert atlas.faults == (
        (
            f"{path}, line 3: zone 325 is a shipped zone; set replaces = true to replace it, or"
            " extends = true to add to it"
        ),
    )
    assert atlas.get(325).name == "Isle"
    atlas = read_atlas(write_zones(tmp_path, isle=zone_text(900, "Isle", "replaces = true\n")))
    assert atlas.faults == (
        f"{path}, line 3: zone 900 replaces no other zone; remove replaces = true",
    )


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_one_file_of_a_folder_replaces_another(tmp_path: Path, names: tuple[str, str]) -> None:
    first, second = names
    files = {first: zone_text(900, "old"), second: zone_text(900, "new", "replaces = true\n")}
    atlas = read_atlas(write_zones(tmp_path, **files))
    assert atlas.get(900).name == "new"
    assert atlas.faults == () or names == ("b", "a")
    files[first] += "replaces = true\n"
    with pytest.raises(FileFormatError, match=r"zone 900 is also in a\.toml"):
        read_atlas(write_zones(tmp_path, **files))


def test_a_file_cannot_both_extend_and_replace(tmp_path: Path) -> None:
    text = "[zone]\nid = 325\nextends = true\nreplaces = true\n"
    with pytest.raises(FileFormatError, match=r"line 3: zone: a file extends or replaces another"):
        read_atlas(write_zones(tmp_path, isle=text))


SPAWN = '[[spawn]]\nkind = "npc"\nname = "{}"\nplace = [0, 0, 0]\n'


def test_faults_of_all_files_are_reported_with_their_lines(tmp_path: Path) -> None:
    files = {
        "a": zone_text(900, "one", SPAWN.format("Ann") + "levle = 1\n"),
        "b": zone_text(901, "two", "weather = 1\n"),
        "c": "[",
    }
    with pytest.raises(FileFormatError) as caught:
        read_atlas(write_zones(tmp_path, **files))
    assert sorted(caught.value.problems) == [
        f"{tmp_path / 'a.toml'}, line 12: spawn 1 (Ann): levle: unknown key; did you mean level?",
        (
            f"{tmp_path / 'b.toml'}, line 8: zone: weather: unknown key (23 are known, the nearest:"
            " reenter, can_gate, behavior, safe, name)"
        ),
        (
            f"{tmp_path / 'c.toml'}: not a TOML file: Invalid initial character for a key part"
            " (at end of document)"
        ),
    ]


def test_every_spawn_of_a_zone_has_a_key(tmp_path: Path) -> None:
    named = SPAWN.format("a wolf") + 'id = "a wolf#2"\n'
    more = SPAWN.format("a wolf") * 2 + named + SPAWN.format("Ann") + 'id = "ann"\n'
    atlas = read_atlas(write_zones(tmp_path, a=zone_text(900, "one", more)))
    keys = [one.key for one in atlas.fixtures(900)]
    assert keys == ["a wolf", "a wolf#3", "a wolf#2", "ann"]
    twice = (SPAWN.format("Ann") + 'id = "ann"\n') * 2
    atlas = read_atlas(write_zones(tmp_path, a=zone_text(900, "one", twice)))
    assert atlas.faults == (
        (
            f"{tmp_path / 'a.toml'}, line 17: spawn 2 (Ann): id: 'ann' is also the id of another"
            " spawn (Ann)"
        ),
    )


def test_the_lines_of_a_file_are_looked_for_when_it_has_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To find lines, each file is read again, as a sequence of tokens."""
    looked_for: list[str] = []

    def look(text: str) -> dict[Keys, int]:
        looked_for.append(text)
        return key_lines(text)

    monkeypatch.setattr(lines, "key_lines", look)
    own = write_zones(tmp_path, own=zone_text(900, "Own"))
    assert not read_atlas(own).faults
    assert not looked_for
    write_zones(tmp_path, own=zone_text(900, "Own", "replaces = true\n"))
    assert read_atlas(own).faults
    assert len(looked_for) == 1
