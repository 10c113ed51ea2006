import pytest

from emu.world.content.eq2emu import TABLES, Tables


def test_rows_are_found_by_what_they_belong_to() -> None:
    tables = Tables()
    tables.takes["spawn_location_entry"](
        {"spawn_id": "5", "spawn_location_id": "7", "spawnpercentage": "12.5"}
    )
    tables.takes["entity_commands"]({"command_list_id": 3, "command_text": "Hail"})
    tables.takes["spawn_signs"]({"spawn_id": 9, "title": "x"})
    assert tables.choices == {7: [(12.5, 5)]}
    assert tables.commands == {3: [{"command_list_id": 3, "command_text": "Hail"}]}
    assert tables.details["spawn_signs"][9]["title"] == "x"


@pytest.mark.parametrize("table", [name for name in TABLES if name != "starting_zones"])
def test_a_row_without_its_number_is_refused(table: str) -> None:
    keys = ("id", "spawn_id", "command_list_id", "transport_id")
    with pytest.raises(ValueError, match=r"no number|out of range"):
        Tables().takes[table](dict.fromkeys(keys, "x"))
