"""Rules of a content file are defaults of settings.

The names and values are those of the community's database of April 2025, `ruleset_details`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from emu.config import Config
from emu.config.content_rules import rule_defaults
from emu.config.load import LIVE, differences, load, merged
from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.net.parameters import world_rules
from emu.world.population.listing import zone_definitions
from tests.support.content.dumps import meadow, write_dumps

Rows = Iterable[tuple[str, str, str]]
OURS: Rows = (
    ("R_Player", "MaxLevel", "20"), ("R_World", "MaxPlayers", "300"),
    ("R_World", "LinkDeadTimer", "60000"), ("R_World", "PlayerCampTimer", "5"),
    ("R_World", "ServerLocked", "1"), ("R_Expansion", "GlobalHolidayFlag", "2"),
    ("R_Expansion", "GlobalExpansionFlag", "12"), ("R_World", "GMCampTimer", "3"),
    ("R_Spells", "UseClassicSpellLevel", "0"), ("R_Spells", "NoInterruptBaseChance", "50"),
)  # fmt: skip


def made(folder: Path, rows: Rows, *zones: Rows) -> Path:
    """Return a content file with these rules; `zones` are those of zones 9, 10 and so on."""
    details = [
        {"ruleset_id": number, "rule_category": category, "rule_type": name, "rule_value": value}
        for number, some in enumerate((rows, *zones), 1)
        for category, name, value in some
    ]
    sets = [
        {"ruleset_id": number, "ruleset_name": f"set {number}", "ruleset_active": 1}
        for number in range(1, 2 + len(zones))
    ]
    tables: dict[str, Any] = {**meadow(), "rulesets": sets, "ruleset_details": details}
    (meadow_row,) = tables["zones"]
    tables["zones"] = [
        {**meadow_row, "id": number, "name": f"zone{number}", "ruleset_id": number - 7}
        for number in range(9, 9 + max(1, len(zones)))
    ]
    tables["variables"] = [{"variable_name": "default_ruleset_id", "variable_value": "1"}]
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    return target


def configured(folder: Path, more: str = "", overrides: Iterable[str] = ()) -> Config:
    path = folder / "emu.toml"
    path.write_text(f'[world]\ncontent = "content.sqlite"\n{more}', encoding="utf-8")
    return load(path, overrides)


def test_rules_are_defaults(tmp_path: Path) -> None:
    made(tmp_path, OURS)
    world = configured(tmp_path).world
    assert (world.max_level, world.max_players, world.link_dead, world.camp_seconds) == (
        20, 300, 60.0, 5.0,
    )  # fmt: skip
    assert (world.locked, world.holidays, world.expansions) == (True, 2, 12)
    assert (world.classic_spell_levels, world.kept_casts) == (False, 50.0)


def test_rules_of_fights_and_fizzles_are_defaults(tmp_path: Path) -> None:
    """Source: the rules of the public dump, with other values."""
    made(
        tmp_path,
        [
            ("R_Spells", "EnableFizzleSpells", "0"), ("R_Spells", "DefaultFizzleChance", "20.5"),
            ("R_Combat", "StrengthOther", "25"), ("R_Combat", "StrengthNPC", "5"),
            ("R_Player", "TemporaryItemLogoutTime", "900.0"), ("R_Spells", "FizzleMaxSkill", "1.5"),
            ("R_Spells", "FizzleDefaultSkill", ".3"), ("R_Loot", "LootRadius", "6.5"),
            ("R_Spells", "MasterSkillReduceSpellResist", "50"),
        ],
    )  # fmt: skip
    world = configured(tmp_path).world
    assert (world.fizzles, world.fizzle_percent) == (False, 20.5)
    assert (world.strength_points, world.creature_strength_points) == (25, 5)
    assert (world.temporary_seconds, world.fizzle_skill) == (900.0, 1.5)
    assert (world.fizzle_least, world.mastery_points, world.loot_reach) == (0.3, 50, 6.5)


def test_what_the_operator_gives_wins(tmp_path: Path) -> None:
    made(tmp_path, OURS)
    # Also a value that equals the plain default.
    world = configured(tmp_path, "max_level = 50\nlocked = false\n", ["world.holidays=1"]).world
    assert (world.max_level, world.locked, world.holidays) == (50, False, 1)
    assert world.max_players == 300


def test_without_a_file_the_plain_defaults_hold(tmp_path: Path) -> None:
    assert configured(tmp_path).world.max_level == 50
    (tmp_path / "content.sqlite").write_bytes(b"no content file")
    assert configured(tmp_path).world.max_level == 50


def test_a_reload_takes_the_rules_of_a_new_file(tmp_path: Path) -> None:
    made(tmp_path, OURS)
    old = configured(tmp_path)
    made(tmp_path, [("R_World", "MaxPlayers", "9"), ("R_Player", "MaxLevel", "30")])
    new = configured(tmp_path)
    changed = {one.key for one in differences(old, new)}
    assert {"world.max_players", "world.max_level", "world.locked"} <= changed
    after = merged(old, new).world
    assert "world.max_level" not in LIVE
    assert (after.max_players, after.max_level, after.locked) == (9, 20, False)


@pytest.mark.parametrize(
    ("category", "name", "value"),
    [
        ("R_Player", "MaxLevel", "300"),
        ("R_Player", "MaxLevel", "2.5"),
        ("R_Player", "MaxLevel", "many"),
        ("R_World", "LinkDeadTimer", "-1"),
        ("R_World", "LinkDeadTimer", "nan"),
        ("R_World", "PlayerCampTimer", "inf"),
        ("R_World", "MaxPlayers", "1e400"),
        ("R_World", "ServerLocked", ""),
    ],
)
def test_a_value_that_the_setting_does_not_take_is_left_out(
    category: str, name: str, value: str
) -> None:
    (one,) = rule_defaults({(category, name): value})
    assert one.value is None
    assert one.problem


def test_no_cap_of_levels_is_the_highest_level() -> None:
    (one,) = rule_defaults({("R_Player", "MaxLevel"): "0"})
    assert one.value == 255


HERE: Rows = (
    ("R_World", "LinkDeadTimer", "30000"), ("R_World", "PlayerCampTimer", "0"),
    ("R_Player", "MaxLevel", "10"), ("R_Expansion", "GlobalHolidayFlag", "4"),
    ("R_World", "MaxPlayers", "1"), ("R_Zone", "MaxPlayers", "6"),
)  # fmt: skip
THERE: Rows = (("R_World", "LinkDeadTimer", "90000"), ("R_Zone", "MaxPlayers", "12"))


def test_two_zones_have_the_settings_of_their_sets(tmp_path: Path) -> None:
    made(tmp_path, OURS, HERE, THERE)
    config = configured(tmp_path)
    assert config.zone_settings == {
        9: {"link_dead": 30.0, "camp_seconds": 0.0, "max_level": 10, "holidays": 4},
        10: {"link_dead": 90.0},
    }
    rules = world_rules(config)
    assert [rules.in_zone(one).link_dead for one in (9, 10, 11)] == [30.0, 90.0, 60.0]
    assert [rules.in_zone(one).camp for one in (9, 10, 11)] == [0.0, 5.0, 5.0]
    assert [rules.in_zone(one).max_level for one in (9, 10, 11)] == [10, 20, 20]
    with ContentFile(tmp_path / "content.sqlite") as file:
        population = {one.id: one.population for one in zone_definitions(file)}
    assert population == {9: 6, 10: 12}


def test_what_the_operator_gives_wins_over_the_sets_of_zones(tmp_path: Path) -> None:
    made(tmp_path, OURS, HERE, THERE)
    config = configured(tmp_path, "link_dead = 60\n", ["world.max_level=50"])
    assert config.zone_settings == {9: {"camp_seconds": 0.0, "holidays": 4}}
    assert world_rules(config).in_zone(9).link_dead == 60.0


def test_a_reload_takes_the_sets_of_zones(tmp_path: Path) -> None:
    made(tmp_path, OURS, HERE, THERE)
    old = configured(tmp_path)
    made(tmp_path, OURS, THERE)
    fresh = configured(tmp_path)
    assert merged(old, fresh).zone_settings == {9: {"link_dead": 90.0}}
