"""The houses of a content file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.content.homes import HomeTables, read_homes
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.houses import Price
from tests.support.content.dumps import meadow, write_dumps

INN: dict[str, Any] = {
    "id": 12, "name": "The Nettleville Inn", "cost_coins": 5, "cost_status": 6,
    "upkeep_coins": 500, "upkeep_status": 7, "vault_slots": 6, "alignment": 1, "guild_level": 30,
    "zone_id": 12, "exit_zone_id": 12, "exit_x": 648.5, "exit_y": -24.5, "exit_z": 349.25,
    "exit_heading": 683.0,
}  # fmt: skip


def homes(folder: Path, **more: Any) -> HomeTables:
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow() | more)]), target)
    return read_homes(target)


def test_a_house_of_the_file(tmp_path: Path) -> None:
    found = homes(tmp_path, houses=[INN, INN | {"id": 13, "zone_id": 0}])
    (home,) = found.homes.values()
    assert (home.id, home.name) == (12, "The Nettleville Inn")
    assert (home.cost, home.upkeep) == (Price(5, 6), Price(500, 7))
    assert (home.vault_slots, home.alignment, home.guild_level) == (6, 1, 30)
    assert (home.zone_id, home.exit_zone, home.exit) == (12, 12, (648.5, -24.5, 349.25, 323.0))


def test_an_exit_outside_of_the_world_is_the_safe_place(tmp_path: Path) -> None:
    (home,) = homes(tmp_path, houses=[INN | {"exit_y": -2_000_000.0}]).homes.values()
    assert home.exit == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("value", "asks"), [("1", False), ("0", True), (None, False)])
def test_the_rule_about_alignments(tmp_path: Path, value: str | None, *, asks: bool) -> None:
    # EQ2Emulator's default of R_Player DisableHouseAlignmentRequirement is 1.
    rules: dict[str, Any] = {"rulesets": [{"ruleset_id": 1, "ruleset_active": 1}]}
    if value is not None:
        rules["ruleset_details"] = [
            {"id": 1, "ruleset_id": 1, "rule_category": "R_Player",
             "rule_type": "DisableHouseAlignmentRequirement", "rule_value": value},
        ]  # fmt: skip
    assert homes(tmp_path, **rules).asks_alignment is asks


def test_without_a_file_there_are_no_houses(tmp_path: Path) -> None:
    assert read_homes(None) == HomeTables()
    with pytest.raises(FileFormatError):
        read_homes(tmp_path / "missing.sqlite")
