"""How a version speaks: snapshots of opcodes, layouts and rules."""

from __future__ import annotations

import pytest

from emu.dialects import BEFORE_LOGIN, MOST_DIALECTS, Dialects, fit, shipped_rules
from emu.errors import StructValueError, UnknownVersion
from emu.login.service import NEEDED_STRUCTS
from emu.opcodes import OpcodeTables, shipped_tables
from emu.structs import shipped_catalog
from emu.structs.catalog import read_shipped
from emu.versions import LOGIN_VERSION_STEPS


def dialects() -> Dialects:
    return Dialects(shipped_tables, shipped_catalog(), shipped_rules(), NEEDED_STRUCTS)


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_every_step_has_all_it_needs(version: int) -> None:
    known = dialects()
    assert known.knows(version)
    dialect = known.for_version(version)
    assert dialect.version == version
    for name, number in {
        "OP_LoginRequestMsg": 0,
        "OP_LoginReplyMsg": 4,
        "OP_WorldListMsg": 8,
    }.items():
        assert dialect.table.number(name) == number
        assert dialect.table.name(number) == name


def test_versions_with_one_layout_share_what_is_made_of_it() -> None:
    known, name = dialects(), "WS_DisplayText"
    one, other = known.for_version(546), known.for_version(561)
    assert one.layout(name) is other.layout(name)
    assert one.template(name) is other.template(name)
    before = one.encode_known(name, {"text": "Hello"})
    assert other.encode_known(name, {"text": "Hello"}) == before
    assert dialects().for_version(546).template(name) is one.template(name)


def test_version_0_is_for_before_login_only() -> None:
    known = dialects()
    assert known.for_version(BEFORE_LOGIN).table.number("OP_LoginRequestMsg") == 0
    assert not known.knows(BEFORE_LOGIN)


@pytest.mark.parametrize(("version", "why"), [(400, "no opcodes"), (99, "no such client")])
def test_versions_that_are_not_known(version: int, why: str) -> None:
    assert not dialects().knows(version), why
    with pytest.raises(UnknownVersion):
        dialects().for_version(version)


def test_the_oldest_client_of_which_anything_is_known() -> None:
    assert dialects().knows(283)
    assert not dialects().knows(282)


@pytest.mark.slow
def test_a_dialect_is_made_anew_when_the_structs_were_read_again() -> None:
    catalog = read_shipped()
    known = Dialects(shipped_tables, catalog, shipped_rules())
    first = known.for_version(546)
    layout = first.layout("LS_LoginReplyMsg")
    assert known.for_version(546) is first
    catalog.exchange(read_shipped())
    assert known.for_version(546) is not first
    assert known.for_version(546).layout("LS_LoginReplyMsg") is not layout


def test_a_dialect_is_made_once_until_the_tables_change() -> None:
    tables = [shipped_tables()]
    known = Dialects(lambda: tables[0], shipped_catalog(), shipped_rules())
    first = known.for_version(546)
    assert known.for_version(546) is first
    tables[0] = other_tables()
    assert known.for_version(546) is not first
    assert first.table.number("OP_WorldListMsg") == 8


def other_tables() -> OpcodeTables:
    """Return tables that are equal to the shipped ones but not the same."""
    import copy  # noqa: PLC0415

    return copy.copy(shipped_tables())


def test_not_every_version_ever_asked_for_is_kept() -> None:
    known = dialects()
    for version in range(57121, 57121 + MOST_DIALECTS + 10):
        known.for_version(version)
    assert len(known._made) <= MOST_DIALECTS


def test_values_a_layout_lacks_are_left_out_and_lists_are_fitted() -> None:
    dialect = dialects().for_version(546)
    reply = dialect.encode_known("LS_PlayResponse", {"response": 1, "no_such_field": 5})
    assert reply == b"\x01" + bytes(11)
    with pytest.raises(StructValueError):
        dialect.encode_known("LS_PlayResponse", {"response": 256})


def test_a_conditional_field_is_written_where_its_condition_holds() -> None:
    dialect = dialects().for_version(1096)
    values = {"packet_type": 193, "damage": 5, "spell_name": "Kick"}  # a blow by an art
    read = dialect.layout("WS_HearSimpleDamage").decode(
        dialect.encode_known("WS_HearSimpleDamage", values)
    )
    assert read["spell_name"] == "Kick"
    with pytest.raises(StructValueError, match="its conditions do not hold"):
        dialect.encode_known("WS_HearSimpleDamage", values | {"packet_type": 192})


@pytest.mark.parametrize(
    ("zero", "value", "wanted"),
    [
        ([0, 0], [1, 2, 3], [1, 2]),
        ([0, 0, 0], [1], [1, 0, 0]),
        ([0, 0], 5, [5, 0]),
        (0, [7, 8], 7),
        (0, 7, 7),
        ("", "text", "text"),
    ],
)
def test_fit(zero: object, value: object, wanted: object) -> None:
    assert fit(zero, value) == wanted


def test_signed_fields_are_distinguished() -> None:
    known = dialects()
    assert known.for_version(546).holds_signed("CharSelectProfile", "skin_color")
    assert not known.for_version(546).holds_signed("CharSelectProfile", "soga_eye_color")
    assert not known.for_version(1208).holds_signed("CharSelectProfile", "skin_color")
    assert known.for_version(1208).holds_signed("CharSelectProfile", "eye_type")


def test_a_message_is_its_number_and_its_bytes() -> None:
    dialect = dialects().for_version(546)
    assert dialect.message("WS_TeleportWithinZone", {"x": 1.0, "not known": 3}) == (
        69,
        bytes.fromhex("0000803f 00000000 00000000"),
    )


def test_a_command_is_wrapped() -> None:
    """EQ2Emulator's text to its client, docs/protocol/world/recorded.md#examples."""
    number, body = dialects().for_version(546).message("WS_SetPOVGhostCmd", {"spawn_id": 1})
    assert (number, body) == (50, bytes.fromhex("07000000 ff a301 01000000"))


def test_a_version_says_which_structs_it_has() -> None:
    """373 has no window of guilds: EQ2Emulator's struct files begin it at 546."""
    has = {version: dialects().for_version(version).has("WS_GuildUpdate") for version in (373, 546)}
    assert has == {373: False, 546: True}


def test_arrays_are_encoded_with_what_their_elements_know() -> None:
    dialect = dialects().for_version(546)
    macro = {
        "number": 1, "name": "wave", "macro_details_count": 1, "later": 5,
        "macro_details_array": [{"command": "/wave", "later": 5}],
    }  # fmt: skip
    data = dialect.encode_known("WS_MacroInit", {"macro_count": 1, "macro_array": [macro]})
    assert data.hex() == "010000000104776176650105002f776176650000"


def test_substructs_are_encoded_with_what_they_know() -> None:
    """373 has an effect's spell and its end, but not its whole time."""
    effect = {"spell_id": 7, "total_time": 12.5, "expire_timestamp": 9}
    for version, is_there in ((373, False), (546, True)):
        dialect = dialects().for_version(version)
        data = dialect.encode_known("WS_CharacterSheet", {"spell_effects": [effect]})
        first, second, *_ = dialect.layout("WS_CharacterSheet").decode(data)["spell_effects"]
        assert (first["spell_id"], first["expire_timestamp"]) == (7, 9)
        assert ("total_time" in first) is is_there
        assert second["spell_id"] == 0
