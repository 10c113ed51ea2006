"""Sheets: pools, and fields by name, with values that do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.sheet import FieldKind, Pool, Sheet, known_fields
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position


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


def counted(pool: Pool, added: int) -> tuple[int, int]:
    """Return what is there and the most after things or spells add so much."""
    pool.recount(100, added, 100)
    return pool.current, pool.most


def test_what_is_full_stays_full_with_another_most() -> None:
    pool = Pool(100, 100)
    assert [counted(pool, one) for one in (0, 200, 50, 200)] == [
        (100, 100), (300, 300), (150, 150), (300, 300),
    ]  # fmt: skip


@pytest.mark.parametrize(("hurt", "healed"), [(150, 0), (80, 20), (80, 10)])
def test_nobody_is_healed_by_taking_things_off_and_putting_them_on(hurt: int, healed: int) -> None:
    pool = Pool(100, 100)
    counted(pool, 200)
    pool.set_current(hurt)
    assert counted(pool, 0) == (min(hurt, 100), 100)
    pool.set_current(pool.current + healed)
    now = pool.current
    assert counted(pool, 200) == (now, 300)
    pool.set_current(300)
    assert [counted(pool, one) for one in (0, 200)] == [(100, 100), (300, 300)]


def test_a_wound_is_the_same_after_a_spell_has_raised_the_most() -> None:
    pool = Pool(100, 100)
    counted(pool, 0)
    pool.set_current(40)
    assert [counted(pool, one) for one in (50, 0)] == [(40, 150), (40, 100)]
    pool.set_current(100)
    assert counted(pool, 50) == (150, 150)


def test_whoever_is_restored_has_lost_nothing() -> None:
    pool = Pool(100, 100)
    counted(pool, 200)
    pool.set_current(150)
    counted(pool, 0)
    pool.restore()
    assert counted(pool, 200) == (300, 300)
    pool.restore(50.0)
    assert pool.current == 150


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


def test_bonuses_of_several_sources_add_up_and_go_again() -> None:
    sheet = Sheet(10, 10)
    sheet.set("heat", FieldKind.UNSIGNED, 20)
    sheet.put_bonuses("cap", {"heat": 5.0, "str": 2.5})
    sheet.put_bonuses(("spell", 7), {"heat": -40.0})
    assert sheet.is_marked
    sheet.count_bonuses()
    # Cut only when it is read: the spell gives back what it took.
    assert (sheet.get("heat", FieldKind.UNSIGNED), sheet.added("heat")) == (0, -35.0)
    assert sheet.attribute("str") == 22
    sheet.put_bonuses(("spell", 7), {})
    sheet.count_bonuses()
    assert sheet.get("heat", FieldKind.UNSIGNED) == 25
    sheet.put_bonuses("cap", {"heat": 6.0})
    sheet.count_bonuses()
    assert (sheet.get("heat", FieldKind.UNSIGNED), sheet.attribute("str")) == (26, 20)
    sheet.put_bonuses("cap", {"heat": 6.0})
    assert not sheet.is_marked
    assert sheet.added("heat") == 6.0


def test_unknown_names_and_texts_take_no_bonuses() -> None:
    sheet = Sheet(10, 10)
    sheet.put_bonuses("cap", {"no such field": 5.0, "deity": 5.0})
    sheet.count_bonuses()
    assert sheet.get("deity", FieldKind.TEXT) == ""


_ADDED = st.dictionaries(
    st.sampled_from(("heat", "str", "haste", "hp_regen", "health")), st.integers(-900, 900)
)


@given(st.lists(st.tuples(st.integers(0, 3), _ADDED), max_size=8))
def test_without_bonuses_a_sheet_is_as_before(steps: list[tuple[int, dict[str, int]]]) -> None:
    sheet = Sheet(10, 10)
    sheet.set("heat", FieldKind.UNSIGNED, 33)
    for source, added in steps:
        sheet.put_bonuses(source, {name: float(value) for name, value in added.items()})
        sheet.count_bonuses()
    for source in range(4):
        sheet.put_bonuses(source, {})
    sheet.count_bonuses()
    assert sheet.get("heat", FieldKind.UNSIGNED) == 33
    assert (sheet.attribute("str"), sheet.get("haste", FieldKind.FRACTION)) == (20, 0)
    assert sheet.added("health") == 0


def test_bonuses_add_to_both_pools_of_a_creature() -> None:
    """The formula of levels and attributes is for players."""
    wolf = Spawn(1, SpawnKind.NPC, "a wolf", Position(0.0, 0.0, 0.0, 0.0), level=2)
    wolf.sheet.health.fill(50)
    wolf.sheet.power.fill(40)
    wolf.sheet.put_bonuses("cap", {"sta": 4.0, "health": 10.0, "power": 3.0})
    assert (wolf.sheet.health.most, wolf.sheet.power.most) == (60, 43)
