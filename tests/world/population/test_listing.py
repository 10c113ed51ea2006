"""Zones and starting places of a content file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.world.population.atlas import read_atlas
from emu.world.population.listing import starting_places, zone_definitions
from tests.support.content.dumps import meadow, write_dumps


def made(folder: Path, tables: dict[str, Any]) -> Path:
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    return target


@pytest.fixture
def starts(tmp_path: Path) -> Iterator[ContentFile]:
    tables = meadow() | {
        "starting_zones": [
            {"id": 1, "zone_id": 9, "class_id": 255, "race_id": 9, "choice": 255, "deity": 255,
             "x": -999999, "y": -999999, "z": -999999, "heading": -999999, "ruleflag": 8},
            {"id": 2, "zone_id": 9, "ruleflag": 4},
            {"id": 3, "zone_id": 77, "ruleflag": 0},
        ],
    }  # fmt: skip
    with ContentFile(made(tmp_path, tables)) as file:
        yield file


def test_starting_places_follow_the_rule_of_the_community(starts: ContentFile) -> None:
    (start,) = starting_places(starts, {9}.__contains__)
    assert (start.zone_id, start.races, start.place) == (9, frozenset((9,)), None)


def test_starting_places_follow_the_rule_of_the_file(tmp_path: Path) -> None:
    places = [
        {"id": number, "zone_id": 9, "class_id": 255, "race_id": number, "choice": 255,
         "deity": 255, "ruleflag": flag}
        for number, flag in ((1, 8), (2, 4), (3, 6), (4, 0))
    ]  # fmt: skip
    rule = {"rule_category": "R_World", "rule_type": "StartingZoneRuleFlag", "rule_value": "4"}
    tables = meadow() | {
        "starting_zones": places,
        "rulesets": [{"ruleset_id": 1, "ruleset_name": "usual", "ruleset_active": 1}],
        "ruleset_details": [{"ruleset_id": 1, **rule}],
    }
    with ContentFile(made(tmp_path, tables)) as file:
        found = starting_places(file, {9}.__contains__)
    # The rule and the column share a bit (C++ server 24d44cf: `ruleflag & StartingZoneRuleFlag`).
    assert [sorted(start.races) for start in found] == [[2], [3], [4]]


def test_zones_of_a_content_file_stand_between_shipped_and_own_ones(tmp_path: Path) -> None:
    tables = meadow() | {
        "zones": [
            {"id": 9, "name": "meadow", "file": "exp01_meadow"},
            {"id": 12, "name": "Content Antonica", "file": "antonica"},
            {"id": 13, "name": "nameless", "file": ""},
        ],
    }  # fmt: skip
    path = made(tmp_path, tables)
    own = tmp_path / "zones"
    own.mkdir()
    (own / "meadow.toml").write_text(
        '[zone]\nid = 9\nname = "my meadow"\nfile = "x"\ndescription = "Mine"\nsafe = [0, 0, 0]\n'
    )
    shipped, served, both = read_atlas(), read_atlas(None, path), read_atlas(own, path)
    assert (twelve := shipped.get(12)) is not None
    assert twelve.name != "Content Antonica"
    assert {zone.id: zone.name for zone in served if zone.id in (9, 12, 13)} == {
        9: "meadow", 12: "Content Antonica",
    }  # fmt: skip
    assert served.fixtures(12) == ()
    assert (nine := both.get(9)) is not None
    assert nine.name == "my meadow"


@pytest.mark.parametrize(
    ("kind", "instance"),
    [
        ("NONE", ""), ("", ""), ("GROUP_PERSIST_INSTANCE", "group"), ("PUBLIC_INSTANCE", ""),
        ("RAID_LOCKOUT_INSTANCE", "raid"), ("SOLO_PERSIST_INSTANCE", "solo"),
        ("QUEST_INSTANCE", "solo"), ("PERSONAL_HOUSE_INSTANCE", ""),
    ],
)  # fmt: skip
def test_the_type_of_a_zone_says_who_has_copies_of_it(
    tmp_path: Path, kind: str, instance: str
) -> None:
    zone = {
        "id": 9, "name": "cave", "file": "cave", "instance_type": kind,
        "default_lockout_time": 7200, "default_reenter_time": 2**31, "shutdown_timer": 60,
    }  # fmt: skip
    with ContentFile(made(tmp_path, meadow() | {"zones": [zone]})) as file:
        (definition,) = zone_definitions(file)
    assert definition.instance == instance
    assert (definition.lockout, definition.reenter, definition.linger) == (7200, 31_536_000, 60)
