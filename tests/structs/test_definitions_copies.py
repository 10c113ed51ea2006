"""Which conditions of a field its copies keep."""

from __future__ import annotations

from typing import Any

import pytest

from emu.structs.definitions import NO_CONDITIONS, Conditions, FieldDefinition, FieldType, copied
from tests.support.files.struct_texts import array, data, layout_of, struct_of


def field(conditions: Conditions, **more: Any) -> FieldDefinition:
    return FieldDefinition("a", FieldType.INT8, 1, conditions=conditions, **more)


@pytest.mark.parametrize(
    ("before", "kept", "lost"),
    [
        (NO_CONDITIONS, NO_CONDITIONS, NO_CONDITIONS),
        (Conditions(variable_set=("x",)), Conditions(variable_set=("x",)), NO_CONDITIONS),
        (Conditions(variable_not_set=("x",)), NO_CONDITIONS, Conditions(variable_not_set=("x",))),
        (Conditions(("x",), ("y",)), Conditions(("x",), ("y",)), NO_CONDITIONS),
        (Conditions(variable_equals="x"), NO_CONDITIONS, Conditions(variable_equals="x")),
        (Conditions(variable_not_equals="x", flag_set="f", flag_not_set="g"),
         Conditions(variable_not_equals="x", flag_set="f", flag_not_set="g"), NO_CONDITIONS),
        (Conditions((), ("x",), flag_set="f"), Conditions(flag_set="f"), Conditions((), ("x",))),
    ],
)  # fmt: skip
def test_what_a_copy_keeps(before: Conditions, kept: Conditions, lost: Conditions) -> None:
    (made,) = copied([field(before)])
    assert (made.conditions, made.lost_conditions) == (kept, lost)
    assert copied([made])[0].conditions == kept


SUB = struct_of(
    data("n", "int8")
    + data("x", "int8", 'IfVariableNotSet="s_n_0"')
    + array("a", "n", data("y", "int8") + data("z", "int8", 'IfVariableNotSet="y_0"')),
    name="Sub",
)


def test_a_copy_writes_what_the_struct_alone_would_leave_out() -> None:
    copy = layout_of('<Data ElementName="s" Substruct="Sub"/>', before=SUB)
    values = {"s": {"n": 1, "x": 7, "a": [{"y": 1}]}}
    assert copy.encode(values) == b"\x01\x07\x01"
    assert copy.decode(b"\x01\x07\x01") == values


def test_a_copy_of_a_copy_has_lost_the_same() -> None:
    middle = struct_of('<Data ElementName="s" Substruct="Sub"/>', name="Middle")
    copy = layout_of('<Data ElementName="m" Substruct="Middle"/>', before=SUB + middle)
    assert copy.encode({"m": {"s": {"n": 1, "x": 7, "a": [{"y": 0, "z": 9}]}}}) == bytes(
        (1, 7, 0, 9)
    )


def test_a_condition_on_the_line_that_copies_stands() -> None:
    copy = layout_of(
        data("c", "int8") + '<Data ElementName="s" Substruct="Sub" IfVariableNotSet="c"/>',
        before=SUB,
    )
    assert copy.encode({"c": 1}) == b"\x01"
    assert copy.encode({"c": 0}) == bytes(3)
