"""The tables of a content file about travel."""

from pathlib import Path

import pytest

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.world.actors.spawn import Destination
from emu.world.travel.tables import TravelTables, read_tables
from emu.world_stream.movement import Position
from tests.support.content.dumps import meadow, write_dumps

FULL = {
    "destination_zone_id": 12, "destination_x": 1, "destination_y": 2, "destination_z": 3,
    "destination_heading": 370, "display_name": "North", "message": "Bye.", "cost": 5,
    "min_level": 7, "quest_req": 9, "quest_completed": 8, "map_x": 1, "map_y": 2,
    "min_client_version": 562,
}  # fmt: skip


def tables(folder: Path, **more: object) -> TravelTables:
    target = folder / "content.sqlite"
    dumps = write_dumps(folder / "dumps", meadow() | more)  # type: ignore[arg-type]
    import_content(dump_parts([dumps]), target)
    return read_tables(target)


def test_ways_triggers_points_and_areas(tmp_path: Path) -> None:
    place = {"trigger_location_zone_id": 9, "trigger_location_x": 4, "trigger_location_y": 5,
             "trigger_location_z": 6, "trigger_radius": 10}  # fmt: skip
    found = tables(
        tmp_path,
        transporters=[
            {"id": 1, "transport_id": 3, "transport_type": "Zone", **FULL, **place},
            {"id": 2, "transport_id": 0, "transport_type": "Location", **FULL, **place},
            {"id": 3, "transport_id": 0, "transport_type": "Location", **FULL, **place,
             "trigger_radius": -1},
            {"id": 4, "transport_id": 3, "transport_type": "Zone", "destination_zone_id": 0},
            {"id": 5, "transport_id": 3, "transport_type": "Generic Transport",
             "destination_zone_id": 12},
        ],
        transport_maps=[
            {"transport_id": 3, "map_name": "antonica"}, {"transport_id": 4, "map_name": ""},
        ],
        locations=[
            {"id": 1, "zone_id": 9, "name": "The Pond", "discovery": 1},
            {"id": 2, "zone_id": 9, "name": "The Hill", "include_y": 1},
            {"id": 3, "zone_id": 9, "name": "The Cell", "grid_id": 77},
        ],
        location_details=[
            {"id": 1, "location_id": 1, "x": 1, "y": 2, "z": 3},
            {"id": 2, "location_id": 1, "x": 11, "y": 12, "z": -3},
            {"id": 3, "location_id": 2, "x": 1, "y": 2, "z": 3},
        ],
    )  # fmt: skip
    way, generic = found.ways[3]
    assert way.to == Destination(12, Position(1.0, 2.0, 3.0, 10.0))
    assert (way.id, way.name, way.message, way.cost, way.min_level) == (1, "North", "Bye.", 5, 7)
    assert (way.quests, way.map_at, way.versions) == ((9, 8), (1, 2), (562, 0))
    assert (generic.kind, generic.to) == ("generic transport", Destination(12))
    (trigger,) = found.triggers[9]
    assert trigger[:4] == (4.0, 5.0, 6.0, 10.0)
    assert trigger.way.to == way.to
    assert found.maps == {3: "antonica", 4: ""}
    pond, hill, cell = found.areas[9]
    assert pond.is_discovery
    assert pond.holds(Position(5.0, 500.0, 0.0))
    assert not pond.holds(Position(12.0, 2.0, 0.0))
    assert hill.holds(Position(1.0, 2.0, 3.0))
    assert not hill.holds(Position(1.0, 3.0, 3.0))
    assert cell.holds(Position(0.0, 0.0, 0.0, grid=77))
    (point,) = found.revive_points[9]
    assert (point.id, point.to, point.always) == (1, Destination(9, Position(2.0, 0.0, 0.0)), False)


def test_without_a_content_file_there_are_none(tmp_path: Path) -> None:
    assert read_tables(None) == TravelTables()
    with pytest.raises(FileFormatError):
        read_tables(tmp_path / "missing.sqlite")


def test_flight_paths_end_at_their_last_point(tmp_path: Path) -> None:
    found = tables(
        tmp_path,
        flight_paths=[
            {"id": 4, "zone_id": 9, "name": "North"}, {"id": 5, "zone_id": 9, "name": "Empty"},
        ],
        flight_paths_locations=[
            {"id": 8, "flight_path": 4, "x": 1, "y": 2, "z": 3},
            {"id": 9, "flight_path": 4, "x": 7, "y": 8, "z": -9},
            {"id": 7, "flight_path": 4, "x": 4, "y": 5, "z": 6},
        ],
    )  # fmt: skip
    assert found.flights == {4: Destination(9, Position(7.0, 8.0, -9.0))}
