"""Zones of a content file as zone files: read again they are the same."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.population import Population, Surroundings
from emu.content.sources import dump_parts
from emu.files import parse_document
from emu.times import Monotonic
from emu.world.population.atlas import read_atlas
from emu.world.population.checks import content_faults
from emu.world.population.exporting import is_exported, standing_fixtures, zone_text
from emu.world.population.files import read_fixtures, read_zone
from emu.world.population.listing import zone_definitions
from emu.world.population.reading import read_zone_content
from emu.world.subjects.every import all_command_words
from emu.world.zones.definitions import Fixture
from tests.support.content.dumps import meadow, write_dumps

HERE = Path("test")


def standing(folder: Path, seed: int) -> tuple[Any, tuple[Any, ...]]:
    """Return the meadow's definition, and what stands there by a seed."""
    path = folder / "content.sqlite"
    if not path.exists():
        import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), path)
    with ContentFile(path) as file:
        (zone,) = zone_definitions(file)
    served = read_zone_content(path, 9)
    assert served is not None
    population = Population(served.content, Random(seed), Surroundings())
    made = standing_fixtures(served.templates, population.open(Monotonic(0.0)))
    return zone, tuple(made)


def with_lists(fixture: Fixture) -> Fixture:
    """Return a fixture whose colors are lists: those of a content file are tuples."""
    looks = json.loads(json.dumps(dict(fixture.template.appearance)))
    return replace(fixture, template=replace(fixture.template, appearance=looks))


@pytest.mark.slow
def test_a_zone_that_is_written_stands_the_same_spawns(tmp_path: Path) -> None:
    for seed in range(10):
        zone, fixtures = standing(tmp_path, seed)
        document = parse_document(zone_text(zone, fixtures).encode(), HERE)
        assert read_zone(HERE, document["zone"]) == zone
        again = read_fixtures(HERE, document["spawn"], int)
        assert [with_lists(one) for one in again] == [with_lists(one) for one in fixtures]
        assert {one.key for one in fixtures} > {"placement-11", "placement-15"}
        assert {one.place[:3] for one in fixtures} > {(10.25, -1.5, 3.0)}


def test_a_zone_that_is_written_replaces_that_of_the_content_file(tmp_path: Path) -> None:
    zone, fixtures = standing(tmp_path, 1)
    folder = tmp_path / "zones"
    folder.mkdir()
    (folder / "meadow.toml").write_text(zone_text(zone, fixtures), encoding="utf-8")
    atlas = read_atlas(folder, tmp_path / "content.sqlite")
    assert len(atlas.fixtures(9)) == len(fixtures)
    assert atlas.get(9) == zone


def test_commands_that_only_scripts_know_are_no_faults(tmp_path: Path) -> None:
    zone, fixtures = standing(tmp_path, 1)
    folder = tmp_path / "zones"
    folder.mkdir()
    text = zone_text(zone, fixtures).replace('command = "hail"', 'command = "touch the altar"')
    assert "touch the altar" in text
    (folder / "meadow.toml").write_text(text, encoding="utf-8")
    assert is_exported(folder / "meadow.toml")
    atlas = read_atlas(folder)
    assert not content_faults(atlas, lambda *_: (), all_command_words())
    (folder / "meadow.toml").write_text(text[text.index("[zone]") :], encoding="utf-8")
    assert not is_exported(folder / "meadow.toml")
    assert content_faults(read_atlas(folder), lambda *_: (), ["hail"])
