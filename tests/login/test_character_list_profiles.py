"""Entries of the character list, field by field at the offsets of
docs/protocol/characters.md#entry.
"""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.dialects import Dialect, shipped_rules
from emu.dialects.dialect import DELETED_NAME
from emu.login.character_list import CharacterListEntry, character_list, equipment, profile
from emu.login.settings import CompatibilityChoices, LoginServiceConfig
from emu.model import Character, Color, Equipment
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import character

CONFIG = LoginServiceConfig()
ZONE, TEXT = "qey_north", "North Qeynos"
OLD = {
    "skin_color": Color(125, -69, -6, signed=True),
    "eye_type": Color(-25, 0, 50, signed=True),
    "unknown9": Color(10, 20, 30, signed=True),
    "soga_eye_color": Color(1, -56, -6, signed=True),
    "no_such_field": Color(1, 2, 3),
}
NEW = {
    "skin_color": Color(127, 191, 255),
    "eye_type": Color(-25, 0, 50, signed=True),
    "unknown9": Color(10, 20, 30),
    "soga_eye_color": Color(1, 204, 255),
    "no_such_field": Color(1, 2, 3),
}
MODELS = {"race_type": 111, "hair_type": 222, "body_size": -50, "soga_hair_type": 333}


def dialect(version: int) -> Dialect:
    table = shipped_tables().for_version(546)
    return Dialect(version, table, shipped_catalog(), shipped_rules().for_version(version))


def entry(version: int, row: Character | None = None, **values: object) -> bytes:
    colors = OLD if version <= 561 else NEW
    row = row or character(appearance=MODELS, colors=colors, **values)
    return profile(dialect(version), CONFIG, 7, CharacterListEntry(row, "Norrath", ZONE, TEXT))


def test_an_entry_of_546() -> None:
    data = entry(546)
    name, zone, text = len("Aldana"), len(ZONE), len(TEXT)
    assert len(data) == 388 + name + zone + 1 + text
    assert struct.unpack_from("<II", data) == (5, 1)
    base = 10 + name
    assert data[base : base + 3] == bytes([9, 3, 1])
    assert struct.unpack_from("<I", data, base + 3) == (12,)
    base = 19 + name + zone
    assert struct.unpack_from("<6I", data, base) == (0, 0, 1000, 2000, 57, 56)
    v4 = name + zone + 1 + text
    assert data[51 + v4] == 11
    assert struct.unpack_from("<H", data, 52 + v4) == (111,)
    assert struct.unpack_from("<3b", data, 54 + v4) == (125, -69, -6)
    assert data[60 + v4 : 244 + v4] == (b"\0\0" + b"\xff" * 6) * 23
    assert struct.unpack_from("<H", data, 244 + v4) == (222,)
    assert data[276 + v4 : 279 + v4] == bytes([10, 20, 30])
    assert struct.unpack_from("<3b", data, 279 + v4) == (-25, 0, 50)
    assert struct.unpack_from("<bbH3B3B", data, 300 + v4) == (-50, 0, 1377, 57, 0, 0, 0, 0, 0)
    assert data[319 + v4 : 329 + v4] == bytes.fromhex("ffffff61002c04a50902")
    assert struct.unpack_from("<H", data, 329 + v4) == (111,)
    assert data[334 + v4 : 337 + v4] == bytes([1, 200, 250])
    assert struct.unpack_from("<H", data, 372 + v4) == (333,)


@pytest.mark.parametrize(("version", "number", "extra"), [(562, 5, 0), (886, 5, 0), (887, 6, 5)])
def test_an_entry_from_562_on(version: int, number: int, extra: int) -> None:
    data = entry(version)
    strings = len("Aldana") + len(ZONE) + 1 + len(TEXT) + len("Norrath")
    assert len(data) == (369 if version < 887 else 441) + strings
    assert struct.unpack_from("<III", data) == (number, 5, 1)
    end = 56 + strings - len("Norrath")
    assert data[end : end + 9] == b"\x07\0Norrath"
    assert struct.unpack_from("<IBBI", data, 58 + strings) == (7, 0, 1, 0)
    start = 68 + strings + extra
    assert struct.unpack_from("<BH3B", data, start) == (15, 111, 127, 191, 255)
    equip = start + 9
    assert data[equip : equip + 200] == (b"\0\0" + b"\xff" * 6) * 24 + bytes(8)


def test_the_end_of_an_entry_from_887_on() -> None:
    data = entry(1208)
    tail = data[362 - 441 :]
    assert tail[:13] == bytes.fromhex("ffffff61002c04a509020f0000")
    assert struct.unpack_from("<H", tail, 13) == (111,)
    assert tail[18:21] == bytes([1, 204, 255])
    assert struct.unpack_from("<H", tail, 407 - 362) == (212,)
    assert tail[415 - 362 : 418 - 362] == b"\xff" * 3
    assert struct.unpack_from("<H", tail, 418 - 362) == (333,)
    assert tail[-7:] == bytes(7)


def test_the_newest_client_gets_the_layout_of_887() -> None:
    assert entry(64753) == entry(887)


def test_a_character_of_the_other_family_is_shown_in_its_colors() -> None:
    made_new = character(colors=NEW)
    made_old = character(colors=OLD)
    assert _skin(546, made_new) == bytes([125, 187, 250])
    assert _skin(1208, made_old) == bytes([128, 191, 255])
    assert _skin(1208, made_new) == bytes([127, 191, 255])


def _skin(version: int, row: Character) -> bytes:
    data = profile(dialect(version), CONFIG, 7, CharacterListEntry(row, "Norrath", ZONE, TEXT))
    strings = len("Aldana") + len(ZONE) + 1 + len(TEXT)
    start = 54 + strings if version <= 561 else 76 + strings + len("Norrath")
    return data[start : start + 3]


def test_an_unknown_zone_has_empty_texts() -> None:
    data = profile(dialect(546), CONFIG, 7, CharacterListEntry(character(), "Norrath", "", ""))
    assert data[23:25] == bytes(2)
    assert data[49:54] == b"\x01\0 \0\0"


def test_equipment_is_where_its_slot_is_and_not_swapped() -> None:
    items = [
        Equipment(0, 500, (1, 2, 3), (4, 5, 6)),
        Equipment(19, 600),
        Equipment(24, 700),
        Equipment(-1, 800),
    ]
    shown = equipment(items, 23)
    assert len(shown) == 23
    assert shown[0] == {"type": 500, "color": [1, 2, 3], "highlight": [4, 5, 6]}
    assert shown[19]["type"] == 600
    assert sum(slot["type"] for slot in shown) == 1100
    assert equipment(items, 25)[24]["type"] == 700


def test_equipment_is_swapped_where_an_operator_wants_it() -> None:
    config = replace(CONFIG, choices=CompatibilityChoices(swap_equipment_green_blue=True))
    row = character(equipment=[Equipment(0, 500, (1, 2, 3), (4, 5, 6))])
    for version in (546, 1208):
        seen = [
            profile(dialect(version), chosen, 7, CharacterListEntry(row, "Norrath", ZONE, TEXT))
            for chosen in (CONFIG, config)
        ]
        straight, swapped = b"\xf4\x01\x01\x02\x03\x04\x05\x06", b"\xf4\x01\x01\x03\x02\x04\x06\x05"
        assert straight in seen[0]
        assert swapped in seen[1]


def test_a_deleted_entry_has_nothing_but_its_place() -> None:
    row = character(appearance=MODELS, colors=OLD)
    data = profile(dialect(546), CONFIG, 7, CharacterListEntry(row, "", "", "", deleted=True))
    size = len(DELETED_NAME)
    assert data[:8] == b"\xff" * 8
    assert data[8 : 10 + size] == struct.pack("<H", size) + DELETED_NAME.encode()
    assert struct.unpack_from("<3I", data, 19 + size) == (0xFFFFFFFF,) * 3


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_full_list_has_its_length(version: int) -> None:
    one = CharacterListEntry(character(), "Norrath", ZONE, TEXT)
    for count in (0, 1, 7, 255, 300):
        data = character_list(dialect(version), CONFIG, 7, [one] * count, veterans=count)
        shown = min(count, 255)
        size = len(profile(dialect(version), CONFIG, 7, one))
        assert data[0] == shown
        assert len(data) == 1 + shown * size + (15 if version <= 561 else 33)


@given(
    st.sampled_from(LOGIN_VERSION_STEPS),
    st.integers(-(2**40), 2**40),
    st.floats(-1e12, 1e12),
    st.dictionaries(
        st.sampled_from(["skin_color", "eye_type", "equip", "name", "version", "soga_eye_color"]),
        st.builds(Color, *[st.integers(-500, 500)] * 3, st.booleans()),
    ),
    st.lists(st.builds(Equipment, st.integers(-5, 99), st.integers(-9, 10**6)), max_size=5),
)
def test_no_row_in_the_store_can_break_the_list(
    version: int, number: int, moment: float, colors: dict[str, Color], items: list[Equipment]
) -> None:
    row = character(
        race=number,
        class_=number,
        gender=number,
        level=number,
        tradeskill_level=number,
        created=moment,
        last_played=moment,
        appearance={"race_type": number, "body_size": number},
        colors=colors,
        equipment=items,
    )
    size = len(entry(version, character()))
    assert len(entry(version, row)) == size
