"""What recordings have of private commands, and the lines of events."""

from __future__ import annotations

import pytest

from emu.commands import ArgumentKind
from emu.world.events import Hailed, Hurt, Targeted
from emu.world.recording.texts import OWN_WORDS, is_private, line_of, public_arguments
from tests.support.world.fights import Fight
from tests.support.world.worlds import WorldHarness

HARMLESS = {
    "value", "values", "language", "what", "title", "item", "words", "name", "place", "coins",
    "action", "choice", "rest", "subject", "command", "line", "spell", "whom",
}  # fmt: skip
"""Arguments of free text that are no message to anybody."""


@pytest.fixture(scope="module")
def harness() -> WorldHarness:
    return WorldHarness()


def test_each_argument_of_free_text_is_private_or_known_to_be_harmless(
    harness: WorldHarness,
) -> None:
    texts = {
        argument.name
        for command in harness.registry for argument in command.arguments
        if argument.kind is ArgumentKind.TEXT
    }  # fmt: skip
    assert texts <= OWN_WORDS | HARMLESS
    assert not OWN_WORDS & HARMLESS


@pytest.mark.parametrize(
    ("word", "rest", "kept"),
    [
        ("say", "hail, keeper", "hail, keeper"),
        ("tell", "Borvik my secret", "Borvik xx xxxxxx"),
        ("tell", "Borvik", "Borvik"),
        ("gsay", "over here", "xxxx xxxx"),
        ("mail", "send Borvik A gift / Hello", "send Borvik x xxxx / xxxxx"),
        ("mail", "take 5", "take 5"),
        ("bug", "it fell", "xx xxxx"),
        ("move", "1 2 3", "1 2 3"),
        ("unknown", "some words", "xxxx xxxxx"),
    ],
)
def test_private_words_are_left_out(harness: WorldHarness, word: str, rest: str, kept: str) -> None:
    assert public_arguments(harness.registry, word, rest) == kept
    command = harness.registry.find("tell")
    assert command is not None
    assert [is_private(one) for one in command.arguments] == [False, True]


def test_a_line_names_who_and_what() -> None:
    scene = Fight()
    player, foe = scene.player, scene.creature()
    assert line_of(Targeted(player, foe)) == f"{player.name} target={foe.name}"
    assert line_of(Hailed(player, "Hail", foe)) == f"{player.name} text='Hail' target={foe.name}"
    hurt = Hurt(zone=player.zone, spawn=foe, foe=player.spawn, damage=3)
    assert line_of(hurt) == f"spawn={foe.name} foe={player.name} damage=3 kind=0 spell_id=0"
