"""Options of players: their stored text, and what a character sheet has of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.actors.options import (
    BITS,
    DEFAULT_FLAGS,
    SECOND_BITS,
    SHOWN_FIELDS,
    STATUS_FIELDS,
    Option,
    PlayerOptions,
)


@given(st.sets(st.sampled_from(Option)))
def test_options_come_back_from_their_text(options: set[Option]) -> None:
    one = PlayerOptions()
    for option in options:
        assert one.set(option, on=True)
        assert not one.set(option, on=True)
    again = PlayerOptions(one.text)
    assert {option for option in Option if option in again} == options
    assert again.text == one.text


def test_words_of_other_programs_are_left_out() -> None:
    assert PlayerOptions("decline_groups fly_high").text == "decline_groups"


def test_a_sheet_without_switched_options_has_the_recorded_flags() -> None:
    fields = PlayerOptions().sheet_fields()
    assert (fields["flags"], fields["flags2"]) == (DEFAULT_FLAGS, 0) == (301465665, 0)
    assert {name for name, value in fields.items() if value == 1} == set(SHOWN_FIELDS)


@pytest.mark.parametrize("option", Option)
def test_an_option_changes_its_bit_alone(option: Option) -> None:
    fields = PlayerOptions(option).sheet_fields()
    bit = 1 << BITS[option] if option in BITS else 0
    assert fields["flags"] ^ DEFAULT_FLAGS == bit
    assert fields["flags2"] == (1 << SECOND_BITS[option] if option in SECOND_BITS else 0)
    hidden = {name for name, options in SHOWN_FIELDS.items() if option in options}
    assert {name for name in SHOWN_FIELDS if not fields[name]} == hidden
    assert {name for name in STATUS_FIELDS if fields[name]} == {
        name for name, one in STATUS_FIELDS.items() if one is option
    }
