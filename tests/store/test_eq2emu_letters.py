"""Letters of EQ2Emulator's characters, as this world stores them.

Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

import pytest

from emu.correspondence import LONGEST_BODY, LONGEST_SUBJECT, MAIL_FULL
from emu.store.eq2emu_letters import ImportedLetters
from tests.support.files.eq2emu_players import LETTERS

BREAD, PARCEL = LETTERS["character_mail"]


def test_a_letter_has_its_text_and_its_coins() -> None:
    found = ImportedLetters()
    found.add(BREAD)
    ((letter, sent),) = [(one.letter, one.sent) for one in found.letters]
    assert (letter.sender, letter.subject, letter.coins, sent) == (
        "Meg",
        "Bread",
        1_000_205,
        1_580_000_000,
    )
    assert letter.body == "Two loaves,\nas agreed."
    assert found.later == []


def test_a_thing_in_a_letter_stays_and_is_counted() -> None:
    found = ImportedLetters()
    found.add(PARCEL)
    assert found.later == ["things in letters"]
    assert [one.letter.body for one in found.letters] == [""]


def test_texts_are_cut_and_visible() -> None:
    found = ImportedLetters()
    row = {
        **BREAD,
        "player_from": None,
        "subject": "x" * 300,
        "mail_body": "\x00a\x1b" + "b" * 3000,
    }
    found.add(row)
    (letter,) = [one.letter for one in found.letters]
    assert (letter.sender, letter.subject) == ("", "x" * LONGEST_SUBJECT)
    assert letter.body == "a" + "b" * (LONGEST_BODY - 1)


def test_more_letters_than_a_mailbox_has_are_left_out() -> None:
    found = ImportedLetters()
    for _ in range(MAIL_FULL):
        found.add(BREAD)
    with pytest.raises(ValueError, match=f"at most {MAIL_FULL} letters"):
        found.add(BREAD)
