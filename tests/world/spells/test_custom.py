"""Copies of spells that scripts change."""

from emu.spells.kinds import SpellKind, SpellTier
from emu.world.spells.custom import FIELDS, CustomSpell, shown_text


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
