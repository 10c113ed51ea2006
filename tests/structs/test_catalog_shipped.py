"""The structs that come with the package: every one of them, at every version step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.errors import MalformedMessage
from emu.opcodes import shipped_tables
from emu.structs import FieldDefinition, StructDefinition, shipped_catalog
from tests.support.examples import try_random
from tests.support.files.struct_values import check_round_trip, struct_values

CATALOG = shipped_catalog()
STRUCTS = list(CATALOG)
PARTS = 8
"""Tests into which the work on all structs is divided; a test for each takes long to collect."""
VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "structs.json").read_text())

FEW = 6
"""Sets of values that each struct is tried with."""


def title(value: Any) -> str:
    if isinstance(value, StructDefinition):
        return f"{value.name}-{value.client_version}"
    if isinstance(value, dict):
        return f"{value['struct']}-{value['version']}"
    return str(value)


def some_of_each() -> list[StructDefinition]:
    """Return the first, the middle and the last layout of each Struct element.

    An element that follows its substructs has up to 30 layouts, which are those of its substructs.
    """
    elements: dict[tuple[str, int], list[StructDefinition]] = {}
    for definition in STRUCTS:
        elements.setdefault((definition.file, definition.line), []).append(definition)
    return [
        one
        for layouts in elements.values()
        for at, one in enumerate(layouts)
        if at in {0, len(layouts) // 2, len(layouts) - 1}
    ]


TRIED = some_of_each()


def of_part(part: int) -> list[StructDefinition]:
    """Return a share of the structs: one test of each part, so that workers can share them."""
    return TRIED[part::PARTS]


def check_values(definition: StructDefinition, *, create_color: bool = False) -> None:
    layout = CATALOG.layout(definition.name, definition.client_version, create_color=create_color)

    def show(random: Random) -> None:
        values = struct_values(layout.definition.fields, random, create_color=create_color)
        check_round_trip(layout, values)

    try_random(FEW, title(definition), show)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_struct_makes_the_way_and_back(part: int, subtests: pytest.Subtests) -> None:
    for definition in of_part(part):
        with subtests.test(title(definition)):
            check_values(definition)


@pytest.mark.parametrize("version", [562, 869, 57080, 64659])
def test_create_requests_with_float_colors_make_the_way_and_back(version: int) -> None:
    layout = CATALOG.layout("CreateCharacter", version, create_color=True)
    check_values(layout.definition, create_color=True)


def has_short_forms(fields: Sequence[FieldDefinition]) -> bool:
    return any(entry.is_short_for_small() or has_short_forms(entry.fields) for entry in fields)


def check_garbage(definition: StructDefinition) -> None:
    short_forms = has_short_forms(definition.fields)
    layout = CATALOG.layout(definition.name, definition.client_version)

    def show(random: Random) -> None:
        garbage = random.randbytes(random.randint(0, layout.empty_size() + 40))
        for decode in (layout.decode_prefix, layout.decode_short):
            with suppress(MalformedMessage):
                decode(garbage)
        try:
            fields = layout.decode(garbage)
        except MalformedMessage:
            return
        encoded = layout.encode(fields)
        # A small number in the long form of an oversized one gets its short form, and the reverse.
        if not short_forms:
            assert len(encoded) == len(garbage)
        assert layout.encode(layout.decode(encoded)) == encoded

    try_random(25, title(definition), show)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_garbage_is_refused_as_malformed_or_decoded(part: int, subtests: pytest.Subtests) -> None:
    for definition in of_part(part):
        with subtests.test(title(definition)):
            check_garbage(definition)


def test_the_files_are_free_of_oddities() -> None:
    assert CATALOG.notes == []
    assert {definition.file for definition in STRUCTS} == {
        "LoginStructs.xml", "LoginCodeStructs.xml", "WorldStructs.xml", "SpawnStructs.xml",
        "CombatStructs.xml", "CommonStructs.xml", "CraftStructs.xml", "HandledStructs.xml",
        "ItemStructs.xml",
        "QuestStructs.xml", "SentStructs.xml", "TrialStructs.xml",
    }  # fmt: skip


def test_messages_have_opcodes_where_their_layout_is_spoken() -> None:
    known = {
        name for _, _, table in shipped_tables().spans() for name in table.names.values()
    }  # fmt: skip
    named = {
        name
        for definition in STRUCTS
        for name in (definition.opcode_name, definition.opcode_type)
        if name
    }
    assert named - known <= {"OP_CancelMoveObjectModeMsg"}, "its number is not documented"
    assert len(named & known) > 50


def test_only_commands_have_a_second_opcode_name() -> None:
    for definition in STRUCTS:
        inside = definition.opcode_name == "OP_ClientCmdMsg"
        assert inside == bool(definition.opcode_type), title(definition)
        # The commands whose names in EQ2Emulator's tables are those of messages.
        named_otherwise = definition.name in {
            "WS_SelectOption", "WS_TraitsList", "WS_RecipeList", "WS_Lottery",
        }  # fmt: skip
        is_command = definition.opcode_type.endswith("Cmd") or named_otherwise
        assert inside == is_command, title(definition)


@pytest.mark.parametrize("vector", VECTORS, ids=title)
def test_messages_with_a_source_have_these_bytes(vector: dict[str, Any]) -> None:
    layout = CATALOG.layout(vector["struct"], vector["version"])
    data = bytes.fromhex(vector["hex"])
    assert layout.encode(vector["fields"]).hex() == vector["hex"], vector["source"]
    decoded = layout.decode(data)
    assert layout.encode(decoded) == data
    for name, value in vector["fields"].items():
        assert decoded[name] == value, name


def test_the_vectors_hold_the_six_login_replies() -> None:
    replies = [vector for vector in VECTORS if vector["struct"] == "LS_LoginReplyMsg"]
    lengths = {vector["version"]: len(vector["hex"]) // 2 for vector in replies}
    assert lengths == {546: 36, 1096: 76, 57048: 82, 57080: 107, 60114: 97, 64753: 101}


def test_a_struct_is_found_by_its_message() -> None:
    assert [found.name for found in CATALOG.for_opcode("OP_EqHearChatCmd", 546)] == ["WS_HearChat"]
    assert CATALOG.for_opcode("OP_EqHearChatCmd", 300) == []
    assert {found.name for found in CATALOG.for_opcode("OP_LoginReplyMsg", 561)} == {
        "LS_LoginReplyMsg", "LS_LoginResponse",
    }  # fmt: skip


@pytest.mark.parametrize("version", [283, 373, 546, 561, 562, 887, 1208, 60085, 64753])
def test_a_character_list_is_a_count_its_profiles_and_the_account(version: int) -> None:
    catalog = shipped_catalog()
    profile = catalog.layout("CharSelectProfile", version).encode({"name": "Alice"})
    account = catalog.layout("LS_CharSelectAccountInfo", version).encode({"account_id": 7})
    (whole,) = catalog.for_opcode("OP_AllCharactersDescReplyMsg", version)
    fields = whole.decode(b"\x02" + profile + profile + account)
    assert [one["profile"]["name"] for one in fields["characters"]] == ["Alice", "Alice"]
    assert fields["account_info"]["account_id"] == 7
    assert whole.encode(fields) == b"\x02" + profile + profile + account
