"""Copies of spells that scripts change."""

import pytest

from emu.spells.kinds import SpellKind, SpellTier
from emu.world.spells.custom import (
    FIELDS,
    LONGEST_TIME,
    MOST_LINES,
    MOST_VALUES,
    CustomSpell,
    shown_text,
)


def test_fields_values_and_lines_change_the_copy_alone() -> None:
    kind, tier = SpellKind(5, "Drink"), SpellTier(values=(1,))
    copy = CustomSpell(kind, tier)
    assert copy.set("duration1", 18000)
    assert copy.set("NAME", "Brell's Finest")
    assert not copy.set("colour", 3)
    assert copy.set_value(2, 4.5)
    assert not copy.set_value(1000, 1)
    assert copy.set_line(0, "description", "It warms.")
    assert copy.set_line(0, "bullet", 1)
    assert copy.set_line(0, "percentage", 50)
    assert not copy.set_line(0, "colour", 1)
    assert not copy.set_line(1000, "bullet", 1)
    assert (copy.kind.name, copy.tier.duration, copy.tier.values) == ("Brell's Finest", 1800.0,
                                                                     (1, 0, 4.5))  # fmt: skip
    assert copy.tier.lines[0] == ("It warms.", 50, 1)
    assert (kind.name, tier.values) == ("Drink", (1,))


def test_fields_are_read_in_the_units_of_the_tables() -> None:
    kind, tier = SpellKind(5, "Drink"), SpellTier(duration=30.0, cast_time=2.5)
    assert FIELDS["duration1"].get(kind, tier) == 300
    assert FIELDS["cast_time"].get(kind, tier) == 250
    assert FIELDS["name"].get(kind, tier) == "Drink"


def test_texts_of_scripts_are_bytes() -> None:
    assert shown_text("caf\xc3\xa9") == "café"


@pytest.mark.parametrize(
    ("name", "value", "field", "used"),
    [
        ("duration1", 35, "duration", 3.5), ("duration2", 35, "longest", 3.5),
        ("call_frequency", 40, "period", 4.0), ("cast_time", 250, "cast_time", 2.5),
        ("recovery", 5, "recovery", 0.5), ("recast", 5, "recast", 5.0),
        ("range", 25, "range", 25.0),
        ("radius", -1, "radius", 0.0), ("hit_bonus", 1e9, "hit_bonus", LONGEST_TIME),
    ],
)  # fmt: skip
def test_times_and_distances_have_the_units_of_the_tables(
    name: str, value: float, field: str, used: float
) -> None:
    copy = CustomSpell(SpellKind(5, "Drink"), SpellTier())
    assert copy.set(name, value)
    assert getattr(copy.tier, field) == pytest.approx(used)
    if 0 < used < LONGEST_TIME:
        assert FIELDS[name].get(copy.kind, copy.tier) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "flag", "icon"),
    [(True, True, 0), (0, False, 0), (2, True, 2), (0x1FFFF, True, 0xFFFF)],
)
def test_flags_and_icons_of_scripts_are_numbers(value: int, flag: bool, icon: int) -> None:
    copy = CustomSpell(SpellKind(5, "Drink"), SpellTier())
    for name in ("friendly_spell", "icon"):
        assert copy.set(name, value)
    assert copy.kind.is_friendly is flag
    if value is not True:
        assert copy.kind.icon == icon


@pytest.mark.parametrize(
    ("kept", "given", "used"),
    [
        (0.5, "target_dead", 0.0), (0.5, "2.5", 2.5), (0.5, 3, 3.0),
        (5, "target_dead", 0), (5, "7", 7), (5, 7.5, 7.5), ("x", 7, "7"), ("x", "y", "y"),
    ],
)  # fmt: skip
def test_a_value_has_the_kind_that_the_table_gives_it(
    kept: float | str, given: float | str, used: float | str
) -> None:
    """Source: eq2-lua.md, SetSpellDataIndex: the value by its type in spell_data."""
    copy = CustomSpell(SpellKind(5, "Drink"), SpellTier(values=(kept,)))
    assert copy.set_value(0, given)
    assert copy.tier.values == (used,)
    assert type(copy.tier.values[0]) is type(used)


def test_values_and_lines_are_kept_up_to_a_bound() -> None:
    copy = CustomSpell(SpellKind(5, "Drink"), SpellTier())
    assert copy.set_value(MOST_VALUES - 1, "x")
    assert not copy.set_value(MOST_VALUES, "x")
    assert copy.tier.values == (*[0] * (MOST_VALUES - 1), "x")
    for at, (value, used) in enumerate(((True, 1), (False, 0), (None, 0), ([], 0), (7, 7))):
        copy.set_value(at, value)
        assert copy.tier.values[at] == used
        assert type(copy.tier.values[at]) is int
    assert copy.set_line(MOST_LINES - 1, "BULLET", 300)
    assert not copy.set_line(MOST_LINES, "bullet", 1)
    assert len(copy.tier.lines) == MOST_LINES
    assert copy.tier.lines[-1] == ("", copy.tier.lines[0].percentage, 300 & 0xFF)
    assert shown_text("x" * 600 + "\0") == "x" * 512
    assert shown_text("a\0b") == "a b"
