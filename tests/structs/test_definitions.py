from __future__ import annotations

import pytest

from emu.structs.definitions import NO_CONDITIONS, Conditions, FieldType, field_type

SPELLINGS = {
    "int8": FieldType.INT8, "INT16": FieldType.INT16, "Int32": FieldType.INT32,
    "int64": FieldType.INT64, "float": FieldType.FLOAT, "DOUBLE": FieldType.DOUBLE,
    "EQ2_Color": FieldType.COLOR, "eq2_color": FieldType.COLOR, "EQ2_C": FieldType.COLOR,
    "sint8": FieldType.SINT8, "SInt16": FieldType.SINT16, "sint32": FieldType.SINT32,
    "sint64": FieldType.SINT64, "char": FieldType.CHAR, "Char": FieldType.CHAR,
    "EQ2_8Bit_String": FieldType.STRING8, "EQ2_8BitString": FieldType.STRING8,
    "EQ2_16Bit_String": FieldType.STRING16, "EQ2_16BitString": FieldType.STRING16,
    "EQ2_32Bit_String": FieldType.STRING32, "eq2_32bitstring": FieldType.STRING32,
    "EQ2_EquipmentItem": FieldType.EQUIPMENT, "EQ2_Item": FieldType.ITEM,
    "EQ2_Again": FieldType.AGAIN,
    "Array": FieldType.ARRAY, "array": FieldType.ARRAY, "int8_t": FieldType.INT8,
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), SPELLINGS.items())
def test_types_are_known_by_how_their_name_begins_in_any_case(name: str, kind: FieldType) -> None:
    assert field_type(name) is kind


def test_every_type_is_spelled_above() -> None:
    assert set(SPELLINGS.values()) == set(FieldType)
    assert len(FieldType) == 19


@pytest.mark.parametrize("name", ["", "floats", "characters", "doubled", "string", "int", "EQ2_"])
def test_other_names_are_no_type(name: str) -> None:
    assert field_type(name) is None


def test_only_no_conditions_are_false() -> None:
    assert not NO_CONDITIONS
    assert not Conditions()
    assert Conditions(flag_set="x")
    assert Conditions(variable_set=("a",))
