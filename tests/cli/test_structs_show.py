"""The rows of `emu structs show`: offsets that agree with what layouts write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.cli.structs import field_rows, grows, least_length, type_name
from emu.structs import StructDefinition, shipped_catalog
from emu.structs.reader import read_text
from tests.support.running.command_line import CommandLine

CATALOG = shipped_catalog()


def rows_of(definition: StructDefinition) -> dict[str, dict[str, Any]]:
    return {str(row["field"]): row for row in field_rows(definition.fields)}


def made(fields: str) -> StructDefinition:
    text = f'<EQ2Emulator><Struct Name="A" ClientVersion="1">{fields}</Struct></EQ2Emulator>'
    return read_text(text.encode(), "a.xml")[0]


@pytest.mark.slow
def test_lengths_add_up_to_the_empty_struct() -> None:
    for definition in CATALOG:
        present = [entry for entry in definition.fields if entry.conditions.hold_for_zeros()]
        length = sum(map(least_length, present))
        layout = CATALOG.layout(definition.name, definition.client_version)
        assert length == layout.empty_size(), (definition.name, definition.client_version)


def test_offsets_are_those_of_the_spec() -> None:
    sheet = rows_of(CATALOG.definition("WS_CharacterSheet", 546))
    assert sheet["current_hp"]["offset"] == "125"
    assert sheet["spell_effects"] == {
        "offset": "340", "field": "spell_effects", "type": "Substruct Substruct_SpellEffects",
        "size": 30, "bytes": 570, "remarks": "",
    }  # fmt: skip
    assert sheet["spell_effects[0].cancellable"]["offset"] == "344"
    assert sheet["trauma"]["offset"] == "910"
    assert sheet["bind_zone"]["offset"] == "4836"


def test_what_content_moves_is_marked() -> None:
    reply = rows_of(CATALOG.definition("LS_LoginReplyMsg", 546))
    assert reply["unknown"]["offset"] == "1"
    assert reply["parental_control_flag"]["offset"] == "3+"
    assert reply["num_class_items"]["remarks"] == "if set: unknown10"
    assert reply["class_items"]["remarks"].startswith("as many as num_class_items")
    assert reply["class_items[].items[].slot_id"]["offset"] is None


def test_every_remark_is_reported() -> None:
    fields = (
        '<Data ElementName="n" Type="int16" OversizedValue="255"/>'
        '<Data ElementName="d" Type="int32" Size="2" DefaultByteValue="255" IfFlagNotSet="f"/>'
        '<Data ElementName="v" Type="float" Type2="sint16" IfVariableEquals="n"/>'
        '<Data ElementName="a" Type="Array" ArraySizeVariable="n" MaxArraySize="9" '
        'IfVariableNotSet="d,v"><Data ElementName="c" Type="EQ2_Color"/></Data>'
        '<Data ElementName="e" Type="EQ2_EquipmentItem" Size="2" IfFlagSet="f"/>'
        '<Data ElementName="o" Type="int8" IfVariableIn="n:1,2"/>'
        '<Data ElementName="p" Type="int8" IfVariableNotIn="n:3"/>'
        '<Data ElementName="i" Type="EQ2_Item" IfVariableNotEquals="n"/>'
    )
    rows = list(field_rows(made(fields).fields))
    assert [row["remarks"] for row in rows] == [
        "short below 255",
        "filled with 255; if no flag: f",
        "or sint16; if 1: n",
        "as many as n; at most 9; if not set: d, v",
        "",
        "if flag: f",
        "if n is 1 or 2",
        "if n is not 3",
        "if not 1: n",
    ]
    assert [row["bytes"] for row in rows] == [1, 8, 4, 0, 3, 16, 1, 1, 0]
    places = ["0", "1+", "9+", "9+", None, "9+", "9+", "9+", "10+"]
    assert [row["offset"] for row in rows] == places


def test_a_substruct_grows_with_what_is_in_it() -> None:
    header, footer = (
        CATALOG.definition(name, 546).fields
        for name in ("WS_SpawnStruct", "WS_SignWidgetSpawnStruct_Footer")
    )
    assert not grows(header[0])
    assert [type_name(entry) for entry in footer if grows(entry)] == ["EQ2_16Bit_String"] * 2


def test_the_verb_prints_them(tmp_path: Path) -> None:
    command = CommandLine(tmp_path)
    rows = command.rows("structs", "show", "Player_Update", "--version", "561")
    assert rows[0]["offset"] == "0"
    assert {row["field"]: row["offset"] for row in rows}["grid_location"] == "112"
    text = command.good("structs", "show", "Player_Update", "--version", "561").stdout
    assert "grid_location" in text
