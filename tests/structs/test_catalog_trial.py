"""Layouts of the client of 373, known by EQ2Emulator's struct files and C++ server alone."""

from __future__ import annotations

from typing import Any

import pytest

from emu.structs import FieldDefinition, FieldType, StructCatalog, StructLayout, shipped_catalog
from tests.support.files.recordings import STRUCT_FILES

VERSION = 373
SIZES = {
    "Substruct_SpawnPositionStruct": 77, "Substruct_SpawnVisualizationInfoStruct": 76,
    "Substruct_SpawnInfoStruct": 727, "WS_SpawnStruct": 880, "WS_CharacterSheet": 3714,
    "Player_Update": 128, "WS_DefaultGroupOptions": 3, "WS_MoveClient": 16,
}  # fmt: skip
"""Bytes: of Player_Update by EQ2Emulator's C++ struct, of the others by its struct files."""
NAMES = (
    "WS_ZoneInfo", "WS_SpawnStruct_Header", "Substruct_SpawnPositionStruct",
    "Substruct_SpawnVisualizationInfoStruct", "Substruct_SpawnInfoStruct",
    "WS_SignWidgetSpawnStruct_Footer", "Substruct_SpellEffects", "Substruct_MaintainedEffects",
    "Substruct_GroupMember", "WS_CharacterSheet", "WS_DefaultGroupOptions", "WS_DisplayText",
    "WS_MoveClient", "WS_WhoQueryReply", "WS_UpdateSkillBook",
)  # fmt: skip


def layout(name: str) -> StructLayout:
    return shipped_catalog().layout(name, VERSION)


def test_parts_of_fixed_size_have_these_lengths() -> None:
    assert {name: layout(name).empty_size() for name in SIZES} == SIZES


def test_steps_of_a_player_stand_where_the_server_reads_them() -> None:
    # EQ2Emulator's Player_Update283: offsets of grid, place, second direction and speeds.
    values = {"grid_location": 7, "x": 1.0, "direction2": 2.0, "speed_z": 4.0}
    data = layout("Player_Update").encode(values)
    assert (data[88], data[92:96].hex(), data[104:108].hex()) == (7, "0000803f", "00000040")
    assert data[124:].hex() == "00008040"


def test_a_zone_has_one_world_name_and_ends_with_its_flags() -> None:
    values = {"server1": "Ab", "zone": "c", "zone_desc": "d", "char_name": "E", "zone_flags": 9}
    data = layout("WS_ZoneInfo").encode(values)
    assert data.startswith(bytes.fromhex("024162 0163 00 0164 0145"))
    assert data.endswith(bytes.fromhex("09000000"))
    assert len(data) == 10 + 12 + 7 + 8 + 1 + 12 + 4


def numbers(fields: tuple[FieldDefinition, ...]) -> dict[str, FieldDefinition]:
    """Return the fields with one number, by name; names that occur twice are left out."""
    counts = [entry.name for entry in fields]
    return {
        entry.name: entry
        for entry in fields
        if entry.size == 1 and counts.count(entry.name) == 1
        and entry.type in {FieldType.INT8, FieldType.INT16, FieldType.INT32, FieldType.FLOAT}
        and not any(one.count_field == entry.name for one in fields)
    }  # fmt: skip


@pytest.fixture(scope="module")
def theirs() -> StructCatalog:
    if not STRUCT_FILES.exists():
        pytest.skip("no struct files of EQ2Emulator on this machine (EMU_STRUCT_FILES)")
    made = StructCatalog()
    for name in ("CommonStructs", "WorldStructs", "SpawnStructs"):
        made.load(STRUCT_FILES / f"{name}.xml.gz")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_fields_stand_where_the_struct_files_have_them(name: str, theirs: StructCatalog) -> None:
    mine, other = layout(name), theirs.layout(name, VERSION)
    assert mine.empty_size() == other.empty_size()
    common = numbers(mine.definition.fields).keys() & numbers(other.definition.fields).keys()
    for field in common:
        values: dict[str, Any] = {field: 1}
        assert mine.encode(values) == other.encode(values), field
