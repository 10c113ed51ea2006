"""What characters have been through: standings, events, and their stored text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.model import LONGEST_PAST
from emu.world.actors.past import (
    LONGEST_KEPT,
    MOST_EVENTS,
    MOST_FACTIONS,
    MOST_SPELLS,
    Past,
)


def test_standings_stay_between_their_ends() -> None:
    past = Past()
    assert past.change_standing(20, 60_000)
    assert past.standing(20) == past.standings[20] == 50_000
    assert not past.change_standing(20, 1)
    assert past.change_standing(20, -200_000)
    assert past.standing(20) == -50_000
    assert past.standing(21, usual=-100) == -100
    assert past.change_standing(21, 50, usual=-100)
    assert past.standing(21, usual=-100) == -50


@pytest.mark.parametrize(("faction", "amount"), [(10, 5), (0, 5), (2**32, 5), (20, 0)])
def test_what_nobody_can_change(faction: int, amount: int) -> None:
    past = Past()
    assert not past.change_standing(faction, amount)
    assert past.text == ""


def test_events() -> None:
    past = Past()
    assert past.event(3) is None
    assert past.note(3, 7, 2**32 + 1)
    assert past.event(3) == (7, 1)


def test_a_full_past_can_still_be_changed_and_stored() -> None:
    past = Past()
    for number in range(MOST_FACTIONS + 5):
        past.change_standing(4_000_000_000 + number, -50_000)
    for number in range(MOST_EVENTS + 5):
        past.note(4_000_000_000 + number, 2**32 - 1, 2**32 - 1)
    assert len(past.standings) == MOST_FACTIONS
    assert past.event(4_000_000_000 + MOST_EVENTS) is None
    assert past.change_standing(4_000_000_000, 5)
    assert len(past.text) < LONGEST_PAST
    assert Past(past.text).text == past.text


@given(
    st.dictionaries(st.integers(11, 2**32 - 1), st.integers(-60_000, 60_000).filter(bool)),
    st.dictionaries(st.integers(0, 2**32 - 1), st.tuples(*[st.integers(0, 2**32 - 1)] * 2)),
)
def test_a_stored_past_is_the_same(
    standings: dict[int, int], events: dict[int, tuple[int, int]]
) -> None:
    past = Past()
    for faction, amount in standings.items():
        past.change_standing(faction, amount)
    for event, values in events.items():
        past.note(event, *values)
    again = Past(past.text)
    assert dict(again.standings) == dict(past.standings)
    assert all(again.event(event) == values for event, values in events.items())


@given(st.text(max_size=60) | st.sampled_from([
    '{"factions": 5}', '{"factions": {"x": 1, "20": "a", "21": 1e9, "22": 99999}}', "[1]",
    '{"events": {"1": [1], "2": [1, "b"], "3": [-1, 2], "4": 7}}', '{"events": []}',
]))  # fmt: skip
def test_a_damaged_text_is_an_empty_past(text: str) -> None:
    assert Past(text).text == ""


def test_a_book_is_bounded_and_fits_beside_the_rest() -> None:
    past = Past()
    for number in range(MOST_FACTIONS):
        past.change_standing(4_000_000_000 + number, -50_000)
    for number in range(MOST_EVENTS):
        past.note(4_000_000_000 + number, 0xFFFFFFFF, 0xFFFFFFFF)
    for number in range(MOST_SPELLS):
        assert past.learn(4_000_000_000 + number, 1)
        assert past.learn(4_000_000_000 + number, 300)
    assert not past.learn(1, 1)
    assert len(past.text) <= LONGEST_PAST
    assert Past(past.text).spell_tier(4_000_000_000 + MOST_SPELLS - 1) == 255
    assert past.unlearn(4_000_000_000)
    assert not past.unlearn(4_000_000_000)
    assert past.learn(1, 7)
    assert past.spell_tier(1) == 1


@pytest.mark.parametrize("spells", ['{"0":1}', '{"7":0}', '{"7":256}', '{"7":"1"}', "[7]"])
def test_a_damaged_book_is_left_out(spells: str) -> None:
    past = Past(f'{{"spells":{spells}}}')
    assert past.text == ""


def test_the_name_of_pets_is_kept() -> None:
    past = Past()
    past.pet_name = "Pebble"
    assert Past(past.text).pet_name == "Pebble"
    assert Past('{"pet": 5}').pet_name == ""
    assert len(Past('{"pet": "%s"}' % (40 * "x")).pet_name) == 31


def test_only_texts_with_a_name_of_their_own_are_kept() -> None:
    past = Past()
    past.keep("adventure_class_selection", "x" * 100)
    past.keep("biography", "long")
    assert past.kept("adventure_class_selection") == "x" * LONGEST_KEPT
    assert past.kept("biography") == ""
    assert Past(past.text).text == past.text
    past.keep("adventure_class_selection", "")
    assert past.text == ""
    wrong = '{"texts":{"biography":"long","refresh_advspells":5}}'
    assert Past(wrong).text == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"factions":{"20":5},"events":{}}', '{"factions":{},"events":{"3":[7,1]}}',
        '{"factions":{},"events":{},"tutorial":2}', '{"factions":{},"events":{},"spells":{"7":1}}',
        '{"factions":{},"events":{},"texts":{"adventure_class_selection":"x"}}',
        '{"factions":{},"events":{},"lasting":{"spells":[1]}}',
        '{"factions":{},"events":{},"pet":"Pebble"}',
    ],
)  # fmt: skip
def test_each_part_alone_is_a_past(text: str) -> None:
    assert Past(text).text == text


def test_what_lasts_is_asked_for_until_the_character_leaves() -> None:
    past = Past()
    past.lasts_now = lambda: {"spells": [1], "at": 5}
    assert Past(past.text).lasting == {"spells": [1], "at": 5}
    past.stand_still()
    assert past.lasts_now is None
    assert past.lasting == {"spells": [1]}
    past.stand_still()
    assert past.lasting == {"spells": [1]}
