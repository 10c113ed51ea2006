"""The rules of a content file: the set in force, and the sets of zones."""

from pathlib import Path
from typing import Any

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.rules import Rules, read_rules, rules_in_force
from emu.content.sources import dump_parts
from tests.support.content.dumps import meadow, write_dumps

SETS = [
    {"ruleset_id": 1, "ruleset_name": "usual", "ruleset_active": 1},
    {"ruleset_id": 2, "ruleset_name": "hard", "ruleset_active": 1},
    {"ruleset_id": 3, "ruleset_name": "off", "ruleset_active": 0},
]
DETAILS = [
    {"ruleset_id": number, "rule_category": "R_World", "rule_type": name, "rule_value": value}
    for number, name, value in (
        (1, "Pace", "1.5"), (1, "MaxPlayers", "7"), (2, "Pace", "2.5"), (3, "Pace", "9"),
    )
]  # fmt: skip


def rules(folder: Path, chosen: str, zone_set: int) -> Rules:
    tables: dict[str, Any] = meadow()
    tables["zones"] = [{**row, "ruleset_id": zone_set} for row in tables["zones"]]
    tables |= {
        "rulesets": SETS, "ruleset_details": DETAILS,
        "variables": [{"variable_name": "default_ruleset_id", "variable_value": chosen}],
    }  # fmt: skip
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    with ContentFile(target) as file:
        found = read_rules(file)
        assert rules_in_force(file) == found.in_force
    return found


def test_the_variable_names_the_set_and_a_zone_takes_its_own_first(tmp_path: Path) -> None:
    found = rules(tmp_path, "1", 2)
    assert found.in_force == {("R_World", "Pace"): "1.5", ("R_World", "MaxPlayers"): "7"}
    assert found.zones[9].name == "hard"
    assert found.of_zone(9) == {("R_World", "Pace"): "2.5", ("R_World", "MaxPlayers"): "7"}
    assert found.of_zone(10) == found.in_force


def test_a_set_that_is_not_active_has_no_effect(tmp_path: Path) -> None:
    found = rules(tmp_path, "3", 3)
    assert found.in_force == {("R_World", "Pace"): "2.5", ("R_World", "MaxPlayers"): "7"}
    assert found.zones == {}
