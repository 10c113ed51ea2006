import io
from typing import Any

import pytest

from emu.sqldump import ImportReport, Tally, read_inserts
from emu.world.content.eq2emu import TABLES, Composer, Tables
from emu.world.content.eq2emu_files import Document
from tests.support.world.world_dumps import SPAWNS, STARTS, WHOLE, ZONES


def compose(text: str, shipped: tuple[int, ...] = ()) -> dict[str, Document]:
    tables = Tables()
    for row in read_inserts(io.BytesIO(text.encode())):
        assert row.columns is not None
        tables.takes[row.table](dict(zip(row.columns, row.values, strict=True)))
    report = ImportReport({table: Tally() for table in TABLES})
    return {one.name: one for one in Composer(tables, report, shipped).documents()}


def spawn(text: str, name: str) -> dict[str, Any]:
    rows = compose(text)["00900-mine.toml"].tables["spawn"]
    return next(row for row in rows if row["name"] == name)


def test_a_zone_says_what_the_table_says() -> None:
    mine, other = compose(ZONES).values()
    assert mine.tables["zone"] == {
        "id": 900, "name": "Mine", "file": "mine_file", "description": "The Mine",
        "safe": [1.5, -2.0, 3.0, 90.0],
    }  # fmt: skip
    assert other.tables["zone"]["underworld"] == -50.5
    assert other.tables["zone"]["motd"] == "Mind the gap."


def test_a_creature_has_appearance_level_commands_and_place() -> None:
    assert spawn(WHOLE, "Ann") == {
        "kind": "npc", "name": "Ann", "last_name": "of Oak", "title": "Cook", "model": 134,
        "size": 30, "collision_radius": 20, "attackable": False, "targetable": True,
        "show_name": True, "visual_state": 538, "mood_state": 3, "level": 5,
        "looks": {
            "hair_type_id": 1120, "soga_model_type": 135, "gender": 2, "class": 1, "race": 9,
            "skin_color": [1, 2, 3],
        },
        "verbs": [
            {"name": "Hail", "distance": 10.0, "command": "hail"},
            {"name": "Kick It", "distance": 2.0, "command": "kick"},
        ],
        "place": [1.0, 2.0, 3.0, 45.0], "grid": 123456,
    }  # fmt: skip


def test_a_sign_of_a_zone_leads_there() -> None:
    post = spawn(WHOLE, "a post")
    assert post["sign"] == {
        "title": "To the other", "text": "It's far.", "distance": 20.0, "language": 1,
    }  # fmt: skip
    assert post["widget"] == {"id": 77, "place": [7.0, 8.0, 9.0]}
    assert post["to"] == {"zone": 901, "place": [4.0, 5.0, 6.0, 180.0]}


def test_a_transporter_makes_a_destination() -> None:
    listener = spawn(WHOLE, "a door")
    assert listener["to"] == {"zone": 900, "place": [11.0, 12.0, 13.0, 14.0]}
    assert listener["size"] == 32


def test_a_sign_that_no_placement_names_stands_where_it_says() -> None:
    rows = compose(WHOLE)["00901-other-s.toml"].tables["spawn"]
    notice = next(row for row in rows if row["name"] == "A notice")
    assert notice["place"] == [1.0, 2.0, 3.0]
    assert "Nowhere" not in {row["name"] for row in rows}


def test_the_likeliest_spawn_of_a_location_stands_there() -> None:
    rows = compose(WHOLE)["00901-other-s.toml"].tables["spawn"]
    assert [row["name"] for row in rows if row["place"] == [2.0, 2.0, 2.0, 0.0]] == ["Ann"]


def test_starting_places_name_their_conditions_and_families_of_classes() -> None:
    assert compose(ZONES + STARTS)["starts.toml"].tables["start"] == [
        {"zone": 900},
        {
            "zone": 901, "place": [1.0, 2.0, 3.0, 45.0], "class": list(range(11, 21)), "race": [3],
            "city": [4], "deity": [0], "versions": [546, 561],
        },
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "extends"), [(ZONES, True), (ZONES + SPAWNS, None)])
def test_a_shipped_zone_keeps_its_things_unless_the_dump_places_some(
    text: str, extends: bool | None
) -> None:
    mine = compose(text, shipped=(900,))["00900-mine.toml"]
    assert mine.tables["zone"].get("extends") is extends


def test_every_row_counts_once() -> None:
    documents = compose(WHOLE).values()
    assert sum(one.counts["spawn"] for one in documents) == 4
    assert sum(one.counts["entity_commands"] for one in documents) == 2
