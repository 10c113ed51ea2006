"""Sheets: pools, and fields by name, with values that do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.sheet import FieldKind, Pool, Sheet, known_fields


def test_a_pool_stays_between_nothing_and_the_most() -> None:
    pool = Pool(50, 100)
    pool.set_current(-5)
    assert (pool.current, pool.percent) == (0, 0)
    pool.set_current(1000)
    assert (pool.current, pool.percent) == (100, 100)
    pool.set_most(40)
    assert (pool.current, pool.most) == (40, 40)
    pool.fill(0)
    assert (pool.current, pool.most) == (1, 1)


def test_something_left_is_at_least_one_percent() -> None:
    assert Pool(1, 100_000).percent == 1
    assert Pool(99_999, 100_000).percent == 99


def test_fields_have_a_kind() -> None:
    sheet = Sheet(10, 10)
    assert sheet.set("primary_weapon_delay", FieldKind.UNSIGNED, 3000)
    assert sheet.get("primary_weapon_delay", FieldKind.UNSIGNED) == 3000
    assert not sheet.set("primary_weapon_delay", FieldKind.SIGNED, 1)
    assert not sheet.set("no_such_field", FieldKind.UNSIGNED, 1)
    assert sheet.get("primary_weapon_delay", FieldKind.TEXT) is None
    assert sheet.get("hp_regen", FieldKind.SIGNED) == 0
    assert sheet.get("action_state", FieldKind.TEXT) == ""
    assert sheet.attribute("str") == sheet.attribute("intel_base") == 20


@pytest.mark.parametrize(
    ("name", "kind", "given_value", "kept"),
    [
        ("override_primary_weapon", FieldKind.UNSIGNED, 300, 255),
        ("override_primary_weapon", FieldKind.UNSIGNED, -1, 0),
        ("hp_regen", FieldKind.SIGNED, -40_000, -32_768),
        ("hp_regen", FieldKind.SIGNED, 40_000, 32_767),
        ("str", FieldKind.FRACTION, float("inf"), 0.0),
        ("action_state", FieldKind.TEXT, "x" * 300, "x" * 256),
    ],
)
def test_what_does_not_fit_is_cut(
    name: str, kind: FieldKind, given_value: float | str, kept: float | str
) -> None:
    sheet = Sheet(1, 1)
    assert sheet.set(name, kind, given_value)
    assert sheet.get(name, kind) == kept


@given(st.sampled_from(sorted(known_fields())), st.integers())
def test_whole_numbers_stay_in_their_bits(name: str, value: int) -> None:
    field = known_fields()[name]
    sheet = Sheet(1, 1)
    if field.kind not in (FieldKind.UNSIGNED, FieldKind.SIGNED):
        return
    sheet.set(name, field.kind, value)
    kept = sheet.get(name, field.kind)
    assert isinstance(kept, int)
    low = -(1 << (field.bits - 1)) if field.kind is FieldKind.SIGNED else 0
    assert low <= kept < low + (1 << field.bits)
